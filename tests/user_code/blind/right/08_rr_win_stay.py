"""Win-stay, lose-shift on privatised bits.

Privacy. The reward of a round is rounded to a bit, and the bit is kept with probability e^eps / (1 + e^eps)
and flipped otherwise. For any two rewards the chances of either answer differ by a factor of at most
e^eps. Each reward is used for one answer, and only answers decide, so the sequence is eps-DP.
"""

import numpy as np

EPSILON = 1.0
KEEP = np.exp(EPSILON) / (1.0 + np.exp(EPSILON))


def play(rewards, rng):
    T, K = rewards.shape
    arm = int(rng.integers(K))
    chosen = []
    for t in range(T):
        chosen.append(arm)
        win = rewards[t, arm] >= 0.5
        if rng.random() >= KEEP:
            win = not win
        if not win:
            arm = (arm + 1) % K
    return np.array(chosen)
