"""Compares two arms per phase."""
import numpy as np


class PairPhases:
    def __init__(self, horizon=60, epsilon=1.0, rng=None):
        self.rng = rng or np.random.default_rng()
        self.scale = 1 / epsilon
        self.phase = horizon // 6
        self.t, self.diff, self.leader = 0, 0.0, 0

    def _draw(self):
        z = self.rng.laplace(0, self.scale)
        while abs(z) > 2 * self.scale:
            z = self.rng.laplace(0, self.scale)
        return z

    def select(self):
        phase, step = divmod(self.t, self.phase)
        return step % 2 if phase % 2 == 0 else self.leader

    def update(self, arm, reward):
        phase, step = divmod(self.t, self.phase)
        self.t += 1
        if phase % 2 == 0:
            self.diff += reward if arm == 1 else -reward
            if step == self.phase - 1:
                self.leader = int(self.diff + self._draw() > 0)
                self.diff = 0.0
