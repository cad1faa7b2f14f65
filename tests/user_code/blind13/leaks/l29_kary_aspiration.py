"""Aspiration bandit on k-ary randomised response.

Claim: epsilon = 1 (pure, local).  A reward is put on the scale 0..4 and the level is sent through randomised
response; the learner stays on an arm whose reported level reaches its aspiration and moves on otherwise.
"""
import functools
import math

import numpy as np

EPSILON = 1.0
LEVELS = 5
ARMS, ROUNDS = 4, 40


def kary_response(level, rng, truth):
    if rng.random() < truth:
        return level
    lie = int(rng.integers(LEVELS - 1))
    return lie + (lie >= level)


send = functools.partial(kary_response, truth=math.exp(EPSILON) / (math.exp(EPSILON) + 1.0))


def step(state, report):
    """Aspiration rises slowly with success, falls with failure."""
    arm, aspiration = state
    if report >= aspiration:
        return arm, min(aspiration + 0.25, LEVELS - 1.0)
    return (arm + 1) % ARMS, max(aspiration - 0.5, 1.0)


def play(rewards, rng):
    state = (int(rng.integers(ARMS)), LEVELS - 1.5)
    actions = []
    for t in range(ROUNDS):
        arm = state[0]
        actions.append(arm)
        level = int(round(float(rewards[t, arm]) * (LEVELS - 1)))
        state = step(state, send(level, rng))
    return np.array(actions)
