"""Gumbel-max over four totals, once.

Only the total of the arm that was played moves (by 1), which makes noise of scale 1/epsilon enough: it is a softmax in which one
weight moves by exp(epsilon).
"""


class GumbelCommit:
    def __init__(self, n_arms, rng, epsilon=0.7):
        self.n_arms, self.rng, self.epsilon = n_arms, rng, epsilon
        self.totals = [0.0] * n_arms
        self.chosen = None
        self.t = 0

    def select(self):
        if self.t < 3 * self.n_arms:
            return self.t % self.n_arms
        if self.chosen is None:
            noisy = [s + self.rng.gumbel(0, 1 / self.epsilon) for s in self.totals]
            self.chosen = noisy.index(max(noisy))
        return self.chosen

    def update(self, arm, reward):
        if self.chosen is None:
            self.totals[arm] += reward
        self.t += 1
