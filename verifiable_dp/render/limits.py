"""What a check does not show: sentences that stand beside its verdict, wherever it is shown."""

from __future__ import annotations

import math
from collections.abc import Sequence

from verifiable_dp.core.validate import Json
from verifiable_dp.evidence.alignment.replay import exceeds
from verifiable_dp.evidence.check import Check, limits_of, slack_of
from verifiable_dp.evidence.regret.common import LOOSE
from verifiable_dp.evidence.words import digits, p_value
from verifiable_dp.record import words
from verifiable_dp.record.model import Counterexample, Record

__all__ = ["LOOSE", "another", "is_loose", "of", "shown", "strongest_first"]


def of(check: Check) -> list[str]:
    """Sentences on the limits of a recorded check; none where its verdict needs none."""
    return [*limits_of(check), *_above(check.statistics, check.result)]


def _above(numbers: Json, result: Json) -> list[str]:
    """A lower bound beyond the claim that refutes nothing."""
    least, claim = result.get("epsilon_lower"), numbers.get("epsilon")
    if result.get("verdict") != "not_refuted" or least is None or "p_value" not in result:
        return []
    if not exceeds(float(least), float(claim or 0.0)):
        return []
    level = float(numbers["alpha"]) / int(numbers.get("tests", 1))
    return [
        f"the {100 * float(numbers['confidence']):.4g} % lower bound {digits(least)} is above the claim of "
        f"{digits(claim)}; this is not a refutation: its p-value {p_value(result['p_value'])} is above "
        f"{level:.3g}, and lower bounds sometimes exceed true claims"
    ]


def is_loose(check: Check) -> bool:
    """Whether `LOOSE` times what was measured would still pass."""
    return slack_of(check) >= LOOSE


# ---------------------------------------------------------------- counterexamples


def shown(example: Counterexample, claimed: float) -> float:
    """The epsilon that a counterexample itself shows, held against a claim of `claimed`."""
    if example.epsilon_lower is not None:
        return float(example.epsilon_lower)
    if example.divergence or example.loss is None:
        return math.inf
    return abs(float(example.loss)) * claimed / float(example.epsilon or claimed)


def another(example: Counterexample, checks: Sequence[Check], claimed: float) -> str:
    """That the bound of a counterexample's checks comes from another run; empty where this one has it."""
    most = max((check.epsilon_lower for check in checks), default=0.0)
    here = shown(example, claimed)
    if most <= here * (1 + 1e-6):
        return ""
    return (
        f"This run shows epsilon {digits(here)}. The bound of {digits(most)} comes from another run of "
        "the same check. The record does not contain that run; verify --rerun replays it."
    )


def strongest_first(record: Record) -> list[Counterexample]:
    """The counterexamples of a record; the one that shows the bound to quote leads, then larger epsilons."""
    claimed, quoted = (record.claimed.epsilon, words.least(record)) if record.claim else (1.0, math.inf)

    def order(example: Counterexample) -> tuple[bool, float]:
        return not math.isclose(epsilon := shown(example, claimed), quoted, rel_tol=1e-6), -epsilon

    return sorted(record.counterexamples, key=order)
