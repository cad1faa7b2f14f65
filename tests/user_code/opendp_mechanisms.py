"""Mechanisms of OpenDP as `release(data, size, rng)`: each claims epsilon 1 for data that differ by 1.

OpenDP draws from the operating system's generator, not from `rng`: a rerun gives other counts, which the
audit notes.
"""

import math

import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib")
_FLOATS = dp.vector_domain(dp.atom_domain(T=float, nan=False))
_LAPLACE = dp.m.make_laplace(_FLOATS, dp.l1_distance(T=float), scale=1.0)
_GAUSSIAN = dp.m.make_gaussian(_FLOATS, dp.l2_distance(T=float), scale=1.0)
_DISCRETE = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=1.0)
_NOISY_MAX = dp.m.make_noisy_max(_FLOATS, dp.linf_distance(T=float), dp.max_divergence(), scale=2.0)
_RESPONSE = dp.m.make_randomized_response_bool(prob=math.e / (1 + math.e))


def laplace(data, size, rng):
    return np.array(_LAPLACE([float(data)] * size))


def gaussian(data, size, rng):
    """Scale 1: 0.5-zCDP, and (1, delta)-DP with the delta of `gaussian_delta`."""
    return np.array(_GAUSSIAN([float(data)] * size))


def discrete_laplace(data, size, rng):
    return np.array(_DISCRETE([int(data)] * size))


def noisy_max(data, size, rng):
    return np.array([_NOISY_MAX(data.tolist()) for _ in range(size)])


noisy_max.neighbours = [(np.zeros(3), np.array([1.0, -1.0, -1.0])), (np.zeros(3), np.array([1.0, 0.0, 0.0]))]


def randomized_response(data, size, rng):
    return np.array([_RESPONSE(bool(data)) for _ in range(size)])


def gaussian_delta(epsilon, scale=1.0):
    """Exact delta of Gaussian noise at sensitivity 1 (Balle & Wang 2018, theorem 8)."""
    from scipy.stats import norm

    a, b = 1 / (2 * scale), epsilon * scale
    return float(norm.cdf(a - b) - math.exp(epsilon) * norm.cdf(-a - b))


# A bandit in which a released number of OpenDP says how much noise hides another reward.


dp.enable_features("contrib")
_FLOAT = dp.atom_domain(T=float, nan=False)
_ON_A_NUMBER = dp.m.make_laplace(_FLOAT, dp.absolute_distance(T=float), scale=1.0)


def scale_by_a_measurement(rewards, rng):
    """Near one value of the number there is nearly no noise."""
    told = _ON_A_NUMBER(float(rewards[0, 0]))
    scale = min(1.0, 0.001 + 1e4 * max(told - 1.0, 1.0 - told))
    noisy = rewards[0, 1] + rng.laplace(0, scale)
    return np.array([int(noisy > 0.5), int(told > 0.5)] + [0] * (len(rewards) - 2))
