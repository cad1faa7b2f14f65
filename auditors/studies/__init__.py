"""The experiments of the papers, a study each, and what they share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from verifiable_dp.core.claims import Source
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret import judges as regret
from verifiable_dp.registry.study import Cell, Guide, Line, Outcome, Panel, Statement


def fewer(runs: int, scale: float, least: int = 6) -> int:
    """Runs at a scale below 1: they shrink with its root, so that a quick look still has a spread."""
    return runs if scale >= 1 else max(least, round(runs * math.sqrt(scale)))


def law(
    name: str,
    outcomes: Mapping[str, Outcome],
    cells: Mapping[float, str],
    *,
    exponent: float,
    margin: float,
    log_power: float = 0.0,
    **about: Any,
) -> Check:
    """The exponent of mean regret over the values of one parameter, which name the cells."""
    points = [(x, outcomes[cell].regret) for x, cell in cells.items()]
    return regret.scaling(name, points, exponent=exponent, log_power=log_power, margin=margin, **about)


def over(label: str, cells: Mapping[float, str]) -> Line:
    """A line of one point for each value of a parameter."""
    return Line(label, tuple(cells.values()), tuple(cells))


def rate(
    key: str, name: str, cells: Mapping[float, str], about: Mapping[str, Any], source: Source
) -> Statement:
    """The statement that mean regret is a power of one parameter, the others being fixed.

    Parameters
    ----------
    key
        Names the parameter in the check.
    name
        Of the statement.
    cells
        By the value of the parameter.
    about
        ``words``, ``region``, ``exponent``, ``margin`` and, beside a power of the logarithm, ``log_power``.
    source
        Where it is claimed.
    """

    def checks(outcomes: Mapping[str, Outcome]) -> list[Check]:
        return [
            law(
                f"exponent over {key}",
                outcomes,
                cells,
                exponent=about["exponent"],
                margin=about["margin"],
                log_power=about.get("log_power", 0.0),
                region=about["region"],
            )
        ]

    return Statement(name, about["words"], source, checks)


def rate_panel(
    key: str, label: str, cells: Mapping[float, str], about: Mapping[str, Any], claimed: str, axis: str
) -> Panel:
    """The panel of a `rate`: one line, and through it the slope that is claimed."""
    guide = Guide(f"claimed: {claimed}", about["exponent"], about.get("log_power", 0.0))
    return Panel(f"over {key}", (over(label, cells),), (guide,), axis=axis)


def compare(
    name: str,
    outcomes: Mapping[str, Outcome],
    better: Sequence[str],
    worse: Sequence[str],
    factor: float,
    **about: Any,
) -> Check:
    """The mean regret of the cells `worse` is at least `factor` times that of the cells `better`."""
    mine, theirs = (np.concatenate([outcomes[cell].regret for cell in side]) for side in (better, worse))
    return regret.comparison(name, mine, theirs, factor=factor, **about)


__all__ = ["Cell", "compare", "fewer", "law", "over", "rate", "rate_panel"]
