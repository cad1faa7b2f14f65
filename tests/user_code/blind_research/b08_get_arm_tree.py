import numpy as np


class ThresholdTree:
    """Is arm 0 better than a known benchmark of 1/2 per round?  Continual counting, epsilon-DP noise in each node."""

    def __init__(self, n_arms, horizon, epsilon=1.0):
        self.L = int(horizon).bit_length()
        self.eps = epsilon
        self.alpha = np.zeros(self.L)
        self.hat = np.zeros(self.L)
        self.estimate = 0.0

    def get_arm(self, t):
        return 0 if self.estimate >= 0 else 1

    def update(self, t, arm, reward):
        gain = reward - 0.5 if arm == 0 else 0.5 - reward
        k = t + 1
        i = (k & -k).bit_length() - 1
        self.alpha[i] = self.alpha[:i].sum() + gain
        self.alpha[:i], self.hat[:i] = 0, 0
        self.hat[i] = self.alpha[i] + np.random.laplace(0, 1 / self.eps)
        self.estimate = sum(self.hat[j] for j in range(self.L) if (k >> j) & 1)


if __name__ == "__main__":
    bandit = ThresholdTree(2, 32)
    for t in range(32):
        arm = bandit.get_arm(t)
        bandit.update(t, arm, np.random.rand())
    print(bandit.estimate)
