"""Five phases; each one ranks the arms by all the data so far, with a fifth of the budget.

Privacy. The ranking after phase p uses the sums over all rounds up to then. One reward changes one of these
sums by at most 1, and Laplace(P / eps) on all of them makes a ranking eps / P-DP. A reward is used in at most P
rankings, which are computed one after another from fresh noise: sequential composition gives eps.
"""

import numpy as np

EPSILON = 1.0
PHASES = 5


def play(rewards, rng):
    T, K = rewards.shape
    bounds = np.linspace(0, T, PHASES + 1).astype(int)
    sums, counts = np.zeros(K), np.zeros(K)
    actions = np.zeros(T, dtype=int)
    order = np.arange(K)
    for p in range(PHASES):
        for i, t in enumerate(range(bounds[p], bounds[p + 1])):
            a = order[i % K] if i < K else order[0]
            actions[t] = a
            sums[a] += rewards[t, a]
            counts[a] += 1
        noisy = (sums + rng.laplace(0, PHASES / EPSILON, K)) / np.maximum(counts, 1)
        order = np.argsort(-noisy)
    return actions
