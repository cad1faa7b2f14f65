"""Bandits as classes, one object a run."""

import collections
import dataclasses
import math
import random

import numpy as np


class Commits:
    """Epsilon 1: rewards of the exploration enter one sum for each arm, released once with Laplace noise of
    scale 1 / epsilon; afterwards nothing is looked at.
    """

    def __init__(self, n_arms, rng, epsilon=1.0, per_arm=4):
        self.n_arms, self.rng, self.epsilon = n_arms, rng, epsilon
        self.explore = per_arm * n_arms
        self.sums = np.zeros(n_arms)
        self.t = 0
        self.best = None

    def select(self):
        if self.t < self.explore:
            return self.t % self.n_arms
        if self.best is None:
            self.best = int(np.argmax(self.sums + self.rng.laplace(0, 1 / self.epsilon, self.n_arms)))
        return self.best

    def update(self, arm, reward):
        if self.t < self.explore:
            self.sums[arm] += reward
        self.t += 1


class Echo:
    """Epsilon 5, exactly: plays the last reward's bit, told truly with probability e^5 / (1 + e^5); each
    reward is told once.
    """

    def __init__(self, n_arms, seed, epsilon=5.0):
        self.coins = np.random.default_rng(seed)
        self.lie = 1 / (1 + math.exp(epsilon))
        self.next = n_arms - 1

    def select_arm(self):
        return self.next

    def update(self, arm, reward):
        bit = reward > 0.5
        self.next = int(bit != (self.coins.random() < self.lie))


class LocalReports:
    """Epsilon 2: each reward gets Laplace noise of scale 1 / epsilon when it comes in, once; the arm with the
    largest noisy mean is pulled.
    """

    def __init__(self, arms, rng, epsilon=2.0):
        self.reports = {arm: [0.5] for arm in arms}
        self.rng, self.epsilon = rng, epsilon

    def pull(self):
        return max(self.reports, key=lambda arm: sum(self.reports[arm]) / len(self.reports[arm]))

    def update(self, arm, reward):
        self.reports[arm].append(reward + self.rng.laplace(0, 1 / self.epsilon))


class Tree:
    """Epsilon 4: counts by the binary mechanism, a tree for each arm; a reward is in at most one partial sum
    of each of 5 levels (an arm has fewer than 32 pulls), each with noise of scale 5 / epsilon, drawn when the
    node is complete.
    """

    def __init__(self, n_arms, horizon, rng, epsilon=4.0):
        self.levels = horizon.bit_length()
        self.nodes = [[] for _ in range(n_arms)]
        self.pulls = [0] * n_arms
        self.rng, self.scale = rng, self.levels / epsilon

    def choose(self):
        for arm, pulls in enumerate(self.pulls):
            if not pulls:
                return arm
        return int(
            np.argmax(
                [sum(z for _, _, z in nodes) / n for nodes, n in zip(self.nodes, self.pulls, strict=True)]
            )
        )

    def update(self, arm, reward):
        nodes = self.nodes[arm]
        size, exact = 1, reward
        while nodes and nodes[-1][0] == size:
            _, other, _ = nodes.pop()
            size, exact = 2 * size, exact + other
        nodes.append((size, exact, exact + self.rng.laplace(0, self.scale)))
        self.pulls[arm] += 1


@dataclasses.dataclass
class Batches:
    """Epsilon 3: after one pull of each arm the arm of three rounds is chosen by the exponential mechanism on
    these K rewards: weights exp(epsilon reward), as one reward moves one score by at most 1; batches are
    disjoint.
    """

    n_arms: int
    seed: int
    epsilon: float = 3.0
    batch: collections.OrderedDict = dataclasses.field(default_factory=collections.OrderedDict)
    favourite: int = 0
    left: int = 0

    def __post_init__(self):
        self.coins = random.Random(self.seed)

    def act(self):
        return len(self.batch) if self.left == 0 else self.favourite

    def update(self, arm, reward):
        if self.left:
            self.left -= 1
            return
        self.batch[arm] = reward
        if len(self.batch) == self.n_arms:
            weights = [math.exp(self.epsilon * r) for r in self.batch.values()]
            self.favourite = self.coins.choices(list(self.batch), weights)[0]
            self.batch.clear()
            self.left = 3


class Patience:
    """Epsilon 3, exactly: an arm is left after two told failures; each reward is told once, truly with
    probability e^3 / (1 + e^3).
    """

    def __init__(self, k, rng):
        self.k, self.rng, self.arm, self.failures = k, rng, 0, 0

    def select_action(self):
        return self.arm

    def update_params(self, arm, reward):
        truth = reward >= 0.5
        told = truth if self.rng.random() < 1 / (1 + math.exp(-3)) else not truth
        if not told:
            self.failures += 1
            if self.failures == 2:
                self.arm, self.failures = (self.arm + 1) % self.k, 0
