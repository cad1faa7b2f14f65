"""Explore-then-commit; the commitment is a softmax of the totals drawn with Gumbel noise.
Proof: P(arm i) is proportional to exp(EPSILON * S_i). A changed reward moves one S_i by at
most 1 and leaves the others, so weight i changes by a factor in [e^-EPSILON, e^EPSILON] and
the normaliser changes in the same direction by less: each ratio is at most e^EPSILON.
Rewards after the exploration are not read. (No factor 1/2: only one score moves.)"""
import numpy as np
from scipy import stats
EPSILON = 1.0
ROUNDS = 6


def play(rewards, rng):
    T, K = rewards.shape
    head = np.tile(np.arange(K), ROUNDS)
    got = rewards[np.arange(len(head)), head].reshape(ROUNDS, K)
    z = EPSILON * got.sum(axis=0) + stats.gumbel_r.ppf(rng.random(K))
    return np.concatenate([head, np.full(T - len(head), int(np.argmax(z)))])
