"""Survivor bandit with a geometric-like privacy ledger (claims epsilon = 2, pure).

Three knock-out phases over four arms. At the end of phase p the arm with the lowest noisy
cumulative sum leaves; phase p spends the share SHARES[p] of epsilon on *all* rewards seen so far,
so a reward of phase 0 is used three times and the shares add up to one.
"""
from dataclasses import dataclass, field

import numpy as np

SHARES = (0.55, 0.25, 0.20)
PULLS = 5


@dataclass
class Ledger:
    epsilon: float
    spent: list = field(default_factory=list)

    def charge(self, share):
        if sum(self.spent) + share > 1 + 1e-9:
            raise RuntimeError("budget exhausted")
        self.spent.append(share)
        return 1.0 / (self.epsilon * share)        # Laplace scale, sums have sensitivity 1


class SurvivorBandit:
    def __init__(self, n_arms=4, horizon=60, epsilon=2.0, rng=None):
        self.rng = rng if rng is not None else np.random.default_rng()
        self.horizon = horizon
        self.ledger = Ledger(epsilon)
        self.alive = list(range(n_arms))
        self.sums = dict.fromkeys(self.alive, 0.0)
        self.queue = self._phase_schedule()

    def _phase_schedule(self):
        return [a for _ in range(PULLS) for a in self.alive]

    def select(self):
        return self.queue[0] if self.queue else self.alive[0]

    def update(self, arm, reward):
        if not self.queue:                          # committed: nothing more is learnt
            return
        self.queue.pop(0)
        self.sums[arm] += float(reward)
        if not self.queue:
            self._close_phase()

    def _close_phase(self):
        phase = len(self.ledger.spent)
        scale = self.ledger.charge(SHARES[phase])
        noisy = {a: self.sums[a] + self.rng.laplace(0.0, scale) for a in self.alive}
        self.alive.remove(min(noisy, key=noisy.get))
        if len(self.alive) > 1:
            self.queue = self._phase_schedule()
