"""Phases: sample all arms, draw one for the rest of the phase."""
import numpy as np

EPSILON = 1.0


def draw(scores, rng):
    w = np.exp(EPSILON * (scores - scores.max()))
    cdf = np.cumsum(w)
    return int(np.searchsorted(cdf, rng.random() * cdf[-1], side="right"))


def phases(T, K):
    lo, n = 0, 2
    while lo < T:
        yield lo, n
        lo += 3 * n * K
        n += 1


def play(rewards, rng):
    T, K = rewards.shape
    actions = np.zeros(T, dtype=int)
    for lo, n in phases(T, K):
        test = np.arange(lo, min(T, lo + n * K))
        actions[test] = (test - lo) % K
        obtained = rewards[test, actions[test]]
        scores = np.array([obtained[actions[test] == k].sum() for k in range(K)])
        actions[test[-1] + 1:lo + 3 * n * K] = draw(scores, rng)
    return actions
