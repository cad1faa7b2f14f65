"""Half of the rewards, chosen by hidden coins, count.

With noise for e0 on totals of a sample of rate q the result is ln(1 + q (exp(e0) - 1))-DP: a replaced reward matters with chance
q, and with, without or replaced the totals differ by 1 at most. e0 is solved from epsilon. Totals, not means: the sample size is
hidden.
"""

import math

import numpy as np


def play(rewards, rng, epsilon=1.0, q=0.5):
    inner = math.log1p(math.expm1(epsilon) / q)
    horizon, k = rewards.shape
    actions = np.arange(horizon) % k
    explore = 6 * k
    kept = rng.random(explore) < q
    totals = np.bincount(actions[:explore], weights=kept * rewards[np.arange(explore), actions[:explore]], minlength=k)
    actions[explore:] = np.argmax(totals + rng.laplace(0, 1 / inner, k))
    return actions
