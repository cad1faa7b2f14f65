"""Unequal logging, inverse-propensity sums, private choice. Claims epsilon = 1, pure; vectorised.

Exploration draws arms with the chances LOGGING. Rewards enter the score of their arm with stabilised inverse-propensity weights
(mean weight one under LOGGING), so scores are on the scale of rewards, and Laplace(1/epsilon) is added to each.
"""
import numpy as np

EPSILON = 1.0
LOGGING = np.array([0.7, 0.2, 0.1])
EXPLORE = 24


def stabilised_weights(p):
    return 1.0 / (len(p) * p)


def play_many(rewards, n_runs, rng):
    T, K = rewards.shape
    arms = rng.choice(K, size=(n_runs, EXPLORE), p=LOGGING)
    seen = rewards[np.arange(EXPLORE), arms] * stabilised_weights(LOGGING)[arms]
    flat = (np.arange(n_runs)[:, None] * K + arms).ravel()
    scores = np.bincount(flat, weights=seen.ravel(), minlength=n_runs * K).reshape(n_runs, K)
    scores += rng.laplace(0.0, 1.0 / EPSILON, size=scores.shape)
    winner = scores.argmax(axis=1)
    return np.concatenate([arms, np.repeat(winner[:, None], T - EXPLORE, axis=1)], axis=1)
