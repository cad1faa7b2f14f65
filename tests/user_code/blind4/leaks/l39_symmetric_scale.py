"""Win-stay lose-shift on noisy rewards rescaled to the interval [-1, 1]."""


class SignedStay:
    def __init__(self, n_arms, rng, epsilon=1.0, bar=1.0):
        self.n_arms, self.rng = n_arms, rng
        self.noise_scale = 1.0 / epsilon
        self.bar = bar
        self.arm, self.misses = 0, 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        y = (2.0 * reward - 1.0) + self.rng.laplace(0.0, self.noise_scale)
        if y >= self.bar:
            self.misses = 0
        else:
            self.misses += 1
        if self.misses >= 2:
            self.arm, self.misses = (self.arm + 1) % self.n_arms, 0
