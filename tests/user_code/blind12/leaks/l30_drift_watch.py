"""Arm rotation by a private drift alarm, epsilon = 1.5 (pure).

A sparse vector watches the cumulative shortfall of the service.  Each time it
passes the next checkpoint (with Laplace noise on the checkpoint and on each query)
the alarm rings, the agent moves to the next arm and a new checkpoint is armed with
fresh noise.  Half the budget goes to the checkpoint, half to the monotone queries.
"""
import math


class SparseVector:
    def __init__(self, epsilon, rng):
        self.scale = 2.0 / epsilon
        self.rng = rng
        self.limit = None

    def _laplace(self):
        e1, e2 = self.rng.standard_exponential(2)
        return self.scale * (e1 - e2)

    def arm(self, checkpoint):
        self.limit = checkpoint + self._laplace()

    def query(self, value):
        return value + self._laplace() >= self.limit


class DriftWatch:
    STEP = 2.0

    def __init__(self, n_arms=3, horizon=50, epsilon=1.5, rng=None):
        self.n_arms = n_arms
        self.sv = SparseVector(epsilon, rng)
        self.checkpoint = self.STEP
        self.sv.arm(self.checkpoint)
        self.shortfall = 0.0
        self.current = int(rng.integers(n_arms))

    def select(self):
        return self.current

    def update(self, arm, reward):
        self.shortfall += 1.0 - min(1.0, max(0.0, float(reward)))
        if self.sv.query(self.shortfall):
            self.current = (self.current + 1) % self.n_arms
            self.checkpoint = self.STEP * (1 + math.floor(self.checkpoint / self.STEP))
            self.sv.arm(self.checkpoint)
