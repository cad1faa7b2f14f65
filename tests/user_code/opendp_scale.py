"""A bandit in which a released number of OpenDP says how much noise hides another reward."""

import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib")
_FLOAT = dp.atom_domain(T=float, nan=False)
_LAPLACE = dp.m.make_laplace(_FLOAT, dp.absolute_distance(T=float), scale=1.0)


def scale_by_a_measurement(rewards, rng):
    """Near one value of the number there is nearly no noise."""
    told = _LAPLACE(float(rewards[0, 0]))
    scale = min(1.0, 0.001 + 1e4 * max(told - 1.0, 1.0 - told))
    noisy = rewards[0, 1] + rng.laplace(0, scale)
    return np.array([int(noisy > 0.5), int(told > 0.5)] + [0] * (len(rewards) - 2))
