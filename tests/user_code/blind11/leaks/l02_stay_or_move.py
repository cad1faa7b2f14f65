"""Win-stay, lose-shift over three pages with a randomised answer of each visitor.

Claim: pure epsilon = 1.2 for one changed reward.
Fault: the answer is kept with probability q = e^eps/(1+e^eps) and otherwise replaced by a fair coin, which
is right half of the time; keeping should have probability (e^eps-1)/(e^eps+1) in this form.
Pair: the first reward is 1 or 0.  Event: the second action is the same page as the first.
Probability (1+q)/2 = .8843 against (1-q)/2 = .1157: loss ln(1 + 2 e^eps) = 2.0338, 1.69 times the claim.
"""
import math

EPSILON = 1.2
ARMS = 3
HORIZON = 30


class StayOrMove:
    def __init__(self, n_arms, rng):
        self.n_arms = n_arms
        self.rng = rng
        self.current = 0
        self.keep = math.exp(EPSILON) / (1.0 + math.exp(EPSILON))

    def private_answer(self, reward):
        liked = self.rng.random() < reward
        if self.rng.random() < self.keep:
            return bool(liked)
        return bool(self.rng.random() < 0.5)

    def select(self):
        return self.current

    def update(self, arm, reward):
        if not self.private_answer(reward):
            self.current = (arm + 1) % self.n_arms
