"""State machine: scan, stay, rescan when the mean drops."""
from enum import Enum, auto

import numpy as np

EPSILON = 1.5
BLOCK = 10


class State(Enum):
    SCAN = auto()
    STAY = auto()


def play(rewards, rng):
    T, K = rewards.shape
    state, pending, found = State.SCAN, list(range(K)), {}
    cusum, arm = 0.0, 0
    actions = np.zeros(T, dtype=int)
    for lo in range(0, T, BLOCK):
        hi = min(T, lo + BLOCK)
        if state is State.SCAN:
            arm = pending.pop(0)
        actions[lo:hi] = arm
        mean = (rewards[lo:hi, arm].sum() + rng.laplace(0, 1 / EPSILON)) / BLOCK
        if state is State.SCAN:
            found[arm] = mean
            if not pending:
                arm = max(found, key=found.get)
                state, cusum = State.STAY, 0.0
        else:
            cusum = max(0.0, cusum + found[arm] - mean - 0.05)
            if cusum > 0.2:
                state, pending, found = State.SCAN, list(range(K)), {}
    return actions
