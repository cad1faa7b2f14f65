"""Up-and-down dose ladder in cohorts of three, noisy cohort totals.

Claim: pure epsilon = 0.9 for one changed outcome.
Fault: the cohort totals are noisy, but the safety rule looks at the raw outcome: after an outcome of at
most 0.1 the next patient gets the lower dose at once.
Pair: the first outcome on dose 1 is 0 or 1.  Event: the second patient gets dose 0.
Probability 1 against 0 (a cohort has three patients, so nothing else can move the dose here): infinite loss.
"""

EPSILON = 0.9
ARMS = 4
HORIZON = 40


class DoseLadder:
    COHORT = 3
    UP, DOWN = 1.8, 0.9
    SEVERE = 0.1

    def __init__(self, n_arms, rng):
        self.top = n_arms - 1
        self.rng = rng
        self.dose = min(1, self.top)
        self.new_cohort()

    def new_cohort(self):
        self.treated = 0
        self.total = 0.0

    def select(self):
        return self.dose

    def update(self, arm, reward):
        self.treated += 1
        self.total += float(reward)
        if reward <= self.SEVERE and self.dose > 0:
            self.dose -= 1
            self.new_cohort()
            return
        if self.treated < self.COHORT:
            return
        noisy = self.total + self.rng.laplace(0.0, 1.0 / EPSILON)
        if noisy > self.UP:
            self.dose = min(self.dose + 1, self.top)
        elif noisy < self.DOWN:
            self.dose = max(self.dose - 1, 0)
        self.new_cohort()
