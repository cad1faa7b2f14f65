"""Thompson sampling with restarts for abruptly changing arms.

Fault: the posterior sees Laplace reports only, but the restart test compares the raw reward with the raw last
reward of the arm; a restart is visible because the next actions are the forced tour 0, 1, ..., K-1.
Pair: all rewards 1; the neighbour has reward 0 of arm 0 in round 3 (rounds from 0, K = 3).
Event: action 3 is arm 0 and action 4 is not arm 0.  Neighbour: the drop 1 -> 0 restarts, action 4 is arm 0 surely,
probability 0.  All ones: no restart, action 4 is a posterior draw, positive probability (about 0.2).  Loss: infinite.
"""
from collections import deque

import numpy as np

EPSILON = 1.0
N_ARMS = 3
HORIZON = 40
JUMP = 0.75


class RestartingThompson:
    def __init__(self, n_arms, rng):
        self.n_arms = n_arms
        self.rng = rng
        self.restart()

    def restart(self):
        self.tour = deque(range(self.n_arms))
        self.count = np.zeros(self.n_arms)
        self.total = np.zeros(self.n_arms)
        self.last = {}

    def select(self):
        if self.tour:
            return self.tour.popleft()
        spread = np.sqrt(0.25 + 2.0 / EPSILON**2)
        mean = (self.total + 0.5) / (self.count + 1.0)
        return int(np.argmax(self.rng.normal(mean, spread / np.sqrt(self.count + 1.0))))

    def update(self, arm, reward):
        jumped = abs(reward - self.last.get(arm, reward)) > JUMP
        if jumped:
            self.restart()
            return
        self.last[arm] = reward
        self.count[arm] += 1
        self.total[arm] += reward + self.rng.laplace(0.0, 1.0 / EPSILON)
