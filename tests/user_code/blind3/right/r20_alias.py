"""Exponential mechanism drawn by Vose's alias method.

Two epochs with rewards of their own. Scores are totals of sensitivity 1, weights exp(epsilon score / 2).
"""

import math


def alias_table(weights):
    n, total = len(weights), sum(weights)
    scaled = [w * n / total for w in weights]
    small = [i for i, w in enumerate(scaled) if w < 1]
    large = [i for i, w in enumerate(scaled) if w >= 1]
    prob, alias = [1.0] * n, list(range(n))
    while small and large:
        s, g = small.pop(), large.pop()
        prob[s], alias[s] = scaled[s], g
        scaled[g] -= 1 - scaled[s]
        (small if scaled[g] < 1 else large).append(g)
    return prob, alias


def draw(table, rng):
    prob, alias = table
    i = int(rng.integers(len(prob)))
    return i if rng.random() < prob[i] else alias[i]


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    actions = []
    for _ in range(2):
        score = [0.0] * k
        for i in range(2 * k):
            score[i % k] += rewards[len(actions), i % k]
            actions.append(i % k)
        table = alias_table([math.exp(0.5 * epsilon * s) for s in score])
        actions += [draw(table, rng) for _ in range(1)] * (horizon // 2 - 2 * k)
    return actions
