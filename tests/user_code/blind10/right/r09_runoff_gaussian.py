"""Two stage run-off between front page stories, Gaussian noise.

Privacy (unit: one reward in [0, 1], claim (EPSILON, DELTA)): the calendar of the two stages is fixed.  A reward enters
at most one sum (of one story, in one stage) and moves it by at most 1.  Each sum is released with N(0, s^2) noise, s
solving the exact condition of Balle and Wang for sensitivity 1,
    Phi(1/(2s) - EPSILON s) - exp(EPSILON) Phi(-1/(2s) - EPSILON s) = DELTA.
Given the past, only one release sees the changed reward; the rest is post-processing, so the claim holds for the actions.
"""
import functools
import math

import numpy as np
from scipy import optimize, stats

EPSILON = 1.0
DELTA = 1e-3
FIRST, SECOND = 5, 6


@functools.lru_cache(maxsize=None)
def noise_sd(eps=EPSILON, delta=DELTA):
    def excess(s):
        phi = stats.norm.cdf
        return phi(0.5 / s - eps * s) - math.exp(eps) * phi(-0.5 / s - eps * s) - delta

    return optimize.brentq(excess, 0.05, 100.0, xtol=1e-12)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    actions = []

    def stage(arms, pulls):
        """Show each of `arms` `pulls` times, return the noisy sums."""
        total = dict.fromkeys(arms, 0.0)
        for _ in range(pulls):
            for arm in arms:
                total[arm] += rewards[len(actions), arm]
                actions.append(arm)
        noise = stats.norm.rvs(scale=noise_sd(), size=len(arms), random_state=rng)
        return {arm: total[arm] + z for arm, z in zip(arms, noise)}

    first = stage(list(range(n_arms)), FIRST)
    pair = sorted(sorted(first, key=first.get)[-2:])
    second = stage(pair, SECOND)
    combined = {arm: first[arm] + second[arm] for arm in pair}
    winner = max(combined, key=combined.get)
    actions.extend([winner] * (horizon - len(actions)))
    return np.array(actions[:horizon], dtype=int)
