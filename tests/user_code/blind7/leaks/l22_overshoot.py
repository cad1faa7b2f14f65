"""A privacy filter that looks at what was spent, not at what is about to be.

Leak. Questions cost 0.2, 0.4 and 0.8 of EPSILON and are allowed while less than EPSILON was spent: 0.6 is
less, so the third one is asked, and 1.4 EPSILON is spent on the same sum. Worst pair: a sum of 4, the mark,
or 3; all three answers positive.
"""

import numpy as np

EPSILON = 1.5
PULLS = 8


class Filter:
    def __init__(self, limit):
        self.limit, self.spent = limit, 0.0

    def allows(self, cost):
        if self.spent >= self.limit:
            return False
        self.spent += cost
        return True


def play(rewards, rng):
    horizon, _ = rewards.shape
    total = rewards[:PULLS, 0].sum()
    guard = Filter(EPSILON)
    cost, choice = 0.2 * EPSILON, 1
    actions = [0] * PULLS
    while len(actions) < horizon:
        if guard.allows(cost):
            choice = 0 if total + rng.laplace(0, 1 / cost) > PULLS / 2 else 1
            cost *= 2
        actions += [choice] * 4
    return np.array(actions[:horizon])
