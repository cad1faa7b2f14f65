"""Six phases; after each the arms are ranked by all the data so far with Laplace(1 / eps) noise.

Flaw: a reward of the first phase is in all rankings, each of which costs eps. The first five of them are visible in the
phases that follow. Pair (K = 2): all rewards 0, against reward 1 for arm 0 in round 0. In each ranking arm 1 comes first
with chance 1/2, against e^-1 (1 + 1/2) / 2 = 0.276. The rankings are independent given the sums, so the run
in which arm 1 comes first in all five has log-ratio 5 log(0.5 / 0.276) = 2.97.
"""

import numpy as np

EPSILON = 1.0
PHASES = 6


def play(rewards, rng):
    T, K = rewards.shape
    bounds = np.linspace(0, T, PHASES + 1).astype(int)
    sums = np.zeros(K)
    actions = np.zeros(T, dtype=int)
    order = np.arange(K)
    for p in range(PHASES):
        for i, t in enumerate(range(bounds[p], bounds[p + 1])):
            a = order[i % K] if i < K else order[0]
            actions[t] = a
            sums[a] += rewards[t, a]
        order = np.argsort(-(sums + rng.laplace(0, 1 / EPSILON, K)))
    return actions
