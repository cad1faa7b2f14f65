"""Right programs that were once refuted, or leaks that were once not, each beside its opposite."""

import os

import numpy as np

HORIZON = 20


def committed(rewards, noise):
    """Explore arms in turn for half the rounds, then play the one with the larger noisy sum."""
    horizon, n_arms = rewards.shape
    actions = np.arange(horizon) % n_arms
    sums = np.array([rewards[arm : horizon // 2 : n_arms, arm].sum() for arm in range(n_arms)])
    actions[horizon // 2 :] = np.argmax(sums + noise)
    return actions


def greedy(rewards, rng):
    """A leak: nothing random comes between rewards and actions."""
    return committed(rewards, 0.0)


def _flipped(rewards, keep):
    """Randomised response of the first reward; its noise comes from the operating system."""
    chance = int.from_bytes(os.urandom(8), "little") / 2**64
    bit = (rewards[0, 0] > 0.5) ^ (chance > keep)
    return np.full(len(rewards), int(bit)) * (np.arange(len(rewards)) > 0)


def response_3(rewards, rng):
    """Epsilon 3: sixteen runs a side look alike, and differ, with probability .21."""
    return _flipped(rewards, 1 / (1 + np.exp(-3)))


def response_5(rewards, rng):
    """Epsilon 5: sixteen runs a side look alike, and differ, with probability .8."""
    return _flipped(rewards, 1 / (1 + np.exp(-5)))


def response_of_none(rewards, rng):
    """A leak: the answer is always true."""
    return _flipped(rewards, 1.0)


def one_order(rewards, n_runs, rng):
    """Each run is 1-DP: the names of the arms are public; all runs of a call share them."""
    order = rng.permutation(rewards.shape[1])
    noise = rng.laplace(0, 1, (n_runs, rewards.shape[1]))
    return order[np.array([committed(rewards, row) for row in noise])]


def one_order_half_noise(rewards, n_runs, rng):
    """The same with a third of the noise: a leak."""
    order = rng.permutation(rewards.shape[1])
    noise = rng.laplace(0, 1 / 3, (n_runs, rewards.shape[1]))
    return order[np.array([committed(rewards, row) for row in noise])]


def third_of_the_noise(rewards, n_runs, rng):
    """A leak whose runs are independent."""
    return np.array([committed(rewards, row) for row in rng.laplace(0, 1 / 3, (n_runs, rewards.shape[1]))])


def own_order(rewards, n_runs, rng):
    """The control: each run has an order of its own."""
    noise = rng.laplace(0, 1, (n_runs, rewards.shape[1]))
    return np.array([rng.permutation(rewards.shape[1])[committed(rewards, row)] for row in noise])


def shared_release(data, size, rng):
    """Each draw is 1-DP; all draws of a call share half of their noise, so that they hang together."""
    return data + rng.laplace(0, 1) + rng.laplace(0, 1, size)


_OWN = np.random.default_rng(7)


def seeded_by_the_module(rewards, rng):
    """Right, with a generator that every process seeds alike."""
    return committed(rewards, _OWN.laplace(0, 1, rewards.shape[1]))


def given(rewards, rng):
    """The control: all noise comes from the generator that it is given."""
    return committed(rewards, rng.laplace(0, 1, rewards.shape[1]))


def out_of_reach(rewards, rng):
    """A leak of epsilon 2.2 whose noise is made of uniforms, which no factor scales."""
    uniforms = rng.random((2, rewards.shape[1]))
    return committed(rewards, (np.log(uniforms[0]) - np.log(uniforms[1])) / 2.2)


def gaussian(data, size, rng):
    """(1, .001)-DP for data that differ by 1, by the classic bound."""
    return data + rng.normal(0, np.sqrt(2 * np.log(1.25 / 1e-3)), size)


def seldom(rewards, rng):
    """Epsilon 0: reads no reward, and leaves its first arm once in a million runs."""
    return [int(rng.random() < 1e-6)] * len(rewards)


def never(rewards, rng):
    """Epsilon 0: always the first arm."""
    return [0] * len(rewards)
