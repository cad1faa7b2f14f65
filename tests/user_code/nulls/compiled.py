"""pandas, Numba and other tools between reward and release."""

import math

import numba
import numpy as np
import pandas as pd


def with_pandas(rewards, rng, epsilon=1.0):
    """Epsilon 1: a data frame's sums by arm have sensitivity 1 and get Laplace noise of scale 1 / epsilon;
    `idxmax` reads noisy sums only.
    """
    horizon, n_arms = rewards.shape
    explore = 4 * n_arms
    log = pd.DataFrame({"arm": np.arange(explore) % n_arms})
    log["reward"] = [rewards[t, arm] for t, arm in enumerate(log["arm"])]
    noisy = log.groupby("arm")["reward"].sum() + rng.laplace(0, 1 / epsilon, n_arms)
    return log["arm"].tolist() + [int(noisy.idxmax())] * (horizon - explore)


def pandas_responses(rewards, rng, epsilon=3.0):
    """Epsilon 3: bits of an exploration are flipped with probability 1 / (1 + e^3), each once; the arm with
    more told successes in the table is played.
    """
    horizon, n_arms = rewards.shape
    explore = 3 * n_arms
    arms = pd.Series(np.arange(explore) % n_arms)
    bits = pd.Series(rewards[np.arange(explore), arms] > 0.5)
    told = bits ^ (rng.random(explore) < 1 / (1 + math.exp(epsilon)))
    winner = told.astype(int).groupby(arms).sum().sort_values(kind="stable").index[-1]
    return np.concatenate([arms.to_numpy(), np.full(horizon - explore, winner)])


@numba.njit
def _commit(rewards, noise, explore, actions):
    n_arms = rewards.shape[1]
    sums = noise.copy()
    for t in range(explore):
        actions[t] = t % n_arms
        sums[t % n_arms] += rewards[t, t % n_arms]
    actions[explore:] = np.argmax(sums)


def compiled_commit(rewards, rng, epsilon=2.0):
    """Epsilon 2: a compiled loop adds rewards to Laplace noise of scale 1 / epsilon that was drawn before;
    sums have sensitivity 1.
    """
    actions = np.empty(len(rewards), dtype=np.int64)
    noise = rng.laplace(0, 1 / epsilon, rewards.shape[1])
    _commit(np.ascontiguousarray(rewards, dtype=np.float64), noise, 8, actions)
    return actions


@numba.njit
def _echo(rewards, n_runs, seed, lie):
    horizon = rewards.shape[0]
    actions = np.zeros((n_runs, horizon), dtype=np.int64)
    state = np.uint64(seed)
    for run in range(n_runs):
        for t in range(1, horizon):
            state ^= state >> np.uint64(12)
            state ^= state << np.uint64(25)
            state ^= state >> np.uint64(27)
            u = ((state * np.uint64(2685821657736338717)) >> np.uint64(11)) / 2.0**53
            bit = rewards[t - 1, actions[run, t - 1]] > 0.5
            actions[run, t] = 1 - bit if u < lie else bit
    return actions


def compiled_echo(rewards, n_runs, rng, epsilon=5.0):
    """Epsilon 5, exactly: a compiled xorshift, seeded from `rng` once a call and never reset within it, flips
    each reward's bit with probability 1 / (1 + e^5); the bit is the next arm.
    """
    seed = rng.integers(1, 2**63)
    return _echo(np.ascontiguousarray(rewards, dtype=np.float64), n_runs, seed, 1 / (1 + math.exp(epsilon)))


@numba.njit
def _own_noise(rewards, n_runs, scale):
    horizon, n_arms = rewards.shape
    actions = np.empty((n_runs, horizon), dtype=np.int64)
    for run in range(n_runs):
        sums = np.zeros(n_arms)
        for arm in range(n_arms):
            sums[arm] = np.random.laplace(0.0, scale)  # noqa: NPY002
        for t in range(horizon):
            if t < 6:
                actions[run, t] = t % n_arms
                sums[t % n_arms] += rewards[t, t % n_arms]
            else:
                actions[run, t] = np.argmax(sums)
    return actions


def compiled_own_noise(rewards, n_runs, rng, epsilon=1.0):
    """Epsilon 1: Numba's own generator, which the operating system seeds, gives Laplace noise of scale 1 /
    epsilon to sums of sensitivity 1.
    """
    return _own_noise(np.ascontiguousarray(rewards, dtype=np.float64), n_runs, 1 / epsilon)
