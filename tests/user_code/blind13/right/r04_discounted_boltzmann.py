"""Discounted Boltzmann exploration whose own randomness pays for privacy.

Scores are discounted sums of rewards; the action is drawn from a softmax by the
Gumbel trick.  A reward moves the score of one arm by at most 1 in the next
round, by decay in the one after, decay**2 then, and so on, so with
rate = epsilon * (1 - decay) the softmax draws compose to at most epsilon.
Claim: epsilon = 3.0.
"""
from dataclasses import dataclass, field

import numpy as np


@dataclass
class DiscountedBoltzmann:
    n_arms: int = 4
    horizon: int = 40
    epsilon: float = 3.0
    rng: np.random.Generator = None
    decay: float = 0.5
    rate: float = field(init=False)
    score: np.ndarray = field(init=False)

    def __post_init__(self):
        if not 0.0 <= self.decay < 1.0:
            raise ValueError("decay must be in [0, 1)")
        self.rate = self.epsilon * (1.0 - self.decay)
        self.score = np.zeros(self.n_arms)

    def act(self) -> int:
        perturbed = self.rate * self.score + self.rng.gumbel(size=self.n_arms)
        return int(perturbed.argmax())

    def observe(self, arm: int, reward: float) -> None:
        self.score *= self.decay
        self.score[arm] += reward
