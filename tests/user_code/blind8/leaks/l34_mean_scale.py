"""Phased leader: six fresh pulls of each arm, noisy totals, play the leader for the rest of the phase.

FAULT: the Laplace scale 1 / (n EPSILON) belongs to a mean of n rewards but is added to the total, which is divided by n
afterwards: the cost is n EPSILON = 6 EPSILON per total.
Pair: two arms, totals of arm 0 and arm 1 (2, 4) against (3, 4).  Event: arm 0 leads.  With d = gap * 2.4,
P = 0.5 e^-d (1 + d/2): d = 4.8: 0.0140 against d = 2.4: 0.0998, loss 1.966 = 4.9 EPSILON (claim 0.4).
"""
EPSILON = 0.4


class PhasedLeader:
    def __init__(self, n_arms, rng, pulls=6, rest=8):
        self.k, self.rng, self.n, self.rest = n_arms, rng, pulls, rest
        self.script = self._phase()
        self.arm = next(self.script)

    def _phase(self):
        while True:
            self.totals = [0.0] * self.k
            for a in range(self.k):
                for _ in range(self.n):
                    yield a
            noise = self.rng.laplace(scale=1.0 / (self.n * EPSILON), size=self.k)
            means = [(s + z) / self.n for s, z in zip(self.totals, noise)]
            leader = means.index(max(means))
            for _ in range(self.rest):
                yield leader

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.totals[arm] += reward
        self.arm = int(next(self.script))
