"""A check: the numbers that were measured, and what follows from them.

What follows is always computed by a *judge*, a pure function of the recorded numbers. The audit calls it,
and so does `verify`: a record cannot say anything that its own numbers do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from verifiable_dp.checkpoint import holds

PRIVACY_VERDICTS = ("refuted", "not_refuted", "inconclusive")
REGRET_VERDICTS = ("consistent", "contradicted", "vacuous", "inconclusive")

Judge = Callable[[Mapping[str, Any]], dict[str, Any]]
_JUDGES: dict[str, Judge] = {}


def judge(kind: str) -> Callable[[Judge], Judge]:
    """Register the judge of checks of this kind; it returns a dict with at least ``verdict``."""

    def register(function: Judge) -> Judge:
        _JUDGES[kind] = function
        return function

    return register


@holds
@dataclass(frozen=True)
class Check:
    """One check of a record.

    Attributes
    ----------
    name
        Unique within a record.
    kind
        Which judge reads the numbers: ``alignment``, ``black_box``, ``mean_bound``, …
    statistics
        What was measured and against what: JSON values that suffice to judge.
    result
        What the judge makes of them, with ``verdict``.
    """

    name: str
    kind: str
    statistics: Mapping[str, Any]
    result: Mapping[str, Any]

    @classmethod
    def of(cls, name: str, kind: str, statistics: Mapping[str, Any]) -> Check:
        """Judge `statistics` and keep both."""
        return cls(name, kind, dict(statistics), judged(kind, statistics))

    @property
    def verdict(self) -> str:
        """The result's verdict."""
        return str(self.result["verdict"])

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as they stand in a record."""
        return {
            "name": self.name,
            "kind": self.kind,
            "statistics": dict(self.statistics),
            "result": dict(self.result),
        }


def judged(kind: str, statistics: Mapping[str, Any]) -> dict[str, Any]:
    """What the judge of `kind` makes of `statistics`.

    Raises
    ------
    KeyError
        If there is no such judge, or a number is missing.
    """
    return _JUDGES[kind](statistics)
