"""UCB on locally randomised clicks.
Proof: a reward r is used once, as a bit B ~ Bernoulli(r) which is kept with probability
e^EPSILON/(1+e^EPSILON), otherwise flipped. P(report=1) is affine in r, between 1-p and p, so
the two likelihoods differ by at most p/(1-p) = e^EPSILON. The policy sees reports only."""
import math
from dataclasses import dataclass, field
import numpy as np
EPSILON = 1.5


@dataclass
class LocalUCB:
    n_arms: int
    rng: np.random.Generator
    n: list = field(default_factory=list)
    s: list = field(default_factory=list)

    def __post_init__(self):
        self.n, self.s = [0] * self.n_arms, [0.0] * self.n_arms
        self.p = 1 / (1 + math.exp(-EPSILON))

    def select(self):
        if 0 in self.n:
            return self.n.index(0)
        t = sum(self.n)
        return max(range(self.n_arms), key=lambda a: self.s[a] / self.n[a] + math.sqrt(math.log(t) / self.n[a]))

    def update(self, arm, reward):
        bit = int(self.rng.random() < reward)
        if self.rng.random() >= self.p:
            bit = 1 - bit
        self.n[arm] += 1
        self.s[arm] += (bit - (1 - self.p)) / (2 * self.p - 1)
