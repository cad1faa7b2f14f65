import random


class BernoulliArm:
    def __init__(self, p):
        self.p = p

    def draw(self):
        return 1.0 if random.random() < self.p else 0.0


def laplace(scale):
    return random.expovariate(1 / scale) - random.expovariate(1 / scale)


class PrivateETC:
    """Explore-then-commit, made private with the Laplace mechanism."""

    def __init__(self, arms, epsilon, horizon, m=10):
        self.arms = arms
        self.epsilon = epsilon
        self.horizon = horizon
        self.m = m

    def run(self):
        cumulative = []
        sums = [0.0] * len(self.arms)
        for i in range(len(self.arms)):
            for _ in range(self.m):
                r = self.arms[i].draw()
                sums[i] += r
                cumulative.append(r)
        noisy = [s + laplace(self.epsilon) for s in sums]
        best = noisy.index(max(noisy))
        while len(cumulative) < self.horizon:
            cumulative.append(self.arms[best].draw())
        return cumulative


if __name__ == "__main__":
    arms = [BernoulliArm(0.2), BernoulliArm(0.8)]
    print(sum(PrivateETC(arms, 0.5, 40).run()))
