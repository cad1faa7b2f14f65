"""Right programs at EPSILON = 1 with loops, and leaks, called rare_, behind where a loop seldom goes.

No list of them stands here: what is passed on may be called under any condition, for all that is known.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

EPSILON = 1.0


def _explored(rewards):
    horizon, n_arms = rewards.shape
    sums = np.zeros(n_arms)
    for t in range(horizon // 2):
        sums[t % n_arms] += rewards[t, t % n_arms]
    return sums


def _committed(rewards, arm):
    horizon, n_arms = rewards.shape
    arms = np.arange(horizon) % n_arms
    arms[horizon // 2 :] = arm
    return arms


def one_arm_leaves_after_another(rewards, rng):
    """Fresh sums in every phase; the loop's length is asked of a list that shrinks."""
    arms, left = [], list(range(rewards.shape[1]))
    while len(left) > 1:
        noisy = {}
        for arm in left:
            total = 0.0
            for _ in range(4):
                total += rewards[len(arms), arm]
                arms.append(arm)
            noisy[arm] = total + rng.laplace(0, 1 / EPSILON)
        left.remove(min(noisy, key=noisy.get))
    return np.array(arms + left * (len(rewards) - len(arms)))


def one_of_a_set_leaves(rewards, rng):
    """As `one_arm_leaves_after_another`, of a set; the horizon is asked for in each round."""
    arms, left = [], set(range(rewards.shape[1]))
    while len(left) > 1:
        noisy = {}
        for arm in sorted(left):
            total = 0.0
            for _ in range(4):
                if len(arms) < len(rewards):
                    total += rewards[len(arms), arm]
                    arms.append(arm)
            noisy[arm] = total + rng.laplace(0, 1 / EPSILON)
        left.remove(min(noisy, key=noisy.get))
    (last,) = left
    return arms + [last] * (len(rewards) - len(arms))


def loop_until_the_horizon(rewards, rng):
    """What is appended to a list depends on noise, its length does not."""
    arms, best, noisy = [], 0, []
    for arm in range(rewards.shape[1]):
        total = 0.0
        for _ in range(4):
            total += rewards[len(arms), arm]
            arms.append(arm)
        noisy.append(total + rng.laplace(0, 1 / EPSILON))
    for arm in range(1, len(noisy)):
        if noisy[arm] > noisy[best]:
            best = arm
    while len(arms) < len(rewards):
        arms.append(best)
    return np.array(arms)


def loop_over_a_mask(rewards, rng):
    """Arms are struck off a mask until one is left."""
    horizon, n_arms = rewards.shape
    arms, active = [], np.ones(n_arms, dtype=bool)
    while active.sum() > 1:
        sums = np.zeros(n_arms)
        for arm in np.flatnonzero(active):
            sums[arm] = rewards[len(arms), arm]
            arms.append(arm)
        noisy = np.where(active, sums + rng.laplace(0, 1 / EPSILON, n_arms), np.inf)
        active[np.argmin(noisy)] = False
    return np.array(arms + [int(np.flatnonzero(active)[0])] * (horizon - len(arms)))


def _walked(weights, u):
    """What a share `u` of all weights comes to, one weight after another taken off."""
    left = u * sum(weights)
    for i, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return i
    return len(weights) - 1


def weights_walked_off(rewards, rng):
    """The exponential mechanism; weights of 1 that were added up before count as such."""
    sums = [float(s) for s in _explored(rewards)]
    sums[0], arm = 0.0, _walked([1.0, 1.0, *(math.exp(EPSILON * s) for s in sums[1:])], rng.random())
    return _committed(rewards, max(arm - 1, 0))


class _Sums:
    """What it does next has a name, which is no field."""

    def __init__(self, n_arms):
        self.sums, self.state = [0.0] * n_arms, ("try", 0)

    def put(self, reward, rng):
        turn = self.state[1]
        if self.state[0] == "try":
            self.sums[turn] += reward
            last = turn + 1 == len(self.sums)
            best = int(np.argmax([s + rng.laplace(0, 1) for s in self.sums])) if last else 0
            self.state = ("use", best) if last else ("try", turn + 1)
        elif self.state[0] == "use":
            self.sums, self.state = [0.0] * len(self.sums), ("try", 0)


