"""Successive rejects for headline tests: each phase drops the headline with the noisily worst fresh total.

Proof.  In a phase every live arm is shown SHOWS times; score_a = -total_a of this phase only; the dropped arm is the
argmax of score_a + E_a with E_a exponential of mean 1/EPSILON.  One changed reward moves one score s_i by d <= 1.
Upwards: P(i) grows, by at most e^EPSILON since P(E > x - d) <= e^(EPSILON d) P(E > x); any other P(j) shrinks, and
mapping E_j to E_j + d keeps j the winner at a density cost of e^(-EPSILON d), so by no more than e^EPSILON.
Downwards is the same read backwards.  Totals restart in each phase, so one reward meets one drop, the order
of showing is drawn without data, and rewards after the last drop are ignored: pure EPSILON.
"""
from collections import deque

import numpy as np

EPSILON = 1.5
SHOWS = 3


class NoisyRejects:
    def __init__(self, n_arms, rng, epsilon=EPSILON, shows=SHOWS):
        self.rng = rng
        self.epsilon = epsilon
        self.shows = shows
        self.live = list(range(n_arms))
        self.queue = deque()
        self.totals = {}
        self.pending = 0
        self._open_phase()

    def _open_phase(self):
        self.totals = dict.fromkeys(self.live, 0.0)
        plan = self.rng.permutation(np.repeat(self.live, self.shows))
        self.queue.extend(int(a) for a in plan)
        self.pending = len(plan)

    def _close_phase(self):
        noise = -np.log1p(-self.rng.random(len(self.live))) / self.epsilon
        badness = np.array([-self.totals[a] for a in self.live]) + noise
        self.live.pop(int(np.argmax(badness)))

    def select(self):
        if len(self.live) == 1:
            return self.live[0]
        return self.queue[0]

    def update(self, arm, reward):
        if len(self.live) == 1:
            return
        self.queue.popleft()
        self.totals[arm] += float(reward)
        self.pending -= 1
        if self.pending == 0:
            self._close_phase()
            if len(self.live) > 1:
                self._open_phase()
