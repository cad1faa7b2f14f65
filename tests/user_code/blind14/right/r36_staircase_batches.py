"""Batched optimistic bandit with staircase noise, epsilon = 2.

An arm that is chosen is played for a whole batch (2, 4, 8, ... rounds).  When
the batch is over its mean, with staircase noise, replaces the arm's estimate;
the batch's rewards are not used again.
"""
import math



def staircase(epsilon, rng, sensitivity=1.0):
    """Geng-Viswanath staircase variable with gamma = 1 / (1 + exp(eps / 2))."""
    b = math.exp(-epsilon)
    gamma = 1.0 / (1.0 + math.exp(epsilon / 2))
    sign = 1 if rng.random() < 0.5 else -1
    step = int(rng.geometric(1.0 - b)) - 1
    u = rng.random()
    inner = rng.random() < gamma / (gamma + (1.0 - gamma) * b)
    depth = gamma * u if inner else gamma + (1.0 - gamma) * u
    return sign * (step + depth) * sensitivity


class StaircaseBatches:
    def __init__(self, n_arms=3, horizon=45, epsilon=2.0, rng=None):
        self.epsilon = epsilon
        self.rng = rng
        self.arms = range(n_arms)
        self.estimate = [math.inf] * n_arms
        self.batch = [1] * n_arms
        self.driver = self._run()
        self.current = next(self.driver)

    def _run(self):
        """Coroutine: yields the arm to play, receives its reward."""
        while True:
            arm = max(self.arms, key=lambda a: self.estimate[a] + 0.8 / math.sqrt(self.batch[a]))
            self.batch[arm] *= 2
            total = 0.0
            for _ in range(self.batch[arm]):
                total += yield arm
            self.estimate[arm] = (total + staircase(self.epsilon, self.rng)) / self.batch[arm]

    def act(self):
        return self.current

    def observe(self, arm, reward):
        self.current = self.driver.send(float(reward))
