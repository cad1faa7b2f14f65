"""Strategy rotation on a hidden stop: leave a strategy once its shortfall reaches the stop.

Claim: EPSILON-DP for the action sequence, one reward in [0, 1] changed.
Fault: only the stop is noisy, the shortfall compared with it is exact, so the day of the exit shows that the
shortfall rose on that day (sparse vector without noise on the queries).
Pair: 3 arms, 30 rounds; arm 0 pays 0 in rounds 0 and 1 and 1 afterwards, other arms pay 0.5;
right input: arm 0 pays 0 in round 2.  Event: arm 0 in rounds 0..2, arm 1 in round 3.
Left: shortfall stays 2, probability 0; right: the stop lies in (2, 3], probability 0.316: infinite loss.
"""
from functools import partial

import numpy as np

EPSILON = 1.0
STOP = 3.0


def hold(rewards, start, arm, stop):
    """Days start, start + 1, ... until the stop is hit; returns the first day after the holding."""
    shortfall = 0.0
    for day in range(start, len(rewards)):
        shortfall += 1.0 - rewards[day, arm]
        if shortfall >= stop:
            return day + 1
    return len(rewards)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    new_stop = partial(rng.laplace, STOP, 1.0 / EPSILON)
    pieces, day, arm = [], 0, 0
    while day < horizon:
        end = hold(rewards, day, arm, new_stop())
        pieces.append(np.full(end - day, arm))
        day, arm = end, (arm + 1) % n_arms
    return np.concatenate(pieces)
