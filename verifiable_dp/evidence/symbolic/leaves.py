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

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic.alignments import Cost
from verifiable_dp.evidence.symbolic.choosers import Coinciding, Deciding

_MOST = 64  # paths
_DEEPEST = 12  # decisions of a path
_FIRST, _MEETING = 500_000, 600_000  # numbers that no other path has
_MEETINGS, _EARLY, _SMALL = 80, 48, 1e-9  # paths, numbers that are moved, and losses that do not count
Path = Foreign  # `paths.Path`


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


def coinciding(run: Callable[[int, Coinciding], Path], n_arms: int, work: float) -> list[Path]:
    """Paths on which public numbers meet, so that one entry of the data counts more often.

    Each number is moved once, which shows which entry it names; then all are moved to where they name one and
    the same. It gives up after `work` operations.
    """
    found = list[Path]()

    def tried(numbers: Mapping[int, float]) -> Coinciding | None:
        """A path on which numbers are these; None if there are enough."""
        if len(found) >= _MEETINGS or sum(path.events for path in found) > work:
            return None
        chooser = Coinciding(_MEETING, n_arms, numbers)
        found.append(run(_MEETING, chooser))
        return None if found[-1].failure else chooser

    first = tried({})
    if first is None:
        return found
    base = _whole(found[0])
    if len(first.came) < 2 or not base:
        return []
    named: dict[int, tuple[int, float]] = {}
    order = np.random.default_rng(20260107).permutation(len(first.came))[:_EARLY].tolist()
    for at in order:
        value, least, largest = first.came[at]
        by = (1.0 if value < largest else -1.0) if type(value) is int else (0.25 if value < 0.5 else -0.25)
        if least == largest or tried({at: value + by}) is None:
            continue
        now = _whole(found[-1])
        lost = [unit for unit in base if base[unit] > now.get(unit, 0.0) + _SMALL]
        gained = [unit for unit in now if now[unit] > base.get(unit, 0.0) + _SMALL]
        if len(lost) == len(gained) == 1:
            (one,), (other,) = lost, gained
            named[at] = one, (other - one) / by
    for target in {unit for unit, _ in named.values()}:
        told = dict[int, float]()
        for at, (unit, step) in named.items():
            value, least, largest = first.came[at]
            round_ = largest - least + 1  # places may go round
            moved = [value + (target - unit) / step + turn for turn in (0.0, round_, -round_)]
            there = [to for to in moved if least <= to <= largest]
            told |= {at: there[0]} if there else {}
        tried(told)
    return found


def _whole(path: Path) -> dict[int, float]:
    """What each unit pays in all."""
    return {unit: sum(paid) for unit, paid in sums(path.costs).items()}


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
