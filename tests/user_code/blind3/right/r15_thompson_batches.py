"""Thompson sampling with posteriors that move at the end of a batch.

Totals of a batch of eight rounds get Laplace noise of scale 1/epsilon; a reward is in the total of one arm in one batch. The
Beta draws use noisy totals only.
"""

import numpy as np


class BatchThompson:
    def __init__(self, n_arms, rng, epsilon=2.0, batch=8):
        self.rng, self.epsilon, self.batch = rng, epsilon, batch
        self.noisy = np.zeros(n_arms)
        self.n = np.zeros(n_arms)
        self.buffer = []

    def select(self):
        won = np.clip(self.noisy, 0, self.n)
        return int(np.argmax(self.rng.beta(1 + won, 1 + self.n - won)))

    def update(self, arm, reward):
        self.buffer.append((arm, reward))
        if len(self.buffer) == self.batch:
            fresh = np.zeros(len(self.n))
            for a, r in self.buffer:
                fresh[a] += r
                self.n[a] += 1
            self.noisy += fresh + self.rng.laplace(0, 1 / self.epsilon, len(fresh))
            self.buffer.clear()
