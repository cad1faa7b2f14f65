"""Each arm is kept for as many rounds as its privately reported grade."""
import math
from enum import Enum

EPSILON = 0.5


class Grade(Enum):
    E = 1
    D = 2
    C = 3
    B = 4
    A = 5


GRADES = list(Grade)
KEEP = math.exp(EPSILON) / (math.exp(EPSILON) + 1)


def to_grade(x):
    return GRADES[min(int(x * len(GRADES)), len(GRADES) - 1)]


def report(g, rng):
    if rng.random() < KEEP:
        return g
    others = [h for h in GRADES if h is not g]
    return others[int(rng.integers(len(others)))]


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    arms, arm = [], 0
    while len(arms) < horizon:
        first = rewards[len(arms), arm]
        dwell = report(to_grade(float(first)), rng).value
        arms.extend([arm] * min(dwell, horizon - len(arms)))
        arm = (arm + 1) % n_arms
    return arms
