"""Lower-bound rule: after 6 tries each, commit to the arm with the best noisy total.
Fault: the noise is scaled by the sample spread of the arm. Pair, K=2: all rewards 0.4 for arm 0 and 0.5
for arm 1: no noise, arm 1 for certain; with r[0,0] = 0.3 the spread of arm 0 is positive and noise
can make it win. Event arm 0 has positive probability against 0: infinite."""
from dataclasses import dataclass, field
import numpy as np
EPSILON = 1.0


@dataclass
class SpreadCommit:
    n_arms: int
    rng: np.random.Generator
    seen: list = field(default_factory=list)
    best: int = -1

    def select(self):
        return self.best if self.best >= 0 else len(self.seen) % self.n_arms

    def update(self, arm, reward):
        if self.best >= 0:
            return
        self.seen.append(reward)
        if len(self.seen) == 6 * self.n_arms:
            x = np.array(self.seen).reshape(6, self.n_arms)
            spread = x.max(axis=0) - x.min(axis=0)
            self.best = int(np.argmax(x.sum(axis=0) + self.rng.laplace(0, 1, self.n_arms) * spread / EPSILON))
