"""UCB on locally private rewards: dithered quantisation to four levels, then k-ary
randomised response with epsilon = 1.5 (pure, local model, one report per reward).

The learner never touches the reward again: all statistics are built on the
randomised symbol, debiased so that its mean is that of the reward.
"""
import math

import numpy as np

EPSILON = 1.5
LEVELS = 4


def make_channel(eps, k):
    """Return (randomise, debias) for k-ary randomised response on 0..k-1."""
    keep = math.exp(eps) / (math.exp(eps) + k - 1)
    other = 1.0 / (math.exp(eps) + k - 1)
    grid_mean_mass = other * sum(j / (k - 1) for j in range(k))

    def randomise(x, rng):
        scaled = min(max(x, 0.0), 1.0) * (k - 1)
        base = math.floor(scaled)
        level = base + (rng.random() < scaled - base)
        level = min(int(level), k - 1)
        if rng.random() < keep:
            return level
        shift = int(rng.integers(1, k))          # one of the k - 1 other symbols
        return (level + shift) % k

    def debias(symbol):
        return (symbol / (k - 1) - grid_mean_mass) / (keep - other)

    return randomise, debias


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    randomise, debias = make_channel(EPSILON, LEVELS)
    totals = [0.0] * n_arms
    pulls = [0] * n_arms
    actions = []
    for t in range(horizon):
        if t < n_arms:
            arm = t
        else:
            index = [totals[a] / pulls[a] + 0.4 * math.sqrt(math.log(t + 1) / pulls[a])
                     for a in range(n_arms)]
            arm = max(range(n_arms), key=index.__getitem__)
        symbol = randomise(float(rewards[t, arm]), rng)
        totals[arm] += debias(symbol)
        pulls[arm] += 1
        actions.append(arm)
    return np.array(actions)
