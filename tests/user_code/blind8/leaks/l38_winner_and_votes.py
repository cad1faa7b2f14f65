"""Vote among three options: report-noisy-max with exponential noise, winner and its noisy tally.

FAULT: exponential noise is one-sided.  Naming the winner is fine, but the published tally is never below any true
count, so a tally below the largest count is impossible.  Noise mean is 2 / EPSILON (one vote moves two counts).
Pair: counts (3, 1, 0) against (2, 2, 0).  Event: tally < 3: probability 0 against
(1 - e^(-EPSILON/2))^2 (1 - e^(-3 EPSILON/2)) = 0.3797 with EPSILON = 2; infinite loss.
"""
import numpy as np

EPSILON = 2.0
OPTIONS = 3


def release_one(data, rng):
    ballots = np.minimum((np.asarray(data) * OPTIONS).astype(int), OPTIONS - 1)
    noisy = np.bincount(ballots, minlength=OPTIONS) + rng.exponential(2.0 / EPSILON, size=OPTIONS)
    winner = int(noisy.argmax())
    return np.array([winner, noisy[winner]])


release_one.neighbours = [(np.array([0.1, 0.1, 0.1, 0.5]), np.array([0.5, 0.1, 0.1, 0.5]))]
