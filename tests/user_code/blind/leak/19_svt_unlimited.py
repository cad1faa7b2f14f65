"""Asks in every round whether one of the arms is ahead, through a sparse vector with standard noise.

Flaw: AboveThreshold pays for one positive answer, here it goes on for ever with the same noisy threshold. Arms are asked in turn, so that a
change of the lead by 1 raises half of the queries and lowers the others and cannot be blamed on the threshold. Pair (K = 2): all rewards
0, against reward 1 for arm 1 in round 1. Query noise is Laplace(4 / eps): near the threshold an answer has log-ratio about
log(0.61 / 0.5) = 0.2, and 32 answers of the right kind 6.28 (integrated over the threshold noise). The event that arm 1 is played
in at least 22 of the last 32 rounds has log-ratio 2.1.
"""

import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    warm_up = min(T, 4 * K)
    sums = np.zeros(K)
    rho = rng.laplace(0, 2 / EPSILON)
    actions = np.arange(T) % K
    for t in range(T):
        if t < warm_up:
            sums[actions[t]] += rewards[t, actions[t]]
            continue
        asked = t % K
        lead = sums[asked] - np.delete(sums, asked).max()
        ahead = lead + rng.laplace(0, 4 / EPSILON) >= rho
        actions[t] = asked if ahead else (asked + 1) % K
    return actions
