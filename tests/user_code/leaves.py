"""Programs with a few decisions, and with more or other ones than can be enumerated."""

import numpy as np

EPSILON = 1.0


def nothing_decided(rewards, rng):
    return np.cumsum(rewards.sum(axis=0) + rng.laplace(0, 1 / EPSILON, 2))


def commit(rewards, rng):
    """One maximum."""
    best = int(np.argmax(rewards[:6].sum(axis=0) + rng.laplace(0, 1 / EPSILON, 2)))
    return np.array([0, 1] * 3 + [best] * (len(rewards) - 6))


def commit_twice(rewards, rng):
    """A maximum, and a comparison only where it comes out so."""
    best = int(np.argmax(rewards[:6].sum(axis=0) + rng.laplace(0, 1 / EPSILON, 2)))
    if best == 1 and rewards[6:9, 1].sum() + rng.laplace(0, 1 / EPSILON) < 1:
        best = 0
    return np.array([0, 1] * 3 + [best] * (len(rewards) - 6))


def noisy_and_larger(rewards, rng):
    """A number with noise, and how it compares."""
    first = float(rewards.sum() + rng.laplace(0, 1 / EPSILON))
    return [first, first > 3]


ALL = [(nothing_decided, 1), (commit, 2), (commit_twice, 3), (noisy_and_larger, 2)]


def every_round(rewards, rng):
    """As many decisions as rounds."""
    totals, arms = np.zeros(2), []
    for row in rewards:
        arm = int(np.argmax(totals))
        totals[arm] += row[arm] + rng.laplace(0, 1 / EPSILON)
        arms.append(arm)
    return np.array(arms)


def greedy(rewards, rng):
    """One of many numbers, and one maximum."""
    first = int(rng.integers(1000)) % 2
    best = int(np.argmax(rewards[:6].sum(axis=0) + rng.laplace(0, 1 / EPSILON, 2)))
    return np.array([first] * 6 + [best] * (len(rewards) - 6))


def wider_by_chance(rewards, rng):
    return rewards.sum() + rng.laplace(0, (1 + rng.random()) / EPSILON)


MORE = [every_round, greedy]


def opposite_signs(rewards, rng):
    """Six comparisons of one reward: alternating answers cost the most."""
    x = rewards[0, 0] - 0.5
    told = [(-1) ** i * x + rng.laplace(0, 5.0 / EPSILON) > 0 for i in range(6)]
    return np.array([int(one) for one in told] + [0] * (len(rewards) - 6))


def more_signs(rewards, rng):
    """Twelve, which no enumeration tries."""
    x = rewards[0, 0] - 0.5
    told = [(-1) ** (i // 2) * x + rng.laplace(0, 10.0 / EPSILON) > 0 for i in range(12)]
    return np.array([int(one) for one in told] + [0] * (len(rewards) - 12))


def swapped_arms(rewards, rng):
    """Twelve maxima of two numbers that change places."""
    x = rewards[0, 0] - 0.5
    arms = []
    for i in range(12):
        first, second = (x, -x) if i // 2 % 2 else (-x, x)
        arms.append(int(np.argmax(np.array([first, second]) + rng.laplace(0, 20.0 / EPSILON, 2))))
    return np.array(arms + [0] * (len(rewards) - 12))
