import numpy as np


class LDPExp3:
    def __init__(self, n_arms, epsilon=1.0, eta=0.1, seed=None):
        self.rng = np.random.default_rng(seed)
        self.K, self.eta = n_arms, eta
        self.logw = np.zeros(n_arms)
        self.tanh = np.tanh(epsilon / 2)

    def _p(self):
        w = np.exp(self.logw - self.logw.max())
        return 0.9 * w / w.sum() + 0.1 / self.K

    def _locally_randomize(self, r):
        """+1 w.p. 1/2 + tanh(eps/2) (r - 1/2)."""
        return 1.0 if self.rng.random() < 0.5 + self.tanh * (r - 0.5) else -1.0

    def act(self):
        self.p = self._p()
        return int(self.rng.choice(self.K, p=self.p))

    def observe(self, action, reward):
        z = self._locally_randomize(reward)
        est = (0.5 + z / (2 * self.tanh)) / self.p[action]
        self.logw[action] += self.eta * est


if __name__ == "__main__":
    agent = LDPExp3(3)
    for t in range(45):
        a = agent.act()
        agent.observe(a, np.random.rand())
    print(agent._p())
