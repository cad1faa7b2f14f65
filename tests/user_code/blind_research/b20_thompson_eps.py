import numpy as np


class DPThompsonSampling:
    def __init__(self, n_arms, eps):
        self.a = np.ones(n_arms)
        self.b = np.ones(n_arms)
        self.keep = np.exp(eps) / (1 + np.exp(eps))

    def select_arm(self):
        return int(np.argmax(np.random.beta(self.a, self.b)))

    def update(self, chosen_arm, reward):
        bit = int(np.random.random() < reward)
        if np.random.random() >= self.keep:
            bit = 1 - bit
        self.a[chosen_arm] += bit
        self.b[chosen_arm] += 1 - bit


if __name__ == "__main__":
    ts = DPThompsonSampling(2, eps=1.0)
    for _ in range(40):
        k = ts.select_arm()
        ts.update(k, np.random.rand() < 0.5)
    print(ts.a)
