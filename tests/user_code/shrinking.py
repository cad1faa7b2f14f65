"""Elimination on lists that shrink, and tables that calls fill: right bandits, and leaks beside them.

EPSILON = 1 is claimed of each, for the actions that it returns.
"""

from __future__ import annotations

import numpy as np

EPSILON = 1.0
MANY = 40


# Each program that differs from this one stands alone in its file: attributes are known by their names.
EPOCHS = """import numpy as np


class Epochs:
    def __init__(self, n_arms, rng):
        self.active, self.rng = list(range(n_arms)), rng
        self.sums = dict.fromkeys(self.active, 0.0)
        self.drawn = [rng.laplace(0, 1) for _ in range(n_arms)]
        self.pulls, self.length = 0, 4

    def select(self):
        return self.active[self.pulls % len(self.active)]

    def update(self, arm, reward):
        self.sums[arm] = self.sums[arm] + reward
        self.pulls += 1
        if self.pulls == self.length * len(self.active) and len(self.active) > 1:
            noisy = {arm: self.sums[arm] + self.rng.laplace(0, 1) for arm in self.active}
            best = max(noisy.values())
            self.active = [arm for arm in self.active if noisy[arm] > best - 2]
            self.sums = dict.fromkeys(self.active, 0.0)
            self.pulls, self.length = 0, self.length * 2


def play(rewards, rng):
    bandit, arms = Epochs(rewards.shape[1], rng), []
    for t in range(len(rewards)):
        arm = bandit.select()
        bandit.update(arm, rewards[t, arm])
        arms.append(arm)
    return np.array(arms)
"""
_NOISY = "self.sums[arm] + self.rng.laplace(0, 1) for arm"
_FRESH = "self.sums = dict.fromkeys(self.active, 0.0)\n            self.pulls"
EPOCHS_THAT_LEAK = {  # by name, what stands there, and what a leak has in its place
    "raw values": ("if noisy[arm] > best - 2", "if self.sums[arm] > 2"),
    "noise on the best": (_NOISY, "self.sums[arm] for arm"),
    "no noise on one": (_NOISY, "self.sums[arm] + (self.rng.laplace(0, 1) if arm else 0) for arm"),
    "half the noise": ("laplace(0, 1)", "laplace(0, 0.5)"),
    "noise of the first epoch": (_NOISY, "self.sums[arm] + self.drawn[arm] for arm"),
    "sums are kept": (_FRESH, "self.pulls"),
    "one sum is kept": (
        _FRESH,
        "self.sums = {a: self.sums[a] if a == 0 else 0.0 for a in self.active}\n            self.pulls",
    ),
    "one arm counts thrice": ("+ reward\n", "+ reward * (3 if arm == 1 else 1)\n"),
    "late rewards count thrice": ("+ reward\n", "+ reward * (3 if self.length > 8 else 1)\n"),
    "a raw tie": ("best - 2]", "best - 2 or self.sums[arm] > 3]"),
}


def elimination_in_a_function(rewards, rng):
    horizon, n_arms = rewards.shape
    active, arms, length = list(range(n_arms)), [], 4
    while len(arms) < horizon:
        sums = dict.fromkeys(active, 0.0)
        for _ in range(length):
            for arm in active:
                if len(arms) < horizon:
                    sums[arm] += rewards[len(arms), arm]
                    arms.append(arm)
        noisy = {arm: sums[arm] + rng.laplace(0, 1 / EPSILON) for arm in active}
        best = max(noisy.values())
        active = [arm for arm in active if noisy[arm] > best - 2]
        length *= 2
    return arms


