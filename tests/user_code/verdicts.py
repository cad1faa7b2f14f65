"""Right programs at EPSILON = 1 whose states have names and whose cases are all there are."""

from __future__ import annotations

import numpy as np

EPSILON = 1.0


def _patience(rng):
    limit, loss, verdict = 2.0 + rng.laplace(0, 1), 0.0, "stay"
    while True:
        reward = yield verdict
        loss += 1 - reward
        verdict = "leave" if loss + rng.laplace(0, 1) >= limit else "stay"


def _opened(rng):
    made = _patience(rng)
    next(made)
    return made


def verdicts_by_name(rewards, rng):
    """The last case is the one that is left: a generator yields no other."""
    horizon, n_arms = rewards.shape
    arms, arm, test = [], 0, _opened(rng)
    for t in range(horizon):
        arms.append(arm)
        match test.send(rewards[t, arm]):
            case "stay":
                continue
            case "leave":
                arm = (arm + 1) % n_arms
                test = _opened(rng)
    return arms


def states_in_tuples(rewards, rng):
    """The last case always fits."""
    horizon, n_arms = rewards.shape
    state, total, best, arms = ("try", 0), [0.0] * n_arms, 0, []

    def chosen():
        match state:
            case ("try", n):
                return n % n_arms
            case ("use", _):
                return best

    for t in range(horizon):
        arm = chosen()
        arms.append(arm)
        match state:
            case ("try", n) if n + 1 < 2 * n_arms:
                total[arm] += rewards[t, arm]
                state = ("try", n + 1)
            case ("try", _):
                total[arm] += rewards[t, arm]
                best = int(np.argmax([s + rng.laplace(0, 1 / EPSILON) for s in total]))
                total, state = [0.0] * n_arms, ("use", 1)
            case ("use", n) if n < 4:
                state = ("use", n + 1)
            case ("use", _):
                state = ("try", 0)
    return arms


UNFOLLOWED = (verdicts_by_name, states_in_tuples)


# Programs with a few decisions, and with more or other ones than can be enumerated.


def nothing_decided(rewards, rng):
    return np.cumsum(rewards.sum(axis=0) + rng.laplace(0, 1 / EPSILON, 2))


def commit(rewards, rng):
    """One maximum."""
    best = int(np.argmax(rewards[:6].sum(axis=0) + rng.laplace(0, 1 / EPSILON, 2)))
    return np.array([0, 1] * 3 + [best] * (len(rewards) - 6))


def commit_twice(rewards, rng):
    """A maximum, and a comparison only where it comes out so."""
    best = int(np.argmax(rewards[:6].sum(axis=0) + rng.laplace(0, 1 / EPSILON, 2)))
    if best == 1 and rewards[6:9, 1].sum() + rng.laplace(0, 1 / EPSILON) < 1:
        best = 0
    return np.array([0, 1] * 3 + [best] * (len(rewards) - 6))


def noisy_and_larger(rewards, rng):
    """A number with noise, and how it compares."""
    first = float(rewards.sum() + rng.laplace(0, 1 / EPSILON))
    return [first, first > 3]


ALL = [(nothing_decided, 1), (commit, 2), (commit_twice, 3), (noisy_and_larger, 2)]


def every_round(rewards, rng):
    """As many decisions as rounds."""
    totals, arms = np.zeros(2), []
    for row in rewards:
        arm = int(np.argmax(totals))
        totals[arm] += row[arm] + rng.laplace(0, 1 / EPSILON)
        arms.append(arm)
    return np.array(arms)


def greedy(rewards, rng):
    """One of many numbers, and one maximum."""
    first = int(rng.integers(1000)) % 2
    best = int(np.argmax(rewards[:6].sum(axis=0) + rng.laplace(0, 1 / EPSILON, 2)))
    return np.array([first] * 6 + [best] * (len(rewards) - 6))


def wider_by_chance(rewards, rng):
    return rewards.sum() + rng.laplace(0, (1 + rng.random()) / EPSILON)


