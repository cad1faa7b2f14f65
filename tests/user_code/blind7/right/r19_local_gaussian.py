"""Softmax over local Gaussian reports that are truncated after the noise.

Right. A reward gets normal noise once. With sigma from the exact condition Phi(1/(2 sigma) - eps sigma) -
e^eps Phi(-1/(2 sigma) - eps sigma) <= delta (Balle and Wang 2018), each report is (eps, delta)-private;
cutting the report to [-1, 2] afterwards is post-processing.
"""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

EPSILON, DELTA = 1.0, 0.01


def gaussian_delta(sigma, eps):
    a = 1 / (2 * sigma)
    return norm.cdf(a - eps * sigma) - np.exp(eps) * norm.cdf(-a - eps * sigma)


SIGMA = 1.0001 * brentq(lambda s: gaussian_delta(s, EPSILON) - DELTA, 0.05, 50)


def experiment(env, horizon, rng):
    totals, pulls = np.zeros(env.n_arms), np.zeros(env.n_arms)
    for t in range(horizon):
        means = totals / np.maximum(pulls, 1)
        weights = np.exp(3 * (means - means.max()))
        arm = t if t < env.n_arms else int(rng.choice(env.n_arms, p=weights / weights.sum()))
        reward = env.pull(arm)
        totals[arm] += min(max(reward + rng.normal(0, SIGMA), -1.0), 2.0)
        pulls[arm] += 1
