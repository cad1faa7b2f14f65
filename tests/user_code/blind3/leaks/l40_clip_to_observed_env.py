"""Noisy means, clipped to the range of what was observed so that they stay plausible."""

import numpy as np


def experiment(env, horizon, rng, epsilon=1.0):
    seen = [[], []]
    for t in range(10):
        seen[t % 2].append(env.pull(t % 2))
    means = [
        np.clip(np.mean(x) + rng.laplace(0, 1 / (len(x) * epsilon)), min(x), max(x)) for x in seen
    ]
    best = int(np.argmax(means))
    for _ in range(10, horizon):
        env.pull(best)
