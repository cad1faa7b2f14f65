"""EXP3 whose uniform mixing keeps every draw within the privacy ratio."""
import numpy as np

EPSILON = 0.5


def mixing(n_arms):
    # any two mixed distributions differ by at most exp(EPSILON) per arm
    return n_arms / (np.exp(EPSILON) - 1 + n_arms)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    gamma = mixing(n_arms)
    eta = gamma / n_arms
    log_w = np.zeros(n_arms)
    picks = []
    for t in range(horizon):
        w = np.exp(log_w - np.logaddexp.reduce(log_w))
        p = (1 - gamma) * w + gamma / n_arms
        arm = int(np.searchsorted(np.cumsum(p), rng.random()))
        arm = min(arm, n_arms - 1)
        log_w[arm] += eta * rewards[t, arm] / p[arm]
        picks.append(arm)
    return picks
