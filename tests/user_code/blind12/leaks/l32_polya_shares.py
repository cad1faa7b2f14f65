"""Distributed noise for a phase-based bandit, epsilon = 1 (pure).

Each user turns his reward into a bit (stochastic rounding) and adds his own share
of discrete Laplace noise, the difference of two Polya (negative binomial) variables
of shape 1 / n, so that the shares of the n users add up to the two-sided geometric
law with parameter exp(-eps).  The server sees the sums only.
"""
import heapq
import math

import numpy as np

EPS = 1.0


def polya(shape, rng):
    """Negative binomial with real shape through its gamma-Poisson mixture."""
    alpha = math.exp(-EPS)
    return int(rng.poisson(rng.gamma(shape, alpha / (1.0 - alpha))))


def user_report(reward, n_users, rng):
    bit = int(rng.random() < min(1.0, max(0.0, float(reward))))
    return bit + polya(1.0 / n_users, rng) - polya(1.0 / n_users, rng)


def play(rewards, rng):
    T, K = rewards.shape
    pulls = 6
    actions = []
    standing = [(-0.0, a) for a in range(K)]       # heap of (minus noisy mean, arm)
    heapq.heapify(standing)
    while len(actions) < T:
        if T - len(actions) < pulls * K:
            actions += [standing[0][1]] * (T - len(actions))
            break
        fresh = []
        for arm in range(K):
            total = 0
            for _ in range(pulls):
                total += user_report(rewards[len(actions), arm], T, rng)
                actions.append(arm)
            fresh.append((-total / pulls, arm))
        heapq.heapify(fresh)
        standing = fresh
        serve = min(pulls, T - len(actions))
        actions += [standing[0][1]] * serve
    return np.array(actions)
