"""Thompson sampling on locally randomised clicks, many runs side by side.

Privacy (unit: one reward r in [0, 1]): the reader's device sends one bit, which is 1 with probability
    p(r) = (1 + r (e^EPSILON - 1)) / (1 + e^EPSILON).
p runs from 1/(1+e^EPSILON) to e^EPSILON/(1+e^EPSILON), so P(bit | r) / P(bit | r') <= e^EPSILON for both bits.
Every reward is used for one bit only and the posterior sees bits only: the actions are EPSILON-private, whatever the policy.
"""
import numpy as np

EPSILON = 0.8


def _bit_probability(r):
    return (1.0 + r * np.expm1(EPSILON)) / (1.0 + np.exp(EPSILON))


def play_many(rewards, n_runs, rng):
    horizon, n_arms = rewards.shape
    rows = np.arange(n_runs)
    ones = np.ones((n_runs, n_arms))
    zeros = np.ones((n_runs, n_arms))
    actions = np.zeros((n_runs, horizon), dtype=int)
    for t in range(horizon):
        theta = rng.beta(ones, zeros)
        arm = theta.argmax(axis=1)
        bit = rng.random(n_runs) < _bit_probability(rewards[t, arm])
        ones[rows, arm] += bit
        zeros[rows, arm] += ~bit
        actions[:, t] = arm
    return actions
