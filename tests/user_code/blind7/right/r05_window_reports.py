"""A sliding window over local reports, seeded by the operating system.

Right. Each reward gets Laplace noise of scale 1 / EPSILON once, as it arrives; the noisy value is what the
deque keeps and reads again and again. Reading a stored noisy value is post-processing, so the run is
EPSILON-private.
"""

import secrets
from collections import deque
from statistics import fmean

import numpy as np

EPSILON = 1.5
WINDOW = 6


def play(rewards, rng):
    own = np.random.default_rng([secrets.randbits(64), int(rng.integers(2**32))])
    horizon, n_arms = rewards.shape
    windows = [deque(maxlen=WINDOW) for _ in range(n_arms)]
    actions = []
    for t in range(horizon):
        if t < 2 * n_arms:
            arm = t % n_arms
        elif own.random() < 0.1:
            arm = int(own.integers(n_arms))
        else:
            arm = max(range(n_arms), key=lambda a: fmean(windows[a]))
        windows[arm].append(rewards[t, arm] + own.laplace(0, 1 / EPSILON))
        actions.append(arm)
    return np.array(actions)
