"""Ladder of duels between layouts: the incumbent meets a random challenger, a Gumbel-noisy comparison keeps one.

Proof.  A duel shows incumbent and challenger in turn, HEATS times each, and adds up only these rewards; the winner
is the argmax of sum + Gumbel(1/EPSILON), i.e. P(i wins) = e^(EPSILON S_i) / (e^(EPSILON S_i) + e^(EPSILON S_j)).
One changed reward moves one of the two sums by at most 1, hence the log-odds by at most EPSILON, and then both
log P(i) and log P(j) move by less than EPSILON (the log of a logistic function has slope in (0, 1)).
Sums are fresh for each duel and each reward lies in one duel, challengers are drawn without data, and an unfinished
last duel is never scored: pure EPSILON for the whole sequence, approached when one layout is far ahead.
"""
import numpy as np

EPSILON = 1.0
HEATS = 4


def play_many(rewards, n_runs, rng):
    horizon, n_arms = rewards.shape
    actions = np.empty((n_runs, horizon), dtype=int)
    incumbent = rng.integers(n_arms, size=n_runs)
    for start in range(0, horizon, 2 * HEATS):
        challenger = (incumbent + rng.integers(1, n_arms, size=n_runs)) % n_arms
        pair = np.stack([incumbent, challenger], axis=1)
        stop = min(start + 2 * HEATS, horizon)
        total = np.zeros((n_runs, 2))
        for t in range(start, stop):
            side = (t - start) % 2
            actions[:, t] = pair[:, side]
            total[:, side] += rewards[t, pair[:, side]]
        if stop - start == 2 * HEATS:
            noisy = total + rng.gumbel(scale=1.0 / EPSILON, size=(n_runs, 2))
            incumbent = pair[np.arange(n_runs), noisy.argmax(axis=1)]
    return actions
