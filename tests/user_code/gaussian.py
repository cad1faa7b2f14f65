"""The Gaussian mechanism on a number in [0, 1] as a user would write it: rho = 1/2 is claimed for all."""

import numpy as np

RHO = 0.5


def right(data, size, rng):
    """Noise of standard deviation 1: exactly 1/2-zCDP."""
    return data + rng.normal(0.0, 1.0, size)


def too_little(data, size, rng):
    """Two thirds of that noise: 9/8-zCDP."""
    return data + rng.normal(0.0, 1 / 1.5, size)


def randomised_response(data, size, rng):
    """Randomised response with epsilon 1: 1/2-zCDP but not 1-GDP, as its total variation is .46, not .38."""
    bit = float(data > 0.5)
    return np.where(rng.random(size) < np.e / (1 + np.e), bit, 1 - bit)


def a_little_less(data, size, rng):
    """Noise that is 1 % too small: 1/2-zCDP is broken, the epsilon that it implies at 1e-5 is not."""
    return data + rng.normal(0.0, 0.99, size)


def laplace(data, size, rng):
    """Epsilon 1: exactly 1/2-zCDP as far as its square says, but not 1-GDP."""
    return data + rng.laplace(0.0, 1.0, size)


def laplace_a_little_less(data, size, rng):
    """A little more."""
    return data + rng.laplace(0.0, 0.99, size)
