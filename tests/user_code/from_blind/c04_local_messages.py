"""Every device keeps its context; it downloads a table of values, acts, and sends ONE message through k-ary randomised
response.  Message = (bucket of the context, arm played, coin with the reward's bias): 2 * K * 2 values.  The true
message may change in any way, the chances are e^eps : 1 : ... : 1, so a message is eps-DP, and the table is a function
of messages.  The own action uses the own bucket in the clear (joint).
"""
import numpy as np


class LocalContextual:
    BUCKETS = 2

    def __init__(self, n_arms, dim, horizon, rng, epsilon=2.0):
        self.K, self.rng = n_arms, rng
        self.M = self.BUCKETS * n_arms * 2
        self.p = np.exp(epsilon) / (np.exp(epsilon) + self.M - 1)
        self.hist = np.ones((self.BUCKETS, n_arms, 2))

    @staticmethod
    def bucket(context):
        return int(context[0, 0] > context[1, 0])

    def select(self, context):
        table = self.hist[self.bucket(context)]
        draw = [self.rng.beta(good, bad) for bad, good in table]
        return int(np.argmax(draw))

    def update(self, context, arm, reward):
        coin = int(self.rng.random() < reward)
        message = (self.bucket(context) * self.K + arm) * 2 + coin
        if self.rng.random() >= self.p:
            message = (message + 1 + int(self.rng.integers(self.M - 1))) % self.M
        self.hist.flat[message] += 1
