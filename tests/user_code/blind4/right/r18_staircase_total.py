"""Total of a bounded sample perturbed by the staircase distribution."""
import numpy as np

EPS = 1.0
SENS = 1.0


def staircase(rng, eps, delta):
    b = np.exp(-eps)
    gamma = 1.0 / (1.0 + np.exp(eps / 2.0))
    sign = 1 if rng.random() < 0.5 else -1
    g = rng.geometric(1 - b) - 1
    u = rng.random()
    if rng.random() < gamma / (gamma + (1 - gamma) * b):
        mag = (g + gamma * u) * delta
    else:
        mag = (g + gamma + (1 - gamma) * u) * delta
    return sign * mag


def release(data, rng):
    return float(np.clip(data, 0, 1).sum() + staircase(rng, EPS, SENS))
