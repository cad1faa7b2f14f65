"""Optimised unary encoding of a bucket (3 buckets) for each of four users; all bits are published.

Claim: EPSILON, pure. Proof: the one bit of the user's own bucket is sent as 1 with probability 1/2, every other bit with
probability q=1/(e^eps+1). Two buckets differ in two bits: the worst ratio is (1/2)/q * (1-q)/(1/2) = (1-q)/q = e^eps.
Users are independent and only one is replaced.
"""
import math
import numpy as np

EPSILON = 1.5
BUCKETS = 3


def release(data, size, rng):
    bucket = np.minimum((np.asarray(data) * BUCKETS).astype(int), BUCKETS - 1)
    onehot = np.eye(BUCKETS, dtype=bool)[bucket]
    prob = np.where(onehot, 0.5, 1.0 / (math.exp(EPSILON) + 1.0))
    bits = rng.random((size,) + prob.shape) < prob
    return bits.reshape(size, -1).astype(int)


release.neighbours = [(np.array([0.1, 0.5, 0.9, 0.5]), np.array([0.9, 0.5, 0.9, 0.5]))]
