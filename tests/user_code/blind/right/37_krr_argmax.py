"""The true winner of a heat is announced through k-ary randomised response.

Privacy. Within a heat the arm of the largest raw sum is a function of the heat's rewards. It is announced with
probability e^eps / (e^eps + K - 1), any other arm with 1 / (e^eps + K - 1). Whatever the data, the chance of
an announcement lies between these two, so their ratio is at most e^eps. Heats use disjoint rewards; the
rounds that follow the announcement are not used at all.
"""

import numpy as np

EPSILON = 1.0


def announce(winner, k, rng):
    keep = np.exp(EPSILON) / (np.exp(EPSILON) + k - 1)
    if rng.random() < keep:
        return winner
    other = int(rng.integers(k - 1))
    return other + (other >= winner)


def play(rewards, rng):
    T, K = rewards.shape
    heat, lap = 2 * K, 3 * K
    out = np.zeros(T, dtype=int)
    t = 0
    while t < T:
        sums = np.zeros(K)
        for i in range(min(heat, T - t)):
            out[t + i] = i % K
            sums[i % K] += rewards[t + i, i % K]
        t += heat
        out[t : t + lap] = announce(int(np.argmax(sums)), K, rng)
        t += lap
    return out
