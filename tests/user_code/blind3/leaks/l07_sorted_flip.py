"""Permute-and-flip: each arm accepts with chance exp(epsilon (score - best) / 2)."""

import math


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    score = [0.0] * k
    actions = []
    for t in range(3 * k):
        actions.append(t % k)
        score[t % k] += rewards[t, t % k]
    best = max(score)
    for arm in sorted(range(k), key=lambda a: score[a], reverse=True):
        if rng.random() < math.exp(epsilon * (score[arm] - best) / 2):
            break
    return actions + [arm] * (horizon - len(actions))
