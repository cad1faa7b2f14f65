import numpy as np
from scipy.stats import laplace


class PolicyRunner:
    def __init__(self, n_arms, horizon, epsilon=2.0, seed=None):
        self.n_arms, self.horizon, self.epsilon = n_arms, horizon, epsilon
        self.random_state = np.random.RandomState(seed)

    def noisy_mean(self, xs):
        sensitivity = 1.0 / len(xs)
        return np.mean(xs) + laplace.rvs(scale=sensitivity / self.epsilon, random_state=self.random_state)

    def run(self, env):
        pulls = 0
        best = 0
        while pulls < self.horizon:
            epoch = {a: [] for a in range(self.n_arms)}
            for a in [0, 1, 1, 0]:
                if pulls < self.horizon:
                    epoch[a].append(env.pull(a))
                    pulls += 1
            if any(len(v) == 0 for v in epoch.values()):
                break
            means = [self.noisy_mean(epoch[a]) for a in range(self.n_arms)]
            best = int(np.argmax(means))
            for _ in range(4):
                if pulls < self.horizon:
                    env.pull(best)
                    pulls += 1
        return best


if __name__ == "__main__":
    class Env:
        def pull(self, a):
            return np.random.rand()

    print(PolicyRunner(2, 40).run(Env()))
