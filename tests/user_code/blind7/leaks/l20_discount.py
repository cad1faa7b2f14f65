"""Follows a discounted sum with fresh noise in every round.

Leak. A discount of 0.4 makes old rewards small, but not gone: a reward is in the sum with weights 1, 0.4,
0.16, ..., and each round has its own noise of scale 1 / epsilon. The costs add up to epsilon / 0.6. Worst
pair: the first reward is 0 or 1 and all others 0; passing the mark 1 in all rounds has a ratio of
e^(epsilon (1 + 0.4 + 0.16 + ...)), 1.67 times the claim.
"""


class Discounted:
    def __init__(self, n_arms, rng, epsilon=1.0, gamma=0.4, mark=1.0):
        self.rng, self.epsilon, self.gamma, self.mark = rng, epsilon, gamma, mark
        self.n_arms, self.t, self.memory = n_arms, 0, 0.0

    def select(self):
        if self.t == 0:
            return 0
        good = self.memory + self.rng.laplace(0, 1 / self.epsilon) > self.mark
        return 0 if good else 1 + (self.t % (self.n_arms - 1))

    def update(self, arm, reward):
        self.memory = self.gamma * self.memory + (reward if arm == 0 else 0.0)
        self.t += 1
