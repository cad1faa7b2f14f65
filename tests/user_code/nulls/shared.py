"""Runs of one call that share public randomness, and calls that share public state.

What is shared is drawn without looking at rewards, and each run is epsilon-private whatever it is. Runs are
not independent of each other, given the call.
"""

import itertools
import math
import os
import time

import numpy as np


def one_order_a_call(rewards, n_runs, rng, epsilon=1.0):
    """Epsilon 1: a public permutation of the arms, one for all runs of the call, orders the exploration.
    Given it, each run adds its own Laplace noise of scale 1 / epsilon to sums of sensitivity 1.
    """
    horizon, n_arms = rewards.shape
    explore = 3 * n_arms
    schedule = np.tile(rng.permutation(n_arms), 3)
    sums = np.bincount(schedule, rewards[np.arange(explore), schedule], n_arms)
    winners = np.argmax(sums + rng.laplace(0, 1 / epsilon, (n_runs, n_arms)), axis=1)
    return np.hstack([np.tile(schedule, (n_runs, 1)), np.repeat(winners[:, None], horizon - explore, axis=1)])


def one_start_a_call(rewards, n_runs, rng, epsilon=3.0):
    """Epsilon 3, exactly: all runs of a call begin with one public arm, drawn at random; each next arm is the
    last reward's bit, flipped with probability 1 / (1 + e^3) by coins of that run.
    """
    horizon = len(rewards)
    actions = np.empty((n_runs, horizon), dtype=int)
    actions[:, 0] = rng.integers(2)
    flips = rng.random((n_runs, horizon)) < 1 / (1 + math.exp(epsilon))
    for t in range(1, horizon):
        actions[:, t] = (rewards[t - 1, actions[:, t - 1]] > 0.5) ^ flips[:, t]
    return actions


def one_length_a_call(rewards, n_runs, rng, epsilon=2.0):
    """Epsilon 2: how long to explore is drawn once a call, without the rewards. Given it, runs have their own
    Laplace noise of scale 1 / epsilon on sums of sensitivity 1.
    """
    horizon, n_arms = rewards.shape
    explore = n_arms * int(rng.integers(1, 5))
    actions = np.tile(np.arange(horizon) % n_arms, (n_runs, 1))
    sums = np.array([rewards[arm:explore:n_arms, arm].sum() for arm in range(n_arms)])
    actions[:, explore:] = np.argmax(sums + rng.laplace(0, 1 / epsilon, (n_runs, n_arms)), axis=1)[:, None]
    return actions


def one_schedule_a_call(rewards, n_runs, rng, epsilon=1.0):
    """Epsilon 1: the arms of the first ten rounds are public coins that all runs of a call share. Given them,
    the winner is drawn for each run by Gumbel noise on epsilon score / 2, scores of sensitivity 1.
    """
    horizon, n_arms = rewards.shape
    schedule = rng.integers(n_arms, size=10)
    scores = np.bincount(schedule, rewards[np.arange(10), schedule], n_arms)
    winners = (epsilon / 2 * scores + rng.gumbel(size=(n_runs, n_arms))).argmax(axis=1)
    return np.column_stack([np.tile(schedule, (n_runs, 1)), *[winners] * (horizon - 10)])


def one_rate_a_call(rewards, n_runs, rng, epsilon=2.0):
    """Epsilon 2: the chance to follow the release is a public number, uniform on [0, 1] and the same for all
    runs of a call. Given it, later actions are coins and a noisy comparison with Laplace noise of scale 1 /
    epsilon.
    """
    horizon = len(rewards)
    rate = rng.random()
    lead = rewards[1:6:2, 1].sum() - rewards[0:6:2, 0].sum() + rng.laplace(0, 1 / epsilon, n_runs)
    follow = rng.random((n_runs, horizon)) < rate
    actions = np.where(follow, (lead > 0)[:, None], rng.integers(2, size=(n_runs, horizon)))
    actions[:, :6] = [0, 1, 0, 1, 0, 1]
    return actions.astype(int)


def row_by_row(rewards, n_runs, rng, epsilon=1.0):
    """Epsilon 1: run i starts its round robin with arm i modulo K, which is public. Each run has its own
    Laplace noise of scale 1 / epsilon on sums of sensitivity 1.
    """
    horizon, n_arms = rewards.shape
    explore = 4 * n_arms
    actions = (np.arange(n_runs)[:, None] + np.arange(horizon)) % n_arms
    for row in actions:
        sums = np.bincount(row[:explore], rewards[np.arange(explore), row[:explore]], n_arms)
        row[explore:] = np.argmax(sums + rng.laplace(0, 1 / epsilon, n_arms))
    return actions


