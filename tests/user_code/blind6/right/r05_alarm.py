"""Commit to an arm and watch it for a drop."""
from collections import deque
from itertools import cycle, islice

import numpy as np

EPSILON = 2.0
WINDOW = 10
FLOOR = 3.0


def pick_arm(rewards, rounds, rng):
    K = rewards.shape[1]
    sums = [0.0] * K
    for t in range(rounds):
        sums[t % K] += rewards[t, t % K]
    return int(np.argmax([s + rng.laplace(scale=1 / EPSILON) for s in sums]))


def play(rewards, rng):
    T, K = rewards.shape
    explore = 10 * K
    arm = pick_arm(rewards, explore, rng)
    actions = [t % K for t in range(explore)]
    recent = deque(maxlen=WINDOW)
    floor = FLOOR + rng.laplace(scale=2 / EPSILON)
    for t in range(explore, T):
        actions.append(arm)
        recent.append(rewards[t, arm])
        if len(recent) == WINDOW:
            if sum(recent) + rng.laplace(scale=4 / EPSILON) < floor:
                break
    actions.extend(islice(cycle(range(K)), T - len(actions)))
    return np.array(actions)