def states_of_an_object(rewards, rng):
    arms, kept = [], _Sums(rewards.shape[1])
    for row in rewards:
        arms.append(kept.state[1])
        kept.put(row[arms[-1]], rng)
    return arms


_NAMES = [*["use"] * 5_000, "tell", *["use"] * 4_999]


def rare_name(rewards, rng):
    """Which name it is is looked up: of the only one that is compared another one is left."""
    sums, state = _explored(rewards), _NAMES[int(1e4 * rng.random())]
    if state == "use":
        sums = sums + rng.laplace(0, 1, len(sums))
    return _committed(rewards, np.argmax(sums))


def rare_verdict(rewards, rng):
    """A name that is set in two places, and compared with the usual one."""
    sums, state = _explored(rewards), "use"
    state = state if rng.random() < 1 - 1e-6 else "tell"
    if state == "use":
        sums = sums + rng.laplace(0, 1, len(sums))
    return _committed(rewards, np.argmax(sums))


def rare_guard(rewards, rng):
    """The case that is left has a guard, which seldom does not hold."""
    sums, state = _explored(rewards), ("use", 1e6 * rng.random())
    match state:
        case ("use", number) if abs(number - 5e5) > 1:
            sums = sums + rng.laplace(0, 1, len(sums))
    return _committed(rewards, np.argmax(sums))


def rare_end_of_a_cycle(rewards, rng):
    """A cycle through nothing, once in a million: then there is no noise."""
    sums = _explored(rewards)
    for _ in itertools.cycle([0] * (int(1e6 * rng.random()) != 7)):
        return _committed(rewards, np.argmax(sums + rng.laplace(0, 1.0, len(sums))))
    return _committed(rewards, np.argmax(sums))


def rare_loop(rewards, rng):
    """A loop that is skipped once in a million: then the noise is too small."""
    sums, kept, scale = _explored(rewards), [0] * int(rng.integers(10**6) != 7), 1e-6
    while len(kept) > 0:
        scale = 1.0
        kept.pop()
    return _committed(rewards, np.argmax(sums + rng.laplace(0, scale, len(sums))))


def rare_entry(rewards, rng):
    """A loop that is skipped where a number lies in the middle: then the noise is too small."""
    sums, scale = _explored(rewards), 1e-6
    left = (1 + int(rng.integers(2))) * int(abs(1e6 * rng.random() - 5e5) > 1)
    while left > 0:
        left, scale = left - 1, 1.0
    return _committed(rewards, np.argmax(sums + rng.laplace(0, scale, len(sums))))


def rare_loop_after_two(rewards, rng):
    """The same, and the loop ends now and then after one turn, now and then after two."""
    sums, left, scale = _explored(rewards), 1 + int(rng.integers(2)) - 2 * int(rng.integers(10**6) == 7), 1e-6
    while left > 0:
        left, scale = left - 1, 1.0
    return _committed(rewards, np.argmax(sums + rng.laplace(0, scale, len(sums))))


def rare_second_time(rewards, rng):
    """A loop that goes on once in a million: noise gets smaller."""
    sums, left, scale = _explored(rewards), 1, 1e6
    while left > 0:
        scale *= 1e-6
        left = int(rng.integers(10**6) == 7)
    return _committed(rewards, np.argmax(sums + rng.laplace(0, scale, len(sums))))


def _walked_to_the_best(sums, u):
    weights = [math.exp(EPSILON * s) for s in sums]
    left = u * sum(weights)
    for i, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return i
    return int(np.argmax(sums))


def rare_end_of_a_walk(rewards, rng):
    """Where rounding ends a walk the raw leader is taken."""
    return _committed(rewards, _walked_to_the_best(_explored(rewards), rng.random()))
