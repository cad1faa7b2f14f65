"""What follows from the checks of a record: pure functions, for writing it and for verifying it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verifiable_dp.evidence.alignment.replay import exceeds


def privacy(checks: Sequence[Mapping[str, Any]], power: Mapping[str, Any] | None) -> str:
    """``refuted``, ``not_refuted`` or ``inconclusive``.

    Refuted if any check is; not refuted only if every check holds, the power is stated and there is no lead.
    """
    verdicts = [check["result"]["verdict"] for check in checks]
    if "refuted" in verdicts:
        return "refuted"
    if not verdicts or power is None or any(v != "not_refuted" for v in verdicts) or lead(checks):
        return "inconclusive"
    return "not_refuted"


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
    pure = not any(float(check["statistics"].get("delta", 0.0)) > 0 for check in checks)
    for check in checks:
        epsilon, lower = check["statistics"].get("epsilon"), check["result"].get("epsilon_lower", 0.0)
        dearest = float(check["statistics"]["max_cost"]) if check["kind"] == "tracing" and pure else 0.0
        if dearest > 0 and exceeds(dearest, epsilon):
            return f"tracing saw a cost of {dearest:.4g} against {epsilon:g}"
        if check["kind"] in _SAMPLED and not computed and exceeds(float(lower), epsilon):
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
