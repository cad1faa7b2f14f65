"""Sliding-window Thompson sampling on Gaussian local reports, for rewards that drift.

Proof.  Each reward r in [0, 1] leaves the round only as y = r + N(0, SIGMA^2), one fresh normal per round.
SIGMA solves  Phi(1/(2s) - eps s) - exp(eps) Phi(-1/(2s) - eps s) = delta, the exact condition of the
Gaussian mechanism for sensitivity 1.  Change the reward of round t: all before is equal in law; given the past
(hence the arm), y_t is (eps, delta)-close; everything later depends on the past, y_t and unchanged rewards.
So the action sequence is post-processing of one (EPSILON, DELTA) report.
"""
from collections import deque

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

EPSILON = 1.5
DELTA = 1e-3
N_ARMS = 3
HORIZON = 50
WINDOW = 16


def _excess(sigma):
    lhs = norm.cdf(0.5 / sigma - EPSILON * sigma) - np.exp(EPSILON) * norm.cdf(-0.5 / sigma - EPSILON * sigma)
    return lhs - DELTA


SIGMA = brentq(_excess, 0.05, 50.0) * (1 + 1e-9)


class SlidingWindowThompson:
    """Normal prior N(1/2, 1) on every arm, known variance, memory of the last WINDOW reports."""

    def __init__(self, n_arms, rng, window=WINDOW):
        self.n_arms = n_arms
        self.rng = rng
        self.memory = deque(maxlen=window)

    def select(self):
        precision = np.ones(self.n_arms)
        weighted = np.full(self.n_arms, 0.5)
        for arm, report in self.memory:
            precision[arm] += 1.0 / SIGMA**2
            weighted[arm] += report / SIGMA**2
        draws = self.rng.normal(weighted / precision, 1.0 / np.sqrt(precision))
        return int(np.argmax(draws))

    def update(self, arm, reward):
        self.memory.append((arm, reward + self.rng.normal(0.0, SIGMA)))