def masks(rewards, rng):
    horizon, n_arms = rewards.shape
    mask = np.zeros((horizon // 2, n_arms))
    rounds = np.arange(horizon // 2)
    mask[rounds, rounds % n_arms] = 1
    totals = np.einsum("tk,tk->k", mask, np.asarray(rewards)[: horizon // 2])
    totals = totals + rng.laplace(0.0, 1 / EPSILON, n_arms)
    return np.where(np.arange(horizon) < horizon // 2, np.arange(horizon) % n_arms, np.argmax(totals))


def _turn(rewards, alive, actions, pulls):
    """Raw sums of one turn."""
    sums = dict.fromkeys(alive, 0.0)
    plan = [arm for _ in range(pulls) for arm in alive][: len(rewards) - len(actions)]
    for arm in plan:
        sums[arm] += rewards[len(actions), arm]
        actions.append(arm)
    return sums


def keys_beside_noise(rewards, rng):
    alive, actions, pulls = list(range(rewards.shape[1])), [], 1
    while len(actions) < len(rewards):
        sums = dict.fromkeys(alive, 0.0)
        plan = [arm for _ in range(pulls) for arm in alive][: len(rewards) - len(actions)]
        for arm in plan:
            sums[arm] += rewards[len(actions), arm]
            actions.append(arm)
        noisy = {arm: (total + rng.laplace(0, 1 / EPSILON)) / pulls for arm, total in sums.items()}
        best = max(noisy.values())
        alive = [arm for arm, mean in noisy.items() if mean >= best - 1.0]
        pulls *= 2
    return actions


def arms_zipped_with_noise(rewards, rng):
    alive, actions, pulls = list(range(rewards.shape[1])), [], 1
    while len(actions) < len(rewards):
        sums = dict.fromkeys(alive, 0.0)
        plan = [arm for _ in range(pulls) for arm in alive][: len(rewards) - len(actions)]
        for arm in plan:
            sums[arm] += rewards[len(actions), arm]
            actions.append(arm)
        noisy = [(total + rng.laplace(0, 1 / EPSILON)) / pulls for total in sums.values()]
        best = max(noisy)
        alive = [arm for arm, mean in zip(alive, noisy, strict=False) if mean >= best - 1.0]
        pulls *= 2
    return actions


def rows_of_their_own(rewards, rng):
    t, actions, last = 0, [], 1.0
    while last > -1 and t < 20:
        last = rewards[t, t % 2] + rng.laplace(0, 1 / EPSILON)
        actions.append(int(last > 0))
        t += 1
    return (actions + [0] * len(rewards))[: len(rewards)]


RIGHT = [
    *(elimination_in_a_function, masks, keys_beside_noise, arms_zipped_with_noise),
    rows_of_their_own,
]


# ---------------------------------------------------------------- leaks


def _released(total, rewards, rng):
    return [int(total + rng.laplace(0, 1 / EPSILON) > 1)] * len(rewards)


def _add(sums, at, value):
    sums[at] += value


def entry_by_calls(rewards, rng):
    """Calls fill drawn entries, and one that holds a reward three times; a draw says which is released."""
    sums = [0.0] * MANY
    for t in range(len(rewards)):
        _add(sums, int(rng.integers(MANY)), rewards[t, 0])
    _add(sums, 7, 3 * rewards[0, 0])
    return _released(sums[int(rng.integers(MANY))], rewards, rng)


def entry_by_later_calls(rewards, rng):
    """As `entry_by_calls`, of a function that stands behind its calls."""
    sums = [0.0] * MANY
    for t in range(len(rewards)):
        _add_late(sums, int(rng.integers(MANY)), rewards[t, 0])
    _add_late(sums, 7, 3 * rewards[0, 0])
    return _released(sums[int(rng.integers(MANY))], rewards, rng)


def _add_late(sums, at, value):
    sums[at] += value


class Table:
    def __init__(self):
        self.sums = [0.0] * MANY

    def add(self, at, value):
        self.put(at, value)

    def put(self, at, value):
        self.sums[at] += value


def entry_by_methods(rewards, rng):
    """As `entry_by_calls`, of a method that hands on what it is given."""
    table = Table()
    for t in range(len(rewards)):
        table.add(int(rng.integers(MANY)), rewards[t, 0])
    table.add(7, 3 * rewards[0, 0])
    return _released(table.sums[int(rng.integers(MANY))], rewards, rng)


def drawn_mask(rewards, rng):
    """As many rewards as a draw says are added up, without noise if hardly any are."""
    horizon, n_arms = rewards.shape
    mask = (rng.random((horizon, n_arms)) < 0.02).astype(float)
    totals = np.einsum("tk,tk->k", mask, np.asarray(rewards)[:horizon])
    noisy = totals + rng.laplace(0, 1 / EPSILON, n_arms) * (mask.sum() > 0)
    return np.full(horizon, int(np.argmax(noisy)))


def weights_of_a_draw(rewards, rng):
    """Weights that are drawn say how much data count."""
    horizon, n_arms = rewards.shape
    weights = rng.exponential(0.2, (horizon, n_arms))
    totals = np.einsum("tk,tk->k", weights, np.asarray(rewards)[:horizon])
    return np.full(horizon, int(np.argmax(totals + rng.laplace(0, 1 / EPSILON, n_arms))))


def written_by_einsum(rewards, rng):
    """The sums replace the noise."""
    horizon, n_arms = rewards.shape
    noisy = rng.laplace(0, 1 / EPSILON, n_arms)
    np.einsum("tk->k", np.asarray(rewards)[:horizon], out=noisy)
    return np.full(horizon, int(np.argmax(noisy)))


LEAKS = [
    *(entry_by_calls, entry_by_later_calls, entry_by_methods),
    *(drawn_mask, weights_of_a_draw, written_by_einsum),
]


def doubled_in_turns(rewards, rng):
    """As many arms are left, as often is a sum doubled."""
    alive, actions, pulls = list(range(rewards.shape[1])), [], 1
    while len(actions) < len(rewards):
        whole = 0.0
        for _, total in _turn(rewards, alive, actions, pulls).items():
            whole = whole * 2.0 + total
        least = whole + rng.laplace(0, 1 / EPSILON) - 1.0
        alive = [arm for arm in alive if arm > least] or [0]
        pulls *= 2
    return actions


class _Swapped:
    def __init__(self, held):
        self.held = held

    def items(self):
        return self.held


def doubled_in_turns_of_an_object(rewards, rng):
    """The same; here data stand first."""
    alive, actions, pulls = list(range(rewards.shape[1])), [], 1
    while len(actions) < len(rewards):
        sums, whole = _turn(rewards, alive, actions, pulls), 0.0
        for total, _ in _Swapped([(sums[arm], arm) for arm in alive]).items():
            whole = whole * 2.0 + total
        least = whole + rng.laplace(0, 1 / EPSILON) - 1.0
        alive = [arm for arm in alive if arm > least] or [0]
        pulls *= 2
    return actions


def rows_that_recur(rewards, rng):
    """Row 0 is released again after 20 turns, which hardly any run has."""
    t, actions, last = 0, [], 10.0
    while last > -1 and t < 100:
        row = t % 20
        last = rewards[row, 0] + rng.laplace(0, 1 / EPSILON)
        actions.append(int(last > 0))
        t += 1
    return (actions + [0] * len(rewards))[: len(rewards)]


def places_that_recur(rewards, rng):
    t, actions, last = 0, [], 10.0
    while last > -1 and t < 100:
        last = rewards[t // 20, 0] + rng.laplace(0, 1 / EPSILON)
        actions.append(int(last > 0))
        t += 20
        t = t + 1
    return (actions + [0] * len(rewards))[: len(rewards)]


RECUR = [rows_that_recur, places_that_recur]
