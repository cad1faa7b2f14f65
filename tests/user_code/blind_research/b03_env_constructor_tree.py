"""DP-UCB with a binary counter per arm (Mishra & Thakurta style)."""
import math

import numpy as np


class BinaryCounter:
    def __init__(self, T, eps):
        self.depth = int(math.log2(T)) + 1
        self.b = self.depth / eps
        self.alpha = [0.0] * self.depth
        self.alpha_hat = [0.0] * self.depth
        self.t = 0

    def step(self, x):
        self.t += 1
        i = 0
        while not (self.t >> i) & 1:
            i += 1
        self.alpha[i] = sum(self.alpha[:i]) + x
        for j in range(i):
            self.alpha[j] = self.alpha_hat[j] = 0.0
        self.alpha_hat[i] = self.alpha[i] + np.random.laplace(0, self.b)

    def sum(self):
        return sum(self.alpha_hat[j] for j in range(self.depth) if (self.t >> j) & 1)


class DPUCB:
    def __init__(self, env, epsilon, horizon):
        self.env = env
        self.horizon = horizon
        self.K = env.n_arms
        self.counters = [BinaryCounter(horizon, epsilon) for _ in range(self.K)]
        self.gamma = math.log(horizon) ** 1.5 / epsilon

    def index(self, a, t):
        n = self.counters[a].t
        return self.counters[a].sum() / n + math.sqrt(2 * math.log(t) / n) + self.gamma / n

    def run(self):
        rewards = []
        for t in range(self.horizon):
            if t < self.K:
                a = t
            else:
                a = max(range(self.K), key=lambda i: self.index(i, t))
            r = self.env.pull(a)
            self.counters[a].step(r)
            rewards.append(r)
        return rewards


if __name__ == "__main__":
    class Env:
        n_arms = 2

        def pull(self, a):
            return np.random.rand() * (0.5 + 0.5 * a)

    print(np.sum(DPUCB(Env(), 2.0, 40).run()))
