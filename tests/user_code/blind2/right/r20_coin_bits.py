"""Exact sampling from fair bits (Canonne, Kamath, Steinke 2020), eps = 1.

bernoulli_exp1 draws a coin of bias 1/e with rational coins only; the geometric number of successes in a row has
P(G = g) = (1 - 1/e) e^{-g}; a sign (with -0 rejected) makes it discrete Laplace with ratio 1/e.  Rewards are rounded
to coins, so that counts are whole; one reward moves one count by at most one: eps = 1.
"""
import numpy as np


def uniform_below(n, rng):
    bits = max(1, (n - 1).bit_length())
    while True:
        v = 0
        for _ in range(bits):
            v = 2 * v + int(rng.integers(2))
        if v < n:
            return v


def bernoulli_exp1(rng):
    k = 1
    while uniform_below(k, rng) == 0:    # a coin of bias 1/k
        k += 1
    return k % 2 == 1


def discrete_laplace(rng):
    while True:
        g = 0
        while bernoulli_exp1(rng):
            g += 1
            if g > 10 ** 6:
                break
        raise_sign = int(rng.integers(2))
        if raise_sign and g == 0:
            continue
        return -g if raise_sign else g


def play(rewards, rng):
    T, K = rewards.shape
    heads = [0] * K
    arms = []
    for t in range(12):
        a = t % K
        heads[a] += int(rng.random() < rewards[t, a])
        arms.append(a)
    noisy = [h + discrete_laplace(rng) for h in heads]
    arms += [int(noisy[1] > noisy[0])] * (T - 12)
    return np.array(arms)
