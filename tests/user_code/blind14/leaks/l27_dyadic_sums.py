"""Noisy dyadic sums of a vector of five numbers in [0, 1], padded to eight; one draw, all levels from the
leaves to the root in one list.  Neighbours differ in one entry.  Epsilon = 1.5 (pure): Laplace noise
with scale depth/epsilon, since an entry is in one node per level.
"""
import math

EPSILON = 1.5


def dyadic_levels(values):
    level = list(values)
    while True:
        yield level
        if len(level) == 1:
            return
        level = [level[i] + level[i + 1] for i in range(0, len(level), 2)]


def release_one(data, rng):
    depth = int(math.log2(len(data)))
    width = 1 << (len(data) - 1).bit_length()
    padded = [float(v) for v in data] + [0.0] * (width - len(data))
    return [node + rng.laplace(0.0, depth / EPSILON)
            for level in dyadic_levels(padded) for node in level]
