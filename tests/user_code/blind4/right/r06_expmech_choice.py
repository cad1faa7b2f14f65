"""Explore uniformly, then pick the committed arm with the exponential mechanism."""
import numpy as np

EPS = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    m = T // (2 * K)
    order = rng.permutation(np.repeat(np.arange(K), m))
    score = np.zeros(K)
    for t, a in enumerate(order):
        score[a] += rewards[t, a]
    logits = EPS * score / 2.0
    p = np.exp(logits - logits.max())
    p /= p.sum()
    best = rng.choice(K, p=p)
    return np.concatenate([order, np.full(T - len(order), best)]).astype(int)
