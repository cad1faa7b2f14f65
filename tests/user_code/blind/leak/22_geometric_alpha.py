"""Explore, then commit, on sums in quarters of a reward.

Flaw: alpha = e^-eps is for whole-number data that move by 1. Here one reward moves a sum by 4 units, which costs 4 eps. Pair: arm 0 earns
1 in round 0, against 0; all else 0. The difference X of two such noises has P(X > 0) = 0.360 and P(X > 4) = 0.0157 (exact
sums); arm 1 needs X > 4, against X > 0. log-ratio 3.13. Leads of 12 against 16 units give 3.76.
"""

import numpy as np

EPSILON = 1.0
QUARTERS = 4


def play(rewards, rng):
    T, K = rewards.shape
    alpha = np.exp(-EPSILON)
    explore = min(T, 4 * K)
    a = np.arange(T) % K
    units = np.zeros(K, dtype=int)
    for t in range(explore):
        units[a[t]] += int(np.rint(QUARTERS * rewards[t, a[t]]))
    noisy = units + rng.geometric(1 - alpha, K) - rng.geometric(1 - alpha, K)
    a[explore:] = int(np.argmax(noisy))
    return a
