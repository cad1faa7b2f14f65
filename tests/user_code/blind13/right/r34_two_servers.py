"""Batch bandit with two servers holding secret shares.

Claim: epsilon = 1 (pure).  Rewards become whole numbers 0..50.  Each is split in two additive shares modulo 2**31.
When a batch of six is full, server A adds a geometric number to its total, server B subtracts one; only the opened
sum is used.  The difference of the two is discrete Laplace noise with ratio exp(-epsilon / 50).
"""
import math

import numpy as np

MODULUS = 1 << 31
UNIT = 50


class Server:
    def __init__(self, sign, ratio, rng):
        self.sign, self.ratio, self.rng = sign, ratio, rng
        self.total = 0

    def receive(self, share):
        self.total = (self.total + share) % MODULUS

    def geometric(self):
        """P(n) = (1 - ratio) * ratio**n, n = 0, 1, ..., by inverse CDF."""
        return int(math.floor(math.log(1.0 - self.rng.random()) / math.log(self.ratio)))

    def open_total(self):
        value = (self.total + self.sign * self.geometric()) % MODULUS
        self.total = 0
        return value


class SharedBatchBandit:
    batch = 6
    wanted = 0.5

    def __init__(self, n_arms=4, horizon=60, epsilon=1.0, rng=None):
        self.n_arms = n_arms
        self.rng = np.random.default_rng() if rng is None else rng
        ratio = math.exp(-epsilon / UNIT)
        self.servers = (Server(+1, ratio, self.rng), Server(-1, ratio, self.rng))
        self.arm = 0
        self.seen = 0

    def choose(self):
        return self.arm

    def _send(self, number):
        mask = int(self.rng.integers(MODULUS))
        for server, share in zip(self.servers, (mask, number - mask)):
            server.receive(share % MODULUS)

    def learn(self, arm, reward):
        self._send(int(math.floor(min(1.0, max(0.0, reward)) * UNIT + 0.5)))
        self.seen += 1
        if self.seen < self.batch:
            return
        opened = sum(s.open_total() for s in self.servers) % MODULUS
        if opened >= MODULUS // 2:
            opened -= MODULUS
        self.seen = 0
        if opened < self.wanted * self.batch * UNIT:
            self.arm = (self.arm + 1) % self.n_arms
