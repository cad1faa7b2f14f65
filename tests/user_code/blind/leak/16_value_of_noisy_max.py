"""Report noisy max with exponential noise; the winning value also says for how long the winner is played.

Flaw: the index alone would be private. The value is the sum plus one-sided noise, so it is never below the largest sum. Pair: arm 0 earns 1, 1, 1
in its first three pulls, against 1, 1, 0; all else 0. The winning value is at least 3 in the first case; in the
second it is in [2, 3) with chance (1 - e^-1) (1 - e^-3) = 0.60. Then exploitation
lasts floor(value) * 2 = 4 rounds, which cannot happen in the first case. Infinite.
"""

import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    n = min(T, 5 * K)
    arms = np.arange(T) % K
    sums = np.zeros(K)
    for t in range(n):
        sums[arms[t]] += rewards[t, arms[t]]
    noisy = sums + rng.exponential(1 / EPSILON, K)
    best, value = int(np.argmax(noisy)), noisy.max()
    length = min(T - n, 2 * int(np.floor(value)))
    arms[n : n + length] = best
    # afterwards go round again, starting behind the winner
    tail = np.arange(T - n - length)
    arms[n + length :] = (best + 1 + tail) % K
    return arms
