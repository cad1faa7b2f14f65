"""All paths of a program that decides but a few times.

What is computed of data and noise is followed, and a number becomes a plain one only where a comparison, a
maximum or a choice is decided, which is asked of the chooser. A program that decides so a few times, and lets
no other number of a draw be seen before it returns, has one path for each way to decide: all of them are run,
and the bound is that of every path. Each is run on other data with other noise, too: where a decision or a
cost followed from something else than the decisions before, the two would differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from verifiable_dp.evidence.symbolic.alignments import Cost
from verifiable_dp.evidence.symbolic.choosers import Coinciding, Deciding

_MOST = 64  # paths
_DEEPEST = 12  # decisions of a path
_FIRST, _MEETING = 500_000, 600_000  # numbers that no other path has
_MEETINGS, _EARLY, _NEAR = 40, 24, 4  # paths, numbers that are set, and how near to another one
Path = Any  # `paths.Path`


def leaves(run: Callable[[int, Deciding], Path], n_arms: int, work: float) -> list[Path] | None:
    """All paths, by `run(number, chooser)`; None if there are too many, or if they are not all.

    It gives up after `work` operations.
    """
    found, waiting = list[Path](), [tuple[int, ...]()]
    while waiting:
        if 2 * sum(path.events for path in found) > work:
            return None
        taken, number = waiting.pop(), _FIRST + 2 * len(found)
        one, other = (Deciding(number + i, n_arms, taken) for i in range(2))
        path = run(number, one)
        if path.failure or not one.closed or len(one.options) > _DEEPEST or _of_matrices(path):
            return None
        again = run(number + 1, other)
        if again.failure or not other.closed or other.options != one.options:
            return None
        if sums(again.costs) != sums(path.costs):
            return None
        found.append(path)
        for at in range(len(taken), len(one.options)):
            so_far = (*taken, *(0,) * (at - len(taken)))
            waiting += [(*so_far, way) for way in range(1, one.options[at])]
        if len(found) + len(waiting) > _MOST:
            return None
    return found


def coinciding(
    run: Callable[[int, Coinciding], Path], n_arms: int, cost: Callable[[Path], float], work: float
) -> list[Path]:
    """Paths on which public whole numbers meet, so that one entry of the data counts more often.

    One number after the other is set to where another one lies, or near it, and stays where that costs more.
    It gives up after `work` operations.
    """
    chance, told = np.random.default_rng(20260107), dict[int, int]()
    first = Coinciding(_MEETING, n_arms, told)
    found = [run(_MEETING, first)]
    most, came = cost(found[0]), first.came
    while len(came) > 1 and len(found) < _MEETINGS and not found[-1].failure:
        if sum(path.events for path in found) > work:
            break
        at, other = chance.choice(min(len(came), _EARLY), 2, replace=False).tolist()
        least, largest = came[at][1:]
        near = came[other][0] + int(chance.integers(-_NEAR, _NEAR + 1))
        tried = {**told, at: min(max(near, least), largest)}
        chooser = Coinciding(_MEETING, n_arms, tried)
        found.append(run(_MEETING, chooser))
        if cost(found[-1]) > most * (1 + 1e-9):
            told, most, came = tried, cost(found[-1]), chooser.came
    return found


def sums(costs: Mapping[int, Sequence[Cost]]) -> dict[int, tuple[float, ...]]:
    """What units pay in all, rounded: losses of a change either way, squared normal shifts, rho."""
    return {
        unit: tuple(round(math.fsum(part), 9) for part in zip(*map(_paid, each), strict=True))
        for unit, each in costs.items()
        if each
    }


def _paid(cost: Cost) -> tuple[float, ...]:
    return cost.up, cost.down, cost.squared, cost.rho


def _of_matrices(path: Path) -> bool:
    return any(cost.matrices for costs in path.costs.values() for cost in costs)
