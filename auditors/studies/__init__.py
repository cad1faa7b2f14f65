"""The experiments of the papers, a study each, and what they share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from verifiable_dp.core.validate import FloatArray, Function, JsonDict, JsonValue, Numbers
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.comparison import comparison
from verifiable_dp.registry.sheets import Sheet, fill
from verifiable_dp.registry.study import Cell, Line, Statement, StudyOutcome
from verifiable_dp.registry.theorems import bound_of, mean_bound

Outcomes = Mapping[str, StudyOutcome]


def fewer(runs: int, scale: float, least: int = 6) -> int:
    """Runs at a scale below 1: they shrink with its root, so that a quick look still has a spread."""
    return runs if scale >= 1 else max(least, round(runs * math.sqrt(scale)))


def over(label: str, cells: Mapping[float, str]) -> Line:
    """A line of one point for each value of a parameter."""
    return Line(label, tuple(cells.values()), tuple(cells))


def compared(
    sheet: Sheet, name: str, side: Callable[[Outcomes, str], FloatArray] | None = None, **values: JsonValue
) -> Statement:
    """The row ``[statements.NAME]`` of a sheet, which is tested by the comparisons that it holds.

    A side is the regret of a cell, or what `side(outcomes, text)` makes of its text.
    """
    row = sheet.row("statements", name, **values)["compare"]
    points = list(sheet.points(row["grid"]))

    def checks(outcomes: Outcomes) -> list[Check]:
        found = []
        for point in points:
            name, better, worse = (fill(row[key], point) for key in ("name", "better", "worse"))
            about = {
                key: fill(value, point) if isinstance(value, str) else value
                for key, value in row["about"].items()
            }
            mine, theirs = (
                outcomes[of].regret if side is None else side(outcomes, of) for of in (better, worse)
            )
            found.append(comparison(name, mine, theirs, factor=row["factor"], **about))
        return found

    return sheet.statement(name, checks, **values)


def bounded(
    bound: Function[Numbers],
    cells: Mapping[str, Cell],
    names: Mapping[str, str],
    outcomes: Outcomes,
    most: int = 1 << 62,
    about: Callable[[Cell], JsonDict] = lambda made: {},
) -> list[Check]:
    """The mean regret of the cells `names`, by name of the check, against `bound(gaps, rule)`."""
    found = []
    for name, of in names.items():
        made, place = cells[of], cells[of].arms
        limit, values = bound_of(bound, made.algorithm, made.gaps), outcomes[of].regret
        found.append(mean_bound(name, values, place, made.algorithm.horizon, limit, most=most, **about(made)))
    return found


__all__ = ["Outcomes", "bounded", "compared", "fewer", "over"]
