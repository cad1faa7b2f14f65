import numpy as np


class IntervalGreedy:
    """Private mean every 8 rounds: 4 rounds by turns, 4 rounds greedy.  Few releases, hence little privacy loss."""

    def __init__(self, n_arms, horizon, epsilon=0.5):
        self.sum = np.zeros(n_arms)
        self.n_arms = n_arms
        self.eps = epsilon
        self.greedy = 0

    def get_arm(self, t):
        if t % 8 < 4:
            return t % self.n_arms
        if t % 8 == 4:
            self.greedy = int(np.argmax(self.sum + np.random.laplace(0, 1 / self.eps, self.n_arms)))
        return self.greedy

    def update(self, t, arm, reward):
        if t % 8 < 4:
            self.sum[arm] += reward


if __name__ == "__main__":
    b = IntervalGreedy(2, 40)
    for t in range(40):
        b.update(t, b.get_arm(t), np.random.rand())
    print(b.sum)
