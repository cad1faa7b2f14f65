"""EXP3 fed with debiased randomised-response bits instead of rewards."""
import numpy as np

EPSILON = 1.5
ETA = 0.04
GAMMA = 0.15


def private_bit(x, rng):
    bit = int(rng.random() < x)
    honest = np.exp(EPSILON) / (1.0 + np.exp(EPSILON))
    return bit if rng.random() < honest else 1 - bit


def debias(bit):
    flip = 1.0 / (1.0 + np.exp(EPSILON))
    return (bit - flip) / (1.0 - 2.0 * flip)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    log_w = np.zeros(n_arms)
    chosen = np.empty(horizon, dtype=int)
    for t in range(horizon):
        w = np.exp(log_w - log_w.max())
        p = (1 - GAMMA) * w / w.sum() + GAMMA / n_arms
        arm = int(rng.choice(n_arms, p=p))
        chosen[t] = arm
        log_w[arm] += ETA * debias(private_bit(rewards[t, arm], rng)) / p[arm]
    return chosen
