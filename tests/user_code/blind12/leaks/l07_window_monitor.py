"""Keep an arm while a private moving average of its rewards stays high.

After each round the mean of the last WINDOW rewards of the current arm is
released with Laplace noise of scale 1 / (WINDOW * EPSILON).  When it falls below LEVEL the
policy moves on to the next arm and starts a new window.
Claim: epsilon-DP per reward, EPSILON = 0.5.
"""
from collections import deque

import numpy as np

EPSILON = 0.5
WINDOW = 6
LEVEL = 0.45


class Monitor:
    def __init__(self, rng):
        self.values = deque(maxlen=WINDOW)
        self.rng = rng

    def __call__(self, reward):
        self.values.append(reward)
        if len(self.values) < WINDOW:
            return True
        noisy = np.mean(self.values) + self.rng.laplace(scale=1.0 / (WINDOW * EPSILON))
        return bool(noisy >= LEVEL)


def play(rewards, rng):
    horizon, k = rewards.shape
    arm, healthy = 0, Monitor(rng)
    actions = np.zeros(horizon, dtype=int)
    for t in range(horizon):
        actions[t] = arm
        if not healthy(rewards[t, arm]):
            arm = (arm + 1) % k
            healthy = Monitor(rng)
    return actions
