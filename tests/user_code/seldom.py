"""Branches that no traced run takes by itself: right programs at EPSILON = 1, and leaks behind such branches.

`RIGHT` gives the true cost of each; no leak has a bound within the claim.
"""

from __future__ import annotations

import heapq

import numpy as np

EPSILON = 1.0


def _phases(rewards, rng, most, batch=4):
    """Fresh sums of the arm with the best mean so far."""
    horizon, n_arms = rewards.shape
    arms, sums, pulls = [], [0.0] * n_arms, [0] * n_arms
    while len(arms) < horizon and len(arms) < most:
        arm = len(arms) // batch
        if arm >= n_arms:
            arm = int(np.argmax([s / n for s, n in zip(sums, pulls, strict=True)]))
        total = 0.0
        for _ in range(batch):
            if len(arms) == horizon:
                return arms, sums
            total += rewards[len(arms), arm]
            arms.append(arm)
        sums[arm] += total + rng.laplace(0, 1 / EPSILON)
        pulls[arm] += batch
    return arms, sums


def horizon_within_a_phase(rewards, rng):
    """The horizon may end a phase early: at this one it never does."""
    return _phases(rewards, rng, len(rewards))[0]


def horizon_not_met(rewards, rng):
    """A loop that is always left by its second condition."""
    arms, sums = _phases(rewards, rng, 12)
    return arms + [int(sums[1] > sums[0])] * (len(rewards) - len(arms))


class _Counter:
    def __init__(self):
        self.values = {}

    def __len__(self):
        return len(self.values)

    def __getitem__(self, arm):
        return self.values[arm]


def special_methods(rewards, rng):
    """What a file does behind operators is not followed by names."""
    horizon, n_arms = rewards.shape
    found, arms = _Counter(), []
    for arm in range(n_arms):
        found.values[arm] = sum(rewards[len(arms) : len(arms) + 4, arm]) + rng.laplace(0, 1 / EPSILON)
        arms += [arm] * 4
    if len(found) < n_arms:
        return arms
    while len(arms) < horizon:
        arms.append(int(found[1] > found[0]))
    return arms


def queue_of_arms(rewards, rng):
    horizon, n_arms = rewards.shape
    heap, arms = [(-1.0, arm) for arm in range(n_arms)], []
    while len(arms) < horizon:
        _, arm = heapq.heappop(heap)
        total = 0.0
        for _ in range(4):
            if len(arms) == horizon:
                return arms
            total += rewards[len(arms), arm]
            arms.append(arm)
        heapq.heappush(heap, (-(total + rng.laplace(0, 1 / EPSILON)) / 4, arm))
    return arms


class _Mean:
    """A mean that there is only once something was put in."""

    def __init__(self):
        self.total, self.count = 0.0, 0

    def put(self, value):
        self.total, self.count = self.total + value, self.count + 1

    @property
    def value(self):
        if self.count == 0:
            return None
        return self.total / self.count


def mean_or_none(rewards, rng):
    """It is never asked for before that: the other way gives no number that could be compared."""
    horizon, n_arms = rewards.shape
    means, arms, total = [_Mean() for _ in range(n_arms)], [], 0.0
    for t in range(horizon):
        turn = t // 4
        arm = turn if turn < n_arms else max(range(n_arms), key=lambda a: means[a].value + 0.0)
        total += rewards[t, arm]
        arms.append(arm)
        if t % 4 == 3:
            means[arm].put(total + rng.laplace(0, 1 / EPSILON))
            total = 0.0
    return arms


RIGHT = dict.fromkeys((horizon_within_a_phase, horizon_not_met, special_methods, queue_of_arms), 1.0)
RIGHT |= dict.fromkeys((mean_or_none,), 1.0)


def raw_after_many(rewards, rng):
    """What is raw comes to something only late: then the branch is taken once in a long time."""
    arms, kept, sums = [], [], [0.0, 0.0]
    for t in range(len(rewards)):
        arm = t % 2
        sums[arm] += rewards[t, arm]
        if len(arms) > 12:
            kept.append(sums[arm])
        if round(rng.laplace(0, 1 / EPSILON), 6) > 1e9:
            arms.append(1 if sum(kept) > 2 else 0)
        else:
            arms.append(arm)
    return arms


def seldom_twice(rewards, rng):
    """One condition behind another, both of them seldom."""
    arms, total = [], 0.0
    for t in range(len(rewards)):
        total += rewards[t, 0]
        if round(rng.laplace(0, 1 / EPSILON), 6) > 1e9:
            again = round(rng.laplace(0, 1 / EPSILON), 6)
            if again > 1e9:
                arms.append(1 if total > 3 else 0)
                continue
        arms.append(0)
    return arms


