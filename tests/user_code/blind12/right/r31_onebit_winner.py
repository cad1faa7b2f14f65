"""Play-the-winner on one private bit per reward (Ding, Kulkarni, Yekhanin one-bit mean).

Every reward r in [0, 1] becomes a bit that is 1 with probability
(1 + r (e^eps - 1)) / (1 + e^eps); the agent stays after a 1 and moves to the next
arm after a 0.  Only the bit is stored.  Claim: epsilon = 1.2, pure.
"""
import math


class OneBitRandomiser:
    def __init__(self, epsilon, rng):
        self._low = 1.0 / (1.0 + math.exp(epsilon))
        self._span = (math.exp(epsilon) - 1.0) / (1.0 + math.exp(epsilon))
        self._rng = rng

    def __call__(self, reward):
        r = min(1.0, max(0.0, float(reward)))
        return int(self._rng.random() < self._low + self._span * r)


class Agent:
    def __init__(self, n_arms, horizon):
        self.n_arms = n_arms
        self.horizon = horizon
        self.current = 0

    def select(self):
        return self.current

    def update(self, arm, reward):
        raise NotImplementedError


class PrivatePlayTheWinner(Agent):
    """Stay on a private success, shift on a private failure; start at random."""

    def __init__(self, n_arms=3, horizon=40, epsilon=1.2, rng=None):
        super().__init__(n_arms, horizon)
        self.report = OneBitRandomiser(epsilon, rng)
        self.history = [[0, 0] for _ in range(n_arms)]
        self.current = int(rng.integers(n_arms))

    def update(self, arm, reward):
        bit = self.report(reward)
        self.history[arm][bit] += 1
        if bit == 0:
            self.current = (arm + 1) % self.n_arms
