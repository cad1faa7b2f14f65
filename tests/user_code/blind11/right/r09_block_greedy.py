"""Epsilon-greedy over articles whose tastes drift: noisy block sums, averaged with exponentially decaying weights.

Proof.  The pulls of one arm are cut, in order of pulling, into blocks of BLOCK rewards.  A full block is published
once as sum + Laplace(1/EPSILON) (inverse CDF) and its accumulator is emptied; a block that is not full is never read.
Block borders depend on the pull counts alone, which are functions of earlier actions, and exploring flips no data.
So one changed reward moves one published sum by at most 1; given the past that release is EPSILON-private, all other
releases have the same law, and the actions are post-processing of the releases: pure EPSILON by adaptive
parallel composition.
"""
import math

import numpy as np
import pandas as pd

EPSILON = 2.0
BLOCK = 4
HALF_LIFE = 2.0


def laplace_ppf(u, scale):
    v = u - 0.5
    return -scale * math.copysign(1.0, v) * math.log1p(-2.0 * abs(v))


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    open_block = {arm: [0.0, 0] for arm in range(n_arms)}
    published = {arm: [] for arm in range(n_arms)}
    score = pd.Series(np.inf, index=range(n_arms))
    actions = np.empty(horizon, dtype=int)
    for t in range(horizon):
        explore_rate = min(1.0, 2.0 * n_arms / (t + 1.0))
        if t < n_arms * BLOCK:
            arm = t % n_arms
        elif rng.random() < explore_rate:
            arm = int(rng.integers(n_arms))
        else:
            arm = int(score.idxmax())
        actions[t] = arm
        acc = open_block[arm]
        acc[0] += rewards[t, arm]
        acc[1] += 1
        if acc[1] == BLOCK:
            noisy = acc[0] + laplace_ppf(rng.random(), 1.0 / EPSILON)
            published[arm].append(noisy / BLOCK)
            score[arm] = pd.Series(published[arm]).ewm(halflife=HALF_LIFE).mean().iloc[-1]
            open_block[arm] = [0.0, 0]
    return actions
