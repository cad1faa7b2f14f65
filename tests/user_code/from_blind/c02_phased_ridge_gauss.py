"""Ridge regression once per phase (8 rounds), Gaussian noise, phases forget.

Item of a round: (upper triangle of x x', r x), L2 norm <= sqrt 2; another user in that round moves the phase's sum by at
most 2 sqrt 2.  sigma = 2 sqrt 2 sqrt(2 log(1.25/delta)) / eps with eps = 0.9 < 1: the classical Gaussian mechanism.
Joint: the own round's action is made from the released theta and the own context.
"""
import numpy as np

EPS, DELTA, PHASE = 0.9, 0.01, 8
SIGMA = 2 * np.sqrt(2) * np.sqrt(2 * np.log(1.25 / DELTA)) / EPS


def release(X, r, rng):
    d = X.shape[1]
    noise = np.triu(rng.normal(0, SIGMA, (d, d)))
    noise = noise + np.triu(noise, 1).T
    gram = X.T @ X + noise
    vec = X.T @ r + rng.normal(0, SIGMA, d)
    w, U = np.linalg.eigh(gram)
    w = np.maximum(w, 0) + SIGMA
    return U @ ((U.T @ vec) / w)


def play(contexts, rewards, rng):
    T, K, d = contexts.shape
    theta = rng.normal(size=d)
    arms = np.zeros(T, dtype=int)
    for start in range(0, T, PHASE):
        rows = np.arange(start, min(start + PHASE, T))
        arms[rows] = (contexts[rows] @ theta).argmax(axis=1)
        theta = release(contexts[rows, arms[rows]], rewards[rows, arms[rows]], rng)
    return arms
