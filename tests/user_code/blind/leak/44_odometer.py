"""A privacy odometer: each ranking on all data spends eps / 4; when eps is spent, rankings cost nothing any more.

Flaw: "cost nothing" means that no noise is added. The first four rankings (after rounds 4, 10, 16, 22) are eps in all; the fifth, after round 28, and the next are exact. Pair (K = 2): all
rewards 0, against reward 1 for arm 1 in round 1. In round 31 arm 0 is played for certain (tie), against arm 1 for certain. Infinite.
"""

import numpy as np

EPSILON = 1.0


class Odometer:
    def __init__(self, eps):
        self.left = eps

    def spend(self, amount):
        if self.left >= amount - 1e-12:
            self.left -= amount
            return 1.0 / amount
        return 0.0


def play(rewards, rng):
    T, K = rewards.shape
    odometer = Odometer(EPSILON)
    sums = np.zeros(K)
    best = None
    actions = np.zeros(T, dtype=int)
    for t in range(T):
        if t >= 4 and (t - 4) % 6 == 0:
            scale = odometer.spend(EPSILON / 4)
            best = int(np.argmax(sums + scale * rng.laplace(size=K)))
        a = best if best is not None and t % 3 else t % K
        actions[t] = a
        sums[a] += rewards[t, a]
    return actions
