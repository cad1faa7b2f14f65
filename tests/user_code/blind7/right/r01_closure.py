"""Explore, then commit to the larger noisy sum; the sampler is a closure with an inverse CDF.

Right. Every arm is pulled a fixed number of times, each observed reward is in the sum of one arm, and the
sums get Laplace noise of scale 1 / EPSILON drawn once. One reward changes one sum by at most 1, so the
vector of noisy sums is EPSILON-private, and the rest of the run is a function of it.
"""

import math

import numpy as np

EPSILON = 1.0
PULLS = 8


def make_laplace(uniform, scale):
    def draw():
        u = uniform() - 0.5
        return -scale * math.copysign(math.log1p(-min(2 * abs(u), 1 - 1e-16)), u)

    return draw


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    noise = make_laplace(rng.random, 1 / EPSILON)
    actions = []
    sums = [0.0] * n_arms
    for t in range(min(horizon, PULLS * n_arms)):
        arm = t % n_arms
        actions.append(arm)
        sums[arm] += rewards[t, arm]
    noisy = [s + noise() for s in sums]
    best = max(range(n_arms), key=noisy.__getitem__)
    actions += [best] * (horizon - len(actions))
    return np.array(actions)
