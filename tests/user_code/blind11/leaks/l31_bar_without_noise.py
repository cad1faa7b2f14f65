"""An arm stays in service until its failures reach a randomised limit; then the next arm takes over, with a new limit.

FAULT: sparse vector with noise on the limit alone; the running total of failures is compared as it is.  A total that does not grow
cannot cross the limit, so after the first round of a term the arm is never replaced right after a perfect reward.
Pair: rewards all 0, against the same with the reward of round 2 (the third round) equal to 1.  Event: arm 0 is pulled in rounds
0, 1, 2 and arm 1 in round 3.  Probability P(2 < limit <= 3) = P(-1 < Lap(1) <= 0) = (1 - 1/e)/2 = 0.316 against 0: infinite.
"""
from enum import IntEnum

EPSILON = 1.0
LIMIT = 3.0


class Mode(IntEnum):
    ON_CALL = 0
    SERVING = 1
    RETIRING = 2


class ServiceRota:
    def __init__(self, n_arms, rng):
        self.n_arms, self.rng = n_arms, rng
        self.arm, self.mode = 0, Mode.ON_CALL
        self.failures = self.limit = 0.0

    def select(self):
        match self.mode:
            case Mode.ON_CALL:
                self._start_term()
            case Mode.RETIRING:
                self.arm = (self.arm + 1) % self.n_arms
                self._start_term()
        return self.arm

    def _start_term(self):
        self.failures = 0.0
        self.limit = LIMIT + self.rng.laplace(0.0, 1.0 / EPSILON)
        self.mode = Mode.SERVING

    def update(self, arm, reward):
        self.failures += 1.0 - float(reward)
        if self.failures >= self.limit:
            self.mode = Mode.RETIRING
