"""Runs that take the other way where no run did, to look at what stands behind a branch.

A condition that came out alike in all runs may yet come out otherwise once in a million. It is turned about
when it is asked first, in the middle and last, and from the middle on each time; what these runs give away
counts as that of others. What ends the bound was not looked at. Where the other way raises an exception, or
takes forever, it may be that a run never has a state in which it comes to that: plain runs are watched then
(`paths.explore`).
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic.coverage import Coverage
from verifiable_dp.evidence.symbolic.source import around, called_here, where
from verifiable_dp.evidence.symbolic.terms import Term, is_term, number
from verifiable_dp.evidence.tracing.ledger import Place

_MOST_SITES, _DEEPEST, _ALWAYS, _AGAIN = 20, 3, 1 << 60, 3

Missed = Sequence[tuple[Place, Foreign]]  # branches, and where their conditions stand, or None


@dataclass
class BranchFlips:
    """Which conditions a run turns about, and when.

    Attributes
    ----------
    sites
        Where they stand.
    first, last
        How often each of them is asked before that, and until it is left alone again.
    asked
        How often each of them was asked.
    sides
        What the condition of a loop came out as when it was asked first. Only where it comes out so again is
        it turned about: a loop that was always entered is left, not gone on with at its end.
    thread, elsewhere
        Where the run goes on, and whether one of them was asked in another thread, whose exceptions nobody
        would see.
    """

    sites: tuple[tuple[Place, Foreign], ...]
    first: int = 0
    last: int = 0
    asked: dict[int, int] = field(default_factory=dict)
    sides: dict[int, bool] = field(default_factory=dict)
    thread: int = field(default_factory=threading.get_ident)
    elsewhere: bool = False

    def of(self, file: str) -> tuple[tuple[Foreign, int], ...]:
        """Where conditions stand in a file, with their numbers."""
        return tuple((at, n) for n, (place, at) in enumerate(self.sites) if place.file == file)

    def turned(self, at: int, value: Foreign, *, loop: bool = False) -> Foreign:
        """What a condition comes out as, that of a `loop` or another one."""
        if loop and self._is_raw(value):
            return value
        if loop and self.sides.setdefault(at, bool(value)) != bool(value):
            return value
        before = self.asked.get(at, 0)
        self.asked[at] = before + 1
        self.elsewhere = self.elsewhere or threading.get_ident() != self.thread
        if self.elsewhere or not self.first <= before < self.last:
            return value
        return value if self._is_raw(value) else not value

    def _is_raw(self, value: Foreign) -> bool:
        """Whether it decides no branch: both sides are followed at once, or the bound ends."""
        value = number(value) if type(value) is Term else value
        return is_term(value) and not value.noise


class Turner(ast.NodeTransformer):
    """Asks for conditions, by their positions, in a way that can be turned about (`forcing`)."""

    def __init__(self, sites: Mapping[Foreign, int]) -> None:
        self._sites = sites
        self._loops: set[int | None] = set()  # whose condition alone stands at a position

    def visit(self, node: ast.AST) -> Foreign:
        """A condition that stands at one of the positions, or all of which does; of several the outermost."""
        if isinstance(node, ast.While):
            self._loops.add(self._sites.get(where(node.test)))
        at = self._sites.get(where(node)) if isinstance(node, ast.expr | ast.If | ast.While) else None
        if at is None:
            return self.generic_visit(node)
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            node.test = self._asked(at, node.test, loop=isinstance(node, ast.While))
            return self.generic_visit(node)
        return self._asked(at, node, loop=at in self._loops)

    def _asked(self, at: int, node: Foreign, *, loop: bool = False) -> Foreign:
        """A condition, or each of those that it is made of, which decide whether the next one is asked."""
        if isinstance(node, ast.BoolOp):
            node.values = [self._asked(at, value) for value in node.values]
            return node
        asked: Foreign = self.generic_visit(node)
        made = called_here("turned", ast.Constant(at), ast.Constant(loop), asked)
        return ast.fix_missing_locations(ast.copy_location(made, node))


def forced(
    missed: Missed,
    run: Callable[[int, BranchFlips, Coverage | None], Foreign],
    rest: Callable[[Coverage], Missed],
) -> tuple[list[Foreign], Place | None, list[tuple[Place, Foreign]]]:
    """Paths that take the branches that were missed, and a line that could not be looked at.

    And branches of which the other way only raises an exception.

    Parameters
    ----------
    missed
        Branches that no run took both ways.
    run
        Runs a path of a number, with conditions turned about, and notes its steps.
    rest
        What was missed in steps.
    """
    paths: list[Foreign] = []
    known = {(place.file, at) for place, at in missed}
    closed: list[tuple[Place, Foreign]] = []
    waiting: list[tuple[tuple[Place, Foreign], ...]] = [(one,) for one in missed]
    while waiting:
        sites = waiting.pop()
        place, position = sites[-1]
        if position is None or len(sites) > _DEEPEST or len(known) > _MOST_SITES:
            return paths, place, closed
        counting, coverage = BranchFlips(sites), Coverage(frozenset())
        run(len(paths), counting, None)
        often = max(counting.asked.get(len(sites) - 1, 0), 1)
        ways = {(0, 1), (often // 2, often // 2 + 1), (often - 1, often)}
        for first, last in [*sorted(ways), *[(often // 2, _ALWAYS)] * _AGAIN]:
            flips = BranchFlips(sites, first, last)
            steps = Coverage(frozenset())
            path = run(len(paths), flips, steps)
            if path.crashed and flips.asked and not flips.elsewhere:
                closed.append((place, position))
                break
            paths.append(path)
            coverage.add(steps)
            if path.failure or not flips.asked or flips.elsewhere or steps.raised:
                return paths, place, closed
        for file in {one.file for one, _ in sites}:  # as if they were no comparisons
            known |= {(file, at) for at in around(file, frozenset(at for _, at in sites))}
        new = [(one, at) for one, at in rest(coverage) if (one.file, at) not in known]
        known |= {(one.file, at) for one, at in new}
        waiting += [(*sites, one) for one in new]
    return paths, None, closed
