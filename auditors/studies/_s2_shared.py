"""Names that the figures and the rates of S2 share."""

from __future__ import annotations

from collections.abc import Mapping

from verifiable_dp.registry.study import StudyOutcome

Outcomes = Mapping[str, StudyOutcome]


def cell(setting: str, v: float, epsilon: float | None, algorithm: str) -> str:
    """Name of a cell; no epsilon for what is not private."""
    budget = "" if epsilon is None else f" epsilon={epsilon:g}"
    return f"{setting} v={v:g}{budget} {algorithm}"
