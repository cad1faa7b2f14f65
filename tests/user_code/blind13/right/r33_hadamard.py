"""Greedy bandit on Hadamard responses.

Claim: epsilon = 1 (pure, local).  A reward is rounded at random to one of seven levels; the level picks a row of the
8 x 8 Sylvester matrix and the user sends a column index, from the +1 half of the row with probability
e^eps / (1 + e^eps), from the -1 half otherwise.  The server adds up unbiased scores of the columns.
"""
import numpy as np
from scipy.linalg import hadamard

EPS = 1.0
K, T = 3, 30
LEVELS = 7
H = hadamard(LEVELS + 1)
ROWS = H[1:]
P = 1.0 / (1.0 + np.exp(-EPS))
PLUS = np.array([np.flatnonzero(row > 0) for row in ROWS])
MINUS = np.array([np.flatnonzero(row < 0) for row in ROWS])
SCORE = (np.linspace(0.0, 1.0, LEVELS) @ ROWS) / (2.0 * P - 1.0)   # E[SCORE[column] | level] = level / 6


def respond(values, rng):
    n = len(values)
    x = np.clip(values, 0.0, 1.0) * (LEVELS - 1)
    level = np.floor(x).astype(int)
    level += rng.random(n) < (x - level)
    inside = rng.random(n) < P
    slot = rng.integers((LEVELS + 1) // 2, size=n)
    return np.where(inside, PLUS[level, slot], MINUS[level, slot])


def play_many(rewards, n_runs, rng):
    who = np.arange(n_runs)
    total = np.zeros((n_runs, K))
    count = np.zeros((n_runs, K))
    actions = np.zeros((n_runs, T), dtype=int)
    for t in range(T):
        if t < K:
            arm = np.full(n_runs, t)
        else:
            arm = (total / count + 1.0 / np.sqrt(count)).argmax(axis=1)
        column = respond(rewards[t, arm], rng)
        total[who, arm] += SCORE[column]
        count[who, arm] += 1
        actions[:, t] = arm
    return actions
