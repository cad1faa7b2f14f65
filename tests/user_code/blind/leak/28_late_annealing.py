"""Disjoint noisy blocks; noise is lowered as the run comes to its end, "because little can be learnt from late rounds".

Flaw: what ends is the run, not the sensitivity. Blocks of eight rounds up to round 24 get Laplace(1 / eps), the one that ends at round 32 gets
Laplace(0.1 / eps). Pair (K = 2): all rewards 0, against reward 1 for arm 0 in round 24. In rounds 36 to 39 arm 1 is the leader with chance 1/2
in the first case and P(X > 1) = e^-10 (1 + 5) / 2 = 0.00014 in the second. log-ratio 8.2.
"""

import numpy as np

EPSILON = 1.0
BLOCK = 8


def play(rewards, rng):
    T, K = rewards.shape
    leader = 0
    actions = np.zeros(T, dtype=int)
    for start in range(0, T, BLOCK):
        stop = min(T, start + BLOCK)
        probe = np.zeros(K)
        for t in range(start, stop):
            if (t - start) < BLOCK // 2:
                a = (t - start) % K
                probe[a] += rewards[t, a]
            else:
                a = leader
            actions[t] = a
        scale = 1 / EPSILON if stop < 0.75 * T else 0.1 / EPSILON
        leader = int(np.argmax(probe + rng.laplace(0, scale, K)))
    return actions