MORE = [every_round, greedy]


def opposite_signs(rewards, rng):
    """Six comparisons of one reward: alternating answers cost the most."""
    x = rewards[0, 0] - 0.5
    told = [(-1) ** i * x + rng.laplace(0, 5.0 / EPSILON) > 0 for i in range(6)]
    return np.array([int(one) for one in told] + [0] * (len(rewards) - 6))


def more_signs(rewards, rng):
    """Twelve, which no enumeration tries."""
    x = rewards[0, 0] - 0.5
    told = [(-1) ** (i // 2) * x + rng.laplace(0, 10.0 / EPSILON) > 0 for i in range(12)]
    return np.array([int(one) for one in told] + [0] * (len(rewards) - 12))


def swapped_arms(rewards, rng):
    """Twelve maxima of two numbers that change places."""
    x = rewards[0, 0] - 0.5
    arms = []
    for i in range(12):
        first, second = (x, -x) if i // 2 % 2 else (-x, x)
        arms.append(int(np.argmax(np.array([first, second]) + rng.laplace(0, 20.0 / EPSILON, 2))))
    return np.array(arms + [0] * (len(rewards) - 12))


# Loops that are always entered, as 1 divides any whole number: right programs, and leaks where it may not.
#
# `RIGHT` gives the true cost of each; no leak has a bound within the claim, EPSILON = 1.


def _dyadic(rewards, rng, batch=4):
    """Sums of batches and of the last 2, 4, 8, ... batches, each with noise, as a tree counts them."""
    log, nodes, arms = [], {}, []
    for _ in range(len(rewards) // batch):
        log.append(sum(rewards[len(arms) : len(arms) + batch, 0]))
        arms += [0] * batch
        n = len(log)
        width = 1
        while n % width == 0:
            nodes[n - width, n] = sum(log[n - width : n]) + rng.laplace(0, 3 / EPSILON)
            width *= 2
    return arms, nodes, n


def tree_of_widths(rewards, rng):
    """The loop is entered whatever the number of batches is: 1 divides it. One node is used."""
    arms, nodes, n = _dyadic(rewards, rng)
    return arms + [int(nodes[n - 1, n] > 2)] * (len(rewards) - len(arms) + 1)


def prefix_of_a_tree(rewards, rng):
    """A loop over a sum's nodes, which a run always enters."""
    arms, nodes, n = _dyadic(rewards, rng)
    start, total = 0, 0.0
    while start < n:
        width = 1 << ((n - start).bit_length() - 1)
        total += nodes[start, start + width]
        start += width
    return [*arms, int(total > 9)]


# A reward is in one of the nodes that are used, whose noise is that of a third of EPSILON.
RIGHT = dict.fromkeys((tree_of_widths, prefix_of_a_tree), 1 / 3)


def _seldom(rng):
    return round(rng.laplace(0, 1 / EPSILON), 6) > 1e9


def half_a_step(rewards, rng):
    """1 divides no number of halves: now and then the loop that adds the noise is skipped."""
    n = 0
    arms = []
    for _ in range(len(rewards) // 4):
        shown = sum(rewards[len(arms) : len(arms) + 4, 0])
        arms += [0] * 4
        n += 1 - 0.5 * _seldom(rng)
        width = 1
        while n % width == 0:
            shown = shown + rng.laplace(0, 1 / EPSILON)
            width *= 2
        arms[-1] = int(shown > 2)
    return arms


def another_width(rewards, rng):
    """The width that divides any number is another one now and then."""
    n = 0
    arms = []
    while n < len(rewards) // 4:
        shown = sum(rewards[len(arms) : len(arms) + 4, 0])
        arms += [0] * 4
        n += 1
        width = 1 + n * _seldom(rng)
        while n % width == 0:
            shown = shown + rng.laplace(0, 1 / EPSILON)
            width *= 2
        arms[-1] = int(shown > 2)
    return arms


LEAKS = [half_a_step, another_width]
