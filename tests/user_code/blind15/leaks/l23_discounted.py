"""Discounted two-arm bandit with a fresh Laplace draw in every round. Claims epsilon = 1, pure.

The state is the discounted difference of the two arms' rewards. A reward is present in all later rounds with weights
1, g, g^2, ...; the noise is calibrated to the norm of this weight vector, 1 / sqrt(1 - g^2).
"""
from functools import partial, reduce

import numpy as np

G = 0.85
EPSILON = 1.0
SENSITIVITY = 1.0 / np.sqrt(1.0 - G * G)


def decide(state, rng):
    return 0 if state + rng.laplace(0.0, SENSITIVITY / EPSILON) > 0 else 1


def step(rewards, rng, memory, t):
    state, actions = memory
    arm = decide(state, rng)
    signed = rewards[t, arm] if arm == 0 else -rewards[t, arm]
    return G * state + signed, actions + [arm]


def play(rewards, rng):
    T = rewards.shape[0]
    _, actions = reduce(partial(step, rewards, rng), range(T), (0.0, []))
    return np.array(actions)
