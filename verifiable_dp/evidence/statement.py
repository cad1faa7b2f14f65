"""Plain statements about a computed number: the evidence where neither runs nor noise come in."""

from __future__ import annotations

import math
from collections.abc import Callable

from verifiable_dp.core import validate
from verifiable_dp.core.validate import Json, JsonDict
from verifiable_dp.evidence.alignment.searching import plain
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.words import digits


def _at_most(value: float, limit: float, tolerance: float) -> bool:
    return value <= limit + tolerance


def _at_least(value: float, limit: float, tolerance: float) -> bool:
    return value >= limit - tolerance


def _equal_to(value: float, limit: float, tolerance: float) -> bool:
    return abs(value - limit) <= tolerance


_RELATIONS: dict[str, Callable[[float, float, float], bool]] = {
    "at most": _at_most,
    "at least": _at_least,
    "equal to": _equal_to,
}
STATEMENT = Kind("statement", "number", rank=10, caption="Computed numbers")


def statement(
    name: str, value: float, relation: str, limit: float, *, tolerance: float = 0.0, **description: object
) -> Check:
    """Check that a computed `value` stands in the stated relation to `limit`.

    Parameters
    ----------
    name
        Of the check.
    value, limit
        Numbers; not NaN.
    relation
        ``at most``, ``at least`` or ``equal to``.
    tolerance
        By how much the relation may be missed, at least 0.
    **description
        Further entries, kept as they are.

    Raises
    ------
    InputError
        If the relation is unknown, or a number is NaN or out of range.
    """
    validate.choice("relation", relation, tuple(_RELATIONS))
    for what, number in (("value", value), ("limit", limit)):
        if math.isnan(number):
            raise validate.InputError(f"{what} must be a number, got nan")
    if not tolerance >= 0:
        raise validate.InputError(f"tolerance must be at least 0, got {tolerance!r}")
    numbers = {
        **description,
        "value": plain(float(value)),
        "relation": relation,
        "limit": plain(float(limit)),
        "tolerance": float(tolerance),
    }
    return Check.of(name, "statement", numbers)


@STATEMENT.judged_by()
def _judge(statistics: Json) -> JsonDict:
    """Consistent if the relation holds, contradicted if not."""
    value, limit = float(statistics["value"]), float(statistics["limit"])
    holds = _RELATIONS[str(statistics["relation"])](value, limit, float(statistics["tolerance"]))
    ratio = value / limit if limit and math.isfinite(limit) else math.inf
    return {"verdict": "consistent" if holds else "contradicted", "ratio": plain(ratio)}


@STATEMENT.worded_by
def _statement_in_words(numbers: Json, result: Json) -> str:
    return f"{digits(numbers['value'])}, must be {numbers['relation']} {digits(numbers['limit'])}"
