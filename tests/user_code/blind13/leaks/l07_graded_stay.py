"""Win-stay / lose-shift with graded stays, in the local model.

A reward is put into one of four grades and the grade is reported by randomised
response with keep probability exp(eps) / (1 + exp(eps)); a wrong grade is
uniform over the other three.  The reported grade says how long the arm is kept
before the next arm is tried; rewards during the stay are not looked at.
Claim: epsilon = 0.8 (local, hence also for the actions).
"""
import math
from enum import IntEnum

import numpy as np

EPSILON = 0.8


class Grade(IntEnum):
    POOR = 0
    FAIR = 1
    GOOD = 2
    EXCELLENT = 3


def grade_of(reward):
    return Grade(min(int(4 * reward), 3))


def randomised_response(grade, rng):
    keep = math.exp(EPSILON) / (1.0 + math.exp(EPSILON))
    if rng.random() < keep:
        return grade
    others = [g for g in Grade if g != grade]
    return others[rng.integers(len(others))]


def stay(grade):
    match grade:
        case Grade.POOR:
            return 0
        case Grade.FAIR:
            return 1
        case Grade.GOOD:
            return 3
        case Grade.EXCELLENT:
            return 6


def play(rewards, rng):
    rewards = np.asarray(rewards, dtype=float)
    horizon, k = rewards.shape
    actions = []
    arm = 0
    while len(actions) < horizon:
        probe = rewards[len(actions), arm]
        reported = randomised_response(grade_of(probe), rng)
        actions.extend([arm] * (1 + stay(reported)))
        arm = (arm + 1) % k
    return np.array(actions[:horizon], dtype=int)
