"""Batched play with per-batch statistics computed in pandas."""
import numpy as np
import pandas as pd

EPSILON = 1.5
BATCH = 12


def summarise(frame, n_arms, rng):
    totals = frame.groupby("arm")["reward"].sum().reindex(range(n_arms), fill_value=0.0)
    return totals.to_numpy() + rng.laplace(0.0, 1.0 / EPSILON, n_arms)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    score, pulls = np.zeros(n_arms), np.zeros(n_arms)
    actions = []
    for start in range(0, horizon, BATCH):
        rounds = np.arange(start, min(start + BATCH, horizon))
        if start == 0:
            plan = rounds % n_arms
        else:
            best = int(np.argmax(score / np.maximum(pulls, 1)))
            plan = np.where(rng.random(rounds.size) < 0.3, rng.integers(n_arms, size=rounds.size), best)
        frame = pd.DataFrame({"arm": plan, "reward": rewards[rounds, plan]})
        score += summarise(frame, n_arms, rng)
        pulls += np.bincount(plan, minlength=n_arms)
        actions.extend(int(a) for a in plan)
    return actions
