"""Target-seeking bandit with half-overlapping windows.

Every 4 rounds the sum over the last 8 rounds on the current arm is released with
Laplace noise and compared with the target; below the target the policy rotates
to the next arm and forgets the window.  A reward is inside two reviews at most,
and each review has epsilon / 2.  Claims epsilon = 1.6 (pure).
"""
from collections import deque


class Reviewer:
    """Noisy comparison of a window with a target rate."""

    STRIDE, REACH = 4, 2

    def __init__(self, epsilon, target, rng):
        self.scale = self.REACH / epsilon
        self.target = target
        self.rng = rng

    def passes(self, window):
        noisy = sum(window) + self.rng.laplace(scale=self.scale)
        return noisy >= self.target * len(window)


class RotatingPolicy:
    def __init__(self, n_arms=3, horizon=48, epsilon=1.6, rng=None):
        self.n_arms = n_arms
        self.reviewer = Reviewer(epsilon, 0.6, rng)
        self.window = deque(maxlen=Reviewer.STRIDE * Reviewer.REACH)
        self.arm = 0
        self.rounds = 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.window.append(reward)
        self.rounds += 1
        if self.rounds % Reviewer.STRIDE:
            return
        if not self.reviewer.passes(self.window):
            self.window.clear()
            self.arm = (self.arm + 1) % self.n_arms
