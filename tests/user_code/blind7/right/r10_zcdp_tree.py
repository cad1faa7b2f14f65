"""A tree of Gaussian nodes with a budget in zCDP.

Right. rho = (sqrt(ln(1/delta) + eps) - sqrt(ln(1/delta)))^2 solves rho + 2 sqrt(rho ln(1/delta)) = eps, so
that rho-zCDP gives (eps, delta). A reward lies in at most L dyadic nodes of its arm, L = bit_length(T), and
each node is drawn once with variance L / (2 rho): rho / L each, rho in all.
"""

from functools import cache
from math import log, sqrt

import numpy as np

EPSILON, DELTA = 1.5, 1e-3


def budget(eps, delta):
    c = log(1 / delta)
    return (sqrt(c + eps) - sqrt(c)) ** 2


def counter(rng, sigma):
    values = []

    @cache
    def node(level, index):
        width = 1 << level
        return sum(values[index * width : (index + 1) * width]) + rng.normal(0, sigma)

    def total():
        n, done, out = len(values), 0, 0.0
        for level in range(n.bit_length() - 1, -1, -1):
            if n & (1 << level):
                out += node(level, done >> level)
                done += 1 << level
        return out

    return values, total


def play(rewards, rng):
    T, K = rewards.shape
    sigma = sqrt(T.bit_length() / (2 * budget(EPSILON, DELTA)))
    counters = [counter(rng, sigma) for _ in range(K)]
    actions = []
    for t in range(T):
        means = [total() / len(values) for values, total in counters if values]
        arm = t % K if t < 2 * K else int(np.argmax(means))
        counters[arm][0].append(float(rewards[t, arm]))
        actions.append(arm)
    return np.array(actions)
