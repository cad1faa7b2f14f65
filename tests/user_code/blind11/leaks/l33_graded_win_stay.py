"""Graded win-stay, lose-shift: the mark of the last pull, given by five randomised judges, says how far to step round the ring of arms.

FAULT: judge j asks whether the reward exceeds (j + 1/2)/5 and answers by randomised response with the whole eps.  A reward moved
from 0 to 1 turns all five answers, so the five together cost 5 eps, not eps.
Pair (K = 4): the reward of round 0 at the arm pulled is 0, against 1.  Event: the same arm is pulled in round 1 (all five say yes).
With p = e^0.5/(1 + e^0.5) = 0.6225: (1 - p)^5 = 0.0077 against p^5 = 0.0935: loss exactly 5 eps = 2.5 for a claim of 0.5.
"""
import numpy as np

EPSILON = 0.5
JUDGES = 5


def mark(reward, rng):
    honest = 1 / (1 + np.exp(-EPSILON))
    answers = (reward > (j + 0.5) / JUDGES for j in range(JUDGES))
    return sum(bool(a) == bool(rng.random() < honest) for a in answers)


def step(points):
    match points:
        case 5:
            return 0
        case 3 | 4:
            return 1
        case 1 | 2:
            return 2
        case _:
            return 3


def play(rewards, rng):
    horizon, k = rewards.shape
    arm = int(rng.integers(k))
    path = []
    for t in range(horizon):
        path.append(arm)
        arm = (arm + step(int(mark(rewards[t, arm], rng)))) % k
    return np.array(path)
