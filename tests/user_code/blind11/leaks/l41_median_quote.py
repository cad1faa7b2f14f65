"""Median quote on a tick grid, drawn by the exponential mechanism with Gumbel noise.

Claim: EPSILON-DP, one quote in [0, 1] replaced.
Fault: the exponent uses EPSILON * score; scores have sensitivity 1 but move up at some ticks and down at
others, so EPSILON / 2 is needed.
Pair: 0 and five times 0.12 against 1 and five times 0.12.  Event: the quote is 0.05.
Scores at 0.05: -2 against -3; at the other nine ticks: -3 against -2.  Probability 0.232 against 0.039,
loss 1.776 (2 * EPSILON in the limit of many ticks).
"""
import numpy as np
import pandas as pd

EPSILON = 1.0
TICKS = np.linspace(0.05, 0.95, 10)


def scores(quotes):
    below = pd.Series(TICKS).map(lambda tick: int((quotes < tick).sum()))
    return -(below - len(quotes) / 2).abs()


def release_one(data, rng):
    score = scores(np.asarray(data, dtype=float))
    noisy = EPSILON * score + rng.gumbel(size=len(TICKS))
    return float(TICKS[noisy.idxmax()])


release_one.neighbours = [
    ([0.0] + [0.12] * 5, [1.0] + [0.12] * 5),
    ([0.0, 0.2, 0.4, 0.6, 0.8, 0.9], [1.0, 0.2, 0.4, 0.6, 0.8, 0.9]),
]
