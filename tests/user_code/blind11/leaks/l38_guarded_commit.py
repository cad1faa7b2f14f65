"""Explore-then-commit on offers with a drawdown guard, all runs at once.

Claim: EPSILON-DP for each run's action sequence, one reward in [0, 1] changed.
Fault: the drawdown guard compares raw rewards of the held offer with a fixed floor.
Pair: 3 offers, 40 rounds; in rounds 0..14 offer 0 pays 1 and the others 0; in rounds 15..18 offer 0 pays
0.35, 0.35, 0.5, 0.35; later everything pays 0.5.  Right input: the reward of offer 0 in round 17 is 0.
Event: offer 0 in rounds 15..18 and another one in round 19.
The window mean is 0.3875 (kept, probability 0) or 0.2625 (left, probability about 0.97): infinite loss.
"""
import numpy as np

EPSILON = 1.0
TRIALS = 5
WINDOW = 4
FLOOR = 0.35


def play_many(rewards, n_runs, rng):
    horizon, n_arms = rewards.shape
    explore = np.tile(np.arange(n_arms), TRIALS)[:horizon]
    start = len(explore)
    totals = np.zeros(n_arms)
    np.add.at(totals, explore, rewards[np.arange(start), explore])
    noisy = totals + rng.laplace(scale=1.0 / EPSILON, size=(n_runs, n_arms))
    order = np.argsort(-noisy, axis=1)

    rows = np.arange(n_runs)
    rank = np.zeros(n_runs, dtype=int)
    held = np.zeros(n_runs, dtype=int)
    recent = np.ones((n_runs, WINDOW))
    actions = np.empty((n_runs, horizon), dtype=int)
    actions[:, :start] = explore
    for t in range(start, horizon):
        arms = order[rows, rank]
        actions[:, t] = arms
        recent[rows, held % WINDOW] = rewards[t, arms]
        held += 1
        weak = (held >= WINDOW) & (recent.mean(axis=1) < FLOOR)
        rank[weak] = (rank[weak] + 1) % n_arms
        held[weak] = 0
        recent[weak] = 1.0
    return actions
