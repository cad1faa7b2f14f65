"""Recommender slate with a forgetful softmax, many simulated users at once.

play_many(rewards, n_runs, rng).  Scores decay by GAMMA each round; a slot is drawn from
softmax(eta * score).  A reward of one round weighs 1, GAMMA, GAMMA^2, ... in the following draws, so the
total cost is at most eta / (1 - GAMMA); eta is set to epsilon * (1 - GAMMA).  Claims epsilon = 1.5.
"""
from functools import partial

import numpy as np

EPSILON = 1.5
GAMMA = 0.5
ETA = EPSILON * (1.0 - GAMMA)


def softmax_draw(scores, eta, rng):
    z = eta * scores
    p = np.exp(z - z.max(axis=1, keepdims=True))
    cdf = np.cumsum(p, axis=1)
    u = rng.random((len(scores), 1)) * cdf[:, -1:]
    return np.minimum((u > cdf).sum(axis=1), scores.shape[1] - 1)


def decay_and_add(scores, arms, gains, gamma):
    scores = gamma * scores
    scores[np.arange(len(arms)), arms] += gains
    return scores


def play_many(rewards, n_runs, rng):
    horizon, n_arms = rewards.shape
    draw = partial(softmax_draw, eta=ETA, rng=rng)
    absorb = partial(decay_and_add, gamma=GAMMA)
    scores = np.zeros((n_runs, n_arms))
    history = np.zeros((n_runs, horizon), dtype=int)
    for t in range(horizon):
        history[:, t] = arms = draw(scores)
        scores = absorb(scores, arms, np.clip(rewards[t, arms], 0.0, 1.0))
    return history
