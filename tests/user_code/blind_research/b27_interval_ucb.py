import numpy as np


class DPUCBInt:
    """Means are refreshed at intervals (cf. DP-UCB-INT, Tossou & Dimitrakakis 2016); here each interval's increment is
    released once, so that a reward is spent once."""

    def __init__(self, n_arms, horizon, epsilon=1.0, interval=4, rng=None):
        self.rng = rng or np.random.default_rng()
        self.eps, self.interval = epsilon, interval
        self.pending = np.zeros(n_arms)
        self.pending_n = np.zeros(n_arms, int)
        self.S, self.n = np.zeros(n_arms), np.zeros(n_arms, int)

    def get_arm(self, t):
        waiting = np.flatnonzero(self.n == 0)
        if waiting.size:
            return int(waiting[0])
        return int(np.argmax(self.S / self.n + np.sqrt(2 * np.log(t + 1) / self.n)))

    def update(self, t, arm, reward):
        self.pending[arm] += reward
        self.pending_n[arm] += 1
        if self.pending_n[arm] == self.interval:
            self.S[arm] += self.pending[arm] + self.rng.laplace(0, 1 / self.eps)
            self.n[arm] += self.interval
            self.pending[arm], self.pending_n[arm] = 0, 0


if __name__ == "__main__":
    b = DPUCBInt(2, 48)
    for t in range(48):
        a = b.get_arm(t)
        b.update(t, a, np.random.rand())
    print(b.S / b.n)
