"""UCB for a banner slot that never stores a raw click: every reward becomes one randomised bit.

Proof.  A reward r enters only through one bit with P(bit = 1) = q + (1 - 2q) r, q = 1 / (1 + e^EPSILON).
For r in [0, 1] this probability lies in [q, 1 - q], so P(bit = b | r) / P(bit = b | r') <= (1 - q) / q = e^EPSILON.
The bit is drawn once, with fresh randomness, in the round in which the arm was shown; counts, means and bonuses are
functions of earlier arms and bits only.  The actions are post-processing of the bits: pure EPSILON for one reward.
It is attained: with equal first bits the lowest arm wins, so the round after the first sweep can show one bit exactly.
"""
from dataclasses import dataclass, field

import numpy as np

EPSILON = 1.0


@dataclass
class ClickUCB:
    n_arms: int
    rng: np.random.Generator
    epsilon: float = EPSILON
    width: float = 0.5
    shown: np.ndarray = field(init=False)
    bits: np.ndarray = field(init=False)

    def __post_init__(self):
        self.flip = 1.0 / (1.0 + np.exp(self.epsilon))
        self.shown = np.zeros(self.n_arms, dtype=int)
        self.bits = np.zeros(self.n_arms, dtype=int)

    def select(self):
        new = np.flatnonzero(self.shown == 0)
        if new.size:
            return int(new[0])
        gain = 1.0 - 2.0 * self.flip
        ctr = (self.bits / self.shown - self.flip) / gain
        bonus = np.sqrt(self.width * np.log(self.shown.sum()) / self.shown) / gain
        return int(np.argmax(ctr + bonus))

    def update(self, arm, reward):
        p_one = self.flip + (1.0 - 2.0 * self.flip) * float(reward)
        self.shown[arm] += 1
        self.bits[arm] += int(self.rng.random() < p_one)
