"""Each reward is reported with a tiny share of noise; only sums over a full cohort are opened.

Privacy. If G_i, H_i are independent gamma variables of shape 1 / n and scale b, then sum over i = 1..n of G_i - H_i is Laplace of
scale b. A cohort of an arm has exactly n = 5 pulls and is opened when it is full, so that what is seen is
(sum of five rewards) + Laplace(1 / eps). One reward moves one opened value by at most 1. Cohorts that are
not full at the end stay closed. Single reports are never looked at.
"""

import numpy as np

EPSILON = 1.0
COHORT = 5


def play(rewards, rng):
    T, K = rewards.shape
    open_sum, size = np.zeros(K), np.zeros(K, dtype=int)
    score, cohorts = np.zeros(K), np.zeros(K)
    actions = np.zeros(T, dtype=int)
    for t in range(T):
        if cohorts.min() == 0:
            a = t % K
        else:
            a = int(np.argmax(score / cohorts + 1.5 / np.sqrt(cohorts)))
        actions[t] = a
        share = rng.gamma(1 / COHORT, 1 / EPSILON) - rng.gamma(1 / COHORT, 1 / EPSILON)
        open_sum[a] += rewards[t, a] + share
        size[a] += 1
        if size[a] == COHORT:
            score[a] += open_sum[a]
            cohorts[a] += 1
            open_sum[a], size[a] = 0.0, 0
    return actions
