"""Phased exploration; the leader is drawn by permute-and-flip on advantages, s_i minus the mean of the other sums.

Fault: the noise Exp(1/EPSILON) fits scores of which one moves by 1, but an advantage moves the gap between the changed
arm and any other by 1 + 1/(K - 1).  Pair (K = 3, one phase of M = 4): arms 1, 2 always pay 1; arm 0 pays 0 each time,
or once 1.  Event: arm 0 leads.  Its gap is 6 (or 4.5), so P = e^{-EPSILON gap} E[e^{-EPSILON max(E_1, E_2)}] and the
loss is exactly 1.5 EPSILON = 1.5 (the same with smaller gaps, as long as arm 0 trails by one or more).
"""
import numpy as np

EPSILON = 1.0
M = 4
HOLD = 6


def advantages(sums):
    total = sum(sums)
    return [s - (total - s) / (len(sums) - 1) for s in sums]


def permute_and_flip(scores, eps, rng):
    top = max(scores)
    queue = list(rng.permutation(len(scores)))
    while queue:
        i = int(queue.pop())
        if rng.random() <= np.exp(eps * (scores[i] - top)):
            return i
    return int(np.argmax(scores))


def play(rewards, rng):
    T, K = rewards.shape
    actions = np.zeros(T, dtype=int)
    t, leader = 0, 0
    while t < T:
        if t + K * M > T:
            actions[t:] = leader
            return actions
        sums = [0.0] * K
        for k in range(K * M):
            arm = k % K
            actions[t] = arm
            sums[arm] += rewards[t, arm]
            t += 1
        leader = permute_and_flip(advantages(sums), EPSILON, rng)
        stop = min(T, t + HOLD)
        actions[t:stop] = leader
        t = stop
    return actions
