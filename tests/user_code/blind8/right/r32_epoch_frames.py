"""Weekly planning in pandas: each epoch has a plan, a log, and one noisy group-by.

The log of an epoch is used for one table of per-arm totals.  All totals get Laplace(1 / EPSILON) noise, also the arms
that were not in the plan (they total 0).  Replacing one reward moves one entry of one epoch's table by at most 1: factor
e^EPSILON by the Laplace mechanism in L1 norm.  Running scores and the next plan are built from noisy tables; pulls per
arm come from the plan.
"""
import numpy as np
import pandas as pd

EPSILON = 0.8
EPOCH = 10


def make_plan(score, n_arms, length, rng):
    if score is None:
        arms = np.resize(np.arange(n_arms), length)
    else:
        best = int(score.idxmax())
        arms = np.where(rng.random(length) < 0.7, best, rng.integers(n_arms, size=length))
    return arms


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    noisy_total = pd.Series(0.0, index=range(n_arms))
    pulls = pd.Series(0, index=range(n_arms))
    score, chosen = None, []
    for start in range(0, horizon, EPOCH):
        length = min(EPOCH, horizon - start)
        arms = make_plan(score, n_arms, length, rng)
        chosen.append(arms)
        log = pd.DataFrame({"arm": arms, "reward": rewards[np.arange(start, start + length), arms]})
        totals = log.groupby("arm")["reward"].sum().reindex(range(n_arms), fill_value=0.0)
        noisy_total = noisy_total + totals + rng.laplace(scale=1.0 / EPSILON, size=n_arms)
        pulls = pulls + log["arm"].value_counts().reindex(range(n_arms), fill_value=0)
        score = noisy_total / pulls.clip(lower=1)
    return np.concatenate(chosen).astype(int)
