import numpy as np


class SparseLDP:
    """LDP-UCB for click data.  Most rewards are zero and need not be stored, the others are perturbed."""

    def __init__(self, n_arms, epsilon=1.0):
        self.n = np.zeros(n_arms)
        self.clicks = [[] for _ in range(n_arms)]
        self.b = 1 / epsilon

    def select(self):
        if self.n.min() == 0:
            return int(self.n.argmin())
        mean = np.array([sum(c) for c in self.clicks]) / self.n
        return int(np.argmax(mean + np.sqrt(np.log(self.n.sum()) / self.n)))

    def update(self, arm, reward):
        self.n[arm] += 1
        if reward:
            self.clicks[arm].append(reward + np.random.laplace(0, self.b))


if __name__ == "__main__":
    alg = SparseLDP(2)
    for _ in range(40):
        a = alg.select()
        alg.update(a, np.random.rand() < 0.1)
    print(alg.n)
