"""Seasons of trials; the permute-and-flip mechanism names the arm of the rest of each season.

Permute-and-flip with coins exp(eps (q_r - q_max)) has the law of argmax(q_r + E_r), E_r exponential with rate eps (Ding et al.).
One reward sits in one sum of one season and moves that sum alone by at most 1.  For the event "r wins" fix the other E's: r wins
iff E_r > c - q_r with c the best of the others, and a change moves the threshold c - q_r by at most 1, whichever sum it is in.
P(E_r > x) = min(1, e^(-eps x)) changes by a factor in [e^-eps, e^eps] when x moves by 1: eps-DP, no factor 2.  It is attained
when r is at least 1 behind.  Sums start afresh each season, so a reward is used in one choice only.
"""
from math import exp

import numpy as np

EPSILON = 0.8
TRIALS = 3
REST = 6


def permute_and_flip(scores, rng):
    top = max(scores)
    for r in rng.permutation(len(scores)):
        if rng.random() <= exp(EPSILON * (scores[r] - top)):
            return int(r)
    raise AssertionError("the top score always wins its flip")


def schedule(horizon, k):
    """Yields (round, arm) in a trial, (round, None) in the rest of a season."""
    season = TRIALS * k + REST
    for t in range(horizon):
        place = t % season
        yield t, (place % k if place < TRIALS * k else None)


def play(rewards, rng):
    horizon, k = rewards.shape
    out = []
    sums = [0.0] * k
    chosen = None
    for t, trial in schedule(horizon, k):
        if trial is not None:
            if chosen is not None:
                sums, chosen = [0.0] * k, None
            sums[trial] += float(rewards[t, trial])
            out.append(trial)
            continue
        if chosen is None:
            chosen = permute_and_flip(sums, rng)
        out.append(chosen)
    return np.array(out, dtype=int)
