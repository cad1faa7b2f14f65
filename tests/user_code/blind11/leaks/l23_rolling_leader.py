"""Rolling-window leader: each cycle tries both arms, then plays the leader of the last three cycles.

Fault: every review adds fresh Laplace(1/EPSILON) noise to the raw sum of a window of three cycles, and windows overlap:
a trial reward is released in three noisy sums (the cycles should be noised once, or the scale be 3/EPSILON).
Pair: all rewards of arm 0 are 1, of arm 1 are 0; the neighbour has reward 0 of arm 0 in its first trial of cycle 2.
Event: the reviews of cycles 2, 3, 4 all choose arm 1.  With G(x) = (2 + e x) / 4 exp(-e x), e = EPSILON, each has
probability G(6) or G(5); loss 3 log(G(5) / G(6)) = 1.741 = 2.49 EPSILON.  With arm 1 paying 1/2 (gaps 3 and 2) the
event is more frequent (0.002 against 0.009) and the loss is 1.538 = 2.20 EPSILON.
"""
from collections import deque
from itertools import chain, repeat

import numpy as np

EPSILON = 0.7
N_ARMS = 2
HORIZON = 48
REPEATS = 2
EXPLOIT = 4
CYCLES_KEPT = 3


class RollingLeader:
    def __init__(self, n_arms, rng, cycles_kept=CYCLES_KEPT):
        self.n_arms = n_arms
        self.rng = rng
        self.window = deque(maxlen=cycles_kept)
        self.timetable = self._timetable()
        self.trial = False

    def _timetable(self):
        while True:
            self.window.append(np.zeros(self.n_arms))
            self.trial = True
            yield from chain.from_iterable(repeat(range(self.n_arms), REPEATS))
            self.trial = False
            yield from repeat(self._review(), EXPLOIT)

    def _review(self):
        noisy = sum(self.window) + self.rng.laplace(scale=1.0 / EPSILON, size=self.n_arms)
        return int(noisy.argmax())

    def select(self):
        return next(self.timetable)

    def update(self, arm, reward):
        if self.trial:
            self.window[-1][arm] += reward
