"""Doubling-batch bandit for sensor data, three arms, epsilon = 1.

Each batch plays one arm and ends in a Laplace-noised mean; batches share no
rewards.  A sensor that repeats the same reading five times is taken to be stuck
and its batch is cut short.
"""
from collections import deque

import numpy as np

EPS = 1.0


def stuck(tail):
    return len(tail) == tail.maxlen and max(tail) - min(tail) < 1e-12


def run_batch(rewards, t, arm, length):
    """Play `arm` from round t on; return (sum, rounds used)."""
    tail, total, used = deque(maxlen=5), 0.0, 0
    while used < length and t + used < len(rewards):
        r = rewards[t + used, arm]
        total += r
        used += 1
        tail.append(r)
        if stuck(tail):
            break
    return total, used


def play(rewards, rng):
    T, K = rewards.shape
    est, length = np.full(K, np.inf), np.full(K, 4)
    actions, t = np.empty(T, dtype=int), 0
    while t < T:
        arm = int(np.argmax(est + 0.5 / np.sqrt(length)))
        length[arm] = min(2 * length[arm], 16)
        total, used = run_batch(rewards, t, arm, length[arm])
        actions[t:t + used] = arm
        t += used
        est[arm] = (total + rng.laplace(0.0, 1.0 / EPS)) / used
    return actions
