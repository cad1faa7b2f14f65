"""Sequential halving with the analytic Gaussian mechanism, epsilon = 1, delta = 1e-4.

In a phase all live arms are pulled equally often (round robin); each arm's phase sum
gets one Gaussian variable, calibrated exactly (Balle and Wang) for sensitivity one;
the upper half survives.  Phases use only their own rewards, so a reward is in one
Gaussian release.  Normals come from the inverse CDF.
"""
import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri
from scipy.stats import norm

EPS, DELTA = 1.0, 1e-4


def delta_of(sigma, eps=EPS):
    a, b = 0.5 / sigma - eps * sigma, -0.5 / sigma - eps * sigma
    return norm.cdf(a) - np.exp(eps) * norm.cdf(b)


SIGMA = brentq(lambda s: delta_of(s) - DELTA, 0.1, 50.0, xtol=1e-10) + 1e-9


def standard_normal(n, rng):
    u = rng.random(n)
    return ndtri(np.where(u > 0.0, u, 0.5))


def play(rewards, rng):
    T, K = rewards.shape
    live = np.arange(K)
    rounds = max(1, int(np.ceil(np.log2(K))))
    per_phase = int(0.8 * T) // rounds
    actions = []
    while live.size > 1:
        pulls = max(1, per_phase // live.size)
        plan = np.tile(live, pulls)
        ts = len(actions) + np.arange(plan.size)
        sums = np.array([np.clip(rewards[ts[plan == a], a], 0, 1).sum() for a in live])
        actions.extend(plan.tolist())
        noisy = sums + SIGMA * standard_normal(live.size, rng)
        keep = np.argsort(-noisy, kind="stable")[: (live.size + 1) // 2]
        live = np.sort(live[keep])
    actions.extend([int(live[0])] * (T - len(actions)))
    return np.array(actions[:T])
