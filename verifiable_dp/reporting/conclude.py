"""What follows from the checks of a record: pure functions, for writing it and for verifying it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def privacy(checks: Sequence[Mapping[str, Any]], power: Mapping[str, Any] | None) -> str:
    """``refuted``, ``not_refuted`` or ``inconclusive``.

    Refuted if any check is; not refuted only if every check holds and the power is stated.
    """
    verdicts = [check["result"]["verdict"] for check in checks]
    if "refuted" in verdicts:
        return "refuted"
    if not verdicts or power is None or any(v != "not_refuted" for v in verdicts):
        return "inconclusive"
    return "not_refuted"


def epsilon_lower(checks: Sequence[Mapping[str, Any]]) -> float | str:
    """Largest lower bound on epsilon of any check; ``inf`` as a string."""
    bounds = [check["result"].get("epsilon_lower", 0.0) for check in checks]
    return max(bounds, key=float, default=0.0)


def regret(checks: Sequence[Mapping[str, Any]]) -> str | None:
    """``consistent``, ``contradicted``, ``vacuous`` or ``inconclusive``; None without checks.

    One contradiction decides. Vacuous checks say nothing beside others that do.
    """
    verdicts = [check["result"]["verdict"] for check in checks]
    if not verdicts:
        return None
    if "contradicted" in verdicts:
        return "contradicted"
    telling = [v for v in verdicts if v != "vacuous"]
    if not telling:
        return "vacuous"
    return "consistent" if all(v == "consistent" for v in telling) else "inconclusive"


def mutant(entry: Mapping[str, Any]) -> str:
    """Verdict on a mutant, from its checks."""
    verdicts = [check["result"]["verdict"] for check in entry["checks"]]
    if entry["breaks"] == "privacy":
        return "refuted" if "refuted" in verdicts else "not_refuted"
    return "contradicted" if "contradicted" in verdicts else "not_contradicted"
