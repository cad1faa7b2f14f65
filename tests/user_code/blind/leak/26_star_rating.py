"""Win-stay, lose-shift on noisy star ratings, 1 + 4 r, with Laplace(1 / eps) noise for each rating.

Flaw: stars range over 4, so a rating costs 4 eps (exactly: stay or leave is a threshold on a shifted Laplace variable). The mark is 5. Pair: all rewards 0,
against reward 1 for arm 0 in round 0. Given arm 0 in round 0, it is kept with chance e^-4 / 2 = 0.0092, against 1/2: log-ratio 4.
"""

import numpy as np

EPSILON = 1.0
MARK = 5.0


def play(rewards, rng):
    T, K = rewards.shape
    actions = np.zeros(T, dtype=int)
    arm = 0
    for t in range(T):
        actions[t] = arm
        stars = 1.0 + 4.0 * rewards[t, arm] + rng.laplace(0, 1 / EPSILON)
        if stars < MARK:
            arm = (arm + 1) % K
    return actions
