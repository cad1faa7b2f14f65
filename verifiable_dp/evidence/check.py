"""A check: the numbers that were measured, and what follows from them.

What follows is always computed by a *judge*, a pure function of the recorded numbers. The audit calls it,
and so does `verify`: a record cannot say anything that its own numbers do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from verifiable_dp.core.validate import Json, JsonDict

Judge = Callable[[Json], JsonDict]
Scales = Callable[[Json, Json], Json]
Words = Callable[[Json, Json], str]
_JUDGES: dict[str, Judge] = {}
_SCALES: dict[str, Scales] = {}
_WORDS: dict[str, Words] = {}


def judge(kind: str, scales: Scales | None = None) -> Callable[[Judge], Judge]:
    """Register the judge of checks of this kind; it returns a dict with at least ``verdict``.

    Parameters
    ----------
    kind
        Of the check.
    scales
        Gives, for statistics and a result, the scales at which their floats are compared (`rounding`): a
        mapping with keys ``statistics`` and ``result``, each nested as these are. One number holds for all
        that is below it. What is left out is compared at its own size.
    """

    def register(function: Judge) -> Judge:
        _JUDGES[kind] = function
        if scales is not None:
            _SCALES[kind] = scales
        return function

    return register


def worded(kind: str) -> Callable[[Words], Words]:
    """Register the sentence of checks of this kind: what was measured against what is claimed, in one line.

    It is a function of the statistics and the result. Every rendering takes it from here, so that a number
    is worded once, beside the judge that makes it. The verdict is not in it.
    """

    def register(function: Words) -> Words:
        _WORDS[kind] = function
        return function

    return register


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
    statistics: Json
    result: Json

    @classmethod
    def of(cls, name: str, kind: str, statistics: Json) -> Check:
        """Judge `statistics` and keep both."""
        return cls(name, kind, dict(statistics), judged(kind, statistics))

    @property
    def verdict(self) -> str:
        """The result's verdict."""
        return str(self.result["verdict"])

    def as_dict(self) -> JsonDict:
        """Plain values, as they stand in a record."""
        return {
            "name": self.name,
            "kind": self.kind,
            "statistics": dict(self.statistics),
            "result": dict(self.result),
        }


def judged(kind: str, statistics: Json) -> JsonDict:
    """What the judge of `kind` makes of `statistics`; nothing where a run depends on the one before it.

    Raises
    ------
    KeyError
        If there is no such judge, or a number is missing.
    """
    found = _JUDGES[kind](statistics)
    return {**found, "verdict": "inconclusive", "epsilon_lower": 0.0} if statistics.get("carried") else found


def in_words(check: Json) -> str:
    """The sentence of a recorded check (`worded`)."""
    return _WORDS[check["kind"]](check["statistics"], check["result"])


def scales_of(check: Json) -> Json:
    """Scales of a recorded check, as its judge states them (`judge`); none if its numbers are unusable."""
    try:
        return _SCALES[check["kind"]](check["statistics"], check["result"])
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return {}
