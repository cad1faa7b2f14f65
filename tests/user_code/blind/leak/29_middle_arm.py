"""Report noisy max over three arms.

Flaw: the loop over both ends of the list (i and -1 - i) stops before the middle, so with three arms the sum of arm 1 has no noise. Pair: arm 1
earns 0 in its first pull, against 1; arm 0 and arm 2 earn 1 in their first pulls; all else 0. Arm 1 wins if both noises are
below -1, against below 0: (e^-1 / 2)^2 = 0.0338 against 1/4 (ties have chance 0). log-ratio exactly 2, which is also the most,
as two noises of scale 1 / eps stand against a shift by 1. With two arms the loop misses nobody.
"""

import numpy as np

EPSILON = 1.0


def add_noise(sums, rng):
    noisy = np.array(sums, dtype=float)
    for i in range(len(noisy) // 2):
        noisy[i] += rng.laplace(0, 1 / EPSILON)
        noisy[-1 - i] += rng.laplace(0, 1 / EPSILON)
    return noisy


def play(rewards, rng):
    T, K = rewards.shape
    actions = np.zeros(T, dtype=int)
    cycle = 6 * K
    for start in range(0, T, cycle):
        sums = np.zeros(K)
        stop, half = min(T, start + cycle), min(T, start + cycle // 2)
        for t in range(start, half):
            actions[t] = (t - start) % K
            sums[actions[t]] += rewards[t, actions[t]]
        actions[half:stop] = int(np.argmax(add_noise(sums, rng)))
    return actions
