"""Noise whose size follows from public chance, and is never smaller than it has to be: twins of `rare`.

EPSILON = 1 is claimed of each in `RIGHT`.
"""

# ruff: noqa: B905 - as users write it

from __future__ import annotations

import math

import numpy as np

EPSILON = 1.0


def _explored(rewards, rng):
    """Random arms in the first half, and the sums of their rewards."""
    arms = [int(rng.integers(2)) for _ in range(len(rewards) // 2)]
    sums = [0.0, 0.0]
    for t, arm in enumerate(arms):
        sums[arm] += rewards[t, arm]
    return arms, sums


def _followed(rewards, arms, sums, scale, rng):
    """The arm with the larger noisy sum in the second half."""
    noisy = [s + rng.laplace(0, scale) for s in sums]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def more_with_arms(rewards, rng):
    """More noise, the more arms came."""
    arms, sums = _explored(rewards, rng)
    return _followed(rewards, arms, sums, (1 + sum(arms)) / EPSILON, rng)


def means(rewards, rng):
    """Means of as many pulls as there were."""
    arms, sums = _explored(rewards, rng)
    pulls = [max(1, arms.count(arm)) for arm in range(2)]
    noisy = [s / n + rng.laplace(0, 1 / (EPSILON * n)) for s, n in zip(sums, pulls)]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def means_by_bincount(rewards, rng):
    """The same with arrays."""
    arms, sums = _explored(rewards, rng)
    pulls = np.maximum(np.bincount(arms, minlength=2), 1)
    noisy = np.array(sums) / pulls + rng.laplace(0, 1, 2) / (EPSILON * pulls)
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def means_by_masks(rewards, rng):
    """The same with counts of a comparison."""
    arms, sums = _explored(rewards, rng)
    pulls = [max(1, sum(a == arm for a in arms)) for arm in range(2)]
    noisy = [s / n + rng.laplace(0, 1 / (EPSILON * n)) for s, n in zip(sums, pulls)]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def table_by_round(rewards, rng):
    """A table of scales is read in a fixed order."""
    table, found = {0: 2.0, 1: 4.0, 2: 4.0}, []
    total = rewards[:10, 0].sum()
    for i in range(3):
        found.append(total + rng.laplace(0, table[i] / EPSILON))
    return [0] * 10 + [int(y > 5) for y in found] * 10


def get_by_round(rewards, rng):
    """The same with a default."""
    found, total = [], rewards[:10, 0].sum()
    for i in range(2):
        found.append(total + rng.laplace(0, {0: 2.0}.get(i, 2.0) / EPSILON))
    return [0] * 10 + [int(y > 5) for y in found] * 15


def set_of_arms(rewards, rng):
    """Which arms came decides nothing about the noise."""
    arms, sums = _explored(rewards, rng)
    unseen = 2 - len(set(arms))
    best = int(np.argmax([s + rng.laplace(0, 1 / EPSILON) for s in sums]))
    return arms + [(best + unseen) % 2] * (len(rewards) - len(arms))


def budget_by_round(rewards, rng):
    """A geometric share of epsilon for each phase, by remainders of the round."""
    arms, total, share = [], 0.0, 0
    for t in range(len(rewards)):
        if t % 10 == 0:
            noisy = total + rng.laplace(0, 1 / (EPSILON * (1 - 0.5 * (t % 20 == 30))))
            total, share = 0.0, int(noisy > 5)
        arms.append(share)
        total += rewards[t, share]
    return arms


def branch_by_pattern(rewards, rng):
    """More noise after a certain row of arms."""
    arms, sums = _explored(rewards, rng)
    scale = 1 / EPSILON
    if sum(arms) > 10:
        scale = 2 / EPSILON
    return _followed(rewards, arms, sums, scale, rng)


def flagged(rewards, rng):
    """A comparison as a number that counts, and is shown, beside the noise."""
    arms, sums = _explored(rewards, rng)
    flag = int(arms[0] == arms[1])
    noisy = [s + rng.laplace(0, 1 / EPSILON) + 0.5 * flag for s in sums]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


# ---------------------------------------------------------------- of noise of the user's own making


def gumbel_by_counts(rewards, rng):
    """More noise, the more arms came, by logarithms."""
    arms, sums = _explored(rewards, rng)
    scale = (1 + sum(arms)) / EPSILON
    noisy = [s / (1 + sum(arms)) - scale * math.log(-math.log(rng.random())) / (1 + sum(arms)) for s in sums]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def softmax_of_means(rewards, rng):
    """Weights that are less steep, the more pulls there were."""
    arms, sums = _explored(rewards, rng)
    pulls = 1 + len(arms) + sum(arms)
    weights = np.exp(np.array(sums) / pulls * (EPSILON * pulls))
    return arms + [int(rng.choice(2, p=weights / weights.sum()))] * (len(rewards) - len(arms))


def powers(rewards, rng):
    """Weights as powers of a number that is always the same."""
    arms, sums = _explored(rewards, rng)
    weights = [math.exp(EPSILON) ** s for s in sums]
    return arms + [int(rng.random() < weights[1] / sum(weights))] * (len(rewards) - len(arms))


RIGHT = [
    more_with_arms,
    means,
    means_by_bincount,
    means_by_masks,
    table_by_round,
    get_by_round,
    set_of_arms,
    budget_by_round,
    branch_by_pattern,
    flagged,
    gumbel_by_counts,
    softmax_of_means,
    powers,
]

# A sum of drawn numbers is taken for more than a count, so that they have no bound any more.
SUMS = [more_with_arms, gumbel_by_counts, softmax_of_means]
