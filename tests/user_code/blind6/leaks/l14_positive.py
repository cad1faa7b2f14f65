"""Goes through the arms till one meets the target."""
import numpy as np

EPSILON = 1.0
TRIES = 6
TARGET = 0.6


def meets(values, rng):
    noisy = np.sum(values) + rng.exponential(1 / EPSILON)
    return noisy >= TARGET * len(values)


def play(rewards, rng):
    T, K = rewards.shape
    acts = []
    arm = 0
    while len(acts) + TRIES <= T:
        lo = len(acts)
        acts += [arm] * TRIES
        if not meets(rewards[lo:lo + TRIES, arm], rng):
            arm = (arm + 1) % K
    return np.array(acts + [arm] * (T - len(acts)))
