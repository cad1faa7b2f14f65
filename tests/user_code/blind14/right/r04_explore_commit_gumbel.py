"""Explore-then-commit; the commitment is drawn by the exponential mechanism.

Four pulls of each of five arms in shuffled order, then one arm is chosen with
probability proportional to exp(EPS * total).  One reward moves one total by at
most one, and always in one direction, so the usual factor 2 is not needed.
Claim: EPS = 1.2 (pure).
"""
import numpy as np
from scipy import stats

EPS = 1.2
PULLS = 4


def exploration_order(n_arms, rng):
    order = np.repeat(np.arange(n_arms), PULLS)
    rng.shuffle(order)
    return order


def commit(totals, rng):
    """Gumbel-max form of the exponential mechanism (monotone scores)."""
    noise = stats.gumbel_r.rvs(scale=1.0 / EPS, size=totals.size, random_state=rng)
    return int(np.argmax(totals + noise))


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    order = exploration_order(n_arms, rng)[:horizon]
    seen = rewards[np.arange(order.size), order]
    totals = np.bincount(order, weights=np.clip(seen, 0.0, 1.0), minlength=n_arms)
    if order.size == horizon:
        return order
    winner = commit(totals, rng)
    tail = np.full(horizon - order.size, winner)
    return np.concatenate([order, tail])
