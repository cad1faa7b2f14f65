"""Discounted exponential weights.

score <- gamma * score, score[a] += x; next arm ~ exp(eta * score).
If x_t moves by d <= 1 then j rounds later one score differs by gamma**j * d and that draw costs at most
eta * gamma**j (only one coordinate differs).  Sum over j = 0, 1, ...: eta / (1 - gamma) = eps.
"""
import numpy as np

gamma = 0.8
epsilon = 2.0
eta = epsilon * (1 - gamma)


def draw(weights, u):
    c = np.cumsum(weights)
    return int(np.searchsorted(c, u * c[-1], side="right").clip(0, len(weights) - 1))


def play(rewards, rng):
    T, K = rewards.shape
    score = np.zeros(K)
    out = []
    for t in range(T):
        a = draw(np.exp(eta * score), rng.random())
        out.append(a)
        score *= gamma
        score[a] += rewards[t, a]
    return np.array(out)
