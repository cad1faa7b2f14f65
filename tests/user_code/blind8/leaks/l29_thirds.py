"""Rewards are kept as whole thirds, and sums of thirds get geometric noise.

FAULT: the noise has P(k) ~ exp(-EPSILON |k|) on the scale of thirds, but a reward moves the sum by up to 3 thirds, so a
sum costs 3 EPSILON.
Pair: block of 3 rewards with sums 0 against 1 (0 against 3 thirds); the arm is kept for 5 thirds or more.
Event: arm kept after the first block: a^5 / (1 + a) = 0.0321 against a^2 / (1 + a) = 0.1944 with a = e^-0.6,
loss 1.8 (claim 0.6).
"""
import numpy as np

EPSILON = 0.6
BLOCK = 3


def whole_thirds(x):
    return int(np.floor(3.0 * x + 0.5))


def two_sided_geometric(rng):
    p = -np.expm1(-EPSILON)
    first, second = rng.geometric(p, size=2)
    return int(first - second)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    arm, bucket = 0, []
    actions = []
    for t in range(horizon):
        actions.append(arm)
        bucket.append(whole_thirds(rewards[t, arm]))
        if len(bucket) == BLOCK:
            if 2 * (sum(bucket) + two_sided_geometric(rng)) < 3 * BLOCK:
                arm = (arm + 1) % n_arms
            bucket = []
    return np.array(actions, dtype=int)
