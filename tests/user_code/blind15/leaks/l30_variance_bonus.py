"""Private UCB-V on independent batches; K = 3, T = 60, claimed epsilon = 1.0 (pure).

Three batches of twenty rounds: four rounds per arm, then eight rounds of the arm with the best
index.  Batch sums are used once, with Laplace(1/epsilon) noise; the exploration bonus is the
Bernstein width of Audibert, Munos and Szepesvari plus the width of the privacy noise.
"""
import numpy as np

K, T, M, FOLLOW = 3, 60, 4, 8
EPS = 1.0
LOG = np.log(T)


def noisy_mean(batch, rng):
    return (batch.sum() + rng.laplace(0.0, 1.0 / EPS)) / len(batch)


def bernstein(batch):
    n = len(batch)
    return np.sqrt(2.0 * batch.var() * LOG / n) + LOG / (3.0 * n)


def privacy_width(n):
    return LOG / (EPS * n)


def index(batch, rng):
    return noisy_mean(batch, rng) + bernstein(batch) + privacy_width(len(batch))


def play(rewards, rng):
    actions = np.empty(T, dtype=int)
    for start in range(0, T, K * M + FOLLOW):
        scores = []
        for a in range(K):
            rows = np.arange(start + a * M, start + (a + 1) * M)
            actions[rows] = a
            scores.append(index(rewards[rows, a], rng))
        tail = slice(start + K * M, start + K * M + FOLLOW)
        actions[tail] = int(np.argmax(scores))
    return actions
