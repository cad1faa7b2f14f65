"""Monte Carlo of a private bandit, 3 arms, epsilon = 1.5."""
import numpy as np

rng = np.random.default_rng()
EPSILON, HORIZON = 1.5, 36


class Environment:
    def __init__(self, n_arms=3):
        self.n_arms = n_arms
        self.means = rng.uniform(0.1, 0.9, n_arms)

    def get_reward(self, arm):
        return rng.beta(4 * self.means[arm], 4 * (1 - self.means[arm]))


def noisy_argmax(x, eps):
    return int(np.argmax(x + rng.exponential(1 / eps, len(x))))


def run_trial():
    env = Environment()
    earned = 0.0
    for phase in range(HORIZON // 12):
        totals = np.zeros(env.n_arms)
        for j in range(9):
            r = env.get_reward(j % env.n_arms)
            totals[j % env.n_arms] += r
            earned += r
        star = noisy_argmax(totals, EPSILON)
        for _ in range(3):
            earned += env.get_reward(star)
    return earned


if __name__ == "__main__":
    print(np.mean([run_trial() for _ in range(20)]))
