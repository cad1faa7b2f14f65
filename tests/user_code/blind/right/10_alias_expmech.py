"""Exponential mechanism with an alias table that serves one draw.

Privacy. The table reproduces p_a = e^(eps S_a) / sum_b e^(eps S_b) exactly: column i is chosen uniformly
and returns i with chance prob[i], else alias[i]. S_a is the sum of what arm a
earned in the last cycle of 6 K rounds. One reward lies in one cycle and moves a single S_a by at most 1, so
every log p_b moves by at most eps (the numerator by at most eps, the denominator in the same direction by
no more). A table is built and used once in a cycle, so a reward pays once.
"""

import numpy as np

EPSILON = 1.0


def build_alias(p):
    n = len(p)
    scaled = [n * x for x in p]
    prob, alias = [1.0] * n, list(range(n))
    small = [i for i in range(n) if scaled[i] < 1.0]
    large = [i for i in range(n) if scaled[i] >= 1.0]
    while small and large:
        s, l = small.pop(), large.pop()
        prob[s], alias[s] = scaled[s], l
        scaled[l] -= 1.0 - scaled[s]
        (small if scaled[l] < 1.0 else large).append(l)
    return prob, alias


def alias_draw(table, rng):
    prob, alias = table
    i = int(rng.integers(len(prob)))
    return i if rng.random() < prob[i] else alias[i]


def play(rewards, rng):
    T, K = rewards.shape
    cycle = 6 * K
    actions = np.zeros(T, dtype=int)
    sums, arm = np.zeros(K), 0
    for t in range(T):
        pos = t % cycle
        if pos == 0 and t > 0:
            w = np.exp(EPSILON * (sums - sums.max()))
            arm = alias_draw(build_alias(w / w.sum()), rng)
            sums = np.zeros(K)
        a = pos % K if pos < 2 * K or t < cycle else arm
        actions[t] = a
        sums[a] += rewards[t, a]
    return actions
