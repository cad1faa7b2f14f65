"""Win-stay, lose-shift on four-level telemetry reports.

Claim: EPSILON, pure. Proof: the level min(3, floor(4r)) is reported by 4-ary randomised response: true level with
probability e^eps/(e^eps+3), every other with 1/(e^eps+3). Any report's probability changes by a factor at most e^eps.
Each reward makes one report; next actions depend on reports only. Tight: P(stay | level 3)/P(stay | level 0)=e^eps.
"""
import math

EPSILON = 1.0
LEVELS = 4


class KaryStayShift:
    def __init__(self, n_arms, rng):
        self.n_arms, self.rng = n_arms, rng
        self.current = 0
        self.truth_prob = math.exp(EPSILON) / (math.exp(EPSILON) + LEVELS - 1)

    def select(self):
        return self.current

    def _report(self, reward):
        level = min(LEVELS - 1, int(LEVELS * reward))
        if self.rng.random() < self.truth_prob:
            return level
        other = int(self.rng.integers(LEVELS - 1))
        return other + (other >= level)

    def update(self, arm, reward):
        match int(self._report(reward)):
            case 3:
                self.current = arm
            case _:
                self.current = (arm + 1) % self.n_arms
