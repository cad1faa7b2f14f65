"""A cup: two semi-finals and a final, each on data of its own, each decided by permute-and-flip.

Permute-and-flip with acceptance exp(eps * (s - max s)) has the law of argmax(s + Exponential(1/eps)).  When one
score goes up by d <= 1: it wins with a chance at most e^{eps d} larger (shift its own noise); another arm wins
with a chance at most e^{eps d} smaller (shift the winner's noise).  So a match is eps-DP, and a reward counts in
one match.
"""
import numpy as np

EPS = 2.0


def match(scores, rng):
    names = list(scores)
    best = max(scores.values())
    for i in rng.permutation(len(names)):
        if rng.random() < np.exp(EPS * (scores[names[i]] - best)):
            return names[i]
    raise AssertionError("the best one is always accepted")


def duel(rewards, t0, pair, n, log):
    s = {a: 0.0 for a in pair}
    for j in range(n):
        a = pair[j % 2]
        log.append(a)
        s[a] += rewards[t0 + j, a]
    return s


def play(rewards, rng):
    T, K = rewards.shape
    log = []
    first = match(duel(rewards, 0, (0, 1), 8, log), rng)
    second = match(duel(rewards, 8, (2, 3), 8, log), rng)
    champion = match(duel(rewards, 16, (first, second), 8, log), rng)
    return np.array(log + [champion] * (T - len(log)))
