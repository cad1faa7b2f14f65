"""Play the winner on a noisy report; switch arms when the report is negative.

Fault: scale 1/(1.5 EPSILON) for sensitivity 1. First reward 0 against 1, event {switch}:
1/2 against exp(-1.5 EPSILON)/2, a loss of 1.5 EPSILON = 1.5.
"""
EPSILON = 1.0


class NoisySwitch:
    def __init__(self, n_arms, rng):
        self.k, self.rng, self.arm = n_arms, rng, 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        if reward + self.rng.laplace(0, 1 / (1.5 * EPSILON)) < 0:
            self.arm = (arm + 1) % self.k
