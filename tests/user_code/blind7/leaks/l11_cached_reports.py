"""Win-stay lose-shift on local reports, which are cached by value.

Leak. A dictionary keeps the noisy report of each reward value, "so that nobody can average the noise away".
Equal rewards then get equal reports. Worst pair: all rewards 0 against all 0 but one 0.5: on the one side
the run either always stays or always shifts, on the other it may change its mind once. Epsilon is infinite.
"""

from functools import cache


class Cached:
    def __init__(self, n_arms, rng, epsilon=2.0):
        self.n_arms, self.arm = n_arms, 0

        @cache
        def report(value):
            return value + rng.laplace(0, 1 / epsilon)

        self.report = report

    def select(self):
        return self.arm

    def update(self, arm, reward):
        if self.report(round(float(reward), 6)) <= 0.5:
            self.arm = (arm + 1) % self.n_arms
