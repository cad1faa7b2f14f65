"""Explore-then-commit with a measurement of OpenDP.

Privacy. The vector of sums has L1 sensitivity 1 (one reward, one arm, at most 1). OpenDP's vector Laplace with scale 1 / eps
maps an L1 distance of 1 to eps. It is invoked once, and the rest is post-processing.
"""

import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib")
EPSILON = 1.0
measure = dp.m.make_laplace(
    dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float), scale=1.0 / EPSILON
)


def play(rewards, rng):
    T, K = rewards.shape
    m = max(1, T // (5 * K))
    actions = [t % K for t in range(min(T, m * K))]
    sums = [0.0] * K
    for t, a in enumerate(actions):
        sums[a] += float(np.clip(rewards[t, a], 0, 1))
    released = measure(sums)
    return np.array(actions + [int(np.argmax(released))] * (T - len(actions)))
