"""Warner-style survey: tell the truth with probability P, otherwise answer by a fair coin.

FAULT: the same uniform number decides both "truth or coin" and the coin.  P = (e^EPS - 1) / (e^EPS + 1) = 0.537, so when
u >= P the test u < 0.5 is never true and the coin always says "no": a true "no" is never answered by "yes".
Pair: one entry 0 against 1.  Event: this entry answers 1: probability 0 against 0.537, infinite loss (claim 1.2).
"""
import numpy as np

EPSILON = 1.2
P = np.tanh(EPSILON / 2.0)


def release(data, size, rng):
    truth = np.asarray(data) >= 0.5
    u = rng.random((size, truth.size))
    return np.where(u < P, truth, u < 0.5).astype(int)


release.neighbours = [(np.array([0.0, 1.0, 0.0, 1.0]), np.array([1.0, 1.0, 0.0, 1.0]))]
