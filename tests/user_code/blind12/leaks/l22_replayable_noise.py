"""Dose finding with replayable noise: an auditor can re-run every interim report.

Each interim report adds Laplace(1 / eps) noise to the response totals of its cohort.  To make the report
reproducible for the regulator, the noise stream is keyed by a fingerprint of the record that it protects.  Cohorts are disjoint;
inside a cohort the order of patients is randomised.  Claim: epsilon-DP (pure), 1.0 by default.
"""
import hashlib
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Cohort:
    number: int
    records: list = field(default_factory=list)

    def totals(self, k):
        out = np.zeros(k)
        for dose, response in self.records:
            out[dose] += response
        return out

    def fingerprint(self):
        text = f"{self.number}|" + ";".join(f"{d}:{r:.4f}" for d, r in sorted(self.records))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


class DoseFinder:
    COHORT = 9

    def __init__(self, n_arms=3, horizon=36, epsilon=1.0, rng=None):
        self.k, self.epsilon = n_arms, epsilon
        self.rng = rng if rng is not None else np.random.default_rng()
        self.favoured = 0
        self.rates = np.zeros(n_arms)
        self.cohort = Cohort(0)
        self.order = self._randomise()

    def _randomise(self):
        base = [d for d in range(self.k) for _ in range(2)]
        extra = [self.favoured] * (self.COHORT - len(base)) if self.cohort.number else \
            [i % self.k for i in range(self.COHORT - len(base))]
        return list(self.rng.permutation(base + extra))

    def _interim(self):
        noise = np.random.default_rng(self.cohort.fingerprint()).laplace(0.0, 1.0 / self.epsilon, self.k)
        self.rates += self.cohort.totals(self.k) + noise
        self.favoured = int(self.rates.argmax())
        self.cohort = Cohort(self.cohort.number + 1)
        self.order = self._randomise()

    def act(self):
        return int(self.order[len(self.cohort.records)])

    def observe(self, dose, response):
        self.cohort.records.append((int(dose), float(response)))
        if len(self.cohort.records) == self.COHORT:
            self._interim()
