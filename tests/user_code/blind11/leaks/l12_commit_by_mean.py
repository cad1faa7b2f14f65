"""Explore then commit on five product tiles: noisy mean ratings decide which tile stays on the page.

Fault: the noise scale divides by the number of all exploring rounds, but a mean is taken over one arm's pulls only;
one reward moves a mean by 1 / EACH while the noise has scale 1 / (EPSILON * EACH * n_arms), n_arms times too small.
Pair: five arms; arms 1..4 earn 1 in their first pull and 0 later; arm 0 earns 0 always, or 1 in its first pull.
Event: arm 0 is committed to.  In units of the noise scale the change is 2.5; arm 0 stands 2.5 below four equal rivals on
one side and level with them on the other.  By quadrature the probabilities are 0.01676 and 0.2: loss 2.479 = 4.96 times.
"""
import numpy as np
from scipy import stats

EPSILON = 0.5
EACH = 4


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    n_explore = min(EACH * n_arms, horizon)
    order = np.arange(n_explore) % n_arms
    seen = rewards[np.arange(n_explore), order]
    means = np.bincount(order, weights=seen, minlength=n_arms) / np.bincount(order, minlength=n_arms)
    noise = stats.laplace.rvs(scale=1.0 / (EPSILON * n_explore), size=n_arms, random_state=rng)
    best = int(np.argmax(means + noise))
    return np.concatenate([order, np.full(horizon - n_explore, best)]).astype(int)
