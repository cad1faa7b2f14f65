"""What follows from the checks of a record: pure functions, for writing it and for verifying it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verifiable_dp.evidence import upper
from verifiable_dp.evidence.alignment.replay import TOLERANCE


def privacy(checks: Sequence[Mapping[str, Any]], power: Mapping[str, Any] | None) -> str:
    """``refuted``, ``not_refuted`` or ``inconclusive``.

    Refuted if any check is; not refuted only if there is no lead and either an upper bound lies within the
    claim, or every check holds and the power is stated.
    """
    verdicts = [check["result"]["verdict"] for check in checks if check["kind"] != upper.KIND]
    if "refuted" in verdicts:
        return "refuted"
    if lead(checks):
        return "inconclusive"
    if bounded(checks):
        return "not_refuted"
    if not verdicts or power is None or any(v != "not_refuted" for v in verdicts):
        return "inconclusive"
    return "not_refuted"


def bounded(checks: Sequence[Mapping[str, Any]]) -> bool:
    """Whether an upper bound lies within the claim."""
    found = epsilon_upper(checks)
    return found is not None and _named(checks)[found["check"]]["result"]["verdict"] == "not_refuted"


def epsilon_upper(checks: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The least upper bound whose premises hold: epsilon, delta, scope, paths and the check it is from.

    A premise holds if the check that tests it is there, is not against the claim and has nothing left open.
    """
    named = _named(checks)
    standing = [
        check
        for check in checks
        if check["kind"] == upper.KIND
        and all(_holds(named.get(p["tested_by"])) for p in check["statistics"]["premises"] if p["tested_by"])
    ]
    if not standing:
        return None
    least = min(standing, key=lambda check: float(check["result"]["epsilon_upper"]))
    numbers = least["statistics"]
    return {
        "epsilon": least["result"]["epsilon_upper"],
        **{key: numbers[key] for key in ("delta", "scope", "paths")},
        "check": least["name"],
    }


def _named(checks: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {check["name"]: check for check in checks if "name" in check}


def _holds(check: Mapping[str, Any] | None) -> bool:
    return bool(check and check["result"]["verdict"] == "not_refuted" and check["result"].get("holds", True))


def lead(checks: Sequence[Mapping[str, Any]]) -> str:
    """What speaks against a claim that no check refutes, in words; empty if nothing does.

    That is a cost above the claim that tracing saw (without delta: with it, single runs may cost more), or a
    lower bound above it that is not significant at the level of a refutation. Such a bound is a fluke where
    alignment computed every loss, the releases being seen, and found none above the claim.
    """
    computed = any(
        check["kind"] == "alignment"
        and check["statistics"]["visible"]
        and check["result"]["verdict"] == "not_refuted"
        for check in checks
    )
    # Tracing charges every release of one path; a bound within the claim charges what is seen of all of them.
    pure = not bounded(checks) and not any(
        float(check["statistics"].get("delta", 0.0)) > 0 for check in checks
    )
    for check in checks:
        epsilon, lower = check["statistics"].get("epsilon"), check["result"].get("epsilon_lower", 0.0)
        dearest = float(check["statistics"]["max_cost"]) if check["kind"] == "tracing" and pure else 0.0
        if dearest > 0 and dearest > epsilon * (1 + TOLERANCE):
            return f"tracing saw a cost of {dearest:.4g} against {epsilon:g}"
        if check["kind"] in _SAMPLED and not computed and float(lower) > epsilon * (1 + TOLERANCE):
            return (
                f"the lower bound of {check['name']}, {float(lower):.4g}, lies above the claim of {epsilon:g}"
            )
    return ""


_SAMPLED = ("black_box", "sequential")


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
