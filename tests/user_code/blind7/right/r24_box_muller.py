"""Explore then commit; the normal noise is made by Box and Muller's method from a RandomState.

Right. Standard deviation from the exact condition for the Gaussian mechanism (Balle and Wang 2018), which
holds for every eps, for one sum that changes by at most 1. Cosine and sine of a pair are two independent
normal numbers, and each is used for one sum.
"""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

EPSILON, DELTA = 2.0, 0.005


def excess(sigma):
    a, b = 0.5 / sigma, EPSILON * sigma
    return norm.cdf(a - b) - np.exp(EPSILON) * norm.cdf(-a - b) - DELTA


SIGMA = 1.0001 * brentq(excess, 0.05, 20)


def normals(state, count):
    pairs = (count + 1) // 2
    radius = np.sqrt(-2 * np.log(1 - state.random_sample(pairs)))
    angle = 2 * np.pi * state.random_sample(pairs)
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:count]


def play(rewards, rng):
    state = np.random.RandomState(int(rng.integers(2**32)))
    T, K = rewards.shape
    explore = K * (T // (2 * K))
    schedule = np.tile(np.arange(K), T // (2 * K))
    sums = np.zeros(K)
    np.add.at(sums, schedule, rewards[np.arange(explore), schedule])
    best = np.argmax(sums + SIGMA * normals(state, K))
    return np.r_[schedule, np.full(T - explore, best)]
