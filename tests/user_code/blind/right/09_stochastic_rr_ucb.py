"""UCB1 on locally private rewards.

Privacy. A reward r in [0, 1] becomes a bit with P(1) = r, and the bit goes through randomised response
with parameter eps. Overall P(answer = 1) = q + r (p - q), where p = e^eps / (1 + e^eps) and q = 1 - p, and
so P(answer = 1) and P(answer = 0) both lie between q and p. The ratio for two rewards is at most
p / q = e^eps. The policy sees nothing but the answers, one per reward.
"""

import numpy as np

EPSILON = 1.0


class LocalRandomizer:
    def __init__(self, eps, rng):
        self.p = np.exp(eps) / (np.exp(eps) + 1)
        self.q = 1 - self.p
        self.rng = rng

    def __call__(self, r):
        bit = self.rng.random() < r
        answer = bit if self.rng.random() < self.p else not bit
        return (float(answer) - self.q) / (self.p - self.q)  # unbiased for r


def play(rewards, rng):
    T, K = rewards.shape
    privatize = LocalRandomizer(EPSILON, rng)
    total, count = np.zeros(K), np.zeros(K)
    pulls = np.zeros(T, dtype=int)
    for t in range(T):
        if t < K:
            a = t
        else:
            width = np.sqrt(2 * np.log(t + 1) / count) / (privatize.p - privatize.q)
            a = int(np.argmax(total / count + 0.3 * width))
        pulls[t] = a
        total[a] += privatize(rewards[t, a])
        count[a] += 1
    return pulls
