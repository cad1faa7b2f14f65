"""Loops that are always entered, as 1 divides any whole number: right programs, and leaks where it may not.

`RIGHT` gives the true cost of each; no leak has a bound within the claim, EPSILON = 1.
"""

from __future__ import annotations

EPSILON = 1.0


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
