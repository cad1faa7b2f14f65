"""LDP-UCB-L (Ren, Zhou, Liu, Shroff 2020)."""
import numpy as np


class LDPUCBL:
    def __init__(self, n_arms, horizon, epsilon=2.0):
        self.n_arms = n_arms
        self.eps = epsilon
        self.delta = 1.0 / horizon
        self.N = np.zeros(n_arms)
        self.S = np.zeros(n_arms)

    def choose_arm(self):
        if (self.N == 0).any():
            return int(np.argmin(self.N))
        radius = np.sqrt(2 * np.log(1 / self.delta) / self.N)
        radius += np.sqrt(32 * np.log(1 / self.delta) / (self.N * self.eps ** 2))
        return int(np.argmax(self.S / self.N + 0.2 * radius))

    def update(self, arm, reward):
        self.N[arm] += 1
        self.S[arm] += reward + np.random.laplace(loc=0.0, scale=1.0 / self.eps)


if __name__ == "__main__":
    alg = LDPUCBL(2, 50)
    for t in range(50):
        i = alg.choose_arm()
        alg.update(i, np.random.binomial(1, [0.3, 0.6][i]))
    print(alg.N)
