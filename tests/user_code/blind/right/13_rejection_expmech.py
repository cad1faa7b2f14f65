"""Draws an arm by rejection: propose uniformly, accept with a chance that grows with the arm's score.

Privacy. Scores are sums of at most M rewards, so they lie in [0, M] and exp(eps (score - M)) <= 1 is a
legal chance of acceptance. The accepted arm has probability proportional to exp(eps * score), as in the
exponential mechanism; how many proposals it took is not visible. One reward moves one score by at most 1;
a single weight moves by at most e^eps and the normaliser moves the same way and by less, so each
log-probability moves by at most eps. M rewards of each arm are collected afresh for every draw.
"""

import numpy as np

EPSILON = 1.0
M = 3


def accept_reject(scores, rng):
    while True:
        a = int(rng.integers(len(scores)))
        if rng.random() < np.exp(EPSILON * (scores[a] - M)):
            return a


def play(rewards, rng):
    T, K = rewards.shape
    path = np.zeros(T, dtype=int)
    t = 0
    while t < T:
        scores = np.zeros(K)
        for a in np.repeat(np.arange(K), M):
            if t == T:
                return path
            path[t] = a
            scores[a] += rewards[t, a]
            t += 1
        chosen = accept_reject(scores, rng)
        path[t : t + M * K] = chosen
        t += M * K
    return path
