"""Dirichlet Thompson sampling on four-level grades sent through k-ary randomised response."""
from enum import IntEnum

import numpy as np

EPSILON = 2.5


class Grade(IntEnum):
    POOR = 0
    FAIR = 1
    GOOD = 2
    BEST = 3


K = len(Grade)
P_KEEP = np.exp(EPSILON) / (np.exp(EPSILON) + K - 1)
P_OTHER = 1.0 / (np.exp(EPSILON) + K - 1)


def grade(x):
    return Grade(min(int(x * K), K - 1))


def report(g, rng):
    if rng.random() < P_KEEP:
        return g
    return Grade((g + 1 + rng.integers(K - 1)) % K)


def estimate(counts):
    n = counts.sum()
    return np.maximum((counts - n * P_OTHER) / (P_KEEP - P_OTHER), 0.0)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    tallies = np.zeros((n_arms, K))
    values = np.arange(K) / (K - 1)
    arms = []
    for t in range(horizon):
        draws = [rng.dirichlet(estimate(tallies[a]) + 1.0) @ values for a in range(n_arms)]
        arm = int(np.argmax(draws))
        tallies[arm, report(grade(rewards[t, arm]), rng)] += 1
        arms.append(arm)
    return arms
