"""Lazy UCB with arm-wise doubling episodes and the geometric mechanism.

Rewards are rounded at random to 0/1.  When an arm is chosen it is played for an
episode twice as long as its last one; the number of ones in that episode gets
two-sided geometric noise and alone decides the arm's new index (older episodes
are forgotten).  A heap keeps the indices.  Claim: epsilon = 1.0.
"""
import heapq
import math

import numpy as np

EPS = 1.0


def two_sided_geometric(rng, eps):
    """P(z) proportional to exp(-eps |z|): the difference of two geometrics."""
    p = 1.0 - math.exp(-eps)
    return int(rng.geometric(p)) - int(rng.geometric(p))


def play(rewards, rng):
    rewards = np.asarray(rewards, dtype=float)
    horizon, k = rewards.shape
    heap = [(-math.inf, arm) for arm in range(k)]
    heapq.heapify(heap)
    length = dict.fromkeys(range(k), 2)
    actions = []
    while len(actions) < horizon:
        _, arm = heapq.heappop(heap)
        n = length[arm]
        ones = 0
        for _ in range(min(n, horizon - len(actions))):
            t = len(actions)
            actions.append(arm)
            ones += int(rng.random() < rewards[t, arm])
        noisy = ones + two_sided_geometric(rng, EPS)
        index = noisy / n + 0.5 * math.sqrt(math.log(horizon) / n)
        heapq.heappush(heap, (-index, arm))
        length[arm] = 2 * n
    return np.asarray(actions, dtype=int)
