"""Headline testing by successive elimination in doubling phases.

Privacy (unit: one reward in [0, 1]): every reward is added to exactly one phase sum of one headline, because the sums
start afresh in every phase.  Given all earlier actions, changing that reward moves this one sum by at most 1, and the
sum is only used after Laplace noise of scale 1/EPSILON was added.  Widths, phase lengths and the noise scale depend on
public numbers only.  Everything later is a function of released sums, so the sequence of actions is EPSILON-private.
"""
import numpy as np
import pandas as pd
from scipy import stats

EPSILON = 1.0
BETA = 0.2


def _half_width(n, n_arms):
    sampling = np.sqrt(np.log(2 * n_arms / BETA) / (2 * n)) / 2
    noise = stats.laplace.ppf(1 - BETA / 2, scale=1 / (EPSILON * n))
    return sampling + noise


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    actions = np.empty(horizon, dtype=int)
    alive = np.arange(n_arms)
    t, n = 0, 2
    while len(alive) > 1 and t + n * len(alive) <= horizon:
        order = np.repeat(alive, n)
        rounds = np.arange(t, t + len(order))
        actions[rounds] = order
        log = pd.DataFrame({"arm": order, "reward": rewards[rounds, order]})
        sums = log.groupby("arm")["reward"].sum()
        noisy = sums + stats.laplace.rvs(scale=1 / EPSILON, size=len(sums), random_state=rng)
        means = noisy / n
        w = _half_width(n, n_arms)
        alive = means.index[means + w >= means.max() - w].to_numpy()
        t += len(order)
        n *= 2
    # whatever rounds are left: the survivors in turn, rewards unused
    rest = np.arange(horizon - t)
    actions[t:] = alive[rest % len(alive)]
    return actions
