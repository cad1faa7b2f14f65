"""Total warehouse load with staircase noise (Geng and Viswanath).

data: five floats in [0, 1]; the total has sensitivity 1.  The staircase density falls by e^-eps per unit
step, with the step split at GAMMA = 1 / (1 + e^(eps/2)).  Claim: 1.0-DP (pure), one entry replaced.
"""
import numpy as np

EPSILON = 1.0
GAMMA = 1.0 / (1.0 + np.exp(EPSILON / 2.0))


def staircase(size, rng):
    b = np.exp(-EPSILON)
    sign = rng.choice([-1.0, 1.0], size)
    step = rng.geometric(1.0 - b, size) - 1            # P(g) = (1 - b) b^g
    where = rng.random(size)
    inner = rng.random(size) < GAMMA / (GAMMA + (1.0 - GAMMA) * b)
    offset = np.where(inner, GAMMA * where, GAMMA + (1.0 - GAMMA) * where)
    return sign * (step + offset)


def release(data, size, rng):
    total = float(np.clip(data, 0.0, 1.0).sum())
    return total + staircase(size, rng)
