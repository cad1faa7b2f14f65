"""Explore, then commit, with a play-off for close calls; vectorised over runs.

All arms are pulled M times in turn, their sums get Laplace noise of scale 1 / EPS, and
the noisy means are rounded to two digits for the leader board.  If two arms share
the first place they meet in a play-off of two pulls each; the better one is then played
to the end.  Claim: epsilon-DP, EPS = 2.0.
"""
import numpy as np

EPS = 2.0
M = 8


def play_many(rewards, n_runs, rng):
    horizon, k = rewards.shape
    rows = np.arange(n_runs)
    schedule = np.tile(np.arange(k), M)
    t0 = schedule.size
    sums = np.array([rewards[a:t0:k, a].sum() for a in range(k)])
    noisy = (sums + rng.laplace(0.0, 1.0 / EPS, (n_runs, k))) / M
    board = np.round(noisy, 2)

    rank = np.argsort(-board, axis=1, kind="stable")
    first, second = rank[:, 0], rank[:, 1]
    tied = board[rows, first] == board[rows, second]

    out = np.empty((n_runs, horizon), dtype=int)
    out[:, :t0] = schedule
    score = np.tile(sums, (n_runs, 1))
    for j in range(4):
        arm = np.where(tied & (j % 2 == 1), second, first)
        out[:, t0 + j] = arm
        score[rows, arm] += rewards[t0 + j, arm]
    swap = tied & (score[rows, second] > score[rows, first])
    out[:, t0 + 4:] = np.where(swap, second, first)[:, None]
    return out
