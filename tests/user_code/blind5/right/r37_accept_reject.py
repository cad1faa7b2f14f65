"""Short hands of exploration; favourites are proposed uniformly and accepted by their score."""
import numpy as np

EPSILON = 1.0
HAND = 4
REIGN = 8


def propose_until_accepted(scores, rng):
    while True:
        arm = int(rng.integers(len(scores)))
        if rng.random() < np.exp(EPSILON * (scores[arm] - HAND)):
            return arm


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    arms = np.zeros(horizon, dtype=np.int64)
    t = 0
    while t + HAND * n_arms <= horizon:
        rows = np.arange(t, t + HAND * n_arms).reshape(n_arms, HAND)
        cols = np.repeat(np.arange(n_arms), HAND).reshape(n_arms, HAND)
        arms[rows] = cols
        scores = rewards[rows, cols].sum(axis=1)
        t += rows.size
        ruler = propose_until_accepted(scores, rng)
        arms[t:t + REIGN] = ruler
        t += REIGN
    if t < horizon:
        arms[t:] = np.arange(horizon - t) % n_arms
    return arms
