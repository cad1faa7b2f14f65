"""Bandits as a user would write them: plain NumPy, one right and several broken ones.

EPSILON = 1 is claimed for all of them; rewards lie in [0, 1].
"""

import math

import numpy as np

EPSILON = 1.0
BETA = 0.2


def lengths(epoch, size):
    gap = 2.0**-epoch
    sampling = 32 * math.log(8 * size * epoch**2 / BETA) / gap**2
    privacy = 8 * math.log(4 * size * epoch**2 / BETA) / (EPSILON * gap)
    length = math.ceil(max(sampling, privacy) + 1)
    h = math.sqrt(math.log(8 * size * epoch**2 / BETA) / (2 * length))
    c = math.log(4 * size * epoch**2 / BETA) / (length * EPSILON)
    return length, 2 * h + 2 * c


def successive_elimination(rewards, noise, forget=True):
    """DP-SE; `noise(rng-free)` gives the noise of the sums of one epoch, an array over the arms."""
    horizon, n_arms = rewards.shape
    actions = np.empty(horizon, dtype=int)
    active, t, epoch = list(range(n_arms)), 0, 0
    sums, pulls = np.zeros(n_arms), 0
    while t < horizon and len(active) > 1:
        epoch += 1
        length, limit = lengths(epoch, len(active))
        if forget:
            sums, pulls = np.zeros(n_arms), 0
        block = length * len(active)
        if t + block > horizon:
            break
        for rank, arm in enumerate(active):
            rounds = np.arange(t + rank, t + block, len(active))
            actions[rounds] = arm
            sums[arm] += rewards[rounds, arm].sum()
        t += block
        pulls += length
        means = (sums + noise(n_arms)) / pulls
        best = max(means[arm] for arm in active)
        active = [arm for arm in active if best - means[arm] <= limit]
    rest = horizon - t
    actions[t:] = np.resize(active, rest)
    return actions


def dp_se(rewards, rng):
    """Right: Lap(1/epsilon) on the sum of each arm in each epoch."""
    return successive_elimination(rewards, lambda k: rng.laplace(0, 1 / EPSILON, k))


def dp_se_many(rewards, n_runs, rng):
    """Right, many runs at once."""
    return np.stack([dp_se(rewards, rng) for _ in range(n_runs)])


def half_noise(rewards, rng):
    """Half the noise that epsilon needs."""
    return successive_elimination(rewards, lambda k: rng.laplace(0, 0.5 / EPSILON, k))


def shared_noise(rewards, rng):
    """One draw for all arms: it cancels in the comparison."""
    return successive_elimination(rewards, lambda k: np.full(k, rng.laplace(0, 1 / EPSILON)))


def no_forgetting(rewards, rng):
    """Counts are never reset, so a reward is released in every later epoch."""
    return successive_elimination(rewards, lambda k: rng.laplace(0, 1 / EPSILON, k), forget=False)


def plain_se(rewards, rng):
    """Successive elimination without noise, arm by arm and round by round."""
    horizon, n_arms = rewards.shape
    active, sums, actions = list(range(n_arms)), np.zeros(n_arms), []
    sweep = 0
    while len(actions) < horizon:
        sweep += 1
        for arm in list(active):
            if len(actions) == horizon:
                break
            sums[arm] += rewards[len(actions), arm]
            actions.append(arm)
        radius = math.sqrt(math.log(4 * n_arms * sweep**2 / BETA) / (2 * sweep))
        best = max(sums[a] for a in active) / sweep
        active = [a for a in active if best - sums[a] / sweep <= 2 * radius]
    return np.array(actions)


def ucb1(rewards, rng):
    """UCB1 without noise."""
    horizon, n_arms = rewards.shape
    sums, pulls, actions = np.zeros(n_arms), np.zeros(n_arms), np.empty(horizon, dtype=int)
    for t in range(horizon):
        arm = t if t < n_arms else int(np.argmax(sums / pulls + np.sqrt(2 * np.log(t) / pulls)))
        actions[t] = arm
        sums[arm] += rewards[t, arm]
        pulls[arm] += 1
    return actions


def epsilon_greedy(rewards, rng):
    """Greedy on raw means, with random exploration: coins, but no noise on the data."""
    horizon, n_arms = rewards.shape
    sums, pulls, actions = np.zeros(n_arms), np.ones(n_arms), np.empty(horizon, dtype=int)
    for t in range(horizon):
        arm = int(rng.integers(n_arms)) if rng.random() < 0.1 else int(np.argmax(sums / pulls))
        actions[t] = arm
        sums[arm] += rewards[t, arm]
        pulls[arm] += 1
    return actions


def laplace(data, size, rng):
    """Right: sensitivity 1."""
    return data + rng.laplace(0, 1 / EPSILON, size)


def laplace_half(data, size, rng):
    """Half the noise."""
    return data + rng.laplace(0, 0.5 / EPSILON, size)


def wrong_shape(rewards, rng):
    return np.zeros(3, dtype=int)


def out_of_range(rewards, rng):
    return np.full(len(rewards), rewards.shape[1])


def raises(rewards, rng):
    raise RuntimeError("the disk is full")


def ignores_rng(rewards, rng):
    return np.zeros(len(rewards), dtype=int)


def constant(data, size, rng):
    return np.zeros(size)
