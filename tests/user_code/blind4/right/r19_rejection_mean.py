"""Draws a private mean in [0,1] by rejection from an exponential-mechanism density."""
import math

EPSILON = 1.0


def release(data, rng):
    n = len(data)
    centre = sum(float(v) for v in data) / n
    while True:
        y = rng.uniform(0.0, 1.0)
        if rng.uniform() < math.exp(-0.5 * EPSILON * n * abs(y - centre)):
            return y
