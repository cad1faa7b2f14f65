"""Plays an arm until it has paid three, then refreshes its place."""
import heapq

import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    queue = [(0.0, k) for k in range(K)]
    heapq.heapify(queue)
    actions = []
    while len(actions) < T:
        _, arm = heapq.heappop(queue)
        paid, n = 0.0, 0
        while paid < 3 and n < 10 and len(actions) < T:
            paid += rewards[len(actions), arm]
            actions.append(arm)
            n += 1
        heapq.heappush(queue, (-(paid + rng.laplace(0, 1 / EPSILON)) / n, arm))
    return np.array(actions)
