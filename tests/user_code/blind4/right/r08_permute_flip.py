"""Explore-then-commit where the commitment uses permute-and-flip."""
import numpy as np

EPSILON = 1.0


def permute_and_flip(q, eps, rng):
    top = max(q)
    for i in rng.permutation(len(q)):
        if rng.random() <= np.exp(0.5 * eps * (q[i] - top)):
            return int(i)
    return int(np.argmax(q))


def play(rewards, rng):
    T, K = rewards.shape
    m = 8
    history, sums = [], np.zeros(K)
    for t in range(min(T, m * K)):
        a = t % K
        sums[a] += rewards[t, a]
        history.append(a)
    history += [permute_and_flip(sums, EPSILON, rng)] * (T - len(history))
    return history
