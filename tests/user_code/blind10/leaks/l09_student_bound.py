"""Optimistic commit: private means plus a Student confidence bound.

FAULT: the means get Laplace noise (sum sensitivity 1, scale 1/EPSILON), but the half width of the confidence interval is the
standard error of the raw rewards, which is used without noise.
Pair (PULLS = 8, two arms): arm 1 always 0.75; arm 0 all zeros, against the same with one 1 among its first 8 rewards.
The mean moves by 1/8 and the half width from 0 to 2.3646 / 8 = 0.2956, together 3.365 in units of the sum.
Event: commits to arm 0.  The difference D of two Laplace variables has P(D > x) = e^-x (2 + x) / 4, x = 6 against 2.635:
0.0050 and 0.0831, loss 2.819 for EPSILON = 1.
"""
import numpy as np
from scipy import stats

EPSILON = 1.0
PULLS = 8
LEVEL = 0.95


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    explore = np.tile(np.arange(n_arms), PULLS)
    seen = rewards[np.arange(len(explore)), explore].reshape(PULLS, n_arms)
    sums = seen.sum(axis=0) + stats.laplace.rvs(scale=1 / EPSILON, size=n_arms, random_state=rng)
    half_width = stats.t.ppf((1 + LEVEL) / 2, PULLS - 1) * stats.sem(seen, axis=0)
    upper = sums / PULLS + half_width
    return np.concatenate([explore, np.full(horizon - len(explore), upper.argmax())])
