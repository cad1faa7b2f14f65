"""Dose finding that drops the worst dose after every stage.

Claim: pure epsilon = 0.8 for one changed response.
Proof.  A response r becomes a 0/1 answer with probability r (done once, own coin), and each answer is
counted in one stage for one dose; counters start from zero at every stage.  Given the coins, changing a
response moves one count by at most 1; the count gets two-sided geometric noise with P(k) ~ exp(-eps|k|),
so its noisy value is eps-DP (a mixture over the coin keeps this).  All other counts are unaffected given
the past decisions, which depend on noisy counts only: adaptive parallel composition gives eps.
"""
import math

EPSILON = 0.8
ARMS = 4
HORIZON = 54


class DoseDropping:
    def __init__(self, n_arms, rng, cohort=5):
        self.rng = rng
        self.cohort = cohort
        self.open_doses = list(range(n_arms))
        self._begin_stage()

    def _begin_stage(self):
        self.queue = [d for d in self.open_doses for _ in range(self.cohort)]
        self.counts = {d: 0 for d in self.open_doses}

    def _noise(self):
        stop = 1.0 - math.exp(-EPSILON)
        return int(self.rng.geometric(stop)) - int(self.rng.geometric(stop))

    def select(self):
        if len(self.open_doses) == 1:
            return self.open_doses[0]
        return self.queue[0]

    def update(self, arm, reward):
        if len(self.open_doses) == 1:
            return
        self.queue.pop(0)
        if self.rng.random() < reward:
            self.counts[arm] += 1
        if self.queue:
            return
        noisy = {d: c + self._noise() for d, c in self.counts.items()}
        worst = min(self.open_doses, key=lambda d: (noisy[d], d))
        self.open_doses.remove(worst)
        self._begin_stage()
