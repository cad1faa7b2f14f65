"""Rolling window over the last seven rewards, looked at every two rounds.

FAULT: the budget is split by 7 // 2 = 3 looks per reward, but a reward of an odd round (1, 3, ..., counted from 0) falls
in 4 windows.  Each look costs EPSILON / 3, so such a reward costs 4/3 EPSILON.
Pair: arm 0 pays (0, r, .5, .5, .5, .5, .5, 0, ...), r = 0 against 1.  Event: arm 0 in rounds 0 to 8 (four looks passed):
levels 0, 1, 2, 2.5 against 1, 2, 3, 3.5 at bars 1, 2, 3, 3.5: 0.5^4 e^(-4/3 EPSILON) = 0.0126 against 0.0625,
loss 1.6 (claim 1.2).
"""
from collections import deque

import numpy as np

EPSILON = 1.2
WINDOW, HOP = 7, 2
LOOKS = WINDOW // HOP


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    recent = deque(maxlen=WINDOW)
    arm = 0
    path = []
    for t, row in enumerate(rewards, start=1):
        path.append(arm)
        recent.append(row[arm])
        if t % HOP == 0:
            level = sum(recent) + rng.laplace(0.0, LOOKS / EPSILON)
            if 2 * level < len(recent):
                arm = (arm + 1) % n_arms
    return np.asarray(path, dtype=int)
