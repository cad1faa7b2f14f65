"""Bandits on mechanisms of diffprivlib, each with epsilon 1, and their twins that leak."""

import numpy as np

from tests.user_code.diffprivlib_mechanisms import mechanisms

EPSILON, DELTA = 1.0, 1e-5


def committed(rewards, choose):
    """Arms by turns in the first half, then the one that is chosen by what they paid."""
    horizon, n_arms = rewards.shape
    arms = [t % n_arms for t in range(horizon // 2)]
    sums = [0.0] * n_arms
    for t, arm in enumerate(arms):
        sums[arm] += rewards[t, arm]
    return np.array(arms + [int(choose(sums))] * (horizon - len(arms)))


def by_noise(rewards, mechanism):
    return committed(rewards, lambda sums: np.argmax([mechanism.randomise(s) for s in sums]))


def laplace(rewards, rng):
    return by_noise(rewards, mechanisms.Laplace(epsilon=EPSILON, sensitivity=1))


def gaussian(rewards, rng):
    return by_noise(rewards, mechanisms.Gaussian(epsilon=EPSILON, delta=DELTA, sensitivity=1))


def analytic_gaussian(rewards, rng):
    return by_noise(rewards, mechanisms.GaussianAnalytic(epsilon=EPSILON, delta=DELTA, sensitivity=1))


def staircase(rewards, rng):
    return by_noise(rewards, mechanisms.Staircase(epsilon=EPSILON, sensitivity=1))


def geometric(rewards, rng):
    mechanism = mechanisms.Geometric(epsilon=EPSILON, sensitivity=1)
    horizon, n_arms = rewards.shape
    counts = [0] * n_arms
    for t in range(horizon // 2):
        counts[t % n_arms] += int(rewards[t, t % n_arms] >= 0.5)
    best = int(np.argmax([mechanism.randomise(count) for count in counts]))
    return np.array([t % n_arms for t in range(horizon // 2)] + [best] * (horizon - horizon // 2))


def exponential(rewards, rng):
    def choose(sums):
        return mechanisms.Exponential(
            epsilon=EPSILON, sensitivity=1, utility=sums, candidates=list(range(len(sums))), monotonic=True
        ).randomise()

    return committed(rewards, choose)


def permute_and_flip(rewards, rng):
    return committed(
        rewards,
        lambda sums: mechanisms.PermuteAndFlip(epsilon=EPSILON, sensitivity=1, utility=sums).randomise(),
    )


def too_small_a_sensitivity(rewards, rng):
    return by_noise(rewards, mechanisms.Laplace(epsilon=EPSILON, sensitivity=0.5))


def too_small_a_step(rewards, rng):
    """A move of 1.5 steps of the staircase is paid for twice."""
    return by_noise(rewards, mechanisms.Staircase(epsilon=EPSILON, sensitivity=2 / 3))


def too_small_a_deviation(rewards, rng):
    return by_noise(rewards, mechanisms.GaussianAnalytic(epsilon=EPSILON, delta=DELTA, sensitivity=0.5))


def too_small_a_utility(rewards, rng):
    def choose(sums):
        return mechanisms.Exponential(epsilon=EPSILON, sensitivity=0.25, utility=sums).randomise()

    return committed(rewards, choose)


def twice(rewards, rng):
    """The same sums are asked twice, and both answers are seen."""
    arms = by_noise(rewards, mechanisms.Laplace(epsilon=EPSILON, sensitivity=1))
    again = by_noise(rewards, mechanisms.Laplace(epsilon=EPSILON, sensitivity=1))
    return np.append(arms[:-1], again[-1])


def after_a_branch(rewards, rng):
    mechanism = mechanisms.Laplace(epsilon=EPSILON, sensitivity=1)
    return committed(
        rewards, lambda sums: 0 if sums[0] > 1 else np.argmax([mechanism.randomise(s) for s in sums])
    )


def with_a_seed(rewards, rng):
    """The noise is the same in all runs."""
    return by_noise(rewards, mechanisms.Laplace(epsilon=EPSILON, sensitivity=1, random_state=7))
