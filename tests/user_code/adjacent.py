"""Mechanisms and bandits that keep epsilon = 1 for some adjacencies only; the others are named beside them.

Sums of rewards or entries in [-1, 1] move by 2 where one is replaced, or where a later one comes in its
place, and by 1 where it is 0 instead; what counts rounds, records or zeros moves only where they come or go.
"""

import numpy as np

EPSILON = 1.0
HORIZON = 20


def sum_of_signs(data, size, rng):
    """A sum with noise for entries that come, go or become 0, but are not replaced."""
    return np.sum(data) + rng.laplace(0, 1 / EPSILON, size)


def counts_records(data, size, rng):
    """A sum with enough noise, and the exact number of records."""
    return np.column_stack([np.sum(data) + rng.laplace(0, 2 / EPSILON, size), np.full(size, np.size(data))])


def counts_missing(data, size, rng):
    """A sum with enough noise, and the exact number of zeros; no entry within [1, 2] is one."""
    missing = np.count_nonzero(np.asarray(data) == 0)
    return np.column_stack([np.sum(data) + rng.laplace(0, 2 / EPSILON, size), np.full(size, missing)])


def keeps_a_good_arm(rewards, n_runs, rng):
    """Plays arm 0 for half the rounds and keeps it if its noisy sum is positive."""
    half = len(rewards) // 2
    good = rewards[:half, 0].sum() + rng.laplace(0, 1 / EPSILON, n_runs) > 0
    return np.where((np.arange(len(rewards)) >= half) & ~good[:, None], 1, 0)


def takes_turns(rewards, n_runs, rng):
    """Takes two arms in turn, then keeps the better one; a round that is left out turns the turns around."""
    half = len(rewards) // 2
    sums = np.array([rewards[arm:half:2, arm].sum() for arm in (0, 1)])
    winner = (sums + rng.laplace(0, 1 / EPSILON, (n_runs, 2))).argmax(axis=1)
    return np.where(np.arange(len(rewards)) >= half, winner[:, None], np.arange(len(rewards)) % 2)


def skips_missing(rewards, n_runs, rng):
    """Keeps the better of two noisy sums, but leaves arm 0 for good once it has paid exactly 0."""
    actions = takes_turns(rewards, n_runs, rng)
    actions[:, -1] |= bool((rewards[:-1, 0] == 0).any())
    return actions


# Function, bounds, and the adjacencies under which it gives away more than EPSILON.
MECHANISMS = (
    (sum_of_signs, (-1.0, 1.0), ("replace",)),
    (counts_records, (-1.0, 1.0), ("add-remove",)),
    (counts_missing, (1.0, 2.0), ("zero-out",)),
)
BANDITS = (
    (keeps_a_good_arm, (-1.0, 1.0), ("replace", "add-remove")),
    (takes_turns, (0.0, 1.0), ("add-remove",)),
    (skips_missing, (0.5, 1.0), ("zero-out", "add-remove")),
)
