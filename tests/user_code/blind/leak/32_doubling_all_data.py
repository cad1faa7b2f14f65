"""Doubling trick: at rounds 2 K, 4 K, 8 K, ... an arm is drawn by the exponential mechanism and played in odd rounds until the next draw.

Flaw: draws use all data so far, with weights exp(eps * sum) each. A reward of the first rounds is in every draw; with T = 40, K = 2 these
are at rounds 4, 8, 16 and 32. Pair: all rewards 0, against reward 1 for arm 0 in round 0. Arm 1 is drawn with chance 1/2, against
1 / (1 + e) = 0.269: four draws give 4 log(0.5 / 0.269) = 2.48.
"""

import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    sums = np.zeros(K)
    favourite, next_draw = None, 2 * K
    seq = np.zeros(T, dtype=int)
    for t in range(T):
        if t == next_draw:
            favourite = int(np.argmax(EPSILON * sums + rng.gumbel(size=K)))
            next_draw *= 2
        seq[t] = favourite if favourite is not None and t % 2 else (t // 2) % K
        if favourite is None:
            seq[t] = t % K
        sums[seq[t]] += rewards[t, seq[t]]
    return seq
