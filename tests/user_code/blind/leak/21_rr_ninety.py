"""Win-stay, lose-shift on bits from randomised response.

Flaw: bits are kept with chance 0.9 = 1 - 0.1 * eps, where e / (1 + e) = 0.731 would be right. The next action shows the answer: true
epsilon log 9 = 2.197. Pair: all rewards 0, against reward 1 for arm 0 in round 0. Event: arm 0 in rounds 0 and 1; given arm 0 in
round 0 it has chance 0.1, against 0.9.
"""

import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    keep = 1 - 0.1 * EPSILON
    arm = int(rng.integers(K))
    actions = []
    for t in range(T):
        actions.append(arm)
        bit = bool(rewards[t, arm] > 0.5)
        answer = bit if rng.random() < keep else not bit
        arm = arm if answer else (arm + 1) % K
    return np.array(actions)
