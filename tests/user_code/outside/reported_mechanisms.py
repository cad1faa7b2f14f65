"""Leaks that users of libraries reported of mechanisms, each with its repair."""
import math
import numpy as np

EPS, RATE = 1.0, 0.5
Q, EPS0 = 0.1, 2.0131  # each amplified to 0.5


def scaled_by_size(data, rng):
    """Sum and noise are divided by the whole part of rate times records; promise: add or remove one (opacus 819, 571)."""
    g = np.clip(np.asarray(data, dtype=float), 0, 1)
    expected = max(1, math.floor(RATE * len(g)))
    return (g.sum() + rng.laplace(0, 1 / EPS)) / expected


def scaled_by_size_repaired(data, rng):
    g = np.clip(np.asarray(data, dtype=float), 0, 1)
    return (g.sum() + rng.laplace(0, 1 / EPS)) / 2


def nothing_to_count(data, rng):
    """Of no records the sum is given as it is, zero; promise: add or remove one (smartnoise-core 356, smartnoise-sdk 128)."""
    x = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    if x.size == 0:
        return 0.0
    return x.sum() + rng.laplace(0.0, 1.0 / EPS)


def nothing_to_count_repaired(data, rng):
    x = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    return x.sum() + rng.laplace(0.0, 1.0 / EPS)


def noisy(x, rng):
    return x.sum() + rng.laplace(0, 1 / EPS0)


def same_sample_twice(data, rng):
    """Two amplified releases from one sample are composed as if each had its own (opendp 2933): 1.87."""
    x = np.clip(np.atleast_1d(np.asarray(data, float)), 0, 1)
    sample = x[rng.random(x.size) < Q]
    return np.array([noisy(sample, rng), noisy(sample, rng)])


def same_sample_twice_repaired(data, rng):
    x = np.clip(np.atleast_1d(np.asarray(data, float)), 0, 1)
    first = x[rng.random(x.size) < Q]
    second = x[rng.random(x.size) < Q]
    return np.array([noisy(first, rng), noisy(second, rng)])


def nan_passes_clamp(data, rng):
    """NaN is neither above nor below a bound, passes the clamp and makes the sum NaN (google differential-privacy 405)."""
    total = 0.0
    for x in np.atleast_1d(data):
        x = 1.0 if x > 1.0 else (0.0 if x < 0.0 else float(x))
        total += x
    return total + rng.laplace(0, 1 / EPS)


def nan_passes_clamp_repaired(data, rng):
    total = 0.0
    for x in np.atleast_1d(data):
        if math.isnan(x):
            continue
        x = 1.0 if x > 1.0 else (0.0 if x < 0.0 else float(x))
        total += x
    return total + rng.laplace(0, 1 / EPS)


PAIRS = [(np.zeros(4), np.array([float("nan"), 0.0, 0.0, 0.0]))]
nan_passes_clamp.neighbours = nan_passes_clamp_repaired.neighbours = PAIRS


def permute_and_flip(data, rng):
    """Permute-and-flip declared as eps^2/8-zCDP, which only the exponential mechanism is (opendp 2911). rho 0.125."""
    scores = np.asarray(data, dtype=float)
    best = scores.max()
    for i in rng.permutation(scores.size):
        if rng.random() < np.exp(EPS * (scores[i] - best) / 2):
            return int(i)


def permute_and_flip_repaired(data, rng):
    scores = np.asarray(data, dtype=float)
    weight = np.exp(EPS * (scores - scores.max()) / 2)
    return int(rng.choice(scores.size, p=weight / weight.sum()))


permute_and_flip.neighbours = permute_and_flip_repaired.neighbours = [(np.array([0.0, 0.0]), np.array([1.0, -1.0]))]
