"""Epsilon-greedy ad server with a warm-up, Laplace-noisy click rates and automatic pausing of dead ads.

Fault: the list of live ads is built from the raw warm-up clicks; an ad without any click is paused for good, and a
paused ad is never shown again, not even when exploring.  The noise protects the ranking of the live ads only.
Pair: three arms, arms 0 and 2 always 1; arm 1 always 0, or 0 with one single 1 among its warm-up rewards.
Event: arm 1 is shown at some time after the warm-up.  Probability 0 on the first side; on the second side exploring
alone shows it with probability 0.2 / 3 in each round: infinite loss.
"""
import numpy as np

EPSILON = 1.0
WARM_UP = 4
EXPLORE = 0.2


class AdServer:
    def __init__(self, n_arms, rng, epsilon=EPSILON):
        self.rng = rng
        self.n_arms = n_arms
        self.epsilon = epsilon
        self.clicks = np.zeros(n_arms)
        self.round = 0
        self.live = np.arange(n_arms)
        self.ranking = None

    def select(self):
        if self.round < self.n_arms * WARM_UP:
            return self.round % self.n_arms
        if self.rng.random() < EXPLORE:
            return int(self.rng.choice(self.live))
        return int(self.ranking[0])

    def update(self, arm, reward):
        warm = self.n_arms * WARM_UP
        if self.round < warm:
            self.clicks[arm] += reward
        self.round += 1
        if self.round == warm:
            self._freeze()

    def _freeze(self):
        alive = self.clicks > 0
        if alive.any():
            self.live = np.flatnonzero(alive)
        noise = self.rng.laplace(scale=1.0 / self.epsilon, size=self.live.size)
        rate = (self.clicks[self.live] + noise) / WARM_UP
        self.ranking = self.live[np.argsort(-rate)]
