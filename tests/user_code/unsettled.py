"""Raw data decides a branch: by a pattern of rewards (leaks), or before noise hides the answer (right)."""

from __future__ import annotations

import numpy as np

EPSILON = 1.0


def _seen(rewards):
    """What the first half of the rounds plays in turn, and the first three rewards of arm 1."""
    horizon, n_arms = rewards.shape
    arms = np.arange(horizon // 2) % n_arms
    sums = np.zeros(n_arms)
    for t, arm in enumerate(arms):
        sums[arm] += rewards[t, arm]
    return arms.tolist(), sums, [rewards[t, 1] for t in range(1, 3 * n_arms, n_arms)]


def leak_of_a_pattern(rewards, rng):
    """Arm 1 is played if its first rewards are high, low and high."""
    arms, sums, first = _seen(rewards)
    best = int(np.argmax(sums + rng.laplace(0, 1, len(sums))))
    if first[0] > 0.9 and first[1] < 0.1 and first[2] > 0.9:
        best = 1
    return arms + [best] * (len(rewards) - len(arms))


def leak_of_a_nested_pattern(rewards, rng):
    """The same, one question after another."""
    arms, sums, first = _seen(rewards)
    best = int(np.argmax(sums + rng.laplace(0, 1, len(sums))))
    if first[0] > 0.9:
        arm = 1 if first[1] < 0.1 else best
        if first[2] > 0.9:
            best = arm
    return arms + [best] * (len(rewards) - len(arms))


def right_count(rewards, rng):
    """How many rewards are high, with noise."""
    horizon, n_arms = rewards.shape
    high, arms = [[] for _ in range(n_arms)], []
    for t in range(horizon // 2):
        arms.append(t % n_arms)
        if rewards[t, arms[-1]] >= 0.6:
            high[arms[-1]].append(t)
    best = int(np.argmax([len(rounds) for rounds in high] + rng.laplace(0, 1, n_arms)))
    return arms + [best] * (horizon - len(arms))
