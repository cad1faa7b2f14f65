"""Bandits on measurements of OpenDP, each with epsilon 1, and their twins that leak."""

import math

import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib")
EPSILON, DELTA = 1.0, 1e-5
_FLOAT, _INT = dp.atom_domain(T=float, nan=False), dp.atom_domain(T=int)
_FLOATS = dp.vector_domain(_FLOAT)
_LAPLACE = dp.m.make_laplace(_FLOATS, dp.l1_distance(T=float), scale=1 / EPSILON)
_GAUSSIAN = dp.m.make_gaussian(_FLOATS, dp.l2_distance(T=float), scale=8.0)
_DISCRETE = dp.m.make_laplace(dp.vector_domain(_INT), dp.l1_distance(T=int), scale=1 / EPSILON)
_GEOMETRIC = dp.m.make_geometric(_INT, dp.absolute_distance(T=int), scale=1 / EPSILON)
_NOISY_MAX = dp.m.make_noisy_max(_FLOATS, dp.linf_distance(T=float), dp.max_divergence(), scale=2 / EPSILON)
_RESPONSE = dp.m.make_randomized_response_bool(prob=math.exp(EPSILON) / (1 + math.exp(EPSILON)))


def explored(rewards, rounds=None):
    """Arms by turns in the first half, and what they paid."""
    horizon, n_arms = rewards.shape
    arms = [t % n_arms for t in range(horizon // 2 if rounds is None else rounds)]
    sums = [0.0] * n_arms
    for t, arm in enumerate(arms):
        sums[arm] += float(np.clip(rewards[t, arm], 0, 1))
    return arms, sums


def committed(rewards, choose):
    arms, sums = explored(rewards)
    best = int(choose(sums))
    return np.array(arms + [best] * (len(rewards) - len(arms)))


def laplace(rewards, rng):
    return committed(rewards, lambda sums: np.argmax(_LAPLACE(sums)))


def gaussian(rewards, rng):
    return committed(rewards, lambda sums: np.argmax(_GAUSSIAN(sums)))


def noisy_max(rewards, rng):
    return committed(rewards, _NOISY_MAX)


def geometric(rewards, rng):
    """Sums are rounded down, arm by arm."""
    return committed(rewards, lambda sums: np.argmax([_GEOMETRIC(int(np.floor(s))) for s in sums]))


def discrete_laplace(rewards, rng):
    """Rewards are rounded one by one, so that a sum moves by 1."""
    horizon, n_arms = rewards.shape
    counts = [0] * n_arms
    for t in range(horizon // 2):
        counts[t % n_arms] += int(rewards[t, t % n_arms] >= 0.5)
    best = int(np.argmax(_DISCRETE(counts)))
    return np.array([t % n_arms for t in range(horizon // 2)] + [best] * (horizon - horizon // 2))


def randomized_response(rewards, rng):
    horizon, n_arms = rewards.shape
    counts, arms = np.zeros(n_arms), []
    for t in range(horizon):
        arm = t % n_arms if t < 4 else int(np.argmax(counts))
        arms.append(arm)
        counts[arm] += 1.0 if _RESPONSE(rewards[t, arm] >= 0.5) else -1.0
    return np.array(arms)


def phases(rewards, rng):
    """A measurement for each phase, which forgets the rest; made where it is used."""
    horizon, n_arms = rewards.shape
    arms, seen = [], np.zeros(n_arms)
    for start in range(0, horizon, 4):
        sums = [0.0] * n_arms
        for t in range(start, min(start + 4, horizon)):
            arm = t % n_arms if start == 0 else int(np.argmax(seen))
            arms.append(arm)
            sums[arm] += rewards[t, arm]
        measure = dp.m.make_laplace(_FLOATS, dp.l1_distance(T=float), scale=1 / EPSILON)
        seen = np.array(measure(sums))
    return np.array(arms)


def half_the_scale(rewards, rng):
    measure = dp.m.make_laplace(_FLOATS, dp.l1_distance(T=float), scale=0.5 / EPSILON)
    return committed(rewards, lambda sums: np.argmax(measure(sums)))


def twice(rewards, rng):
    """The same measurement of the same sums, two times."""
    return committed(rewards, lambda sums: np.argmax(np.add(_LAPLACE(sums), _LAPLACE(sums))))


def after_a_branch(rewards, rng):
    """Raw sums decide whether the measurement is made."""
    return committed(rewards, lambda sums: np.argmax(_LAPLACE(sums)) if sums[0] > 1 else 0)


def gaussian_twice(rewards, rng):
    return committed(rewards, lambda sums: np.argmax(np.add(_GAUSSIAN(sums), _GAUSSIAN(sums))))


def rounded_to_even(rewards, rng):
    """What is rounded to the nearest whole number may move by 2: .5 becomes 0, and 1.5 becomes 2."""
    return committed(rewards, lambda sums: np.argmax([_GEOMETRIC(int(np.round(s))) for s in sums]))


def response_twice(rewards, rng):
    """Each reward is told by two coins."""
    horizon, n_arms = rewards.shape
    counts, arms = np.zeros(n_arms), []
    for t in range(horizon):
        arm = t % n_arms if t < 4 else int(np.argmax(counts))
        arms.append(arm)
        for _ in range(2):
            counts[arm] += 1.0 if _RESPONSE(rewards[t, arm] >= 0.5) else -1.0
    return np.array(arms)
