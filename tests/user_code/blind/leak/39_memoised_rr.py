"""Win-stay, lose-shift with permanent randomised response: a value always gets the same answer, "so that averaging does not help".

Flaw: equal answers for equal values tell that values are equal. Pair: all rewards 0, against reward 1 for arm 0 in round 5. If all are 0 there is one answer: either arm 0
is kept for ever or arms alternate for ever. With the 1 the run can stay on arm 0 through round 5 and leave it in round 6 only
(answer "win" for 0, "lose" for 1, chance 0.27^2 = 0.07 given a start at arm 0): impossible in the first case. Infinite.
"""

import numpy as np

EPSILON = 1.0
KEEP = np.exp(EPSILON) / (1 + np.exp(EPSILON))


def play(rewards, rng):
    T, K = rewards.shape
    memo = {}
    arm = int(rng.integers(K))
    pulls = np.zeros(T, dtype=int)
    for t in range(T):
        pulls[t] = arm
        bit = bool(rewards[t, arm] >= 0.5)
        if bit not in memo:
            memo[bit] = bit if rng.random() < KEEP else not bit
        if not memo[bit]:
            arm = (arm + 1) % K
    return pulls
