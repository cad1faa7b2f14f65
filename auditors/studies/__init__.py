"""The experiments of the papers, a study each, and what they share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from verifiable_dp.core.validate import JsonValue
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.comparison import comparison
from verifiable_dp.registry.sheets import Sheet, fill
from verifiable_dp.registry.study import Line, Statement, StudyOutcome


def fewer(runs: int, scale: float, least: int = 6) -> int:
    """Runs at a scale below 1: they shrink with its root, so that a quick look still has a spread."""
    return runs if scale >= 1 else max(least, round(runs * math.sqrt(scale)))


def over(label: str, cells: Mapping[float, str]) -> Line:
    """A line of one point for each value of a parameter."""
    return Line(label, tuple(cells.values()), tuple(cells))


def compare(
    name: str,
    outcomes: Mapping[str, StudyOutcome],
    better: Sequence[str],
    worse: Sequence[str],
    factor: float,
    **about: JsonValue,
) -> Check:
    """The mean regret of the cells `worse` is at least `factor` times that of the cells `better`."""
    mine, theirs = (np.concatenate([outcomes[cell].regret for cell in side]) for side in (better, worse))
    return comparison(name, mine, theirs, factor=factor, **about)


def compared(sheet: Sheet, name: str, **values: JsonValue) -> Statement:
    """The row ``[statements.NAME]`` of a sheet, which is tested by the comparisons that it holds."""
    row = sheet.row("statements", name, **values)["compare"]

    def checks(outcomes: Mapping[str, StudyOutcome]) -> list[Check]:
        found = []
        for point in sheet.points(row["grid"]):
            name, better, worse = (fill(row[key], point) for key in ("name", "better", "worse"))
            about = {
                key: fill(value, point) if isinstance(value, str) else value
                for key, value in row["about"].items()
            }
            found.append(compare(name, outcomes, [better], [worse], row["factor"], **about))
        return found

    return sheet.statement(name, checks, **values)


__all__ = ["compare", "compared", "fewer", "over"]
