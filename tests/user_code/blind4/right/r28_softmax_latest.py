"""Softmax exploration over a short memory of noisy batch means per arm."""
from collections import deque
import numpy as np


class SoftmaxLatest:
    def __init__(self, n_arms, rng, epsilon=1.0, batch=5, temperature=0.15):
        self.rng, self.eps, self.batch, self.temp = rng, epsilon, batch, temperature
        self.memory = [deque([0.5], maxlen=3) for _ in range(n_arms)]
        self.buffer = []
        self.arm = None

    def select(self):
        if self.arm is None:
            m = np.array([np.mean(d) for d in self.memory])
            z = np.exp(np.clip((m - m.max()) / self.temp, -50, 0))
            self.arm = int(self.rng.choice(len(z), p=z / z.sum()))
        return self.arm

    def update(self, arm, reward):
        self.buffer.append(reward)
        if len(self.buffer) == self.batch:
            mean = np.mean(self.buffer) + self.rng.laplace(0, 1 / (self.batch * self.eps))
            self.memory[arm].append(mean)
            self.buffer, self.arm = [], None
