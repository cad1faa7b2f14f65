"""Mechanisms of diffprivlib as `release(data, size, rng)`: each claims epsilon 1 for data that differ by 1.

diffprivlib 0.6.6 imports its models first, which do not fit scikit-learn 1.6 and later; its mechanisms do,
so that they are imported without them.
"""

import importlib
import importlib.util
import sys
import types

import numpy as np

_SPEC = importlib.util.find_spec("diffprivlib")
if _SPEC is None:
    raise ImportError("diffprivlib is not installed")
if "diffprivlib" not in sys.modules:
    _PACKAGE = types.ModuleType("diffprivlib")
    _PACKAGE.__path__ = list(_SPEC.submodule_search_locations)
    sys.modules["diffprivlib"] = _PACKAGE
mechanisms = importlib.import_module("diffprivlib.mechanisms")


def _drawn(make, data, size, rng):
    """`size` draws; the mechanism's own generator is seeded from ours."""
    mechanism = make(random_state=np.random.RandomState(rng.integers(2**32, size=4)))
    return np.array([mechanism.randomise(data) for _ in range(size)])


def laplace(data, size, rng, sensitivity=1.0):
    return _drawn(
        lambda **key: mechanisms.Laplace(epsilon=1.0, sensitivity=sensitivity, **key), data, size, rng
    )


def laplace_of_wrong_sensitivity(data, size, rng):
    """Data differ by 1, the mechanism is told that they differ by one half."""
    return laplace(data, size, rng, sensitivity=0.5)


def geometric(data, size, rng):
    return _drawn(lambda **key: mechanisms.Geometric(epsilon=1.0, **key), int(data), size, rng)


def laplace_truncated(data, size, rng):
    def make(**key):
        return mechanisms.LaplaceTruncated(epsilon=1.0, sensitivity=1.0, lower=0.0, upper=1.0, **key)

    return _drawn(make, data, size, rng)


def staircase(data, size, rng):
    return _drawn(lambda **key: mechanisms.Staircase(epsilon=1.0, sensitivity=1.0, **key), data, size, rng)


def snapping(data, size, rng):
    def make(**key):
        return mechanisms.Snapping(epsilon=1.0, sensitivity=1.0, lower=0.0, upper=1.0, **key)

    return _drawn(make, data, size, rng)


def exponential(data, size, rng):
    """Utilities (0, 0, 0) or (data, -data, -data)."""
    rng = np.random.RandomState(rng.integers(2**32, size=4))
    made = mechanisms.Exponential(
        epsilon=1.0, sensitivity=1.0, utility=[data, -data, -data], candidates=[0, 1, 2], random_state=rng
    )
    return np.array([made.randomise() for _ in range(size)])
