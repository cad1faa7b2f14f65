"""Boltzmann exploration: every round draws its arm by the exponential mechanism."""
import math
from itertools import accumulate

EPSILON = 1.0


def exponential_mechanism(scores, rng):
    top = max(scores)
    cumulative = list(accumulate(math.exp(EPSILON * (s - top) / 2) for s in scores))
    u = rng.random() * cumulative[-1]
    return next(i for i, c in enumerate(cumulative) if u <= c)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    scores = [0.0] * n_arms
    arms = []
    for t in range(horizon):
        arm = exponential_mechanism(scores, rng)
        scores[arm] += float(rewards[t, arm]) - 0.5
        arms.append(arm)
    return arms
