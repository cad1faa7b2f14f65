"""Four-bucket histogram with two-sided geometric noise from the operating system's generator.

Claim: EPSILON, pure. Proof: replacing an entry lowers one count by 1 and raises another by 1: L1 sensitivity 2. Each count
gets G1-G2, both geometric on 0,1,.. with P(G>=k)=a^k, a=exp(-eps/2): mass proportional to a^|k|. Hence the loss is at
most 2*(eps/2)=eps, attained when the entry changes bucket.
"""
import math
import secrets
import numpy as np

EPSILON = 1.0
BUCKETS = 4
_sys = secrets.SystemRandom()


def _geometric(a):
    u = 1.0 - _sys.random()
    return int(math.floor(math.log(u) / math.log(a)))


def release_one(data, rng):
    a = math.exp(-EPSILON / 2)
    counts = [0] * BUCKETS
    for x in data:
        counts[min(BUCKETS - 1, int(BUCKETS * x))] += 1
    return np.array([c + _geometric(a) - _geometric(a) for c in counts])


release_one.neighbours = [
    (np.array([0.1, 0.3, 0.6, 0.9, 0.3, 0.1]), np.array([0.9, 0.3, 0.6, 0.9, 0.3, 0.1])),
]
