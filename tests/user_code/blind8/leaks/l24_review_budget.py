"""Two arms, a frozen pilot study, and a budget of reviews of it.

A review compares the pilot sums with Laplace(2 / EPSILON) noise on the gap and costs EPSILON / 2.
FAULT: the filter tests `spent <= EPSILON` before paying, so a third review goes through: 3 * EPSILON / 2 in all.
Pair: pilot of 4 rewards per arm, gap (arm 0 minus arm 1) 0 against 1, e.g. one reward of arm 0 raised from 0 to 1.
Event: arm 1 is chosen by all three reviews: 0.5^3 = 0.125 against (0.5 e^(-EPSILON/2))^3 = 0.0279, loss 1.5 (claim 1).
"""
EPSILON = 1.0


class ReviewedPilot:
    PILOT = 4
    EVERY = 6

    def __init__(self, n_arms, rng):
        if n_arms != 2:
            raise ValueError("two arms only")
        self.rng = rng
        self.t = 0
        self.gap = 0.0
        self.spent = 0.0
        self.favourite = 0

    def select(self):
        if self.t < 2 * self.PILOT:
            return self.t % 2
        if (self.t - 2 * self.PILOT) % self.EVERY == 0:
            self._review()
        return self.favourite

    def _review(self):
        if self.spent <= EPSILON:
            self.spent += EPSILON / 2
            noise = self.rng.laplace(scale=2 / EPSILON)
            self.favourite = 0 if self.gap + noise >= 0 else 1

    def update(self, arm, reward):
        if self.t < 2 * self.PILOT:
            self.gap += reward if arm == 0 else -reward
        self.t += 1
