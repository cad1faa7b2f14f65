"""Sum of five numbers with staircase noise (Geng and Viswanath).

data: a vector of five floats in [0, 1]; neighbours differ in one entry, so the sum has
sensitivity 1.  The release is cut to [-1, 6].  Claim: epsilon = 1.5 (pure).
"""
import numpy as np

EPSILON = 1.5


def staircase(rng, size, epsilon, width=1.0):
    b = np.exp(-epsilon)
    gamma = 1.0 / (1.0 + np.exp(epsilon / 2.0))
    sign = rng.choice([-1.0, 1.0], size=size)
    step = rng.geometric(1.0 - b, size=size) - 1
    inner = rng.random(size) < gamma / (gamma + (1.0 - gamma) * b)
    u = rng.random(size)
    offset = np.where(inner, gamma * u, gamma + (1.0 - gamma) * u)
    return sign * width * (step + offset)


def release(data, size, rng):
    total = float(np.sum(data))
    return np.clip(total + staircase(rng, size, EPSILON), -1.0, 6.0)
