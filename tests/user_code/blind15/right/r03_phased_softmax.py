"""Phased bandit with the exponential mechanism.

A phase is a block of exploration (every arm `pulls` times in shuffled order)
and a block of exploitation.  The arm to exploit is drawn with probability
proportional to exp(epsilon * sum of the phase's exploration rewards): changing
one reward moves the score of one arm by at most 1, so no factor 2 is needed.
Rewards of the exploitation block are ignored and each phase starts afresh.
Claims epsilon = 1.5 (pure).
"""
import numpy as np


class PhasedSoftmax:
    def __init__(self, n_arms=3, horizon=45, epsilon=1.5, rng=None, pulls=3, exploit=6):
        self.n_arms, self.horizon, self.epsilon = n_arms, horizon, epsilon
        self.rng = rng if rng is not None else np.random.default_rng()
        self.pulls, self.exploit = pulls, exploit
        self._open_phase()

    def _open_phase(self):
        self._queue = list(self.rng.permutation(np.repeat(np.arange(self.n_arms), self.pulls)))
        self._scores = np.zeros(self.n_arms)
        self._exploring = True

    def _close_exploration(self):
        gumbel = self.rng.gumbel(size=self.n_arms)
        winner = int(np.argmax(self.epsilon * self._scores + gumbel))
        self._queue = [winner] * self.exploit
        self._exploring = False

    def select(self):
        return int(self._queue[0])

    def update(self, arm, reward):
        self._queue.pop(0)
        if self._exploring:
            self._scores[arm] += min(1.0, max(0.0, reward))
        if not self._queue:
            if self._exploring:
                self._close_exploration()
            else:
                self._open_phase()
