"""Unary encoding of a bucket (3 buckets) for each of four users; all bits are published.

Fault: q = 1/(e^eps+1) belongs to p = 1/2, here p was raised to .75 for accuracy.
Pair: first entry .1 against .9. Event: user 0 sends bits 1,0 at buckets 0 and 2.
p(1-q)/(q(1-p)) = 3e^eps: loss 1.5 + ln 3 = 2.5986, 1.73 times the claim.
"""
import math
import numpy as np

EPSILON = 1.5
BUCKETS = 3
P = 0.75


def release(data, size, rng):
    q = 1 / (math.exp(EPSILON) + 1)
    columns = []
    for x in data:
        own = min(BUCKETS - 1, int(x * BUCKETS))
        columns += [rng.random(size) < (P if b == own else q) for b in range(BUCKETS)]
    return np.column_stack(columns).astype(int)


release.neighbours = [(np.array([0.1, 0.5, 0.9, 0.5]), np.array([0.9, 0.5, 0.9, 0.5]))]
