import math
import random


class EpsilonGreedyDP:
    """epsilon-greedy IS randomised response: explore with probability 2/(1+e^eps) and the action is eps-DP."""

    def __init__(self, n_arms, epsilon=1.0):
        self.explore = 2 / (1 + math.exp(epsilon))
        self.n = [0] * n_arms
        self.mean = [0.0] * n_arms

    def choose(self):
        for a, n in enumerate(self.n):
            if n == 0:
                return a
        if random.random() < self.explore:
            return random.randrange(len(self.n))
        return self.mean.index(max(self.mean))

    def learn(self, action, reward):
        self.n[action] += 1
        self.mean[action] += (reward - self.mean[action]) / self.n[action]


if __name__ == "__main__":
    agent = EpsilonGreedyDP(2)
    for _ in range(30):
        a = agent.choose()
        agent.learn(a, random.random())
    print(agent.mean)
