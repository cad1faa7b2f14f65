from types import SimpleNamespace

import numpy as np

PARAMS = SimpleNamespace(n_arms=2, horizon=30, epsilon=1.0)


class FTPL:
    """Follow the perturbed leader (losses = 1 - reward), Laplace(1/epsilon) perturbation."""

    def __init__(self, params):
        self.params = params
        self.loss = np.zeros(params.n_arms)
        self.z = np.random.laplace(0, 1 / params.epsilon, params.n_arms)

    def select(self):
        return int(np.argmin(self.loss + self.z))

    def update(self, arm, reward):
        self.loss[arm] += 1 - reward


if __name__ == "__main__":
    algo = FTPL(PARAMS)
    for _ in range(PARAMS.horizon):
        i = algo.select()
        algo.update(i, np.random.rand())
    print(algo.loss)