def less_noise_now_and_then(rewards, rng):
    arms, scale = [], 1 / EPSILON
    while len(arms) < len(rewards):
        value = round(sum(rewards[len(arms) : len(arms) + 4, 0]) + rng.laplace(0, scale), 6)
        arms += [int(value > 2)] * 4
        if value > 1e9:
            scale = 0.25
    return arms[: len(rewards)]


def caught(rewards, rng):
    """What stands behind the branch raises, as long as nothing was put there."""
    arms, notes, total = [], {}, 0.0
    for t in range(len(rewards)):
        total += rewards[t, 0]
        noisy = round(rng.laplace(0, 1 / EPSILON), 6)
        if noisy > 1e8:
            notes["at"] = t
        try:
            if noisy > 1e9:
                arms.append(1 if notes["at"] >= 0 and total > 3 else 0)
                continue
        except KeyError:
            arms.append(1)
            continue
        arms.append(0)
    return arms


def again_and_again(rewards, rng):
    """A reward is told once more whenever that is seldom: once would not show."""
    arms = []
    for t in range(0, len(rewards) - 8, 8):
        noisy = round(rewards[t, 0] + rng.laplace(0, 2 / EPSILON), 6)
        arms += [int(noisy > 0.5)] * 8
        if noisy > 1e9:
            arms[-1] = int(round(rewards[0, 0] + rng.laplace(0, 2 / EPSILON), 6) > 0.5)
    return arms + [0] * (len(rewards) - len(arms))


def _after_coins(rewards, rng, scale_of):
    """Arms by coins that are seen; then that of the larger noisy sum, whose scale follows from them."""
    arms = rng.integers(0, 2, 20)
    sums = np.array([rewards[:20][arms == arm, arm].sum() for arm in range(2)])
    noisy = sums + rng.laplace(0, scale_of(arms), 2)
    return [*arms, *[int(np.argmax(noisy))] * (len(rewards) - 20)]


def more_noise_by_where(rewards, rng):
    """`np.where` chooses among public numbers once in 256 runs."""
    return _after_coins(rewards, rng, lambda arms: np.where(arms[:8].sum() == 8, 2 / EPSILON, 1 / EPSILON))


def less_noise_by_where(rewards, rng):
    return _after_coins(rewards, rng, lambda arms: np.where(arms[:8].sum() == 8, 0.1 / EPSILON, 1 / EPSILON))


def raises_in_most_states(rewards, rng):
    """What stands behind the branch raises, but for the one number in a hundred that leads there."""
    arms, known = [0] * (len(rewards) // 2), {7: 1}
    sums = rewards[: len(arms)].sum(axis=0)
    best = int(np.argmax(sums + rng.laplace(0, 1 / EPSILON, len(sums))))
    number = int(100 * rng.random())
    if number == 7:
        best = int(sums[known[number]] > sums[0])
    return arms + [best] * (len(rewards) - len(arms))


def _checked(number):
    if type(number) not in (float, np.float64):
        raise ValueError("a number is wanted")
    return number


def raises_where_something_stands_for_a_number(rewards, rng):
    """A check that plain numbers pass, and what stands for them does not."""
    arms, total = [], 0.0
    for t in range(len(rewards)):
        total += rewards[t, 0]
        seldom = round(rng.laplace(0, 1 / EPSILON), 6) > 1e9
        arms.append(int(_checked(total) > 3) if seldom else 0)
    return arms


RIGHT[more_noise_by_where] = EPSILON
LEAKS = [
    raw_after_many,
    seldom_twice,
    less_noise_now_and_then,
    caught,
    again_and_again,
    less_noise_by_where,
    raises_in_most_states,
    raises_where_something_stands_for_a_number,
]


def raw_where_replays_never_come(rewards, rng):
    arms = [0] * (len(rewards) // 2)
    sums = rewards[: len(arms)].sum(axis=0)
    best = int(np.argmax(sums + rng.laplace(0, 1 / EPSILON, len(sums))))
    if rng.poisson(1.0) == 7:
        best = int(sums[1] > sums[0])
    return arms + [best] * (len(rewards) - len(arms))


def raw_behind_noise(rewards, rng):
    arms = [0] * (len(rewards) // 2)
    sums = rewards[: len(arms)].sum(axis=0)
    best = int(np.argmax(sums + rng.laplace(0, 1 / EPSILON, len(sums))))
    if abs(rng.laplace()) > 9.2:
        best = int(sums[1] > sums[0])
    return arms + [best] * (len(rewards) - len(arms))


UNSETTLED = [raw_where_replays_never_come, raw_behind_noise]
LEAKS += UNSETTLED
