"""Hub re-routing with a randomised patience limit.

Parcels go through the current hub until its accumulated delay (1 - reward) passes a limit; the next
hub then starts with a clean sheet.  The accumulated delay has sensitivity 1 and only goes up; the limit
of each spell carries Laplace(1/epsilon) noise, drawn once per spell and never shown, so the moment of
re-routing is a function of one noisy comparison.  Claims epsilon = 1.0.
"""
from __future__ import annotations

from itertools import count
from typing import NamedTuple

import numpy as np

EPSILON = 1.0
PATIENCE = 3.0


class Spell(NamedTuple):
    hub: int
    limit: float
    delay: float = 0.0

    def after(self, reward: float) -> Spell:
        return self._replace(delay=self.delay + 1.0 - min(1.0, max(0.0, reward)))

    @property
    def exhausted(self) -> bool:
        return self.delay > self.limit


def open_spell(hub: int, rng) -> Spell:
    return Spell(hub, PATIENCE + rng.laplace(0.0, 1.0 / EPSILON))


def play(rewards, rng):
    horizon, n_hubs = rewards.shape
    ticket = count(0)
    spell = open_spell(next(ticket) % n_hubs, rng)
    route = np.zeros(horizon, dtype=int)
    for t in range(horizon):
        route[t] = spell.hub
        spell = spell.after(float(rewards[t, spell.hub]))
        if spell.exhausted:
            spell = open_spell(next(ticket) % n_hubs, rng)
    return route
