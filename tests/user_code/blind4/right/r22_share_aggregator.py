"""Batch totals computed from additive shares held by three servers, each adding a noise share."""
import numpy as np

EPS = 1.0
GRID = 1000
MOD = 2 ** 40
SERVERS = 3


def polya(rng):
    p = 1.0 - np.exp(-EPS / GRID)
    return int(rng.negative_binomial(1.0 / SERVERS, p)) - int(rng.negative_binomial(1.0 / SERVERS, p))


def split(value, rng):
    shares = [int(rng.integers(MOD)) for _ in range(SERVERS - 1)]
    return shares + [(value - sum(shares)) % MOD]


def aggregate(values, rng):
    held = [0] * SERVERS
    for v in values:
        for j, s in enumerate(split(int(v * GRID), rng)):
            held[j] = (held[j] + s) % MOD
    held = [(h + polya(rng)) % MOD for h in held]
    total = sum(held) % MOD
    return (total - MOD if total > MOD // 2 else total) / GRID


def play(rewards, rng):
    T, K = rewards.shape
    acts, batch = [], 5
    score = np.zeros(K)
    while len(acts) + batch * K <= T:
        for arm in range(K):
            rows = range(len(acts), len(acts) + batch)
            score[arm] += aggregate([rewards[r, arm] for r in rows], rng)
            acts += [arm] * batch
        leader = int(np.argmax(score))
        acts += [leader] * min(2 * batch, T - len(acts))
    return acts + [int(np.argmax(score))] * (T - len(acts))
