"""Batched UCB for a news carousel; batch totals carry Gaussian noise calibrated exactly to (EPSILON, DELTA).

Proof.  The chosen arm is shown for BATCH rounds, then the batch total is released once with N(0, SIGMA^2) noise.
Its sensitivity to one reward is 1, and SIGMA solves Phi(1/(2s) - EPSILON s) - e^EPSILON Phi(-1/(2s) - EPSILON s) = DELTA,
the exact curve of the Gaussian mechanism (Balle and Wang, 2018), which decreases in s.
A batch's arm is fixed before its first reward by earlier releases, every reward lies in one batch, and a cut-off last
batch is not released; so one changed reward changes the law of one release given the past, and all the rest,
the actions included, is post-processing: (EPSILON, DELTA).
"""
import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

EPSILON = 1.0
DELTA = 1e-3
BATCH = 5


def _excess(s):
    head = norm.cdf(0.5 / s - EPSILON * s)
    tail = norm.cdf(-0.5 / s - EPSILON * s)
    return head - np.exp(EPSILON) * tail - DELTA


SIGMA = brentq(_excess, 0.05, 50.0, xtol=1e-12)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    released = np.zeros(n_arms)
    batches = np.zeros(n_arms)
    actions = []
    while len(actions) < horizon:
        if (batches == 0).any():
            arm = int(np.argmin(batches))
        else:
            shown = BATCH * batches
            spread = 0.25 / shown + batches * SIGMA**2 / shown**2
            index = released / shown + np.sqrt(2.0 * spread * np.log1p(batches.sum()))
            arm = int(index.argmax())
        rows = np.arange(len(actions), min(len(actions) + BATCH, horizon))
        actions.extend([arm] * rows.size)
        if rows.size == BATCH:
            released[arm] += rewards[rows, arm].sum() + SIGMA * norm.ppf(rng.random())
            batches[arm] += 1
    return np.array(actions, dtype=int)
