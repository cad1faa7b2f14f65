import numpy as np


class Laplace:
    """Laplace mechanism with the interface of the usual libraries."""

    def __init__(self, epsilon, sensitivity):
        self.scale = sensitivity / epsilon

    def randomise(self, value):
        u = np.random.random() - 0.5
        return value - self.scale * np.sign(u) * np.log1p(-2 * abs(u))


class GaussEnv:
    def __init__(self):
        self.n_arms = 2

    def pull(self, arm):
        return float(np.clip(np.random.normal(0.4 + 0.2 * arm, 0.2), 0, 1))


def explore(env, horizon, epsilon):
    mech = Laplace(epsilon=epsilon, sensitivity=1 / horizon)
    means = []
    for a in range(env.n_arms):
        obs = [env.pull(a) for _ in range(5)]
        means.append(mech.randomise(float(np.mean(obs))))
    best = int(np.argmax(means))
    for _ in range(horizon - 5 * env.n_arms):
        env.pull(best)
    return best


if __name__ == "__main__":
    print(explore(GaussEnv(), 40, 1.0))
