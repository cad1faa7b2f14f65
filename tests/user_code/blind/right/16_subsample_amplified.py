"""Explore then commit on a secret subsample of the rewards.

Privacy. Each explored reward enters its arm's sum with chance q = 1/2, secretly and independently. Sums get
Laplace noise of scale 1 / e0 with e0 = log(1 + (e^eps - 1) / q), about 1.49.
Let A, B, B' be the chances of an event if the changed reward is left out, has its old or its new value.
Leaving it out is the same as the value 0, so any two of the three differ by a factor of at most e^e0.
With c = min(A, B'): B <= e^e0 c, and so
  [(1-q) A + q B] / [(1-q) A + q B'] = 1 + q (B - B') / [(1-q) A + q B'] <= 1 + q (e^e0 c - c) / c = e^eps.
"""

import numpy as np

EPSILON = 1.0
Q = 0.5
E0 = np.log(1 + (np.exp(EPSILON) - 1) / Q)


def play(rewards, rng):
    T, K = rewards.shape
    n = min(T, (T // 2 // K) * K if T >= 2 * K else T)
    actions = np.arange(T) % K
    in_sample = rng.random(n) < Q
    sums = np.zeros(K)
    for t in range(n):
        if in_sample[t]:
            sums[actions[t]] += rewards[t, actions[t]]
    sums += rng.laplace(scale=1 / E0, size=K)
    actions[n:] = np.argmax(sums)
    return actions
