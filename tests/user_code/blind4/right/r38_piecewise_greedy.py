"""Decaying epsilon-greedy on rewards reported by the piecewise mechanism."""
import math

EPS = 1.0


def piecewise(x, rng):
    t = 2.0 * x - 1.0
    h = math.exp(EPS / 2.0)
    c = (h + 1.0) / (h - 1.0)
    lo = (c + 1.0) / 2.0 * t - (c - 1.0) / 2.0
    hi = lo + c - 1.0
    if rng.random() < h / (h + 1.0):
        return rng.uniform(lo, hi)
    u = rng.uniform(0.0, c + 1.0)
    return -c + u if u < lo + c else hi + (u - (lo + c))


def play(rewards, rng):
    T, K = rewards.shape
    total, pulls, acts = [0.0] * K, [0] * K, []
    for t in range(T):
        if t < K:
            a = t
        elif rng.random() < min(1.0, 5.0 / (t + 1)):
            a = int(rng.integers(K))
        else:
            a = max(range(K), key=lambda i: total[i] / pulls[i])
        acts.append(a)
        total[a] += piecewise(float(rewards[t, a]), rng)
        pulls[a] += 1
    return acts
