"""Survey answers in four categories."""
import numpy as np

EPSILON = 1.5
K = 4


def release(data, size, rng):
    category = np.minimum((np.asarray(data) * K).astype(int), K - 1)
    n = category.size
    e = np.exp(EPSILON)
    honest = rng.random((size, n)) < e / (e + K - 1)
    shift = rng.integers(1, K, size=(size, n))
    answers = np.where(honest, category, (category + shift) % K)
    return np.stack([(answers == k).sum(axis=1) for k in range(K)], axis=1)
