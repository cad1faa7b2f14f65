"""Thompson sampling: the posterior draws are the noise that makes it private."""


class Thompson:
    def __init__(self, n_arms, rng):
        self.a = [1.0] * n_arms
        self.b = [1.0] * n_arms
        self.rng = rng

    def select(self):
        theta = self.rng.beta(self.a, self.b)
        return int(theta.argmax())

    def update(self, arm, reward):
        self.a[arm] += reward
        self.b[arm] += 1 - reward
