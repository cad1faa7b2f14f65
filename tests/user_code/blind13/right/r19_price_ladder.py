"""Price ladder with a weekly review (pandas).

One price is kept for a week of five rounds.  At the review the revenue of that week gets Laplace noise
of scale 1/epsilon and the price moves one step up, one step down, or stays.  Weeks are disjoint; a
review reads its own week only.  Claims epsilon = 1.5 for one reward of one round.
"""
import numpy as np
import pandas as pd

EPSILON = 1.5
WEEK = 5
UP, DOWN = 3.4, 1.6


def weekly_review(sales, week, level, top, rng):
    weekly = sales.loc[sales["week"] == week, "revenue"].clip(0.0, 1.0).sum()
    noisy = weekly + rng.laplace(loc=0.0, scale=1.0 / EPSILON)
    move = int(noisy > UP) - int(noisy < DOWN)
    return min(top, max(0, level + move))


def play(rewards, rng):
    horizon, n_levels = rewards.shape
    level = n_levels // 2
    rows, actions = [], np.zeros(horizon, dtype=int)
    for t in range(horizon):
        week = t // WEEK
        if t and t % WEEK == 0:
            sales = pd.DataFrame(rows, columns=["week", "price", "revenue"])
            level = weekly_review(sales, week - 1, level, n_levels - 1, rng)
        actions[t] = level
        rows.append((week, level, float(rewards[t, level])))
    return actions
