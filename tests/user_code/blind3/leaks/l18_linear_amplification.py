"""A challenger takes over if a noisy total of a quarter of its rewards, drawn by hidden coins, reaches 1.

Subsampling multiplies epsilon by its rate, so the total may be noised for epsilon/rate.
"""

import numpy as np


def play(rewards, rng, epsilon=1.0, rate=0.25):
    horizon = len(rewards)
    inner = epsilon / rate
    trial = np.arange(1, 9, 2)
    kept = rng.random(trial.size) < rate
    total = rewards[trial, 1][kept].sum() + rng.laplace(0, 1 / inner)
    actions = np.zeros(horizon, dtype=int)
    actions[trial] = 1
    actions[9:] = int(total >= 1)
    return actions
