"""Stay with an arm until its accumulated shortfall passes a noisy limit.

The rule is AboveThreshold on the running sum of (1 - reward) since the arm was
taken up.  One changed reward shifts all the later sums of the instance by one and
the same amount of at most 1.  A downward shift is absorbed by the noise of the limit
and an upward one by the noise of the comparison that raises the alarm, never by
both, so Laplace(1/epsilon) in either place is enough.  After an alarm the sum and
the limit start afresh with the next arm: a reward belongs to one instance only.
Claims epsilon = 2.0 (pure).
"""


class AboveThreshold:
    def __init__(self, limit, epsilon, rng):
        self.rng = rng
        self.scale = 1.0 / epsilon
        self.limit = limit + rng.laplace(0.0, self.scale)

    def alarm(self, query):
        return query + self.rng.laplace(0.0, self.scale) >= self.limit


class ShortfallSwitcher:
    LIMIT = 3.0

    def __init__(self, n_arms=3, horizon=50, epsilon=2.0, rng=None):
        self.n_arms = n_arms
        self.epsilon = epsilon
        self.rng = rng
        self.arm = 0
        self._restart()

    def _restart(self):
        self.shortfall = 0.0
        self.monitor = AboveThreshold(self.LIMIT, self.epsilon, self.rng)

    def act(self):
        return self.arm

    def observe(self, arm, reward):
        self.shortfall += 1.0 - reward
        if self.monitor.alarm(self.shortfall):
            self.arm = (self.arm + 1) % self.n_arms
            self._restart()
