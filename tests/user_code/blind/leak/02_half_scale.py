"""New arms are tried in turn against the known standard arm 0 and adopted if their noisy total is high.

Privacy argument as written by the author: centred rewards r - 1/2 are at most 1/2 in size, hence scale 1 / (2 eps).

Flaw: the sensitivity of a sum to a change of one reward is the width 1, not the largest size 1/2. The trial of an arm
costs exactly 2 eps. Pair (eight trial pulls of arm 1): rewards 1 in its first four pulls and 0 after, against the
same with 0 in its fourth pull. The centred total is 0, against -1; arm 1 is adopted with chance 1/2, against
e^-2 / 2. Ratio e^2; more is not possible, since one Laplace value of scale 1/2 shifts by 1.
"""

import numpy as np

EPSILON = 1.0
TRIAL = 8


def play(rewards, rng):
    T, K = rewards.shape
    actions = np.zeros(T, dtype=int)
    t = 0
    for arm in range(1, K):
        total = 0.0
        for _ in range(TRIAL):
            if t >= T:
                return actions
            actions[t] = arm
            total += rewards[t, arm] - 0.5
            t += 1
        if total + rng.laplace(0, 0.5 / EPSILON) > 0:
            actions[t:] = arm
            return actions
    return actions
