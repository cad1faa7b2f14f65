"""Sum with stepwise noise."""
import numpy as np

EPSILON = 1.0
SENS = 1.0


def stair(size, rng):
    b = np.exp(-EPSILON)
    gamma = 1 / (1 + np.exp(EPSILON / 2))
    sign = np.where(rng.random(size) < 0.5, -1.0, 1.0)
    g = rng.geometric(1 - b, size) - 1
    u = rng.random(size)
    outer = rng.random(size) >= gamma / (gamma + (1 - gamma) * b)
    inner_x = g + gamma * u
    outer_x = g + gamma + (1 - gamma) * u
    return sign * SENS * np.where(outer, outer_x, inner_x)


def release(data, size, rng):
    return float(np.sum(data)) + stair(size, rng)
