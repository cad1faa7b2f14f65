"""Bandits of the local model: right ones, whose reports cost EPSILON = 1, and leaks.

What is claimed is of the report of each reward, not of the actions.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np

EPSILON = 1.0
KEEP = math.exp(EPSILON) / (1 + math.exp(EPSILON))


def _best(sums, pulls, t):
    means = [s / n for s, n in zip(sums, pulls, strict=True)]
    return max(range(len(means)), key=lambda arm: means[arm] + math.sqrt(math.log(t) / pulls[arm]))


def _flipped(reward, rng):
    bit = rng.random() < reward
    return bit if rng.random() < KEEP else not bit


def _noisy(reward, rng):
    return reward + rng.laplace(0, 1 / EPSILON)


# ---------------------------------------------------------------- right


def rounded_bits(rewards, rng):
    """Randomised response of a rounded bit, and UCB on what it says."""
    horizon, n_arms = rewards.shape
    sums, pulls, arms = [0.0] * n_arms, [0] * n_arms, []
    for t in range(horizon):
        arm = t if t < n_arms else _best(sums, pulls, t)
        sums[arm] += (_flipped(rewards[t, arm], rng) - (1 - KEEP)) / (2 * KEEP - 1)
        pulls[arm] += 1
        arms.append(arm)
    return arms


def bits_in_the_loop(rewards, rng):
    """The same without a function, of the reward as it is cut."""
    horizon, n_arms = rewards.shape
    votes, arms = np.zeros(n_arms), []
    for t in range(horizon):
        arm = t % n_arms if t < 6 or rng.random() < 0.2 else int(np.argmax(votes))
        bit = 1 if rewards[t, arm] > 0.5 else 0
        votes[arm] += bit if rng.random() < KEEP else 1 - bit
        arms.append(arm)
    return arms


def weights_of_noisy_rewards(rewards, rng):
    """Exponential weights, which nothing but reports enters."""
    horizon, n_arms = rewards.shape
    weights, arms = np.zeros(n_arms), []
    for t in range(horizon):
        chances = np.exp(weights - weights.max())
        chances = 0.9 * chances / chances.sum() + 0.1 / n_arms
        arm = int(rng.choice(n_arms, p=chances))
        weights[arm] += 0.1 * _noisy(rewards[t, arm], rng) / chances[arm]
        arms.append(arm)
    return arms


def window_of_reports(rewards, rng):
    """What was reported last decides."""
    horizon, n_arms = rewards.shape
    seen, arms = [], []
    for t in range(horizon):
        scores = {arm: sum(r for b, r in seen[-6:] if b == arm) for arm in range(n_arms)}
        arm = t % n_arms if t % 3 else max(scores, key=scores.get)
        seen.append((arm, _noisy(rewards[t, arm], rng)))
        arms.append(arm)
    return arms


def chance_of_a_value(rewards, rng):
    """Two values, one of them with a chance that follows from the reward (Duchi et al. 2013)."""
    horizon, n_arms = rewards.shape
    sums, arms = [0.0] * n_arms, []
    for t in range(horizon):
        arm = t % n_arms if t < 6 else sums.index(max(sums))
        far = 1 / (2 * KEEP - 1)
        sums[arm] += far if rng.random() < 1 - KEEP + (2 * KEEP - 1) * rewards[t, arm] else -far
        arms.append(arm)
    return arms


def noise_of_two_draws(rewards, rng):
    """Whole noise, which is a difference of two draws, on a rounded bit."""
    horizon, n_arms = rewards.shape
    sums, stop = [0] * n_arms, -math.expm1(-EPSILON)
    for t in range(horizon // 2):
        bit = int(rng.random() < rewards[t, t % n_arms])
        sums[t % n_arms] += bit + int(rng.geometric(stop)) - int(rng.geometric(stop))
    return [t % n_arms for t in range(horizon // 2)] + [sums.index(max(sums))] * (horizon - horizon // 2)


RIGHT = [
    *(rounded_bits, bits_in_the_loop, weights_of_noisy_rewards),
    *(window_of_reports, chance_of_a_value, noise_of_two_draws),
]


# ---------------------------------------------------------------- leaks


def _played(rewards, report):
    """Arms by the largest of what was reported."""
    horizon, n_arms = rewards.shape
    values = [report(rewards[t, t % n_arms], t) for t in range(horizon // 2)]
    best = int(np.argmax(values))
    return [t % n_arms for t in range(horizon // 2)] + [best % n_arms] * (horizon - horizon // 2)


def half_the_noise(rewards, rng):
    return _played(rewards, lambda reward, t: reward + rng.laplace(0, 0.5 / EPSILON))


def reported_twice(rewards, rng):
    return _played(rewards, lambda reward, t: _noisy(reward, rng) + _noisy(reward, rng))


def two_coins_for_a_bit(rewards, rng):
    horizon, n_arms = rewards.shape
    votes = [0] * n_arms
    for t in range(horizon // 2):
        bit = bool(rewards[t, t % n_arms] > 0.5)
        votes[t % n_arms] += bit if rng.random() < KEEP else not bit
        votes[t % n_arms] += bit if rng.random() < KEEP else not bit
    return [t % n_arms for t in range(horizon // 2)] + [votes.index(max(votes))] * (horizon - horizon // 2)


def one_draw_for_all(rewards, rng):
    drawn = rng.laplace(0, 1 / EPSILON)
    return _played(rewards, lambda reward, t: reward + drawn)


def raw_in_a_late_round(rewards, rng):
    return _played(rewards, lambda reward, t: reward if t == 9 else _noisy(reward, rng))


def noise_that_shrinks(rewards, rng):
    horizon, n_arms = rewards.shape
    sums, arms = [0.0] * n_arms, []
    for t in range(horizon):
        arm = sums.index(max(sums)) if t > 3 else t % n_arms
        sums[arm] += rewards[t, arm] + rng.laplace(0, 0.2 if sums[0] > 40 else 1 / EPSILON)
        arms.append(arm)
    return arms


def one_sided(rewards, rng):
    """Noise that is enough for a decision, of a value that the collector keeps."""
    noisy = rewards[0, 0] + rng.exponential(1 / EPSILON)
    return [int(noisy - rng.exponential(1 / EPSILON) > 0)] * len(rewards)


def one_sided_in_a_list(rewards, rng):
    seen = []
    seen.append(rewards[0, 0] + rng.exponential(1 / EPSILON))
    return [int(seen[0] - rng.exponential(1 / EPSILON) < 0)] * len(rewards)


def one_sided_in_a_condition(rewards, rng):
    if rewards[0, 0] + rng.exponential(1 / EPSILON) > rng.exponential(1 / EPSILON):
        return [1] * len(rewards)
    return [0] * len(rewards)


def one_sided_in_a_queue(rewards, rng):
    seen = deque(rewards[t, 0] + rng.exponential(1 / EPSILON) for t in range(1))
    return [int(seen[0] - rng.exponential(1 / EPSILON) < 0)] * len(rewards)


def one_sided_in_a_loop(rewards, rng):
    for noisy in [rewards[0, 0] + rng.exponential(1 / EPSILON)]:
        told = int(noisy - rng.exponential(1 / EPSILON) < 0)
    return [told] * len(rewards)


def one_sided_in_two_steps(rewards, rng):
    total = rewards[0, 0]
    total += rng.exponential(1 / EPSILON)
    return [int(total - rng.exponential(1 / EPSILON) < 0)] * len(rewards)


def one_sided_in_an_entry(rewards, rng):
    totals, arm = np.zeros(2), 1
    totals[arm] = rewards[0, 0]
    totals[arm] += rng.exponential(1 / EPSILON)
    return [int(totals[arm] - rng.exponential(1 / EPSILON) < 0)] * len(rewards)


def one_sided_in_place(rewards, rng):
    totals = np.array(rewards[0, :1])
    np.add(totals, rng.exponential(1 / EPSILON, 1), out=totals)
    return [int(totals[0] - rng.exponential(1 / EPSILON) < 0)] * len(rewards)


def one_sided_by_a_key(rewards, rng):
    best = max(range(2), key=lambda arm: arm * rewards[0, 0] + rng.exponential(1 / EPSILON))
    return [best] * len(rewards)


def added_up_first(rewards, rng):
    """Central privacy: the collector adds up raw rewards."""
    horizon, n_arms = rewards.shape
    half = horizon // 2
    noisy = [rewards[arm:half:n_arms, arm].sum() + rng.laplace(0, 1 / EPSILON) for arm in range(n_arms)]
    return [t % n_arms for t in range(half)] + [noisy.index(max(noisy))] * (horizon - half)


def decided_together(rewards, rng):
    """As `added_up_first`, of sums of which only the largest is asked for."""
    horizon, n_arms = rewards.shape
    best = int(np.argmax(rewards[: horizon // 2].sum(axis=0) + rng.laplace(0, 1 / EPSILON, n_arms)))
    return [best] * horizon


def chosen_together(rewards, rng):
    """As `decided_together`, by chances."""
    chances = np.exp(rewards[:6].sum(axis=0) * EPSILON / 2)
    return [int(rng.choice(len(chances), p=chances / chances.sum()))] * len(rewards)


def bit_of_two(rewards, rng):
    """A noisy bit that says which of two rewards is the larger one."""
    bit = bool(rewards[0, 0] > rewards[1, 0])
    told = bit if rng.random() < KEEP else not bit
    return [int(told)] * len(rewards)


def difference_of_two(rewards, rng):
    horizon, n_arms = rewards.shape
    last, sums = 0.0, [0.0] * n_arms
    for t in range(horizon // 2):
        reward = rewards[t, t % n_arms]
        sums[t % n_arms] += reward - last + rng.laplace(0, 1 / EPSILON)
        last = reward
    return [t % n_arms for t in range(horizon // 2)] + [sums.index(max(sums))] * (horizon - horizon // 2)


LEAKS = [
    *(half_the_noise, reported_twice, two_coins_for_a_bit, one_draw_for_all, raw_in_a_late_round),
    noise_that_shrinks,
]
# The actions cost no more than is claimed, and what the collector sees costs infinitely much.
ONE_SIDED = [
    *(one_sided, one_sided_in_a_list, one_sided_in_a_condition, one_sided_by_a_key, one_sided_in_a_queue),
    *(one_sided_in_a_loop, one_sided_in_two_steps, one_sided_in_an_entry, one_sided_in_place),
]
CENTRAL = [added_up_first, decided_together, chosen_together, bit_of_two, difference_of_two]  # of several
