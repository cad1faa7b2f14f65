"""Stays with an arm until its losses pass a noisy threshold, then moves on and begins afresh.

Right. Within a stay this is AboveThreshold on a growing sum of losses: threshold noise of scale 2 / eps and
query noise of scale 2 / eps. One reward moves all later queries of the stay in the same direction by at
most 1, and for such monotone queries eps / 2 for the threshold and eps / 2 for the one positive answer
suffice (the usual 4 / eps is for queries that move both ways). After a positive answer the threshold is
drawn anew and the sum is empty, so that a reward matters to one stay only.
"""


class Moody:
    def __init__(self, n_arms, rng, epsilon=1.0, patience=4.0):
        self.n_arms, self.rng, self.epsilon, self.patience = n_arms, rng, epsilon, patience
        self.arm = 0
        self._reset()

    def _noise(self):
        return self.rng.laplace(0, 2 / self.epsilon)

    def _reset(self):
        self.losses = 0.0
        self.threshold = self.patience + self._noise()

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.losses += 1 - reward
        if self.losses + self._noise() >= self.threshold:
            self.arm = (arm + 1) % self.n_arms
            self._reset()
