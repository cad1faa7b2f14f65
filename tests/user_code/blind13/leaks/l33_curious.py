"""Curious bandit: cyclic exploration that dies down, leader by randomised response.

Claim: epsilon = 1 (pure, local).  Rewards are rounded at random to a bit and flipped with probability
1 / (1 + e^eps); the leader is the arm with the best average of unbiased bits (a heap holds the ranking).
The chance of an exploration round goes down as the bandit earns.
"""
import heapq
import math

import numpy as np

EPS = 1.0
K, T = 3, 60
FLIP = 1.0 / (1.0 + math.exp(EPS))


def noisy_bit(reward, rng):
    bit = int(rng.random() < reward)
    bit ^= int(rng.random() < FLIP)
    return (bit - FLIP) / (1.0 - 2.0 * FLIP)


def play(rewards, rng):
    total, count = [0.0] * K, [0] * K
    ranking = [(-0.5, a) for a in range(K)]
    heapq.heapify(ranking)
    earned = 0.0
    actions = []
    for t in range(T):
        curiosity = max(0.05, 0.5 * math.exp(-earned / 4.0))
        arm = t % K if rng.random() < curiosity else ranking[0][1]
        actions.append(arm)
        earned += rewards[t, arm]
        total[arm] += noisy_bit(rewards[t, arm], rng)
        count[arm] += 1
        ranking = [(-total[a] / count[a] if count[a] else -0.5, a) for a in range(K)]
        heapq.heapify(ranking)
    return np.array(actions, dtype=int)
