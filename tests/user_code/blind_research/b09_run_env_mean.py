import numpy as np


class DPExploreCommit:
    def __init__(self, n_arms, horizon, epsilon=1.0, m=5):
        self.n_arms, self.horizon, self.epsilon, self.m = n_arms, horizon, epsilon, m

    def run(self, env):
        rewards = {a: [] for a in range(self.n_arms)}
        for _ in range(self.m):
            for a in range(self.n_arms):
                rewards[a].append(env.pull(a))
        n_samples = sum(len(v) for v in rewards.values())
        sensitivity = 1.0 / n_samples
        private_means = [np.mean(rewards[a]) + np.random.laplace(0, sensitivity / self.epsilon)
                         for a in range(self.n_arms)]
        self.best_ = int(np.argmax(private_means))
        for _ in range(self.horizon - n_samples):
            env.pull(self.best_)
        return self.best_


if __name__ == "__main__":
    class Env:
        def pull(self, a):
            return np.random.rand() < [0.1, 0.5, 0.9][a]

    print(DPExploreCommit(3, 30).run(Env()))
