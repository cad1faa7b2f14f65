"""Local reports of the last category viewed: every user sends one of eight categories, true or random.

Fault: the probability of a true answer is that of the binary case, e^EPSILON / (1 + e^EPSILON); with eight categories the
remaining mass is shared by seven wrong answers, so the right denominator is e^EPSILON + 7.
Pair: six users in category 0, or the first of them in category 7 (0.95 instead of 0.05).
Event: the first report is 7.  Probabilities 1 / (7 (1 + e)) = 0.03842 and e / (1 + e) = 0.7311: loss 1 + ln 7 = 2.946,
2.95 times the claim.
"""
import numpy as np

EPSILON = 1.0
CATEGORIES = 8


def release(data, size, rng):
    truth = np.minimum((np.asarray(data, dtype=float) * CATEGORIES).astype(int), CATEGORIES - 1)
    p_true = 1.0 / (1.0 + np.exp(-EPSILON))
    u = rng.random((size, truth.size))
    # inverse CDF: first the true category, then the seven others in cyclic order with equal shares
    shift = 1 + np.floor((u - p_true) / (1.0 - p_true) * (CATEGORIES - 1)).astype(int)
    shift = np.where(u < p_true, 0, np.clip(shift, 1, CATEGORIES - 1))
    return (truth + shift) % CATEGORIES


release.neighbours = [
    (np.array([0.05] * 6), np.array([0.95] + [0.05] * 5)),
    (np.array([0.1, 0.3, 0.4, 0.6, 0.7, 0.9]), np.array([0.1, 0.3, 0.4, 0.2, 0.7, 0.9])),
]
