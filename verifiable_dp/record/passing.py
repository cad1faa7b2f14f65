"""Whether a verdict passes, and the exit status of many: pure functions of what records decide."""

from __future__ import annotations

from collections.abc import Iterable

from verifiable_dp.core.units import Role
from verifiable_dp.record.decision import Decision
from verifiable_dp.record.requests import REQUIRED as REQUIRED


def passes(verdict: str | None, expected: str | None) -> bool:
    """Whether a test passes: its verdict is the expected one.

    Where nothing is expected everything passes but a contradicted theorem.
    """
    return verdict != "contradicted" if expected is None else verdict == expected


def strictest(*requires: str | None) -> str:
    """Which of these asks for most; None asks for nothing."""
    return max((one or REQUIRED[0] for one in requires), key=REQUIRED.index)


def without_privacy(decided: Iterable[Decision], require: str) -> bool:
    """Whether evidence on privacy is required, and nothing is about privacy."""
    return require != REQUIRED[0] and not any(one.privacy for one in decided)


def exit_status(decided: Iterable[tuple[Decision, str | None]]) -> int:
    """The exit status of many audits, from what each decides and what its auditor expects of a listing.

    1 if a promise is refuted, a claim about regret contradicted, a broken variant missed, or a listing as
    printed does not come out as its auditor expects; 3 if a promise or a claim about regret is undecided; 0.
    A baseline promises no privacy. A listing as printed of which nothing is expected counts as one that came
    out wrong.
    """
    statuses = [_status(found, expected) for found, expected in decided]
    return 1 if 1 in statuses else max(statuses, default=0)


def _status(found: Decision, expected: str | None) -> int:
    if found.role is Role.PRINTED:
        return 0 if expected is not None and passes(found.privacy, expected) else 1
    if found.faults or found.regret == "contradicted":
        return 1
    return found.regret_status if found.role is Role.BASELINE else found.exit_code
