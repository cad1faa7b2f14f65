import numpy as np


class Laplace:
    """Laplace mechanism with the interface of the usual libraries."""

    def __init__(self, epsilon, sensitivity):
        self.scale = sensitivity / epsilon

    def randomise(self, value):
        u = np.random.random() - 0.5
        return value - self.scale * np.sign(u) * np.log1p(-2 * abs(u))


class DPLBandit:
    def __init__(self, n_arms, epsilon=1.0, batch=4):
        self.mech = Laplace(epsilon=epsilon, sensitivity=1.0)
        self.batch = batch
        self.raw = np.zeros(n_arms)
        self.in_batch = np.zeros(n_arms, int)
        self.dp_sum = np.zeros(n_arms)
        self.dp_n = np.zeros(n_arms, int)

    def select(self):
        if not self.dp_n.all():
            return int(np.argmin(self.dp_n))
        return int(np.argmax(self.dp_sum / self.dp_n + 0.5 / np.sqrt(self.dp_n)))

    def update(self, arm, reward):
        self.raw[arm] += reward
        self.in_batch[arm] += 1
        if self.in_batch[arm] == self.batch:
            self.dp_sum[arm] += self.mech.randomise(float(self.raw[arm]))
            self.dp_n[arm] += self.batch
            self.raw[arm] = 0.0
            self.in_batch[arm] = 0


if __name__ == "__main__":
    b = DPLBandit(3)
    for _ in range(36):
        i = b.select()
        b.update(i, np.random.rand())
    print(b.dp_sum)
