import numpy as np


class LegacyBandit(object):
    """Rounds come in batches of 6.  Within a batch the arms alternate when `explore` (every other batch), else the
    leader is played.  A batch that explores ends with ONE noisy update of the total: batch sums + Laplace(1/eps).
    Every reward is in at most one batch, every batch is noised once => eps-DP; totals are sums of released numbers.
    """

    def __init__(self, n_arms, horizon, epsilon=1.5):
        self.n_arms, self.epsilon = n_arms, epsilon
        self.released = np.zeros(n_arms)
        self.batch = np.zeros(n_arms)
        self.t = 0

    def select(self):
        if (self.t // 6) % 2 == 0:
            return self.t % self.n_arms
        return int(np.argmax(self.released))

    def update(self, arm, reward):
        exploring = (self.t // 6) % 2 == 0
        if exploring:
            self.batch[arm] += reward
        self.t += 1
        if exploring and self.t % 6 == 0:
            self.released += self.batch + np.random.laplace(0, 1.0 / self.epsilon, self.n_arms)
            self.batch[:] = 0
