"""Greedy play whose totals are looked at only at a few checkpoints."""
import numpy as np

EPSILON = 3.0
CHECKPOINTS = (12, 24, 48, 72)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    scale = len(CHECKPOINTS) / EPSILON
    totals = np.zeros(n_arms)
    pulls = np.zeros(n_arms, dtype=int)
    favourite = None
    arms = []
    for t in range(horizon):
        if t in CHECKPOINTS:
            looks = totals + rng.laplace(0.0, scale, n_arms)
            favourite = int(np.argmax(looks / pulls))
        arm = t % n_arms if favourite is None or t % 5 == 0 else favourite
        if favourite is not None and t % 5 == 0:
            arm = (t // 5) % n_arms
        totals[arm] += rewards[t, arm]
        pulls[arm] += 1
        arms.append(arm)
    return arms
