"""Three servers hold additive shares of each arm's sum; one of them adds noise before the sum is opened.

Privacy. Rewards are whole thousandths, so one reward moves the opened sum of one arm by at most 1000. Masks
cancel modulo the prime and matter for the servers only; what is opened is sum + noise, the noise being
a difference of two geometric variables with alpha = e^(-eps / 1000). A shift by 1000 costs a factor of at most
e^eps. Sums of an epoch are opened once, and the next epoch starts from zero shares.
"""

import numpy as np

EPSILON = 1.0
UNIT = 1000
PRIME = (1 << 61) - 1


class Aggregate:
    def __init__(self, rng):
        self.rng, self.shares = rng, [0, 0, 0]

    def submit(self, r):
        value = int(round(UNIT * float(r)))
        m1, m2 = (int(self.rng.integers(PRIME)) for _ in range(2))
        for i, s in enumerate((m1, m2, value - m1 - m2)):
            self.shares[i] = (self.shares[i] + s) % PRIME

    def open(self):
        p = -np.expm1(-EPSILON / UNIT)
        noise = int(self.rng.geometric(p)) - int(self.rng.geometric(p))
        total = (sum(self.shares) + noise) % PRIME
        return total - PRIME if total > PRIME // 2 else total


def play(rewards, rng):
    T, K = rewards.shape
    actions = np.zeros(T, dtype=int)
    opened = np.zeros(K)
    epoch = 4 * K
    for start in range(0, T, epoch):
        leader = int(np.argmax(opened))
        aggregates = [Aggregate(rng) for _ in range(K)]
        for t in range(start, min(T, start + epoch)):
            a = t % K if start == 0 or (t - start) < K else leader
            actions[t] = a
            aggregates[a].submit(rewards[t, a])
        opened += [g.open() / UNIT for g in aggregates]
    return actions
