"""New arms are adopted on the strength of a secret subsample with rate 1/4.

Flaw: the author divides the noise by 4, as if a rate q turned e0 into q e0. That holds for small e0 only; for e0 = 4 the
cost is log(1 + q (e^4 - 1)) = 2.67. Pair: all rewards 0, against 1 for arm 1 in its first trial pull. Adoption needs
(subsampled sum) + Laplace(1/4) > 1: chance e^-4 / 2 = 0.0092, against 3/4 of that plus 1/4 * 1/2 = 0.132. log-ratio 2.67.
"""

import numpy as np

EPSILON = 1.0
RATE = 0.25


def play(rewards, rng):
    T, K = rewards.shape
    trial = T // (2 * K)
    actions = np.zeros(T, dtype=int)
    t, adopted = 0, 0
    for arm in range(1, K):
        total = 0.0
        for _ in range(trial):
            actions[t] = arm
            if rng.random() < RATE:
                total += rewards[t, arm]
            t += 1
        if total + rng.laplace(0, RATE / EPSILON) > 1.0:
            adopted = arm
            break
    actions[t:] = adopted
    return actions
