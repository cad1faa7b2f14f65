"""EXP3 with a fixed learning rate."""
import itertools
import math

EPSILON = 1.0
GAMMA = 0.1
ETA = 0.5


def play(rewards, rng):
    T, K = rewards.shape
    logw = [0.0] * K
    arms = []
    for t in range(T):
        top = max(logw)
        w = [math.exp(v - top) for v in logw]
        total = sum(w)
        p = [(1 - GAMMA) * v / total + GAMMA / K for v in w]
        u = rng.random()
        a = next((i for i, c in enumerate(itertools.accumulate(p)) if u < c), K - 1)
        arms.append(a)
        logw[a] += ETA * float(rewards[t, a]) / p[a]
    return arms
