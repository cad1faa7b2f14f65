"""Gym loop with a privacy wrapper around the agent's learning step."""
import numpy as np


class BanditEnv:
    """A minimal gym-like environment."""

    def __init__(self, probs=(0.4, 0.6)):
        self.probs = probs
        self.n_arms = len(probs)

    def reset(self):
        return 0

    def step(self, action):
        reward = float(np.random.uniform() < self.probs[action])
        return 0, reward, False, {}


class QAgent:
    def __init__(self, n, eps_priv, lr=0.2, explore=0.2):
        self.q = np.zeros(n)
        self.lr, self.explore = lr, explore
        self.p = 1.0 / (1.0 + np.exp(-eps_priv))

    def act(self):
        if np.random.uniform() < self.explore:
            return int(np.random.randint(len(self.q)))
        return int(np.argmax(self.q))

    def learn(self, action, reward):
        bit = np.random.uniform() < reward
        if np.random.uniform() > self.p:
            bit = not bit
        self.q[action] += self.lr * (float(bit) - self.q[action])


def train(env, horizon=40, epsilon=1.0):
    agent = QAgent(env.n_arms, epsilon)
    obs = env.reset()
    total = 0.0
    for _ in range(horizon):
        action = agent.act()
        obs, reward, done, info = env.step(action)
        agent.learn(action, reward)
        total += reward
        if done:
            break
    return total


if __name__ == "__main__":
    print(train(BanditEnv()))
