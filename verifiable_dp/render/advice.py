"""What decides an undecided claim: one source for findings and for what to do next, so that both agree."""

from __future__ import annotations

from verifiable_dp.evidence import origins
from verifiable_dp.record import conclude
from verifiable_dp.record.model import Record

_TWO_WAYS = (
    ", so the search may find an event that happens in only some runs; if it finds none, audit with a "
    "longer --horizon, or with other --bounds or data"
)
_MORE = {"smoke": "quick", "thorough": "SECONDS"}  # else thorough
_SHARPER = "make the tests sharper with a larger --budget or a smaller instance; -v shows the evidence"
_ABOVE = f"claim an epsilon of at least the upper bound, raise the scale of the noise, or {_SHARPER}"
_FEWER_PATHS = (
    "let no branch, loop or index depend on data or draws, so that all runs take the same path "
    "(docs/upper-bounds.md), or require less"
)
_REPORT = (
    "audit the report function by itself, as a mechanism (rename its reward parameter to data), because "
    "its upper bound does not depend on how the bandit uses the reports"
)


def undecided(record: Record, *, brief: bool = False) -> str:
    """What to do about an undecided claim where sharper tests alone are not it; empty elsewhere.

    Brief with what to do first alone.
    """
    for one in record.checks:
        if one.kind == origins.KIND and one.verdict == "inconclusive":
            return origins.ADVICE.get(one.name, origins.NAMED)
    if record.reason == "unsearched" and conclude.constant(record.checks):
        first = f"give the search more runs ({more_runs(record)})"
        return first if brief else f"{first}{_TWO_WAYS}"
    bound = record.epsilon_upper
    above = bound is not None and float(bound.epsilon) > record.claimed.epsilon
    beside = _ABOVE if above else _SHARPER if bound is not None else ""  # else why there is none
    return report_alone(record) or beside


def short(record: Record) -> str:
    """What to do about a bound of a weaker scope than is required; empty where there is none."""
    return _FEWER_PATHS if record.epsilon_upper is not None else ""


def report_alone(record: Record) -> str:
    """How to have more than samples of a local claim about code of the user's; empty for any other."""
    claim = record.claim
    return _REPORT if claim and claim.observe == "reports" and record.target.role == "user" else ""


def more_runs(record: Record) -> str:
    """The option for more runs than a record's audit had."""
    return f"--budget {_MORE.get(str(record.plan.budget), 'thorough')}"
