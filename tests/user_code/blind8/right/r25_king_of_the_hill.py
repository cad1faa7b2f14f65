"""King of the hill: a champion meets each challenger in a duel; the last champion is played to the end.

A duel pulls both arms DUEL times each and picks the winner by permute-and-flip on the two sums, accepting a candidate
with probability exp(EPSILON * (sum - best)).  Permute-and-flip equals the argmax of sum + Exp(rate EPSILON).  A changed
reward moves one of the two sums by at most 1, so the threshold the winner's exponential has to pass moves by at most 1
either way, and P(Exp > x + 1) >= e^-EPSILON P(Exp > x).  Hence e^EPSILON per duel.  The champion's sum starts from
zero in the next duel, so each reward is in one duel; rewards after the last duel are not read.
"""
from functools import reduce
import math

import numpy as np

EPSILON = 1.2
DUEL = 4


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    log = []

    def pull(arm):
        t = len(log)
        log.append(arm)
        return rewards[t, arm]

    def duel(champion, challenger):
        sums = {champion: 0.0, challenger: 0.0}
        for _ in range(DUEL):
            for arm in sums:
                sums[arm] += pull(arm)
        best = max(sums.values())
        order = list(sums)
        if rng.random() < 0.5:
            order.reverse()
        first, second = order
        return first if rng.random() < math.exp(EPSILON * (sums[first] - best)) else \
            second if rng.random() < math.exp(EPSILON * (sums[second] - best)) else first

    king = reduce(duel, range(n_arms))
    log.extend([king] * (horizon - len(log)))
    return np.array(log)
