"""Private sequential halving (fixed budget best-arm identification), vectorised.

Every phase pulls the survivors in turn, keeps the better half by one-shot
Gumbel top-m (m draws of the exponential mechanism without replacement) and
starts the next phase with empty totals.  Only one total moves when one reward
moves, and only by 1, so exp(rate * total) costs `rate` per draw.
The remaining rounds go to the winner.  Claim: epsilon = 2.0.
"""
import math

import numpy as np

EPS = 2.0


def gumbel_top(totals, m, rate, rng):
    z = rate * totals + rng.gumbel(size=totals.shape)
    return np.argsort(-z, axis=1)[:, :m]


def play_many(rewards, n_runs, rng):
    rewards = np.asarray(rewards, dtype=float)
    horizon, k = rewards.shape
    n_phases = math.ceil(math.log2(k))
    phase_budget = horizon // (n_phases + 1)

    actions = np.zeros((n_runs, horizon), dtype=int)
    rows = np.arange(n_runs)
    alive = np.tile(np.arange(k), (n_runs, 1))
    t = 0
    while alive.shape[1] > 1:
        width = alive.shape[1]
        totals = np.zeros((n_runs, width))
        for j in range((phase_budget // width) * width):
            slot = j % width
            arm = alive[:, slot]
            actions[:, t] = arm
            totals[:, slot] += rewards[t, arm]
            t += 1
        keep = width // 2
        slots = gumbel_top(totals, keep, EPS / keep, rng)
        alive = alive[rows[:, None], slots]

    actions[:, t:] = alive
    return actions
