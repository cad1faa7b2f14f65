"""Softmax choice every round."""
import bisect
import itertools
import math

EPSILON = 4.0


def draw(weights, u):
    acc = list(itertools.accumulate(weights))
    return min(bisect.bisect_right(acc, u * acc[-1]), len(weights) - 1)


def play(rewards, rng):
    T, K = rewards.shape
    per_round = EPSILON / T
    totals = [0.0] * K
    chosen = []
    for t in range(T):
        weights = [math.exp(per_round * s) for s in totals]
        a = draw(weights, rng.random())
        chosen.append(a)
        totals[a] += float(rewards[t, a])
    return chosen
