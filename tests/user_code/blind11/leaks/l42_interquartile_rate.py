"""Benchmark rate: mean of the middle third of the submitted rates, with Laplace noise.

Claim: EPSILON-DP, one submission in [0, 1] replaced.
Fault: the sensitivity is taken as 1 / n although only a third of the entries is averaged; one submission
moves the trimmed mean by up to 3 / n.
Pair: 12 submissions, eight 0 and four 1 against seven 0 and five 1.  The middle four sum to 0 or 1,
the means differ by 1/4 with noise scale 1/6.  Event: release >= 0.25, probability 0.1116 against 0.5:
loss 1.5 = 3 * EPSILON.
"""
import numpy as np

EPSILON = 0.5


def trimmed_mean(rates):
    ordered = np.sort(np.clip(rates, 0.0, 1.0))
    cut = len(ordered) // 3
    return ordered[cut : len(ordered) - cut].mean()


def release(data, size, rng):
    rates = np.asarray(data, dtype=float)
    sensitivity = 1.0 / len(rates)
    return trimmed_mean(rates) + rng.laplace(0.0, sensitivity / EPSILON, size)


release.neighbours = [
    ([0.0] * 8 + [1.0] * 4, [0.0] * 7 + [1.0] * 5),
]
