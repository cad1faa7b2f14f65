"""Noisy follow-the-leader with two-level (block + item) counters per arm.

A reward is published as a single item (used until its block of 6 closes) and as
part of its block sum: two Laplace releases, each with half of the budget.
Claim: 2.0-DP (pure).
"""
import itertools
import numpy as np

EPSILON = 2.0
BLOCK = 6


def make_counter(rng):
    half = EPSILON / 2
    blocks, items, raw = [], [], []

    def add(x):
        raw.append(x)
        items.append(x + rng.laplace(0, 1 / half))
        if len(raw) == BLOCK:
            blocks.append(sum(raw) + rng.laplace(0, 1 / half))
            raw.clear()
            items.clear()

    def mean():
        n = BLOCK * len(blocks) + len(items)
        return sum(itertools.chain(blocks, items)) / n if n else float("inf")

    return add, mean


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    counters = [make_counter(rng) for _ in range(n_arms)]
    actions = []
    for t in range(horizon):
        explore = t % 5 == 4
        if explore:
            arm = int(rng.integers(n_arms))
        else:
            arm = max(range(n_arms), key=lambda a: counters[a][1]())
        counters[arm][0](float(rewards[t, arm]))
        actions.append(arm)
    return np.array(actions)
