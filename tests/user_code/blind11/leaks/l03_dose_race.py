"""Race of five doses: after every stage the dose of lowest noisy total is dropped.

Claim: pure epsilon = 0.6 for one changed response.
Fault: totals run on through all four stages, but each stage adds fresh noise of scale 1/epsilon as if its
data were new; a patient of the first stage is counted in four releases.
Pair: dose 0 has total 0 or 1 in stage one (one response changed), each other dose 3; later all give 0.5.
Event: dose 0 is the last one running.  By integration over the noise and the orders of dropping, its
probability is .00453 against .02019: loss 1.4936, 2.49 times the claim (more with larger gaps).
"""
import math

EPSILON = 0.6
ARMS = 5
HORIZON = 60


class DoseRace:
    def __init__(self, n_arms, rng, cohort=4):
        self.rng = rng
        self.cohort = cohort
        self.running = list(range(n_arms))
        self.total = [0.0] * n_arms
        self.waiting = self._plan()

    def _plan(self):
        return [dose for dose in self.running for _ in range(self.cohort)]

    def _laplace(self, scale):
        u = self.rng.random() - 0.5
        return -scale * math.copysign(math.log1p(-2.0 * abs(u)), u)

    def select(self):
        return self.waiting[0] if len(self.running) > 1 else self.running[0]

    def update(self, arm, reward):
        if len(self.running) == 1:
            return
        self.waiting.pop(0)
        self.total[arm] += float(reward)
        if not self.waiting:
            noisy = [(self.total[d] + self._laplace(1.0 / EPSILON), d) for d in self.running]
            self.running.remove(min(noisy)[1])
            self.waiting = self._plan()
