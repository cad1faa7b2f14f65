"""Numbers that come out once in a thousand to a million runs, by branches that each come out often.

EPSILON = 1 is claimed of each. A leak weighs sums with a number that is large in such runs only; of a right
twin it sets how much more noise there is than has to be.
"""

from __future__ import annotations

import numpy as np

EPSILON = 1.0


def _led(rewards, gain, rng, start, noise=1.0):
    """Turns of both arms, then the arm with the larger noisy sum, which `gain` weighs."""
    horizon, k = rewards.shape
    turns = [t % k for t in range(start, start + 20)]
    sums = [sum(float(rewards[t, a]) for t, a in enumerate(turns, start) if a == arm) for arm in range(k)]
    noisy = [gain * s + rng.laplace(0, noise / EPSILON) for s in sums]
    return turns + [int(np.argmax(noisy))] * (horizon - start - 20)


def _heads(rng, coins):
    heads = 0
    for _ in range(coins):
        if rng.random() < 0.5:
            heads += 1
    return heads


def _up_and_down(rng, coins):
    """Whether there were heads alone first, and then none."""
    return _heads(rng, coins) * (coins - _heads(rng, coins)) // coins**2


def ten_coins(rewards, rng):
    """One run in 1,024."""
    return _led(rewards, 1.0 + 999.0 * _up_and_down(rng, 5), rng, 0)


def twenty_coins(rewards, rng):
    """One run in a million."""
    return _led(rewards, 1.0 + 999.0 * _up_and_down(rng, 10), rng, 0)


def noisy_readings(rewards, rng):
    """Falls after two rises, by noisy comparisons: six of them in eighteen rounds."""
    rises, falls = 0, 0
    for t in range(18):
        if rewards[t, 0] + rng.laplace(0, 1 / EPSILON) > 0.5:
            rises += 1
        else:
            falls += min(1, rises // 2)
            rises = 0
    return [0] * 18 + _led(rewards, 1.0 + 999.0 * (falls // 6), rng, 18)


class Stock:
    """Goods that come and go by coins; what was short is counted."""

    def __init__(self):
        self.goods, self.short = [], 0

    def turn(self, rng):
        if rng.random() < 0.3:
            self.goods.append(1)
        else:
            try:
                self.goods.pop()
            except IndexError:
                self.short += 1


def stock(rewards, rng):
    """Short each time, of twenty-four: one run in five thousand."""
    shop = Stock()
    for _ in range(24):
        shop.turn(rng)
    return _led(rewards, 1.0 + 999.0 * (shop.short // 24), rng, 0)


def more_noise(rewards, rng):
    """A right twin: the more heads, the more noise."""
    return _led(rewards, 1.0, rng, 0, noise=1.0 + _heads(rng, 20))


LEAKS = [ten_coins, twenty_coins, noisy_readings, stock]
RIGHT = [more_noise]
