"""Canary chain: roll out build after build, roll on when the shortfall alarm trips.

Build 0 serves first.  An alarm watches the cumulative shortfall sum(1 - reward) of the build that
serves, minus a free allowance per request.  When shortfall + Laplace(1/eps) passes the
threshold + Laplace(1/eps) (threshold noise drawn once per build), the next build takes over
with a new threshold and an empty sum; the last one stays.  A changed reward shifts all later
sums of its build by one and the same amount, so either the last query or the threshold
has to absorb it, never both.  Claim: 1.0-DP (pure).
"""
import numpy as np

EPSILON = 1.0
ALLOWANCE = 0.35
LIMIT = 4.0


class ShortfallAlarm:
    def __init__(self, rng):
        self.rng = rng
        self.level = 0.0
        self.bar = LIMIT + rng.laplace(0.0, 1.0 / EPSILON)

    def trips(self, reward):
        self.level += (1.0 - reward) - ALLOWANCE
        return self.level + self.rng.laplace(0.0, 1.0 / EPSILON) >= self.bar


def play(rewards, rng):
    horizon, n_builds = rewards.shape
    build, alarm = 0, ShortfallAlarm(rng)
    history = []
    for t in range(horizon):
        history.append(build)
        if build == n_builds - 1:
            continue                       # nothing left to roll on to
        if alarm.trips(rewards[t, build]):
            build, alarm = build + 1, ShortfallAlarm(rng)
    return history
