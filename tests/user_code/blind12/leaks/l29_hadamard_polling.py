"""Served arm chosen by polling panel members through Hadamard response, epsilon = 1 (pure).

The first rounds build a panel: every arm has PANEL members, each of whom keeps his own
reward, dithered to four levels, on his device.  Afterwards the arm is the one with
the best decoded panel mean; a member answers with a column y of the 8 x 8 Hadamard
matrix that agrees with row level + 1 with probability e^eps / (1 + e^eps).
"""
import math

import numpy as np
from scipy.linalg import hadamard

EPS = 1.0
LEVELS = 4
PANEL = 1
H = hadamard(8)
PLUS = [np.flatnonzero(H[v + 1] > 0) for v in range(LEVELS)]
MINUS = [np.flatnonzero(H[v + 1] < 0) for v in range(LEVELS)]
GAIN = (math.exp(EPS) + 1) / (math.exp(EPS) - 1)


def dither(x, rng):
    s = min(1.0, max(0.0, float(x))) * (LEVELS - 1)
    return min(LEVELS - 1, int(s) + int(rng.random() < s - int(s)))


def answer(level, rng):
    agree = rng.random() < math.exp(EPS) / (1.0 + math.exp(EPS))
    pool = PLUS[level] if agree else MINUS[level]
    return int(pool[rng.integers(pool.size)])


def decode(symbol):
    return GAIN * sum(v / (LEVELS - 1) * H[v + 1, symbol] for v in range(LEVELS))


def play(rewards, rng):
    T, K = rewards.shape
    panel = {a: [] for a in range(K)}
    actions = []
    for t in range(T):
        if t < PANEL * K:
            a = t % K
            panel[a].append(dither(rewards[t, a], rng))
        else:
            means = [sum(decode(answer(v, rng)) for v in panel[b]) / PANEL for b in range(K)]
            best = max(means)
            a = int(rng.choice([b for b in range(K) if means[b] == best]))
        actions.append(a)
    return np.array(actions)
