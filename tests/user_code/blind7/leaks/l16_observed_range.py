"""Scales its noise to the range of rewards that it observed, with a floor.

Leak. The range is data: it is 1/2 at least, but one reward can make it 1. Worst pair: the first arm never
pays, or pays 1 once. The mark at 3 is passed with probability e^(-6 EPSILON) / 2 with the noise of scale 1
/ (2 EPSILON), and with e^(-2 EPSILON) / 2 from sum 1 and scale 1 / EPSILON: 4 times the claim.
"""

import numpy as np
import pandas as pd

EPSILON = 1.0
PULLS = 6


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    first = pd.Series(rewards[:PULLS, 0])
    spread = max(first.max() - first.min(), 0.5)
    noisy = first.sum() + rng.laplace(0, spread / EPSILON)
    rest = np.zeros(horizon - PULLS, dtype=int)
    if noisy <= PULLS / 2:
        rest[:] = 1 + np.arange(len(rest)) % (n_arms - 1)
    return np.r_[np.zeros(PULLS, dtype=int), rest]
