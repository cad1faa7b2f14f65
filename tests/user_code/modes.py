# ruff: noqa: NPY002
"""Code that pays itself with a function whose only whole number is no arm."""

import numpy as np


def sample_reward(mean, test_type):
    return float(np.random.random() < mean) if test_type == 0 else np.random.random()


def _played(means, T):
    sums, arms = np.zeros(len(means)), np.zeros(T, dtype=int)
    for t in range(T):
        arm = (
            t % len(means) if t < 2 * len(means) else int(np.argmax(sums + np.random.random(len(means)) / 99))
        )
        sums[arm] += sample_reward(means[arm], 0)
        arms[t] = arm
    return arms


def greedy(means, T):
    """The means are handed to it; a leak."""
    return _played(means, T)


def listed(means, T):
    return _played([float(mean) for mean in means], T)


def own_means(n_arms, T):
    """Its own means do not tell which arm is pulled."""
    return _played(np.linspace(0.2, 0.8, n_arms), T)


def pay(number):
    return float(np.random.random() < 0.5 + number / 10)


def right_number(n_arms, T):
    """The only whole number is the arm."""
    return [pay(t % n_arms) for t in range(T)]
