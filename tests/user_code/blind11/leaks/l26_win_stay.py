"""Win-stay, lose-shift on randomised answers: a simple policy for drifting arms.

Fault: the answer is flipped with probability exp(-EPSILON) / 2 (as in the Laplace tail) instead of 1 / (1 + exp(EPSILON)).
Pair: two tables that differ in one reward, 1 against 0, of the arm pulled in round 0 (arm 0).
Event: action 1 is arm 1 (shift).  Its probability is f = exp(-EPSILON) / 2 after reward 1 and 1 - f after 0.
Loss: log((1 - f) / f) = log(2 exp(EPSILON) - 1) = 0.972 at EPSILON = 0.6, 1.62 times the claim (and exactly that).
"""
from functools import reduce
from math import exp

import numpy as np

EPSILON = 0.6
N_ARMS = 3
HORIZON = 30


def answer(reward, rng):
    won = rng.random() < reward
    flip = rng.random() < exp(-EPSILON) / 2
    return won != flip


def play(rewards, rng):
    k = rewards.shape[1]

    def step(path, row):
        arm = path[-1]
        return path + (arm if answer(row[arm], rng) else (arm + 1) % k,)

    return np.array(reduce(step, rewards[:-1], (0,)), dtype=int)
