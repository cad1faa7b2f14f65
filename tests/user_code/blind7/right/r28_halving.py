"""Sequential halving, written recursively.

Right. Every call pulls the arms that are left afresh, adds Laplace noise of scale 1 / EPSILON to their sums
of this call once, and hands the better half to the next call. A reward is in one sum of one call, so that
the calls compose in parallel.
"""

import numpy as np

EPSILON = 3.0


def halve(arms, t, rewards, rng):
    horizon = len(rewards)
    if len(arms) == 1:
        return arms * (horizon - t)
    pulls = max(1, horizon // (3 * len(arms)))
    played = [arm for arm in arms for _ in range(pulls)][: horizon - t]
    if len(played) < pulls * len(arms):
        return played
    sums = {arm: rng.laplace(0, 1 / EPSILON) for arm in arms}
    for offset, arm in enumerate(played):
        sums[arm] += rewards[t + offset, arm]
    better = sorted(arms, key=sums.get, reverse=True)[: (len(arms) + 1) // 2]
    return played + halve(better, t + len(played), rewards, rng)


def play(rewards, rng):
    return np.array(halve(list(range(rewards.shape[1])), 0, rewards, rng))
