"""Follow the perturbed leader on costs, vectorised (after Kalai and Vempala).

The cost of a depot is 1 - reward.  Each depot gets a random head start, exponential with mean 1/eps, and in each round the depot
with the lowest perturbed cumulative cost ships.  A single cost changes a cumulative cost by
at most 1, which the perturbation hides.  Claim: 1.0-DP (pure).
"""
import numpy as np

EPSILON = 1.0


def head_starts(n_runs, k, rng):
    return rng.exponential(1.0 / EPSILON, size=(n_runs, k))


def play_many(rewards, n_runs, rng):
    T, K = rewards.shape
    runs = np.arange(n_runs)
    cost = np.zeros((n_runs, K))
    start = head_starts(n_runs, K, rng)
    shipped = np.zeros((T, n_runs), dtype=np.intp)
    for t in range(T):
        depot = np.argmin(cost - start, axis=1)
        cost[runs, depot] += 1.0 - rewards[t, depot]
        shipped[t] = depot
    return shipped.T.copy()
