"""Successive halving for many runs at once, with integer scores and two-sided geometric noise.

Each reward x of a stage becomes a bit with mean x (fresh coin); an arm's score in the stage is its number of ones plus G - G', both
geometric with ratio e^-eps, that is P(noise = j) = (1 - a) / (1 + a) a^|j| with a = e^-eps.  Couple the coins of all other rewards:
a changed reward then moves one integer score of one stage by at most 1, so the noisy scores of that stage change in law by at
most e^eps (a mixture over the coins keeps the bound).  Scores are counted afresh in each stage; ranking, breaking ties by fresh
uniforms and all later stages are post-processing.
"""
import numpy as np

EPSILON = 1.0
PULLS = 6


def _two_sided(shape, rng):
    stop = -np.expm1(-EPSILON)
    return rng.geometric(stop, size=shape) - rng.geometric(stop, size=shape)


def play_many(rewards, n_runs, rng):
    rewards = np.asarray(rewards, dtype=float)
    horizon, k = rewards.shape
    alive = np.tile(np.arange(k), (n_runs, 1))
    actions = np.empty((n_runs, horizon), dtype=np.int64)
    t = 0
    while alive.shape[1] > 1 and t + PULLS * alive.shape[1] <= horizon:
        score = np.zeros(alive.shape, dtype=np.int64)
        for _ in range(PULLS):
            for seat in range(alive.shape[1]):
                arm = alive[:, seat]
                actions[:, t] = arm
                score[:, seat] += rng.random(n_runs) < rewards[t, arm]
                t += 1
        noisy = score + _two_sided(score.shape, rng)
        order = np.argsort(-(noisy + rng.random(noisy.shape)), axis=1)
        alive = np.take_along_axis(alive, order[:, : (alive.shape[1] + 1) // 2], axis=1)
    for offset in range(horizon - t):
        actions[:, t + offset] = alive[:, offset % alive.shape[1]]
    return actions
