"""Seasonal explore-then-commit: at the start of each season a few trials of every arm, then one arm till its end.

Proof.  Trials are on a fixed timetable.  The season's arm is argmax(EPSILON * S_i + Gumbel_i), i.e. it has law
p_i ~ exp(EPSILON * S_i), S_i the sum of this season's trials of arm i.  One changed reward moves one S_i by at most 1
and leaves the others.  If S_i rises by d <= 1 the numerator of p_i and the normaliser each grow by a factor in
[1, exp(EPSILON)], so every probability changes by a factor within exp(+-EPSILON); no second factor is needed.
Seasons use disjoint trials and fresh Gumbels, rewards of the commit phase are never read: total loss <= EPSILON.
"""
import numpy as np

EPSILON = 1.2
N_ARMS = 3
HORIZON = 60
SEASON = 20
TRIALS = 4


def timetable(k):
    return np.tile(np.arange(k), TRIALS)


def play_many(rewards, n_runs, rng):
    horizon, k = rewards.shape
    plan = timetable(k)
    actions = np.zeros((n_runs, horizon), dtype=int)
    for start in range(0, horizon, SEASON):
        stop = min(start + SEASON, horizon)
        mid = min(start + plan.size, stop)
        arms = plan[: mid - start]
        actions[:, start:mid] = arms
        if mid == stop:
            continue
        pulled = rewards[np.arange(start, mid), arms]
        scores = np.bincount(arms, weights=pulled, minlength=k)
        perturbed = EPSILON * scores + rng.gumbel(size=(n_runs, k))
        actions[:, mid:stop] = perturbed.argmax(axis=1)[:, None]
    return actions
