"""Compares success rates: reward earned over a privately counted number of good rounds."""
import numpy as np

EPS = 1.0
M = 14


def play(rewards, rng):
    T, K = rewards.shape
    acts, quality = [], []
    for a in range(K):
        batch = rewards[len(acts):len(acts) + M, a]
        acts += [a] * len(batch)
        good = batch >= 0.5
        earned = batch[good].sum()
        count = max(1.0, (~good).sum() + rng.laplace(0, 1 / EPS))
        quality.append(earned / count)
    best = int(np.argmax(quality))
    return np.array(acts + [best] * (T - len(acts)))
