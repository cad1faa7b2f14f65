"""Thirty bandits in thirty hands: loops, arrays, classes, lists, helpers, in-place updates; half leak.

EPSILON = 1 is claimed for each of them at event level, for rewards in [0, 1]. `LEAKS` says what is wrong with
those that do not keep it, on the line that ends in a comment; `RIGHT` lists the others.
"""

# ruff: noqa: B905, SIM108 - as users write it

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

EPSILON = 1.0


# ---------------------------------------------------------------- right


def commit(rewards, rng):
    horizon, n_arms = rewards.shape
    explore = horizon // 2
    arms = np.arange(horizon) % n_arms
    sums = np.array([rewards[arm:explore:n_arms, arm].sum() for arm in range(n_arms)])
    arms[explore:] = np.argmax(sums + rng.laplace(0, 1 / EPSILON, n_arms))
    return arms


def commit_in_loops(rewards, rng):
    horizon, n_arms = rewards.shape
    totals = [0.0] * n_arms
    arms = []
    for t in range(horizon // 2):
        arm = t % n_arms
        totals[arm] += rewards[t][arm]
        arms.append(arm)
    best, favourite = -math.inf, 0
    for arm in range(n_arms):
        noisy = totals[arm] + rng.laplace(scale=1 / EPSILON)
        if noisy > best:
            best, favourite = noisy, arm
    return arms + [favourite] * (horizon - len(arms))


def commit_on_means(rewards, rng):
    horizon, n_arms = rewards.shape
    each = horizon // (2 * n_arms)
    means = rewards[: each * n_arms].reshape(each, n_arms, n_arms).mean(axis=0).diagonal()
    noisy = means + rng.laplace(size=n_arms) / (each * EPSILON)
    arms = np.tile(np.arange(n_arms), horizon)[:horizon]
    arms[each * n_arms :] = noisy.argmax()
    return arms


def with_exponential_noise(rewards, rng):
    """Report noisy max with one-sided noise."""
    horizon, n_arms = rewards.shape
    sums = np.zeros(n_arms)
    for t in range(horizon // 2):
        sums[t % n_arms] += rewards[t, t % n_arms]
    noisy = sums + rng.exponential(1 / EPSILON, n_arms)
    return np.concatenate([np.arange(horizon // 2) % n_arms, np.full(horizon - horizon // 2, noisy.argmax())])


def with_two_sided_geometric(rewards, rng):
    """Rewards are rounded to counts; the difference of two geometric draws is added."""
    horizon, n_arms = rewards.shape
    counts = [
        int(sum(round(float(x)) for x in rewards[arm : horizon // 2 : n_arms, arm])) for arm in range(n_arms)
    ]
    p = 1 - math.exp(-EPSILON)
    noisy = [c + rng.geometric(p) - rng.geometric(p) for c in counts]
    winner = max(range(n_arms), key=lambda arm: noisy[arm])
    return [t % n_arms for t in range(horizon // 2)] + [winner] * (horizon - horizon // 2)


class Epochs:
    """Successive elimination on fresh sums, noise for each epoch."""

    def __init__(self, n_arms, rng):
        self.active = list(range(n_arms))
        self.rng = rng
        self.sums = dict.fromkeys(self.active, 0.0)
        self.pulls = 0
        self.length = 8

    def select(self):
        return self.active[self.pulls % len(self.active)]

    def update(self, arm, reward):
        self.sums[arm] = self.sums[arm] + reward
        self.pulls += 1
        if self.pulls == self.length * len(self.active) and len(self.active) > 1:
            noisy = {arm: self.sums[arm] + self.rng.laplace(0, 1 / EPSILON) for arm in self.active}
            best = max(noisy.values())
            self.active = [arm for arm in self.active if noisy[arm] > best - 6]
            self.sums = dict.fromkeys(self.active, 0.0)
            self.pulls, self.length = 0, self.length * 2


def elimination_as_a_class(rewards, rng):
    horizon, n_arms = rewards.shape
    bandit = Epochs(n_arms, rng)
    arms = []
    for t in range(horizon):
        arm = bandit.select()
        bandit.update(arm, rewards[t, arm])
        arms.append(arm)
    return np.array(arms)


def epsilon_greedy_on_noise(rewards, rng):
    """One noisy look half-way; exploration by coins."""
    horizon, n_arms = rewards.shape
    sums, favourite, arms = np.zeros(n_arms), 0, np.empty(horizon, int)
    for t in range(horizon):
        if t == horizon // 2:
            favourite = int(np.argmax(sums + rng.laplace(0, 1 / EPSILON, size=n_arms)))
        arm = int(rng.integers(n_arms)) if t < horizon // 2 or rng.random() < 0.1 else favourite
        if t < horizon // 2:
            sums[arm] += rewards[t, arm]
        arms[t] = arm
    return arms


def _noisy(values, scale, rng):
    return [v + rng.laplace(0.0, scale) for v in values]


def helpers_and_lists(rewards, rng):
    horizon, n_arms = rewards.shape
    history = defaultdict(list)
    for t in range(horizon // 2):
        history[t % n_arms].append(rewards[t, t % n_arms])
    released = _noisy([sum(history[arm]) for arm in range(n_arms)], 1 / EPSILON, rng)
    order = sorted(range(n_arms), key=lambda arm: -released[arm])
    return [t % n_arms for t in range(horizon // 2)] + [order[0]] * (horizon - horizon // 2)


def windows(rewards, rng):
    """A fresh window of rewards for every decision, so that each reward is used once."""
    horizon, n_arms = rewards.shape
    arms, favourite, width = [], 0, 10
    window = np.zeros(n_arms)
    for t in range(horizon):
        if t and t % width == 0:
            favourite = int((window + rng.laplace(0, 1 / EPSILON, n_arms)).argmax())
            window[:] = 0.0
        arm = favourite if t % 2 else (t // 2) % n_arms
        window[arm] += rewards[t, arm]
        arms.append(arm)
    return np.asarray(arms)


def noise_first(rewards, rng):
    """Sums begin with their noise."""
    horizon, n_arms = rewards.shape
    sums = rng.laplace(0, 1 / EPSILON, n_arms)
    for t in range(horizon // 2):
        step = np.zeros(n_arms)
        step[t % n_arms] = rewards[t, t % n_arms]
        sums = sums + step
    arms = np.arange(horizon) % n_arms
    arms[horizon // 2 :] = np.argmax(sums)
    return arms


def local_reports(rewards, rng):
    """Every reward is reported with noise of its own; UCB on the reports."""
    horizon, n_arms = rewards.shape
    totals, pulls, arms = np.zeros(n_arms), np.zeros(n_arms), []
    for t in range(horizon):
        if t < n_arms:
            arm = t
        else:
            arm = int(np.argmax(totals / pulls + np.sqrt(8 * np.log(t + 1) / pulls)))
        totals[arm] += rewards[t, arm] + rng.laplace(0, 1 / EPSILON)
        pulls[arm] += 1
        arms.append(arm)
    return np.array(arms)


def randomised_response(rewards, rng):
    """Every reward is a bit that is told the truth about with probability e/(1 + e)."""
    horizon, n_arms = rewards.shape
    keep = math.exp(EPSILON) / (1 + math.exp(EPSILON))
    votes = [0] * n_arms
    for t in range(horizon // 2):
        bit = bool(rewards[t, t % n_arms] > 0.5)
        told = bit if rng.random() < keep else not bit
        votes[t % n_arms] += told
    return [t % n_arms for t in range(horizon // 2)] + [int(np.argmax(votes))] * (horizon - horizon // 2)


def ignores_its_rewards(rewards, rng):
    horizon, n_arms = rewards.shape
    return rng.integers(n_arms, size=horizon)


def clipped(rewards, rng):
    """Rewards are clipped before they are added up."""
    horizon, n_arms = rewards.shape
    limited = np.clip(rewards[: horizon // 2], 0.0, 0.5)
    sums = np.stack([limited[arm::n_arms, arm].sum() for arm in range(n_arms)])
    noisy = sums + rng.laplace(0, 0.5 / EPSILON, n_arms)
    return np.r_[np.arange(horizon // 2) % n_arms, np.repeat(noisy.argmax(), horizon - horizon // 2)]


def vectors_and_masks(rewards, rng):
    horizon, n_arms = rewards.shape
    rounds = np.arange(horizon // 2)
    mask = np.zeros((horizon // 2, n_arms))
    mask[rounds, rounds % n_arms] = 1
    totals = np.einsum("tk,tk->k", mask, np.asarray(rewards)[: horizon // 2])
    totals = totals + rng.laplace(loc=0.0, scale=np.full(n_arms, 1 / EPSILON))
    return np.where(np.arange(horizon) < horizon // 2, np.arange(horizon) % n_arms, np.argmax(totals))


# ---------------------------------------------------------------- leaking


def half_noise(rewards, rng):
    """Half the noise."""
    horizon, n_arms = rewards.shape
    arms = np.arange(horizon) % n_arms
    sums = [rewards[arm : horizon // 2 : n_arms, arm].sum() for arm in range(n_arms)]
    noisy = np.array([s + rng.laplace(0, 0.5 / EPSILON) for s in sums])  # leak
    arms[horizon // 2 :] = int(np.argmax(noisy))
    return arms


def looks_again_and_again(rewards, rng):
    """The same sums are released in forty rounds."""
    horizon, n_arms = rewards.shape
    sums, arms = np.zeros(n_arms), []
    for t in range(horizon):
        if t < horizon - 40:
            arm = t % n_arms
            sums[arm] += rewards[t, arm]
        else:
            arm = int(np.argmax(sums + rng.laplace(0, 1 / EPSILON, n_arms)))  # leak
        arms.append(arm)
    return np.array(arms)


def plain_epsilon_greedy(rewards, rng):
    """No noise at all: coins only decide when to explore."""
    horizon, n_arms = rewards.shape
    sums, pulls, arms = [0.0] * n_arms, [0] * n_arms, []
    for t in range(horizon):
        if rng.random() < 0.1:
            arm = int(rng.integers(n_arms))
        else:
            arm = int(np.argmax([s / max(p, 1) for s, p in zip(sums, pulls)]))  # leak
        sums[arm] += rewards[t, arm]
        pulls[arm] += 1
        arms.append(arm)
    return arms


def plain_ucb(rewards, rng):
    """No randomness at all."""
    horizon, n_arms = rewards.shape
    sums, pulls, arms = np.zeros(n_arms), np.zeros(n_arms), np.zeros(horizon, dtype=int)
    for t in range(horizon):
        if t < n_arms:
            arms[t] = t
        else:
            arms[t] = np.argmax(sums / pulls + np.sqrt(2 * np.log(t) / pulls))  # leak
        sums[arms[t]] += rewards[t, arms[t]]
        pulls[arms[t]] += 1
    return arms


def one_draw_for_all(rewards, rng):
    """The same draw is added to every sum."""
    horizon, n_arms = rewards.shape
    sums = rewards[: horizon // 2].sum(axis=0) + rng.laplace(0, 1 / EPSILON)  # leak
    return np.where(np.arange(horizon) < horizon // 2, np.arange(horizon) % n_arms, sums.argmax())


def raw_tie_break(rewards, rng):
    """Noisy sums that are close are told apart by the exact ones."""
    horizon, n_arms = rewards.shape
    sums = np.array([rewards[arm : horizon // 2 : n_arms, arm].sum() for arm in range(n_arms)])
    noisy = sums + rng.laplace(0, 1 / EPSILON, n_arms)
    close = np.flatnonzero(noisy > noisy.max() - 1)
    winner = close[np.argmax(sums[close])]  # leak
    return np.r_[np.arange(horizon // 2) % n_arms, np.repeat(winner, horizon - horizon // 2)]


def peeks_at_the_first(rewards, rng):
    """A reward of 1 in the first round turns the rule round."""
    horizon, n_arms = rewards.shape
    sums = rewards[: horizon // 2].sum(axis=0)
    noisy = sums + rng.laplace(0, n_arms / EPSILON, n_arms)
    winner = noisy.argmax() if rewards[0, 0] < 1 else noisy.argmin()  # leak
    return np.r_[np.arange(horizon // 2) % n_arms, np.repeat(winner, horizon - horizon // 2)]


def stops_when_sure(rewards, rng):
    """The length of exploration follows from exact sums."""
    horizon, n_arms = rewards.shape
    sums, t, arms = np.zeros(n_arms), 0, []
    while t < horizon // 2 and sums.max() - sums.min() < 3:  # leak
        sums[t % n_arms] += rewards[t, t % n_arms]
        arms.append(t % n_arms)
        t += 1
    favourite = int((sums + rng.laplace(0, 1 / EPSILON, n_arms)).argmax())
    return arms + [favourite] * (horizon - t)


class Greedy:
    """Follows the leader with noise on means that is meant for sums of 100."""

    def __init__(self, n_arms, rng):
        self.n, self.s, self.rng = np.zeros(n_arms), np.zeros(n_arms), rng
        self.noisy = None

    def choose(self, t):
        if t < 10 * len(self.n):
            return t % len(self.n)
        if self.noisy is None:
            self.noisy = self.s / self.n + self.rng.laplace(0, 1 / (100 * EPSILON), len(self.n))  # leak
        return int(self.noisy.argmax())

    def learn(self, arm, reward):
        self.n[arm] += 1
        self.s[arm] += reward


def means_with_too_little(rewards, rng):
    """The sensitivity of a mean of ten is taken for that of a mean of a hundred."""
    horizon, n_arms = rewards.shape
    bandit, arms = Greedy(n_arms, rng), []
    for t in range(horizon):
        arm = bandit.choose(t)
        if t < 10 * n_arms:
            bandit.learn(arm, rewards[t, arm])
        arms.append(arm)
    return arms


def sees_all_arms(rewards, rng):
    """Rewards of arms that were not pulled are used, too: one reward enters two releases."""
    horizon, n_arms = rewards.shape
    half, quarter = horizon // 2, horizon // 4
    first = rewards[:quarter].sum(axis=0) + rng.laplace(0, 1 / EPSILON, n_arms)
    second = rewards[:half].sum(axis=0) + rng.laplace(0, 1 / EPSILON, n_arms)  # leak
    arms = np.arange(horizon) % n_arms
    arms[quarter:half] = first.argmax()
    arms[half:] = second.argmax()
    return arms


def noise_on_one_arm(rewards, rng):
    """The last arm gets no noise."""
    horizon, n_arms = rewards.shape
    totals = []
    for arm in range(n_arms):
        total = rewards[arm : horizon // 2 : n_arms, arm].sum()
        totals.append(total + rng.laplace(0, 1 / EPSILON) if arm < n_arms - 1 else total)
    best = int(np.argmax(totals))  # leak
    return [t % n_arms for t in range(horizon // 2)] + [best] * (horizon - horizon // 2)


def rounds_its_noise(rewards, rng):
    """Noise is rounded down to whole numbers and added to exact sums, whose fractions stay visible."""
    horizon, n_arms = rewards.shape
    sums = np.array([rewards[arm : horizon // 2 : n_arms, arm].sum() for arm in range(n_arms)])
    noisy = sums + np.floor(rng.laplace(0, 1 / EPSILON, n_arms))
    odd = int(round(float(noisy[0] * 2)) % 2)  # leak
    winner = (int(noisy.argmax()) + odd) % n_arms
    return [t % n_arms for t in range(horizon // 2)] + [winner] * (horizon - horizon // 2)


def writes_rewards_out(rewards, rng):
    """The first action is the first reward."""
    horizon, n_arms = rewards.shape
    arms = rng.integers(n_arms, size=horizon)
    arms[-1] = rewards[0, 0] > 0.5  # leak
    return arms


def seeds_from_its_data(rewards, rng):
    """Its generator is seeded anew from the sum of the rewards."""
    horizon, n_arms = rewards.shape
    own = np.random.default_rng(int(1e6 * rewards[: horizon // 2].sum()) + int(rng.integers(2)))  # leak
    return own.integers(n_arms, size=horizon)


def in_place_sums(rewards, rng):
    """Cumulative sums in place, noise once, then four times as many decisions on what follows."""
    horizon, n_arms = rewards.shape
    running = np.array(rewards[: horizon // 2], dtype=float)
    np.cumsum(running, axis=0, out=running)
    arms = np.arange(horizon) % n_arms
    for part in range(4):
        row = running[(part + 1) * len(running) // 4 - 1]
        noisy = row + rng.laplace(0, 1 / EPSILON, n_arms)  # leak
        start = horizon // 2 + part * horizon // 8
        arms[start:] = noisy.argmax()
    return arms


RIGHT = (
    commit,
    commit_in_loops,
    commit_on_means,
    with_exponential_noise,
    with_two_sided_geometric,
    elimination_as_a_class,
    epsilon_greedy_on_noise,
    helpers_and_lists,
    windows,
    noise_first,
    local_reports,
    randomised_response,
    ignores_its_rewards,
    clipped,
    vectors_and_masks,
)
LEAKS = (
    half_noise,
    looks_again_and_again,
    plain_epsilon_greedy,
    plain_ucb,
    one_draw_for_all,
    raw_tie_break,
    peeks_at_the_first,
    stops_when_sure,
    means_with_too_little,
    sees_all_arms,
    noise_on_one_arm,
    rounds_its_noise,
    writes_rewards_out,
    seeds_from_its_data,
    in_place_sums,
)
