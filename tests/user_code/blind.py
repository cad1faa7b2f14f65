"""Ten leaks written without having read the auditors, and before any of them was audited.

EPSILON = 1 is claimed of each; none keeps it. They are kept as they were written: what the audits make of
them is in docs/ten-leaks.md.
"""

import numpy as np

EPSILON = 1.0


def parity(data, size, rng):
    """A noisy histogram, with the parity of the number of records beside it."""
    data = np.asarray(data)
    noisy = data + rng.laplace(0, 1 / EPSILON, (size, len(data)))
    return np.column_stack([noisy, np.full(size, data.sum() % 2)])


parity.neighbours = [(np.array([3.0, 5, 2]), np.array([3.0, 6, 2]))]


def scaled_by_the_largest(data, size, rng):
    """A mean whose noise is calibrated to the largest value that is there."""
    data = np.asarray(data)
    return data.mean() + rng.laplace(0, max(data.max(), 0.05) / (len(data) * EPSILON), size)


def maximum_and_gap(data, size, rng):
    """Report noisy max, with the exact gap to the runner-up."""
    data = np.asarray(data)
    noisy = data + rng.laplace(0, 2 / EPSILON, (size, len(data)))
    order = np.sort(data)
    return np.column_stack([noisy.argmax(axis=1), np.full(size, order[-1] - order[-2])])


def asked_three_times(data, size, rng):
    """Randomised response to a bit, three times with the whole budget."""
    bit = int(np.asarray(data).ravel()[0] > 0.5)
    keep = np.exp(EPSILON) / (1 + np.exp(EPSILON))
    told = np.where(rng.random((size, 3)) < keep, bit, 1 - bit)
    return told


def curious(rewards, n_runs, rng):
    """Explores a little more often after a good first reward; what it plays else depends on nothing."""
    horizon, n_arms = rewards.shape
    rate = 0.1 + 0.05 * rewards[0, 0]
    explore = rng.random((n_runs, horizon)) < rate
    explore[:, 0] = False
    return np.where(explore, rng.integers(1, n_arms, (n_runs, horizon)), 0)


def noisy_rewards(rewards, n_runs, rng):
    """UCB on rewards that each got a quarter of the noise of the local model; only actions are seen."""
    horizon, n_arms = rewards.shape
    runs = np.arange(n_runs)
    sums, pulls = np.zeros((n_runs, n_arms)), np.zeros((n_runs, n_arms))
    actions = np.zeros((n_runs, horizon), np.int64)
    for t in range(horizon):
        if t < n_arms:
            arm = np.full(n_runs, t)
        else:
            arm = (sums / pulls + 0.1 * np.sqrt(np.log(t + 1) / pulls)).argmax(axis=1)
        sums[runs, arm] += rewards[t, arm] + rng.laplace(0, 0.25 / EPSILON, n_runs)
        pulls[runs, arm] += 1
        actions[:, t] = arm
    return actions


def thompson(rewards, n_runs, rng):
    """Thompson sampling with Beta posteriors, which is random and for that reason called private."""
    horizon, n_arms = rewards.shape
    runs = np.arange(n_runs)
    good, bad = np.ones((n_runs, n_arms)), np.ones((n_runs, n_arms))
    actions = np.zeros((n_runs, horizon), np.int64)
    for t in range(horizon):
        arm = rng.beta(good, bad).argmax(axis=1)
        good[runs, arm] += rewards[t, arm]
        bad[runs, arm] += 1 - rewards[t, arm]
        actions[:, t] = arm
    return actions


def exponential_weights(rewards, n_runs, rng):
    """Exp3 with a constant learning rate and no noise."""
    horizon, n_arms = rewards.shape
    runs = np.arange(n_runs)
    weights = np.zeros((n_runs, n_arms))
    actions = np.zeros((n_runs, horizon), np.int64)
    for t in range(horizon):
        chance = np.exp(0.3 * (weights - weights.max(axis=1, keepdims=True)))
        chance = 0.9 * chance / chance.sum(axis=1, keepdims=True) + 0.1 / n_arms
        arm = (rng.random((n_runs, 1)) > np.cumsum(chance, axis=1)).sum(axis=1).clip(0, n_arms - 1)
        weights[runs, arm] += rewards[t, arm] / chance[runs, arm]
        actions[:, t] = arm
    return actions


def bounded_noise(rewards, n_runs, rng):
    """Explore, then commit on sums whose noise is clipped at three scales."""
    horizon, n_arms = rewards.shape
    half = horizon // 2
    sums = np.array([rewards[arm:half:n_arms, arm].sum() for arm in range(n_arms)])
    noise = np.clip(rng.laplace(0, 1 / EPSILON, (n_runs, n_arms)), -3, 3)
    actions = np.tile(np.arange(horizon) % n_arms, (n_runs, 1))
    actions[:, half:] = (sums + noise).argmax(axis=1)[:, None]
    return actions


def remembers_one_round(rewards, n_runs, rng):
    """A correct commitment, except that a perfect reward in round 18 decides the last action."""
    horizon, n_arms = rewards.shape
    half = horizon // 2
    sums = np.array([rewards[arm:half:n_arms, arm].sum() for arm in range(n_arms)])
    actions = np.tile(np.arange(horizon) % n_arms, (n_runs, 1))
    actions[:, half:] = (sums + rng.laplace(0, 1 / EPSILON, (n_runs, n_arms))).argmax(axis=1)[:, None]
    if rewards[17, 17 % n_arms] >= 1:
        actions[:, -1] = 0
    return actions


RELEASES = (parity, scaled_by_the_largest, maximum_and_gap, asked_three_times)
BANDITS = (curious, noisy_rewards, thompson, exponential_weights, bounded_noise, remembers_one_round)
