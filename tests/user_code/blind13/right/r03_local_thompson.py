"""Thompson sampling in the local model, vectorised over runs.

A reward r in [0, 1] leaves the device as one bit: it is rounded at random to
0 or 1 and the bit goes through binary randomised response.  The Beta posterior
only ever sees reported bits (each weighs as much as the debiasing factor says).
Claim: epsilon = 1.0 (local, hence also for the actions).
"""
import numpy as np

EPSILON = 1.0


def report(reward, rng):
    keep = np.exp(EPSILON) / (1.0 + np.exp(EPSILON))
    p_one = (1.0 - keep) + (2.0 * keep - 1.0) * reward
    return (rng.random(reward.shape) < p_one).astype(float)


def play_many(rewards, n_runs, rng):
    rewards = np.asarray(rewards, dtype=float)
    horizon, k = rewards.shape
    rows = np.arange(n_runs)
    weight = (np.exp(EPSILON) + 1.0) / (np.exp(EPSILON) - 1.0)

    wins = np.ones((n_runs, k))
    losses = np.ones((n_runs, k))
    actions = np.empty((n_runs, horizon), dtype=int)
    for t in range(horizon):
        theta = rng.beta(wins, losses)
        arm = theta.argmax(axis=1)
        actions[:, t] = arm
        bit = report(rewards[t, arm], rng)
        wins[rows, arm] += weight * bit
        losses[rows, arm] += weight * (1.0 - bit)
    return actions
