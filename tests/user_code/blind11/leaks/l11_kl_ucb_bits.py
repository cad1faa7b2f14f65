"""KL-UCB on privatised clicks: a click is kept with probability e^EPSILON / (1 + e^EPSILON), else a coin answers.

Fault: the keep probability belongs to the flip form of randomised response (otherwise send the OTHER bit); here the
alternative is a fair coin, which agrees with the truth half of the time.  P(bit = truth) = p + (1 - p)/2 with
p = e/(1 + e), so the ratio is (1 + p)/(1 - p) = 2e + 1 and one bit costs ln(2e + 1) = 1.862 instead of 1.
Pair: three arms, all rewards 0, or the first reward of arm 2 (round 2, counting from 0) is 1.
Event: round 3 shows arm 2, i.e. the first bits are 0, 0, 1 (ties go to the lowest arm).  Probabilities
(0.8655)^2 * 0.1345 = 0.1007 and (0.8655)^3 = 0.6483: loss 1.862 = 1.86 times the claim.
"""
import numpy as np

EPSILON = 1.0


GRID = np.linspace(0.0, 1.0, 201)
LOG_ONE = np.log(np.clip(GRID, 1e-12, None))
LOG_ZERO = np.log(np.clip(1.0 - GRID, 1e-12, None))


def kl_upper(mean, count, level):
    p = np.clip(mean, 1e-12, 1 - 1e-12)[:, None]
    kl = p * (np.log(p) - LOG_ONE) + (1 - p) * (np.log(1 - p) - LOG_ZERO)
    inside = count[:, None] * kl <= level
    return np.where(inside, GRID, 0.0).max(axis=1)


class PrivateKLUCB:
    def __init__(self, n_arms, rng, epsilon=EPSILON):
        self.rng = rng
        self.keep = np.exp(epsilon) / (1.0 + np.exp(epsilon))
        self.ones = np.zeros(n_arms)
        self.count = np.zeros(n_arms)

    def select(self):
        if (self.count == 0).any():
            return int(np.argmin(self.count > 0))
        level = np.log1p(self.count.sum())
        return int(np.argmax(kl_upper(self.ones / self.count, self.count, level)))

    def update(self, arm, reward):
        click = self.rng.random() < reward
        if self.rng.random() >= self.keep:
            click = self.rng.random() < 0.5
        self.count[arm] += 1
        self.ones[arm] += bool(click)
