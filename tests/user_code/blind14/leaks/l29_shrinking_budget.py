"""Two-armed bandit with a decreasing budget schedule, epsilon = 0.7.

Blocks of six rounds: two probes per arm, two rounds on the leader.  The
cumulative gap between the arms is released after each block; block k gets the
share epsilon / k, so later blocks cost less and less.
"""
from itertools import count

import numpy as np

EPS = 0.7


def budgets(total):
    yield from (total / k for k in count(1))


def play(rewards, rng):
    T, K = rewards.shape
    share = budgets(EPS)
    gap, out = 0.0, []
    while len(out) < T:
        for arm in (0, 1, 1, 0)[:T - len(out)]:
            gap += (2 * arm - 1) * rewards[len(out), arm]
            out.append(arm)
        released = gap + rng.laplace(0.0, 1.0 / next(share))
        out.extend([int(released > 0)] * min(2, T - len(out)))
    return np.array(out)
