"""Greedy on prefix sums kept in blocks."""
import numpy as np

EPSILON = 3.0
SCALE = 2 / EPSILON


def play(rewards, rng):
    T, K = rewards.shape
    side = int(np.ceil(np.sqrt(T)))
    closed = np.zeros(K)
    items = np.zeros(K)
    block = np.zeros(K)
    counts = np.zeros(K)
    out = np.full(T, -1)
    for t in range(T):
        if t < 2 * K:
            a = t % K
        elif rng.random() < 0.1:
            a = rng.integers(K)
        else:
            a = np.argmax((closed + items) / counts)
        out[t] = a
        x = rewards[t, a]
        counts[a] += 1
        items[a] += x + rng.laplace(0, SCALE)
        block[a] += x
        if (t + 1) % side == 0:
            closed += block + rng.laplace(0, SCALE, K)
            items[:] = 0
            block[:] = 0
    return out
