from dataclasses import dataclass

import numpy as np


@dataclass
class Params:
    n_arms: int = 2
    horizon: int = 40
    epsilon: float = 1.0


class DoublingBandit:
    """Doubling epochs; each epoch's data are used once and dropped (parallel composition)."""

    def __init__(self, params: Params):
        self.p = params
        self.history = []

    def run(self, env):
        n = 1
        while len(self.history) < self.p.horizon:
            means = np.zeros(self.p.n_arms)
            for a in range(self.p.n_arms):
                for _ in range(n):
                    if len(self.history) == self.p.horizon:
                        return self.history
                    r = env.pull(a)
                    self.history.append((a, r))
                    means[a] += r / n
            t = len(self.history)
            means += np.random.laplace(0, 1 / (t * self.p.epsilon), self.p.n_arms)
            best = int(means.argmax())
            for _ in range(2):
                if len(self.history) < self.p.horizon:
                    self.history.append((best, env.pull(best)))
            n *= 2
        return self.history


if __name__ == "__main__":
    class Env:
        def pull(self, a):
            return np.random.beta(2 + a, 2)

    print(len(DoublingBandit(Params()).run(Env())))
