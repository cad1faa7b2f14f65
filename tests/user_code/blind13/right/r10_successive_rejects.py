"""Private successive rejects (Audibert et al.) with cumulative totals.

K - 1 phases; after each one the arm with the lowest total is rejected by report
noisy max with exponential noise.  Totals are kept from phase to phase, so each
of the K - 1 rejections gets epsilon / (K - 1).  One reward moves a single score
by at most 1, for which Exp(1/e) noise costs e.  Claim: epsilon = 3.0.
"""
from abc import ABC, abstractmethod
from collections import deque

import numpy as np


class PhasedPolicy(ABC):
    """Plays a queue of arms; asks for the next phase when the queue is empty."""

    def __init__(self, n_arms, horizon, epsilon, rng):
        self.n_arms, self.horizon = n_arms, horizon
        self.epsilon, self.rng = epsilon, rng
        self.alive = list(range(n_arms))
        self.total = np.zeros(n_arms)
        self.queue = deque()
        self.start_phase()

    @abstractmethod
    def start_phase(self):
        ...

    @abstractmethod
    def end_phase(self):
        ...

    def choose(self):
        return self.queue[0] if self.queue else self.alive[0]

    def learn(self, arm, reward):
        if not self.queue:
            return                       # committed: rewards are ignored
        self.queue.popleft()
        self.total[arm] += reward
        if not self.queue:
            self.end_phase()


class SuccessiveRejects(PhasedPolicy):
    PULLS = 3

    def __init__(self, n_arms=4, horizon=40, epsilon=3.0, rng=None):
        super().__init__(n_arms, horizon, epsilon, rng)

    def start_phase(self):
        self.queue.extend(self.alive * self.PULLS)

    def end_phase(self):
        eps_phase = self.epsilon / (self.n_arms - 1)
        badness = -self.total[self.alive]
        badness = badness + self.rng.exponential(1.0 / eps_phase, size=len(self.alive))
        del self.alive[int(np.argmax(badness))]
        if len(self.alive) > 1:
            self.start_phase()
