"""Successive rejects on one-bit local reports, many campaigns side by side.

Claim: EPSILON-DP for each run's action sequence, one reward in [0, 1] changed.
Proof. A reward r is turned at once, by itself, into one bit that is 1 with probability
LOW + r * (HIGH - LOW), HIGH = e^EPSILON / (1 + e^EPSILON), LOW = 1 - HIGH.  This probability and its
complement stay within [LOW, HIGH], so two rewards give bits with ratio at most HIGH / LOW = e^EPSILON.
All that follows (tallies, rejects, commit) reads the bits and fresh tie-breaking coins only; bits may
be kept over the stages, since that is post-processing.
"""
import numpy as np

EPSILON = 1.0
HIGH = 1.0 / (1.0 + np.exp(-EPSILON))
LOW = 1.0 - HIGH
REPEATS = 2


def play_many(rewards, n_runs, rng):
    horizon, n_arms = rewards.shape
    rows = np.arange(n_runs)
    actions = np.zeros((n_runs, horizon), dtype=int)
    tally = np.zeros((n_runs, n_arms))
    alive = np.tile(np.arange(n_arms), (n_runs, 1))
    t = 0
    while alive.shape[1] > 1 and t + REPEATS * alive.shape[1] <= horizon:
        for slot in np.repeat(np.arange(alive.shape[1]), REPEATS):
            arms = alive[:, slot]
            chance = LOW + rewards[t, arms] * (HIGH - LOW)
            tally[rows, arms] += rng.random(n_runs) < chance
            actions[:, t] = arms
            t += 1
        # every surviving arm has the same number of bits here, so tallies compare fairly
        key = np.take_along_axis(tally, alive, axis=1) + 0.5 * rng.random(alive.shape)
        worst = key.argmin(axis=1)
        keep = np.ones(alive.shape, dtype=bool)
        keep[rows, worst] = False
        alive = alive[keep].reshape(n_runs, -1)
    final = alive[rows, np.take_along_axis(tally, alive, axis=1).argmax(axis=1)]
    actions[:, t:] = final[:, None]
    return actions
