"""Forgetful doubling UCB with integer noise.

Rewards are rounded at random to {0, 1}; an episode's success count gets
two-sided geometric noise with ratio exp(-epsilon).  An arm's index uses only
its last finished episode, each reward lies in one episode.
Claim: epsilon-DP (pure), default epsilon = 1.0.
"""
import math
import numpy as np


class Episodic:
    """Bookkeeping of episodes; subclasses score the arms."""

    def __init__(self, n_arms, horizon, epsilon, rng):
        self.n_arms, self.horizon, self.epsilon, self.rng = n_arms, horizon, epsilon, rng
        self.length = [1] * n_arms
        self.current, self.left, self.bits = None, 0, 0
        self.t = 0

    def act(self):
        if self.left == 0:
            self.current = self.pick()
            self.left = self.length[self.current]
            self.bits = 0
        return self.current

    def observe(self, arm, reward):
        self.bits += int(self.rng.random() < reward)
        self.left -= 1
        self.t += 1
        if self.left == 0:
            self.finish(arm, self.bits, self.length[arm])
            self.length[arm] *= 2

    def pick(self):
        raise NotImplementedError

    def finish(self, arm, successes, n):
        raise NotImplementedError


class ForgetfulGeometricUCB(Episodic):
    def __init__(self, n_arms=3, horizon=60, epsilon=1.0, rng=None):
        super().__init__(n_arms, horizon, epsilon, rng)
        self.mean = np.full(n_arms, np.nan)
        self.size = np.zeros(n_arms)

    def _noise(self):
        p = 1.0 - math.exp(-self.epsilon)
        return int(self.rng.geometric(p)) - int(self.rng.geometric(p))

    def finish(self, arm, successes, n):
        self.mean[arm] = (successes + self._noise()) / n
        self.size[arm] = n

    def pick(self):
        fresh = np.flatnonzero(self.size == 0)
        if fresh.size:
            return int(fresh[0])
        log_t = math.log(self.t + 1)
        bonus = np.sqrt(log_t / (2 * self.size)) + 0.5 * log_t / (self.epsilon * self.size)
        return int(np.argmax(self.mean + bonus))
