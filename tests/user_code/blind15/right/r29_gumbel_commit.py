"""Explore-then-commit, K = 4 arms, T = 48 rounds.

Every arm is tried M = 6 times in a shuffled (data-independent) order.  The arm for the
remaining rounds is drawn by the exponential mechanism on the reward sums, through the
Gumbel-max trick.  A reward touches the score of one arm only and moves it by at most 1,
so the weights may be exp(epsilon * sum) without the usual factor two.

Claim: epsilon = 1.0 (pure).
"""
import numpy as np

K, T, M = 4, 48, 6
EPSILON = 1.0


def exploration_order(rng):
    return rng.permutation(np.repeat(np.arange(K), M))


def gumbel(rng, size):
    return -np.log(rng.exponential(size=size))


def play(rewards, rng):
    actions = np.empty(T, dtype=int)
    sums = np.zeros(K)
    order = exploration_order(rng)
    for t, a in enumerate(order):
        actions[t] = a
        sums[a] += rewards[t, a]
    winner = int(np.argmax(EPSILON * sums + gumbel(rng, K)))
    actions[len(order):] = winner
    return actions
