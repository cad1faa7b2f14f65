"""Reviews everything earned so far at the end of each of four epochs, at the full epsilon.

Leak. The mean has sensitivity 1 / n and gets noise of scale 1 / (n epsilon), which is right for one review.
But means are over all rounds so far, and a reward of the first epoch is in all four of them. Worst pair:
the probes of the first arm pay half of the time, or once less; four positive reviews have a ratio of e^(4
epsilon).
"""


class Reviewer:
    def __init__(self, n_arms, rng, epsilon=0.6, reviews=(4, 8, 12, 16)):
        self.n_arms, self.rng, self.epsilon, self.reviews = n_arms, rng, epsilon, reviews
        self.probes, self.good, self.t = [], True, 0

    def select(self):
        if self.t % 2 == 0:
            return 0
        return 0 if self.good else 1 + (self.t // 2) % (self.n_arms - 1)

    def update(self, arm, reward):
        if self.t % 2 == 0:
            self.probes.append(float(reward))
            n = len(self.probes)
            if n in self.reviews:
                mean = sum(self.probes) / n
                self.good = mean + self.rng.laplace(0, 1 / (n * self.epsilon)) >= 0.5
        self.t += 1
