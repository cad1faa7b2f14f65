"""Creative selection driven by the dashboard.

GridDashboard(n_arms, horizon, epsilon, rng), default epsilon = 0.5.  Per phase each creative is shown
five times; its total gets Laplace(1/epsilon) noise and is shown on the dashboard rounded to a multiple of
five clicks (post-processing).  The leader on the dashboard is shown for the rest of the phase.  Each phase
starts from zero, so a reward is charged once.
"""
from dataclasses import dataclass, field
import numpy as np


@dataclass
class Phase:
    n_arms: int
    shows: int = 5
    totals: dict = field(default_factory=dict)
    served: int = 0
    leader: int | None = None

    def next_probe(self):
        return self.served % self.n_arms

    @property
    def probing(self):
        return self.served < self.shows * self.n_arms


class GridDashboard:
    GRID = 5.0
    HOLD = 4

    def __init__(self, n_arms=3, horizon=45, epsilon=0.5, rng=None):
        self.n_arms, self.scale = n_arms, 1.0 / epsilon
        self.rng = rng if rng is not None else np.random.default_rng()
        self.phase = Phase(n_arms)
        self.held = 0

    def _tile(self, total):
        return self.GRID * round((total + self.rng.laplace(0.0, self.scale)) / self.GRID)

    def _rank(self):
        tiles = [(self._tile(total), total, arm) for arm, total in self.phase.totals.items()]
        return sorted(tiles, reverse=True)[0][-1]

    def select(self):
        return self.phase.next_probe() if self.phase.probing else self.phase.leader

    def update(self, arm, reward):
        if self.phase.probing:
            self.phase.totals[arm] = self.phase.totals.get(arm, 0.0) + min(1.0, max(0.0, float(reward)))
            self.phase.served += 1
            if not self.phase.probing:
                self.phase.leader, self.held = self._rank(), 0
            return
        self.held += 1
        if self.held == self.HOLD:
            self.phase = Phase(self.n_arms)
