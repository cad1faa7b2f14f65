"""Discounted softmax bandit, private by its own sampling.

Preferences are discounted sums of rewards, H_a <- g H_a + r 1{a played}; the next arm is
drawn from softmax(eta H).  A reward moves one logit, by at most eta g^j in the j-th draw
after it, and a move of d in one logit changes no probability by more than a factor e^d,
so the whole run costs at most eta / (1 - g).  eta is set to EPS (1 - g): EPS = 3.0, pure.
"""
import numpy as np

EPS = 3.0
DISCOUNT = 0.5


def softmax(z):
    z = np.exp(z - z.max(axis=1, keepdims=True))
    return z / z.sum(axis=1, keepdims=True)


def draw(p, rng):
    u = rng.random((p.shape[0], 1))
    return np.minimum((u >= np.cumsum(p, axis=1)).sum(axis=1), p.shape[1] - 1)


def play_many(rewards, n_runs, rng):
    horizon, k = rewards.shape
    eta = EPS * (1.0 - DISCOUNT)
    prefs = np.zeros((n_runs, k))
    rows = np.arange(n_runs)
    out = np.empty((n_runs, horizon), dtype=np.int64)
    for t in range(horizon):
        arm = draw(softmax(eta * prefs), rng)
        out[:, t] = arm
        prefs *= DISCOUNT
        prefs[rows, arm] += rewards[t, arm]
    return out
