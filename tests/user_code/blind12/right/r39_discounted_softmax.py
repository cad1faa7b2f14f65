"""Discounted softmax bandit, epsilon = 2.5 (pure).

Scores are S <- G * S, then S[arm] += reward; every round draws the arm from
softmax(ETA * S) with the inverse CDF.  A reward acts on the k-th following draw with
weight G**k and on one coordinate only, so that draw costs at most ETA * G**k and all
of them together ETA / (1 - G).  ETA is set to epsilon * (1 - G).
"""
import numpy as np

EPSILON = 2.5
G = 0.75
ETA = EPSILON * (1.0 - G)


def draw(logits, u):
    w = np.exp(logits - logits.max())
    cdf = np.cumsum(w)
    return min(int(np.searchsorted(cdf, u * cdf[-1], side="right")), len(w) - 1)


def play(rewards, rng):
    T, K = rewards.shape
    scores = np.zeros(K)
    uniforms = rng.random(T)
    actions = np.empty(T, dtype=int)
    for t, u in enumerate(uniforms):
        a = draw(ETA * scores, u)
        actions[t] = a
        scores *= G
        scores[a] += np.clip(rewards[t, a], 0.0, 1.0)
    return actions
