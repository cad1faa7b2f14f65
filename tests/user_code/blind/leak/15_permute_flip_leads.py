"""Permute-and-flip on leads: the utility of an arm is its sum minus the best of the others.

Flaw: acceptance is exp(eps (u - max u)), which is right only if one reward moves one utility. Leads of two arms move by 1 in opposite
directions, so that their gap moves by 2. With K = 2 and arm 0 ahead by d, arm 1 is chosen iff it comes first and is accepted:
e^(-2 d) / 2. Pair: all rewards 0, against reward 1 for arm 0 in round 0: 1/2 against e^-2 / 2. One selection is
made per stage from the rewards of that stage, so true epsilon is 2.
"""

import numpy as np

EPSILON = 1.0


def permute_and_flip(u, rng):
    top = max(u)
    for a in rng.permutation(len(u)):
        if rng.random() < np.exp(EPSILON * (u[a] - top)):
            return a
    return int(np.argmax(u))


def play(rewards, rng):
    T, K = rewards.shape
    stage, probes = 20, 4 * K
    actions = np.zeros(T, dtype=int)
    for s in range(0, T, stage):
        sums = np.zeros(K)
        end = min(T, s + stage)
        mid = min(end, s + probes)
        for t in range(s, mid):
            a = (t - s) % K
            actions[t] = a
            sums[a] += rewards[t, a]
        leads = [sums[a] - np.delete(sums, a).max() for a in range(K)]
        actions[mid:end] = permute_and_flip(leads, rng)
    return actions
