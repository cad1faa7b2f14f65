"""Sums over a secret Poisson sample, with less noise by amplification.

Right. Each reward enters with probability q = 1/4, and nobody sees which ones did. The sum of the sample is
released with noise for eps0 = ln(1 + (e^eps - 1) / q). With P0 the law without the reward and Px, Py those
with its two values, each within a factor e^eps0 of the others, the mixtures (1 - q) P0 + q Px and (1 - q)
P0 + q Py are within 1 + q (e^eps0 - 1) = e^eps of each other. Each epoch's rewards are used once.
"""

import numpy as np
import pandas as pd

EPSILON, RATE = 0.8, 0.25
INNER = np.log1p(np.expm1(EPSILON) / RATE)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    rows, leader = [], 0
    epoch = 8 * n_arms
    for t in range(horizon):
        arm = (t % n_arms) if t % epoch < epoch // 2 else leader
        rows.append({"epoch": t // epoch, "arm": arm, "reward": rewards[t, arm], "kept": rng.random() < RATE})
        if t % epoch == epoch // 2 - 1:
            frame = pd.DataFrame(rows)
            now = frame[(frame.epoch == t // epoch) & frame.kept]
            sums = now.groupby("arm").reward.sum().reindex(range(n_arms), fill_value=0.0)
            leader = int(np.argmax(sums.to_numpy() + rng.laplace(0, 1 / INNER, n_arms)))
    return np.array([row["arm"] for row in rows])
