"""Locally private UCB, many runs at once: K = 3, T = 30, claimed epsilon = 1.5 (pure).

Each reward r is turned into a bit that is 1 with probability (1 - q) + r (2 q - 1),
q = e^eps / (1 + e^eps): Bernoulli rounding followed by Warner's randomised response.
Nothing but that bit is kept.
"""
import numpy as np

K, T, EPS = 3, 30, 1.5
Q = np.exp(EPS) / (1.0 + np.exp(EPS))


def privatise(r, rng):
    return (rng.random(r.shape) < (1.0 - Q) + r * (2.0 * Q - 1.0)).astype(float)


def play_many(rewards, n_runs, rng):
    rows = np.arange(n_runs)
    pulls = np.zeros((n_runs, K))
    ones = np.zeros((n_runs, K))
    out = np.zeros((n_runs, T), dtype=np.int64)
    for t in range(T):
        if t < K:
            arm = np.full(n_runs, t)
        else:
            freq = ones / pulls
            mean = (freq - (1.0 - Q)) / (2.0 * Q - 1.0)
            width = np.sqrt(0.25 * np.log(t + 1.0) / pulls) / (2.0 * Q - 1.0)
            arm = np.argmax(mean + width, axis=1)
        bit = privatise(rewards[t, arm], rng)
        pulls[rows, arm] += 1.0
        ones[rows, arm] += bit
        out[:, t] = arm
    return out
