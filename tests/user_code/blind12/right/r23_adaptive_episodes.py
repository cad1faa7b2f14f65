"""Adaptive episodes with forgetting (in the way of AdaP-UCB), for a pricing test.

The arm with the highest private index is played for an episode twice as long as its last one;
then its index is rebuilt from that episode alone: mean + Laplace(1 / (eps n)) + bonus.  Episodes of an
arm do not overlap, so each reward enters one noisy mean.  Claim: 2.0-DP (pure).
"""
import heapq
import math

import numpy as np

EPSILON = 2.0


def private_mean(values, rng):
    n = len(values)
    return sum(values) / n + rng.laplace(0.0, 1.0 / (EPSILON * n))


def bonus(n, t):
    return 0.4 * math.sqrt(math.log(1 + t) / (2 * n)) + 0.2 * math.log(1 + t) / (EPSILON * n)


def play(rewards, rng):
    T, K = rewards.shape
    queue = [(-math.inf, a, 1) for a in range(K)]      # (minus index, price, next length)
    heapq.heapify(queue)
    actions = np.zeros(T, dtype=int)
    t = 0
    while t < T:
        _, a, length = heapq.heappop(queue)
        stop = min(t + length, T)
        actions[t:stop] = a
        seen = [rewards[s, a] for s in range(t, stop)]
        t = stop
        index = private_mean(seen, rng) + bonus(len(seen), t)
        heapq.heappush(queue, (-index, a, 2 * length))
    return actions
