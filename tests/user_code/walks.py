"""Walks along a distribution function in the ordinary spellings, with leaking twins; EPSILON = 1 is claimed.

No twin keeps EPSILON: those of `STEEP` have twice the exponent.
"""

from __future__ import annotations

import bisect
import itertools
import math
import random

import numpy as np

EPSILON = 1.0


def explored(rewards):
    """Sums of the first half as Python's floats, arm by arm in turn."""
    horizon, n_arms = rewards.shape
    sums = [0.0] * n_arms
    for t in range(horizon // 2):
        sums[t % n_arms] += rewards[t, t % n_arms]
    return sums


def committed(rewards, arm):
    horizon, n_arms = rewards.shape
    return [t % n_arms if t < horizon // 2 else int(arm) for t in range(horizon)]


def chances(rewards, steep=1.0):
    weights = np.exp(steep * EPSILON * np.array(explored(rewards)))
    return weights / weights.sum()


def weights_of(rewards, steep=1.0):
    sums = explored(rewards)
    return [math.exp(steep * EPSILON * (s - max(sums))) for s in sums]


def by_added_chances(rewards, rng, steep=1.0):
    u, reached = rng.random(), 0.0
    for arm, chance in enumerate(chances(rewards, steep)):
        reached += chance
        if u < reached:
            return committed(rewards, arm)
    return committed(rewards, rewards.shape[1] - 1)


def by_added_weights(rewards, rng, steep=1.0):
    weights = weights_of(rewards, steep)
    left, reached, picked = rng.random() * sum(weights), 0.0, 0
    for arm, weight in enumerate(weights):
        reached += weight
        if left <= reached:
            picked = arm
            break
    return committed(rewards, picked)


def by_weights_taken_off(rewards, rng, steep=1.0):
    weights = weights_of(rewards, steep)
    left = rng.uniform(0, 1) * sum(weights)
    for arm, weight in enumerate(weights):
        left -= weight
        if left <= 0:
            return committed(rewards, arm)
    return committed(rewards, len(weights) - 1)


def by_a_while(rewards, rng, steep=1.0):
    weights = weights_of(rewards, steep)
    total = sum(weights)
    u, arm, reached = rng.random(), 0, weights[0] / total
    while u > reached and arm < len(weights) - 1:
        arm += 1
        reached += weights[arm] / total
    return committed(rewards, arm)


def by_a_while_to_the_end(rewards, rng, steep=1.0):
    edges = np.cumsum(chances(rewards, steep))
    u, arm = rng.random(), 0
    while edges[arm] < u:
        arm += 1
    return committed(rewards, arm)


def by_bisect(rewards, rng, steep=1.0):
    edges = list(itertools.accumulate(chances(rewards, steep)))
    return committed(rewards, bisect.bisect(edges, rng.random()))


def by_bisect_of_weights(rewards, rng, steep=1.0):
    edges = list(itertools.accumulate(weights_of(rewards, steep)))
    return committed(rewards, bisect.bisect_left(edges, rng.random() * edges[-1]))


def by_choices(rewards, rng, steep=1.0):
    return committed(rewards, random.choices(range(rewards.shape[1]), weights=weights_of(rewards, steep))[0])


def by_choices_of_sums(rewards, rng, steep=1.0):
    edges = list(itertools.accumulate(weights_of(rewards, steep)))
    return committed(rewards, random.choices(range(rewards.shape[1]), cum_weights=edges, k=1)[0])


def by_counting(rewards, rng, steep=1.0):
    return committed(rewards, (np.cumsum(chances(rewards, steep)) < rng.random()).sum())


def by_argmax(rewards, rng, steep=1.0):
    return committed(rewards, np.argmax(np.cumsum(chances(rewards, steep)) > rng.random()))


def by_flatnonzero(rewards, rng, steep=1.0):
    return committed(rewards, np.flatnonzero(rng.random() < np.cumsum(chances(rewards, steep)))[0])


def by_next(rewards, rng, steep=1.0):
    u, edges = rng.random(), np.cumsum(chances(rewards, steep))
    return committed(rewards, next(arm for arm, edge in enumerate(edges) if u <= edge))


def by_searchsorted_of_a_list(rewards, rng, steep=1.0):
    edges = np.array(list(itertools.accumulate(weights_of(rewards, steep))))
    return committed(rewards, np.searchsorted(edges, rng.random() * edges[-1], side="right"))


def by_digitize(rewards, rng, steep=1.0):
    return committed(rewards, np.digitize(rng.random(), np.cumsum(chances(rewards, steep))))


def by_a_reversed_walk(rewards, rng, steep=1.0):
    p = chances(rewards, steep)
    u = rng.random()
    for arm in reversed(range(len(p))):
        u -= p[arm]
        if u < 0:
            return committed(rewards, arm)
    return committed(rewards, 0)


def by_an_answer(rewards, rng, steep=1.0):
    def draw(p):
        u, c = rng.random(), 0.0
        for i in range(len(p) - 1):
            c = c + p[i]
            if c > u:
                return i
        return len(p) - 1

    return committed(rewards, draw(chances(rewards, steep)))


def by_the_largest_key(rewards, rng, steep=1.0):
    """Gumbel noise on a list: only the position of the largest is used, though `max` gives its value."""
    keys = []
    for total in explored(rewards):
        u = rng.random()
        while u <= 0.0:
            u = rng.random()
        keys.append(steep * EPSILON * total - math.log(-math.log(u)))
    return committed(rewards, keys.index(max(keys)))


WALKS = [f for name, f in list(globals().items()) if name.startswith("by_")]


# ---------------------------------------------------------------- twins


def steeper(walk):
    """The walk with twice the exponent."""

    def play(rewards, rng):
        return walk(rewards, rng, steep=2.0)

    play.__name__ = f"steep_{walk.__name__}"
    return play


def key_told(rewards, rng):
    """The largest key itself shows: Gumbel noise hides no value."""
    keys = [EPSILON * total - math.log(-math.log(rng.random())) for total in explored(rewards)]
    best = max(keys)
    return [*committed(rewards, keys.index(best))[:-1], int(best > 3)]


def walk_along_sums(rewards, rng):
    """Chances in proportion to the sums, not to their exponentials."""
    sums = np.array(explored(rewards))
    return committed(rewards, np.searchsorted(np.cumsum(sums) / sums.sum(), rng.random()))


def walk_without_a_total(rewards, rng):
    """The weights are not divided by their sum: whoever comes first has the rest."""
    left = rng.random()
    for arm, weight in enumerate(weights_of(rewards)):
        left -= weight
        if left <= 0:
            return committed(rewards, arm)
    return committed(rewards, 0)


def walk_that_gives_the_rest_to_the_best(rewards, rng):
    """A tenth of the chances belongs to the truth."""
    u, reached = rng.random(), 0.0
    for arm, chance in enumerate(chances(rewards)):
        reached += 0.9 * chance
        if u < reached:
            return committed(rewards, arm)
    return committed(rewards, np.argmax(explored(rewards)))


def walk_in_raw_order(rewards, rng):
    """The walk begins with the arm that earned most."""
    sums, p, u, reached = explored(rewards), chances(rewards), rng.random(), 0.0
    for arm in sorted(range(len(sums)), key=lambda arm: -sums[arm]):
        reached += p[arm]
        if u < reached:
            return committed(rewards, sorted(range(len(sums)), key=lambda arm: -sums[arm]).index(arm))
    return committed(rewards, 0)


def walk_twice(rewards, rng):
    """Two walks with one draw: the second one along other edges."""
    edges, u = np.cumsum(chances(rewards)), rng.random()
    arm = np.searchsorted(edges, u)
    return [*committed(rewards, arm)[:-1], int(np.searchsorted(edges[::-1].cumsum() / edges.sum(), u) > 0)]


def walk_and_its_draw(rewards, rng):
    """What the draw was shows in the end: it tells on which side of the edge it lay."""
    u = rng.random()
    return [*committed(rewards, bisect.bisect(list(np.cumsum(chances(rewards))), u))[:-1], int(u < 0.5)]


def walk_again_if_it_is_the_worst(rewards, rng):
    """Raw rewards decide whether the walk is done again."""
    sums, edges = explored(rewards), np.cumsum(chances(rewards))
    arm = int(np.searchsorted(edges, rng.random()))
    if sums[arm] < max(sums):
        arm = int(np.searchsorted(edges, rng.random()))
    return committed(rewards, arm)


def walk_that_seldom_ends_early(rewards, rng):
    """Once in a billion the last arm is left out, and the truth comes out instead."""
    p, u, reached = chances(rewards), rng.random(), 0.0
    for arm in range(len(p) - int(rng.integers(10**9) == 0)):
        reached += p[arm]
        if u < reached:
            return committed(rewards, arm)
    return committed(rewards, np.argmax(explored(rewards)))


def comparison_that_is_seldom_open(rewards, rng):
    """What is compared with 1 is a uniform draw, but for a number that is 2 once in a billion."""
    numbers = [rng.random(), 2 * int(rng.integers(10**9) == 0)]
    arm = int(np.searchsorted(np.cumsum(chances(rewards)), rng.random()))
    for number in numbers:
        if number < 1:
            continue
        arm = np.argmax(explored(rewards))
    return committed(rewards, arm)


def default_of_a_walk(rewards, rng):
    """The default is for chances that do not add up to 1, but it comes at other times, too."""
    p, u, reached, picked = chances(rewards), rng.random(), 0.0, -1
    for arm in range(len(p)):
        reached += p[arm]
        if u < reached:
            picked = arm - 9 * int(rng.integers(10**9) == 0)
            break
    return committed(rewards, np.argmax(explored(rewards)) if picked < 0 else picked)


RIGHT = dict.fromkeys(WALKS, 1.0)
LEAKS = [
    *map(steeper, WALKS),
    key_told,
    walk_along_sums,
    walk_without_a_total,
    walk_that_gives_the_rest_to_the_best,
    walk_in_raw_order,
    walk_twice,
    walk_and_its_draw,
    walk_again_if_it_is_the_worst,
    walk_that_seldom_ends_early,
    comparison_that_is_seldom_open,
    default_of_a_walk,
]
