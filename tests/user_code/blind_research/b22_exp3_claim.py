import math
import random


class Exp3:
    """EXP3 with gamma = 0.2.  Actions are sampled, a reward changes a weight by exp(gamma r / (p K)) only: private."""

    def __init__(self, n_arms, epsilon=0.5, gamma=0.2):
        self.K, self.gamma = n_arms, gamma
        self.weights = [1.0] * n_arms

    def probs(self):
        s = sum(self.weights)
        return [(1 - self.gamma) * w / s + self.gamma / self.K for w in self.weights]

    def select_arm(self):
        z, cum = random.random(), 0.0
        for i, p in enumerate(self.probs()):
            cum += p
            if cum > z:
                return i
        return self.K - 1

    def update(self, chosen_arm, reward):
        x = reward / self.probs()[chosen_arm]
        self.weights[chosen_arm] *= math.exp(x * self.gamma / self.K)


if __name__ == "__main__":
    b = Exp3(2)
    for _ in range(40):
        k = b.select_arm()
        b.update(k, random.random())
    print(b.probs())
