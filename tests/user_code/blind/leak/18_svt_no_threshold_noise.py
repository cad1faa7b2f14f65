"""Leaves arm 0 for good at the first sign that its lead is high, with noise on queries only.

Flaw: without noise on the threshold every negative answer costs budget, too, not only the positive one. Pair: all rewards 0, against
reward 1 for arm 0 in round 0 (K = 2). Queries are asked after rounds 1, 3, 5, ...; each is negative with chance 1 - e^-1 / 2 = 0.816 while the lead
is 0, and 1/2 while it is 1. Eight negative answers: 0.816^8 = 0.197, against 2^-8 = 0.0039, log-ratio 3.9;
all nineteen that later rounds can show: 9.3.
"""

import numpy as np

EPSILON = 1.0
LEVEL = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    lead, over = 0.0, False
    path = np.zeros(T, dtype=int)
    for t in range(T):
        if over:
            path[t] = 0
            continue
        a = t % K
        path[t] = a
        lead += rewards[t, a] if a == 0 else 0.0
        if t >= K - 1 and a == K - 1 and lead + rng.laplace(0, 1 / EPSILON) >= LEVEL:
            over = True
    return path
