"""Seasonal explore-then-commit, the season's arm drawn by softmax of EPSILON times its advantage.

Fault: the advantage of an arm is its sum minus the mean of the other sums.  One reward moves its own advantage by 1
and every other one by -1/(K-1), so log-odds move by K/(K-1) = 1.5 for K = 3, but the temperature is set for 1.
Pair: arm 0 pays 1 and the others 0 in all trials; the neighbour has reward 0 of arm 0 in the first trial (sum 4 -> 3).
Event: the first season commits to arm 1, p = 1 / (exp(1.5 EPSILON S_0) + 2).
Loss: log((exp(6) + 2) / (exp(4.5) + 2)) = 1.483 at EPSILON = 1 (limit for long seasons: 1.5).
"""
import numpy as np

EPSILON = 1.0
N_ARMS = 3
HORIZON = 40
SEASON = 20
TRIALS = 4


def advantages(sums):
    k = sums.size
    others = (sums.sum() - sums) / (k - 1)
    return sums - others


def season_arms(sums, n_runs, rng):
    """Gumbel-max draw: one changed reward touches a single sum, so no factor 1/2 is needed."""
    return (EPSILON * advantages(sums) + rng.gumbel(size=(n_runs, sums.size))).argmax(axis=1)


def play_many(rewards, n_runs, rng):
    horizon, k = rewards.shape
    plan = np.repeat(np.arange(k), TRIALS)
    actions = np.zeros((n_runs, horizon), dtype=int)
    for start in range(0, horizon, SEASON):
        stop = min(start + SEASON, horizon)
        mid = min(start + plan.size, stop)
        arms = plan[: mid - start]
        actions[:, start:mid] = arms
        sums = np.bincount(arms, weights=rewards[np.arange(start, mid), arms], minlength=k)
        actions[:, mid:stop] = season_arms(sums, n_runs, rng)[:, None]
    return actions
