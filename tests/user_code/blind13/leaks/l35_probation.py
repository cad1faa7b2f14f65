"""Probation bandit with Gaussian noise, many runs.

Claim: (epsilon, delta) = (1, 1e-4).  A new arm is on probation for two rounds, after that it is judged every ten rounds.
A judgement is the mean of the rounds since the last one plus Gaussian noise (analytic calibration); an arm whose
noisy mean is under 0.6 is left for the next one.  No reward is used in two judgements.
"""
import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

EPS, DELTA = 1.0, 1e-4
K, T = 3, 60
PROBATION, BLOCK = 2, 10


def analytic_sigma(eps, delta):
    def gap(s):
        return norm.cdf(0.5 / s - eps * s) - np.exp(eps) * norm.cdf(-0.5 / s - eps * s) - delta
    return brentq(gap, 0.05, 100.0, xtol=1e-12)


SIGMA_MEAN = analytic_sigma(EPS, DELTA) / BLOCK


def play_many(rewards, n_runs, rng):
    arm = np.zeros(n_runs, dtype=int)
    length = np.full(n_runs, PROBATION)
    seen = np.zeros(n_runs, dtype=int)
    total = np.zeros(n_runs)
    history = []
    for t in range(T):
        history.append(arm)
        total = total + rewards[t, arm]
        seen = seen + 1
        due = seen == length
        noisy = total / seen + SIGMA_MEAN * rng.standard_normal(n_runs)
        leave = due & (noisy < 0.6)
        arm = np.where(leave, (arm + 1) % K, arm)
        length = np.where(leave, PROBATION, np.where(due, BLOCK, length))
        seen = np.where(due, 0, seen)
        total = np.where(due, 0.0, total)
    return np.stack(history, axis=1)
