"""Explore, then one draw of the exponential mechanism."""

import numpy as np


def exponential_mechanism(scores, epsilon, rng, sensitivity=1.0):
    logits = 2 * epsilon * scores / sensitivity
    p = np.exp(logits - logits.max())
    return rng.choice(len(scores), p=p / p.sum())


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    actions = np.arange(horizon) % k
    scores = np.zeros(k)
    for t in range(6):
        scores[actions[t]] += rewards[t, actions[t]]
    actions[6:] = exponential_mechanism(scores, epsilon, rng)
    return actions
