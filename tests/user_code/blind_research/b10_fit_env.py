import numpy as np


class PrivateBestArm:
    """Sequential halving with an sklearn-like face.

    Parameters
    ----------
    epsilon : float, privacy budget.  Each round of halving uses its own pulls only.
    """

    def __init__(self, epsilon=2.0, horizon=48, random_state=None):
        self.epsilon = epsilon
        self.horizon = horizon
        self.random_state = random_state

    def fit(self, env):
        rng = np.random.RandomState(self.random_state)
        survivors = np.arange(env.n_arms)
        n_rounds = int(np.ceil(np.log2(env.n_arms)))
        used = 0
        for _ in range(n_rounds):
            pulls = self.horizon // (len(survivors) * (n_rounds + 1))
            scores = np.zeros(len(survivors))
            for i, a in enumerate(survivors):
                for _ in range(pulls):
                    scores[i] += env.pull(int(a))
                    used += 1
            scores += rng.laplace(scale=1.0 / self.epsilon, size=len(survivors))
            keep = np.argsort(-scores)[: (len(survivors) + 1) // 2]
            survivors = survivors[np.sort(keep)]
        self.best_arm_ = int(survivors[0])
        for _ in range(self.horizon - used):
            env.pull(self.best_arm_)
        return self


if __name__ == "__main__":
    class Env:
        n_arms = 4

        def pull(self, a):
            return np.random.rand() * (a + 1) / 4

    print(PrivateBestArm().fit(Env()).best_arm_)
