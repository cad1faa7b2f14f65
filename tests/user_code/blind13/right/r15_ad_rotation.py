"""Ad rotation with weekly re-ranking.

Every flight starts with a fixed sweep over all creatives; at the end of the sweep one creative is
drawn with the exponential mechanism and shown for the rest of the flight.  Epsilon-DP for one reward
of one round (default epsilon = 1.0).

A reward moves the total of one creative only, by at most one, so the weights exp(epsilon * total)
(without the usual factor 1/2) already give epsilon: numerator and normaliser move in the same direction.
"""
from collections import deque
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class FlightConfig:
    sweeps: int = 3          # impressions of each creative in the sweep
    hold: int = 3            # impressions of the winner after it


@dataclass
class FlightLedger:
    totals: np.ndarray
    seen: int = 0
    closed_flights: int = 0
    epsilon_per_flight: list = field(default_factory=list)


class AdRotation:
    def __init__(self, n_arms=3, horizon=36, epsilon=1.0, rng=None, config=FlightConfig()):
        self.n_arms, self.horizon, self.epsilon = n_arms, horizon, epsilon
        self.rng = rng if rng is not None else np.random.default_rng()
        self.config = config
        self.queue = deque()
        self._open_flight(closed=0)

    def _open_flight(self, closed):
        self.ledger = FlightLedger(np.zeros(self.n_arms), closed_flights=closed)
        self.queue.extend(("sweep", a) for _ in range(self.config.sweeps) for a in range(self.n_arms))

    def _close_sweep(self):
        logits = self.epsilon * self.ledger.totals
        winner = int(np.argmax(logits + self.rng.gumbel(size=self.n_arms)))
        self.ledger.epsilon_per_flight.append(self.epsilon)
        self.queue.extend(("hold", winner) for _ in range(self.config.hold))

    def select(self):
        self.mode, arm = self.queue.popleft()
        return arm

    def update(self, arm, reward):
        if self.mode == "sweep":
            self.ledger.totals[arm] += min(1.0, max(0.0, float(reward)))
            self.ledger.seen += 1
        if not self.queue:
            if self.mode == "sweep":
                self._close_sweep()
            else:
                self._open_flight(self.ledger.closed_flights + 1)
