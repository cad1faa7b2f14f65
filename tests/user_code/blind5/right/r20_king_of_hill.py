"""King of the hill: challengers duel the present king on fresh rounds."""
from itertools import cycle
from typing import NamedTuple

EPSILON = 1.5
DUEL = 5


class Duel(NamedTuple):
    king: int
    challenger: int
    lead: float


def duel(rewards, t, king, challenger):
    first = rewards[t:t + DUEL, king].sum()
    second = rewards[t + DUEL:t + 2 * DUEL, challenger].sum()
    return Duel(king, challenger, float(first - second))


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    king, t, arms = 0, 0, []
    for challenger in cycle(range(n_arms)):
        if challenger == king:
            continue
        if t + 2 * DUEL > horizon:
            break
        d = duel(rewards, t, king, challenger)
        arms += [d.king] * DUEL + [d.challenger] * DUEL
        t += 2 * DUEL
        noise = rng.exponential(1 / EPSILON) - rng.exponential(1 / EPSILON)
        king = d.king if d.lead + noise >= 0 else d.challenger
    return arms + [king] * (horizon - t)
