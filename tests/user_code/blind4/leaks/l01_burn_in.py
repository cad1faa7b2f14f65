"""Explore-then-commit on means that leave out each arm's burn-in pulls."""
import numpy as np

EPSILON = 1.0
M = 20


def play(rewards, rng):
    T, K = rewards.shape
    acts = [t % K for t in range(min(T, M * K))]
    pulls = {a: [] for a in range(K)}
    for t, a in enumerate(acts):
        pulls[a].append(rewards[t, a])
    scale = 1.0 / (M * EPSILON)
    scores = []
    for a in range(K):
        settled = pulls[a][M // 2:]
        scores.append(np.mean(settled) + rng.laplace(0, scale))
    best = int(np.argmax(scores))
    return acts + [best] * (T - len(acts))
