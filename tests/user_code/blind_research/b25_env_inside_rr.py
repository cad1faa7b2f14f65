import random
from math import exp, log, sqrt


class MultiArmedBandit:
    def __init__(self, means):
        self.means = means

    def get_reward(self, arm):
        return 1 if random.random() < self.means[arm] else 0


def curator(reward, eps):
    """The learner sees this, never the reward."""
    p = 1 / (1 + exp(eps)) + reward * (exp(eps) - 1) / (exp(eps) + 1)
    return 1 if random.random() < p else 0


def simulate(epsilon=1.0, horizon=40):
    bandit = MultiArmedBandit([0.8, 0.4])
    n, s = [0, 0], [0, 0]
    regret = 0.0
    for t in range(1, horizon + 1):
        if t <= 2:
            arm = t - 1
        else:
            ucb = [s[i] / n[i] + sqrt(log(t) / n[i]) for i in range(2)]
            arm = 0 if ucb[0] >= ucb[1] else 1
        s[arm] += curator(bandit.get_reward(arm), epsilon)
        n[arm] += 1
        regret += 0.8 - bandit.means[arm]
    return regret


if __name__ == "__main__":
    print(sum(simulate() for _ in range(50)) / 50)
