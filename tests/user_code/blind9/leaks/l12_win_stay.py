"""Win-stay lose-shift on a randomised click.
Fault: the keep probability of flipping is used with a fair coin otherwise, so P(truth) = (1+q)/2, with
q = e^EPSILON/(1+e^EPSILON). Pair: r[0,0] = 1 or 0; event: second action is 0 again.
Loss = ln((1+q)/(1-q)) = ln(1+2e^EPSILON) = 1.862 at EPSILON = 1."""
import numpy as np
EPSILON = 1.0


class WinStay:
    def __init__(self, n_arms, rng):
        self.k, self.rng, self.arm = n_arms, rng, 0
        self.q = 1 / (1 + np.exp(-EPSILON))

    def select(self):
        return self.arm

    def update(self, arm, reward):
        liked = self.rng.random() < reward
        if self.rng.random() >= self.q:
            liked = self.rng.random() < 0.5
        self.arm = arm if liked else (arm + 1) % self.k
