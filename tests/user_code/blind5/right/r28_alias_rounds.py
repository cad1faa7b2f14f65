"""Rounds of probing; the next favourite is drawn from an alias table of exponential weights."""
import math

EPSILON = 1.0
PROBES = 3
STAY = 10


def alias_table(weights):
    n, s = len(weights), sum(weights)
    prob = [w * n / s for w in weights]
    alias = list(range(n))
    small = [i for i, p in enumerate(prob) if p < 1]
    large = [i for i, p in enumerate(prob) if p >= 1]
    while small and large:
        lo, hi = small.pop(), large.pop()
        alias[lo] = hi
        prob[hi] -= 1 - prob[lo]
        (small if prob[hi] < 1 else large).append(hi)
    for i in small + large:
        prob[i] = 1.0
    return prob, alias


def draw(table, rng):
    prob, alias = table
    i = int(rng.integers(len(prob)))
    return i if rng.random() < prob[i] else alias[i]


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    arms = []
    while True:
        scores = [0.0] * n_arms
        for arm in range(n_arms):
            for _ in range(PROBES):
                if len(arms) == horizon:
                    return arms
                scores[arm] += rewards[len(arms), arm]
                arms.append(arm)
        table = alias_table([math.exp(EPSILON * (s - PROBES) / 2) for s in scores])
        favourite = draw(table, rng)
        arms.extend([favourite] * min(STAY, horizon - len(arms)))
