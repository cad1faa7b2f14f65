"""The fullest of four bins by report-noisy-max with exponential noise, together with its noisy count.

Fault: Exp(2/EPSILON) is right for the index alone; here the winning noisy count is published too, and one-sided noise
never lies below the true count.  Pair: six or five entries in bin 2 of nine (the sixth moves to bin 0).  Event: bin 2
is reported with a count below 6.  With six the probability is 0.  With five it is at least P(E < 1) times the chance
that the others (counts 3, 1, 0) are below 5: (1 - e^{-0.5})(1 - e^{-1})(1 - e^{-2})(1 - e^{-2.5}) > 0.19 at EPSILON = 1.
Loss: infinite.
"""
import numpy as np

EPSILON = 1.0
BINS = 4


def release(data, size, rng):
    cells = np.minimum((np.asarray(data) * BINS).astype(int), BINS - 1)
    counts = np.bincount(cells, minlength=BINS)
    noisy = counts + rng.exponential(2.0 / EPSILON, size=(size, BINS))
    winner = noisy.argmax(axis=1)
    return np.column_stack([winner, noisy[np.arange(size), winner]])


release.neighbours = [
    (
        np.array([0.6, 0.6, 0.55, 0.7, 0.6, 0.65, 0.1, 0.2, 0.3]),
        np.array([0.6, 0.6, 0.55, 0.7, 0.6, 0.05, 0.1, 0.2, 0.3]),
    ),
]
