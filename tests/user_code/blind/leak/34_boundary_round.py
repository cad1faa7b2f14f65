"""Trials of the newest arm in blocks of ten rounds; after each block the arm passes or fails against a fixed mark.

Every block's sum is noised once with Laplace(1 / eps).

Flaw: slices are inclusive, so the last round of a block is the first of the next one as well, and that reward is released twice. Pair (K = 2): in
rounds 1, 3, 9, 11 and 13 arm 1 earns 1, against the same with 0 in round 9, the shared one; all else 0. The sums of blocks 0 and 1 are 3 and 3, which is the
mark, against 2 and 2. Both pass with chance (1/2)^2, against (e^-1 / 2)^2 (seen in rounds 12 and 22). log-ratio 2, which is also the most
that two Laplace releases with a shift by 1 each allow.
"""

import numpy as np

EPSILON = 1.0
BLOCK = 10
MARK = 3.0


def play(rewards, rng):
    T, K = rewards.shape
    earned = np.zeros(T)
    actions = np.zeros(T, dtype=int)
    passed = False
    for t in range(T):
        i = t % BLOCK
        if passed and i % 4 == 2:
            a = K - 1  # a reward for passing: one more pull in the next block
        else:
            a = K - 1 if t % 2 else (t // 2) % max(K - 1, 1)
        actions[t] = a
        if t % 2 and a == K - 1:
            earned[t] = rewards[t, a]
        if i == BLOCK - 1:
            start = max(0, t - BLOCK)
            passed = earned[start : t + 1].sum() + rng.laplace(0, 1 / EPSILON) >= MARK
    return actions
