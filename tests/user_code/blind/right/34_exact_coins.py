"""Discrete Laplace noise from whole-number coins only, no floating point.

Privacy. Rewards are rounded to sixteenths; one reward changes one integer sum by at most 16. The sampler returns k with
probability proportional to exp(-|k| / 16): U is uniform on 0..15 and kept with chance exp(-U / 16), V counts successes of
exp(-1) coins, U + 16 V has P(x) proportional to exp(-x / 16), and a random sign with "-0" rejected makes it two-sided.
A shift by 16 costs e^1 = e^eps. A sum is released at the end of each lap for that lap alone.
"""

import numpy as np

EPSILON = 1.0  # the sampler below is written for 1
GRID = 16


def bernoulli_fraction(num, den, rng):
    return int(rng.integers(den)) < num


def bernoulli_exp(num, den, rng):
    """True with probability exp(-num / den), for num <= den."""
    k = 1
    while bernoulli_fraction(num, den * k, rng):
        k += 1
    return k % 2 == 1


def discrete_laplace(t, rng):
    while True:
        u = int(rng.integers(t))
        if not bernoulli_exp(u, t, rng):
            continue
        v = 0
        while bernoulli_exp(1, 1, rng):
            v += 1
        x = u + t * v
        negative = bool(rng.integers(2))
        if negative and x == 0:
            continue
        return -x if negative else x


def play(rewards, rng):
    T, K = rewards.shape
    lap = 4 * K
    score = [0] * K
    leader = 0
    actions = []
    lap_sum = [0] * K
    for t in range(T):
        i = t % lap
        a = i % K if t < lap or i < K else leader
        actions.append(a)
        lap_sum[a] += int(round(GRID * float(rewards[t, a])))
        if i == lap - 1:
            score = [s + x + discrete_laplace(GRID, rng) for s, x in zip(score, lap_sum)]
            lap_sum = [0] * K
            leader = max(range(K), key=score.__getitem__)
    return np.array(actions)
