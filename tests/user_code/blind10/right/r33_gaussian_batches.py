"""Batched UCB with the analytic Gaussian mechanism (Balle and Wang 2018), an (EPSILON, DELTA) claim.

Pulls come in batches of one arm; a batch's sum is noised once with N(0, SIGMA^2) and then forgotten.  A reward in
[0, 1] is part of one batch sum, so the sensitivity is 1 and only one noisy sum has another law.  SIGMA solves
Phi(1/(2s) - EPSILON s) - e^EPSILON Phi(-1/(2s) - EPSILON s) = DELTA, the exact profile of the Gaussian mechanism.
(A batch that is still open when play ends is never looked at.)  The choice of arms is post-processing of the noisy
sums; batches before the changed one have the same law, batches after it use other rewards and the visible past.
"""
import math
from dataclasses import dataclass, field

from scipy.optimize import brentq
from scipy.stats import norm

EPSILON = 1.0
DELTA = 1e-3


def profile(sigma, eps=EPSILON):
    return norm.cdf(0.5 / sigma - eps * sigma) - math.exp(eps) * norm.cdf(-0.5 / sigma - eps * sigma)


SIGMA = brentq(lambda s: profile(s) - DELTA, 0.05, 60.0, xtol=1e-13) + 1e-9


@dataclass
class Ledger:
    pulls: int = 0
    total: float = 0.0


@dataclass
class BatchedGaussUCB:
    n_arms: int
    rng: object
    batch: int = 4
    books: list = field(init=False)
    phase: str = field(default="warmup", init=False)
    current: int = field(default=0, init=False)
    pending: list = field(default_factory=list, init=False)

    def __post_init__(self):
        self.books = [Ledger() for _ in range(self.n_arms)]

    def select(self):
        return self.current

    def update(self, arm, reward):
        self.pending.append(float(reward))
        if len(self.pending) < self.batch:
            return
        book = self.books[arm]
        book.total += sum(self.pending) + SIGMA * self.rng.standard_normal()
        book.pulls += len(self.pending)
        self.pending.clear()
        match self.phase:
            case "warmup" if self.current + 1 < self.n_arms:
                self.current += 1
            case "warmup" | "main":
                self.phase = "main"
                self.current = self._best()

    def _best(self):
        n = sum(b.pulls for b in self.books)
        scores = [b.total / b.pulls + math.sqrt(math.log(n) / b.pulls) for b in self.books]
        return max(range(self.n_arms), key=scores.__getitem__)
