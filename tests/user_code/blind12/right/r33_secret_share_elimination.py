"""Successive elimination on securely aggregated batch sums, epsilon = 1 (pure).

In a phase each live arm is pulled eight times.  Rewards are fixed-point numbers
(1/100), split into three additive shares modulo 2**31; each server adds what it
holds, and a dealer shares ONE discrete Laplace variable of parameter
exp(-eps / 100) per batch in the same way.  Only the opened noisy sum is used; every
reward is in one batch.
"""
import math
from functools import reduce

import numpy as np

EPS = 1.0
FIXED = 100
MOD = 2 ** 31
BATCH = 8
SERVERS = 3


def split(value, rng):
    masks = [int(m) for m in rng.integers(0, MOD, size=SERVERS - 1)]
    return masks + [(value - sum(masks)) % MOD]


def add(shares_a, shares_b):
    return [(x + y) % MOD for x, y in zip(shares_a, shares_b)]


def opened(shares):
    total = sum(shares) % MOD
    return total - MOD if total >= MOD // 2 else total


def discrete_laplace(t, rng):
    """P(x) proportional to exp(-|x| t): the difference of two geometric variables."""
    p = -math.expm1(-t)
    return int(rng.geometric(p)) - int(rng.geometric(p))


def batch_sum(values, rng):
    ints = [int(round(FIXED * min(1.0, max(0.0, v)))) for v in values]
    noise = discrete_laplace(EPS / FIXED, rng)
    shares = [split(v % MOD, rng) for v in ints + [noise]]
    return opened(reduce(add, shares)) / FIXED


def play(rewards, rng):
    T, K = rewards.shape
    live = list(range(K))
    mean_sum = {a: 0.0 for a in live}
    actions, phase = [], 0
    while len(actions) < T:
        if len(live) == 1 or T - len(actions) < BATCH * len(live):
            best = max(live, key=lambda a: (mean_sum[a], -a))
            actions.extend([best] * (T - len(actions)))
            break
        phase += 1
        for a in live:
            seen = []
            for _ in range(BATCH):
                seen.append(float(rewards[len(actions), a]))
                actions.append(a)
            mean_sum[a] += batch_sum(seen, rng) / BATCH
        top = max(mean_sum[a] for a in live)
        radius = 0.35 * math.sqrt(phase)
        live = [a for a in live if mean_sum[a] >= top - radius]
    return np.array(actions)
