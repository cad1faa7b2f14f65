"""What decides an undecided claim: one source for findings and for what to do next, so that both agree."""

from __future__ import annotations

from verifiable_dp.evidence import origins
from verifiable_dp.record import conclude
from verifiable_dp.record.model import Record

_TWO_WAYS = (
    ", so the search may find an event that happens in only some runs; if it finds none, audit a longer "
    "--horizon, or other --bounds or data"
)
_MORE = {"smoke": "quick", "thorough": "SECONDS"}  # else thorough
_SEEDED = (
    "draw from the rng that is passed, or seed from the system: default_rng(); a larger --budget cannot "
    "help; if a library such as OpenDP draws by itself and you trust the code, use --in-process"
)
_REPORT = (
    "audit the report function by itself, as a mechanism (rename its reward parameter to data): its upper "
    "bound does not depend on how the bandit uses the reports"
)


def undecided(record: Record, *, brief: bool = False) -> str:
    """What to do about an undecided claim where sharper tests alone are not it; empty elsewhere.

    Brief with what to do first alone.
    """
    if any(one.kind == origins.KIND and one.verdict == "inconclusive" for one in record.checks):
        return _SEEDED
    if record.reason == "unsearched" and conclude.constant(record.checks):
        first = f"give the search more runs ({more_runs(record)})"
        return first if brief else f"{first}{_TWO_WAYS}"
    return report_alone(record)


def report_alone(record: Record) -> str:
    """How to have more than samples of a local claim about code of the user's; empty for any other."""
    claim = record.claim
    return _REPORT if claim and claim.observe == "reports" and record.target.role == "user" else ""


def more_runs(record: Record) -> str:
    """The option for more runs than a record's audit had."""
    return f"--budget {_MORE.get(str(record.plan.budget), 'thorough')}"
