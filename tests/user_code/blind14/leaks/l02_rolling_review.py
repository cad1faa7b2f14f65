"""Arm rotation by periodic review.

Every REVIEW rounds the sum of the latest WINDOW rewards is compared, after
Laplace(1/EPS) noise, with half of the largest value; a poor review rotates to the
next arm.  One reward changes a window sum by at most 1.  Claim: EPS = 1.0, pure.
"""
from collections import deque
import numpy as np

EPS = 1.0
WINDOW = 12
REVIEW = 4


def review(recent, rng):
    target = 0.5 * len(recent)
    return sum(recent) + rng.laplace(scale=1 / EPS) >= target


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    recent = deque(maxlen=WINDOW)
    arm = int(rng.integers(n_arms))
    actions = []
    for t in range(horizon):
        actions.append(arm)
        recent.append(float(rewards[t, arm]))
        if (t + 1) % REVIEW == 0 and len(recent) == WINDOW:
            if not review(recent, rng):
                arm = (arm + 1) % n_arms
    return np.array(actions)
