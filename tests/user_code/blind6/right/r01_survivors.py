"""Successive elimination over growing phases."""
import math

import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    alive = list(range(K))
    actions = []
    length = 4
    while len(actions) < T:
        scores = {}
        for arm in alive:
            total, pulls = 0.0, 0
            for _ in range(length):
                if len(actions) == T:
                    break
                total += rewards[len(actions), arm]
                actions.append(arm)
                pulls += 1
            if pulls < length:
                return np.array(actions)
            scores[arm] = (total + rng.laplace(0.0, 1.0 / EPSILON)) / length
        width = math.sqrt(1 / (2 * length)) + 1 / (length * EPSILON)
        top = max(scores.values())
        alive = [a for a in alive if scores[a] >= top - width]
        length *= 2
    return np.array(actions)
