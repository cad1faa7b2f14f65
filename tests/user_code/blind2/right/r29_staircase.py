"""Staircase mechanism (Geng & Viswanath), sensitivity 1, gamma = 1/(1 + e^{eps/2}).

The density is a(gamma) b^k on k <= |x| < k + gamma and a(gamma) b^{k+1} on k + gamma <= |x| < k + 1, b = e^{-eps}; a step of
at most 1 changes it by at most e^{eps}.  Two rounds of (10 explored, 10 committed), data forgotten in between.
"""
import numpy as np


def staircase(rng, eps):
    b = np.exp(-eps)
    gamma = 1 / (1 + np.exp(eps / 2))
    sign = 1 if rng.random() < 0.5 else -1
    G = rng.geometric(1 - b) - 1
    U = rng.random()
    if rng.random() < gamma / (gamma + (1 - gamma) * b):
        x = G + gamma * U
    else:
        x = G + gamma + (1 - gamma) * U
    return sign * x


def play(rewards, rng):
    T, K = rewards.shape
    arms = []
    while len(arms) < T:
        s = [0.0, 0.0]
        for i in range(10):
            a = i % 2
            s[a] += rewards[len(arms), a]
            arms.append(a)
        commit = int(s[1] + staircase(rng, 2.0) > s[0] + staircase(rng, 2.0))
        arms.extend([commit] * 10)
    return np.array(arms[:T])
