"""Blocks of probes; the exploited arm is drawn by a softmax over advantages (own total minus the mean total of the rivals).

FAULT: exp(eps * score) is right when one reward moves one score by 1.  Here it also moves the rivals' scores, the other way, by
1/(K-1), so that log-odds move by eps * K/(K-1): 1.5 eps for K = 3.
Pair (K = 3): in block one arms 1 and 2 collect 2 each and arm 0 collects 0, against 1 with one of its rewards raised to 1.
Event: arm 0 is exploited after block one.  Probability e^-3/(e^-3 + 2) = 0.0243 against e^-1.5/(e^-1.5 + 2) = 0.1004:
loss 1.419 for a claim of 1.0 (the supremum is 1.5).
"""
import numpy as np

EPSILON = 1.0
PROBES = 4
EXPLOIT = 4


class AdvantageSoftmax:
    def __init__(self, n_arms, rng, epsilon=EPSILON):
        self.n_arms = n_arms
        self.rng = rng
        self.epsilon = epsilon
        self._new_block()

    def _new_block(self):
        self.totals = np.zeros(self.n_arms)
        self.step = 0
        self.favourite = None

    def _draw(self):
        rivals = (self.totals.sum() - self.totals) / (self.n_arms - 1)
        logits = self.epsilon * (self.totals - rivals)
        p = np.exp(logits - logits.max())
        return int(self.rng.choice(self.n_arms, p=p / p.sum()))

    def select(self):
        if self.step == PROBES * self.n_arms + EXPLOIT:
            self._new_block()
        if self.step < PROBES * self.n_arms:
            return self.step % self.n_arms
        if self.favourite is None:
            self.favourite = self._draw()
        return self.favourite

    def update(self, arm, reward):
        if self.step < PROBES * self.n_arms:
            self.totals[arm] += reward
        self.step += 1
