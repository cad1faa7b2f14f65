"""Sequential halving over scores in points (0 to 10) with Laplace noise."""
from collections import Counter

import numpy as np

EPSILON = 1.0
POINTS = 10
SENSITIVITY = 1.0


def laplace(rng):
    e = rng.exponential(SENSITIVITY / EPSILON, 2)
    return e[0] - e[1]


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    points = np.round(rewards * POINTS)
    alive = list(range(n_arms))
    arms = []
    while len(alive) > 1:
        board = Counter()
        for _ in range(max(1, 16 // len(alive))):
            for arm in alive:
                board[arm] += float(points[len(arms), arm])
                arms.append(arm)
        for arm in alive:
            board[arm] += laplace(rng)
        alive = [arm for arm, _ in board.most_common(len(alive) // 2)]
    return arms + alive * (horizon - len(arms))
