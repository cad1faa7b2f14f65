import numpy as np


class BoltzmannDP:
    """Softmax with inverse temperature epsilon/2: the exponential mechanism."""

    def __init__(self, n_arms, epsilon=1.0):
        self.epsilon = epsilon
        self.n = np.zeros(n_arms)
        self.s = np.zeros(n_arms)

    def step(self, last_reward=None, last_arm=None):
        if last_arm is not None:
            self.n[last_arm] += 1
            self.s[last_arm] += last_reward
        if (self.n == 0).any():
            return int(np.flatnonzero(self.n == 0)[0])
        logits = self.epsilon / 2 * self.s / self.n
        p = np.exp(logits - logits.max())
        return int(np.random.choice(len(p), p=p / p.sum()))


if __name__ == "__main__":
    agent, r, a = BoltzmannDP(2), None, None
    for _ in range(30):
        a = agent.step(r, a)
        r = np.random.rand()
    print(agent.n)
