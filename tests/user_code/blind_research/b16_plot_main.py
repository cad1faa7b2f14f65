import numpy as np


class PhasedUCB:
    name = "AdaP-UCB (eps-DP)"

    def __init__(self, K, T, eps=2.0):
        self.K, self.eps = K, eps
        self.rng = np.random.default_rng()
        self.mean = np.zeros(K)
        self.n = np.zeros(K, dtype=int)
        self.todo, self.acc, self.size = 0, 0.0, 0
        self.cur = 0
        self.t = 0

    def choose(self):
        if self.todo == 0:
            fresh = np.flatnonzero(self.n == 0)
            if len(fresh):
                self.cur, self.size = int(fresh[0]), 1
            else:
                log = np.log(self.t + 1)
                idx = self.mean + np.sqrt(log / (2 * self.n)) + log / (self.eps * self.n)
                self.cur = int(np.argmax(idx))
                self.size = 2 * self.n[self.cur]
            self.todo, self.acc = self.size, 0.0
        return self.cur

    def update(self, arm, reward):
        self.t += 1
        self.acc += reward
        self.todo -= 1
        if self.todo == 0:
            self.mean[arm] = self.acc / self.size + self.rng.laplace(0, 1 / (self.eps * self.size))
            self.n[arm] = self.size


if __name__ == "__main__":
    curves = []
    p = np.array([0.75, 0.7, 0.2])
    for run in range(5):
        algo, regret = PhasedUCB(3, 42), []
        for t in range(42):
            a = algo.choose()
            algo.update(a, float(np.random.rand() < p[a]))
            regret.append(p.max() - p[a])
        curves.append(np.cumsum(regret))
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
        plt.plot(np.mean(curves, axis=0), label=PhasedUCB.name)
        plt.legend()
        plt.close()
    except ImportError:
        print(np.mean(curves, axis=0)[-1])
