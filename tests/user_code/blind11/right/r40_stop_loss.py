"""A desk that holds one strategy until its shortfall passes a stop, then rotates to the next.

Claim: EPSILON-DP for the action sequence, one reward in [0, 1] changed.
Proof. A holding period has its own stop with Laplace(1/EPSILON) noise and compares shortfall + fresh Laplace(1/EPSILON)
with it each day; the shortfall restarts at 0.  A changed reward moves the shortfalls of its period from its day on by
one common d, |d| <= 1, and no other period (an alarm before that day: no change).  High input against low one: keep the
stop; quiet days are no likelier, the alarm gains at most e^EPSILON.  Low against high: move the stop up by d (density
factor at most e^EPSILON); later days are then alike, earlier quiet days only likelier.  So the larger, not the sum.
"""
import random

import numpy as np

EPSILON = 1.2
STOP = 2.0


def laplace(source, scale):
    return source.choice((-1.0, 1.0)) * source.expovariate(1.0 / scale)


def holding_periods(source):
    """Endless stream of noisy stops, one for each holding period."""
    while True:
        yield STOP + laplace(source, 1.0 / EPSILON)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    source = random.Random(int(rng.integers(2**63)))
    stops = holding_periods(source)
    stop, shortfall, arm = next(stops), 0.0, 0
    actions = np.empty(horizon, dtype=int)
    for day in range(horizon):
        actions[day] = arm
        shortfall += 1.0 - rewards[day, arm]
        if shortfall + laplace(source, 1.0 / EPSILON) >= stop:
            stop, shortfall, arm = next(stops), 0.0, (arm + 1) % n_arms
    return actions