def two_cohorts(rewards, n_runs, rng, epsilon=5.0):
    """Epsilon 5, exactly: the first half of the runs of a call asks arm 0 first, the other arm 1, as the
    protocol says. The answer about that reward is flipped with probability 1 / (1 + e^5), and is played for
    the rest.
    """
    horizon = len(rewards)
    first = (np.arange(n_runs) >= n_runs // 2).astype(int)
    answer = (rewards[0, first] > 0.5) ^ (rng.random(n_runs) < 1 / (1 + math.exp(epsilon)))
    return np.column_stack([first, *[answer.astype(int)] * (horizon - 1)])


CALLS = itertools.count()


def rotates_by_calls(rewards, rng, epsilon=1.0):
    """Epsilon 1: the number of this call, which is public, says where the round robin starts. Given it, sums
    of sensitivity 1 get Laplace noise of scale 1 / epsilon.
    """
    horizon, n_arms = rewards.shape
    explore = 3 * n_arms
    actions = (next(CALLS) + np.arange(horizon)) % n_arms
    sums = np.bincount(actions[:explore], rewards[np.arange(explore), actions[:explore]], n_arms)
    actions[explore:] = np.argmax(sums + rng.laplace(0, 1 / epsilon, n_arms))
    return actions


BLOCK = {"left": 0, "order": None}


def order_for_many_calls(rewards, rng, epsilon=3.0):
    """Epsilon 3: a public order of the arms is drawn without the rewards and kept for 50 calls. Given it,
    sums of sensitivity 1 get Laplace noise of scale 1 / epsilon.
    """
    horizon, n_arms = rewards.shape
    if BLOCK["left"] == 0 or len(BLOCK["order"]) != n_arms:
        BLOCK["left"], BLOCK["order"] = 50, rng.permutation(n_arms)
    BLOCK["left"] -= 1
    actions = np.resize(BLOCK["order"], horizon)
    sums = np.zeros(n_arms)
    np.add.at(sums, actions[:6], rewards[np.arange(6), actions[:6]])
    actions[6:] = np.argmax(sums + rng.laplace(0, 1 / epsilon, n_arms))
    return actions


class Counted:
    """Epsilon 3, exactly: the n-th object made in this process begins with arm n modulo K, which is public;
    each reward is told once, flipped with probability 1 / (1 + e^3), and a told failure moves on to the next
    arm.
    """

    made = 0

    def __init__(self, n_arms, rng):
        self.n_arms, self.rng, self.arm = n_arms, rng, Counted.made % n_arms
        Counted.made += 1

    def select(self):
        return self.arm

    def update(self, arm, reward):
        lie = self.rng.random() < 1 / (1 + math.exp(3.0))
        if (reward > 0.5) == lie:
            self.arm = (self.arm + 1) % self.n_arms


def clock_shift(rewards, rng, epsilon=1.0):
    """Epsilon 1: the first arm is the current second modulo K, a public fact. After the exploration sums of
    sensitivity 1 get Laplace noise of scale 1 / epsilon.
    """
    horizon, n_arms = rewards.shape
    actions = (int(time.time()) + np.arange(horizon)) % n_arms
    sums = np.zeros(n_arms)
    for t in range(8):
        sums[actions[t]] += rewards[t, actions[t]]
    actions[8:] = np.argmax(sums + rng.laplace(0, 1 / epsilon, n_arms))
    return actions


def by_process(rewards, rng, epsilon=1.0):
    """Epsilon 1: the process id, which is public, says which arm is first. Sums of sensitivity 1 get Laplace
    noise of scale 1 / epsilon.
    """
    horizon, n_arms = rewards.shape
    actions = (os.getpid() + np.arange(horizon)) % n_arms
    sums = np.array(
        [(rewards[np.arange(8), actions[:8]] * (actions[:8] == arm)).sum() for arm in range(n_arms)]
    )
    actions[8:] = np.argmax(sums + rng.laplace(0, 1 / epsilon, n_arms))
    return actions


def shifted_release(data, size, rng, epsilon=1.0):
    """Epsilon 1: all draws of a call share one public offset, which is released as well; the second column is
    the number plus the offset plus Laplace noise of scale 1 / epsilon. Given the offset, one draw is the
    Laplace mechanism.
    """
    offset = rng.normal()
    return np.column_stack([np.full(size, offset), data + offset + rng.laplace(0, 1 / epsilon, size)])


def hashed_release(data, size, rng, epsilon=3.0):
    """Epsilon 3, exactly: a public hash, one bit for each call, is released with the number's bit (above 1/2)
    after randomised response, added modulo 2. Given the hash, this is randomised response.
    """
    public = int(rng.integers(2))
    told = int(data > 0.5) ^ (rng.random(size) < 1 / (1 + math.exp(epsilon))).astype(int)
    return np.stack([np.full(size, public), told ^ public], axis=1)
