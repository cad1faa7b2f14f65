"""Noisy means in a data frame, after a warm-up that uses what it sees.

Leak. The first rounds pull every arm once and then stay with the best of them for some rounds, "before
privacy starts". That choice is made from exact rewards. Worst pair: the first arm's first reward is 1 or 0
while the second one's is 0.5: the arm of the rounds after that is determined. Epsilon is infinite.
"""

import numpy as np
import pandas as pd

EPSILON = 1.0


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    rows = []
    leader, since = 0, n_arms
    for t in range(horizon):
        if t == n_arms:
            first = pd.DataFrame(rows).sort_values("reward", ascending=False, kind="stable")
            leader = int(first.arm.iloc[0])
        if t < n_arms:
            arm = t
        elif t > n_arms and t % 4 == 0:
            arm = int(rng.integers(n_arms))
        else:
            arm = leader
        rows.append({"arm": arm, "reward": rewards[t, arm]})
        if t > n_arms and t % 10 == 0:
            block = pd.DataFrame(rows[since:])
            since = len(rows)
            totals = block.groupby("arm").reward.sum().reindex(range(n_arms), fill_value=0.0)
            leader = int(np.argmax(totals.to_numpy() + rng.laplace(0, 1 / EPSILON, n_arms)))
    return np.array([row["arm"] for row in rows])
