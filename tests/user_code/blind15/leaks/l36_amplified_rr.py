"""Randomised response with amplification by random arms; K = 4, T = 32, claimed epsilon = 0.8.

A uniformly random arm is played in each of the first eight rounds, so a given cell of the reward
table is looked at with probability 1/K.  By privacy amplification by sampling a local
budget of eps0 = log(1 + K (e^eps - 1)) is enough for eps.  Then the arm with the best
debiased total is played, its bits being added with the same budget.  Pure DP is claimed.
"""
import numpy as np

K, T, EXPLORE = 4, 32, 8
EPS = 0.8
EPS0 = float(np.log1p(K * np.expm1(EPS)))
KEEP = 1.0 / (1.0 + np.exp(-EPS0))


def respond(r, rng):
    bit = rng.random(r.shape) < r
    flip = rng.random(r.shape) >= KEEP
    return np.logical_xor(bit, flip)


def debias(ones, n):
    return (ones - n * (1.0 - KEEP)) / (2.0 * KEEP - 1.0)


def play_many(rewards, n_runs, rng):
    lane = np.arange(n_runs)
    ones, n = np.zeros((n_runs, K)), np.zeros((n_runs, K))
    actions = rng.integers(0, K, size=(n_runs, T))
    for t in range(T):
        if t >= EXPLORE:
            score = (debias(ones, n) + 0.5) / (n + 1.0)
            actions[:, t] = score.argmax(axis=1)
        a = actions[:, t]
        ones[lane, a] += respond(rewards[t, a], rng)
        n[lane, a] += 1.0
    return actions
