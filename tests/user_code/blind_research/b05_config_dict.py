import numpy as np

DEFAULTS = {"n_arms": 3, "horizon": 45, "epsilon": 1.0, "batch": 5, "seed": None}


class PrivateAgent:
    def __init__(self, config):
        self.config = config
        self.n_arms = config["n_arms"]
        self.epsilon = config["epsilon"]
        self.batch = config.get("batch", 5)
        self.rng = np.random.default_rng(config.get("seed"))
        self.reset()

    def reset(self):
        self.private_sum = np.zeros(self.n_arms)
        self.private_count = np.zeros(self.n_arms)
        self.open_sum, self.open_count, self.arm = 0.0, 0, 0

    def select_arm(self):
        if self.open_count == 0:
            untouched = np.flatnonzero(self.private_count == 0)
            if len(untouched):
                self.arm = int(untouched[0])
            else:
                ucb = self.private_sum / self.private_count
                ucb += np.sqrt(np.log(1 + self.private_count.sum()) / self.private_count)
                self.arm = int(np.argmax(ucb))
        return self.arm

    def update(self, arm, reward):
        self.open_sum += reward
        self.open_count += 1
        if self.open_count == self.batch:
            self.private_sum[arm] += self.open_sum + self.rng.laplace(0, 1 / self.epsilon)
            self.private_count[arm] += self.batch
            self.open_sum, self.open_count = 0.0, 0


if __name__ == "__main__":
    agent = PrivateAgent(dict(DEFAULTS, seed=1))
    for t in range(DEFAULTS["horizon"]):
        a = agent.select_arm()
        agent.update(a, float(np.random.rand() < [0.2, 0.5, 0.8][a]))
    print(agent.private_sum)
