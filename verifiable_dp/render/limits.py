"""What a check does not show: sentences that stand beside its verdict, wherever it is shown."""

from __future__ import annotations

import math
from collections.abc import Sequence

from verifiable_dp.core.validate import Json, JsonValue
from verifiable_dp.evidence.alignment.replay import exceeds
from verifiable_dp.evidence.words import digits, p_value

LOOSE = 10.0  # times the measured value that would still pass


def of(check: Json) -> list[str]:
    """Sentences on the limits of a recorded check; none where its verdict needs none."""
    numbers, result = check["statistics"], check["result"]
    found = _LIMITS.get(check["kind"])
    return [*(found(numbers, result) if found else ()), *_above(numbers, result)]


def _above(numbers: Json, result: Json) -> list[str]:
    """A lower bound beyond the claim that refutes nothing."""
    least, claim = result.get("epsilon_lower"), numbers.get("epsilon")
    if result.get("verdict") != "not_refuted" or least is None or "p_value" not in result:
        return []
    if not exceeds(float(least), float(claim or 0.0)):
        return []
    level = float(numbers["alpha"]) / int(numbers.get("tests", 1))
    return [
        f"the {100 * float(numbers['confidence']):.4g} % lower bound {digits(least)} lies above the claim of "
        f"{digits(claim)}, which refutes nothing: its p-value {p_value(result['p_value'])} is above "
        f"{level:.3g}, and bounds of true claims lie there now and then"
    ]


def is_loose(check: Json) -> bool:
    """Whether `LOOSE` times what was measured would still pass."""
    return _slack(check["kind"], check["statistics"], check["result"]) >= LOOSE


def _slack(kind: str, numbers: Json, result: Json) -> float:
    """How many times what was measured would still pass; 1 where that is not known."""
    if result["verdict"] != "consistent":
        return 1.0
    if kind == "mean_bound" and float(numbers["mean"]) > 0:
        return float(numbers["bound"]) / float(numbers["mean"])
    if kind == "comparison" and float(numbers["factor"]) > 0:
        return float(result["ratio"]) / float(numbers["factor"])
    return 1.0


def _bound(numbers: Json, result: Json) -> list[str]:
    equal, slack = _equal(numbers, "sd", "n"), _slack("mean_bound", numbers, result)
    return equal if slack < LOOSE else [*equal, f"loose: code with {slack:.3g} times this mean would pass"]


def _floor(numbers: Json, result: Json) -> list[str]:
    return _equal(numbers, "sd", "n")


def _equal(numbers: Json, spread: str, runs: str) -> list[str]:
    """An interval of no width is not a sure one: the runs came out alike."""
    same = numbers.get(spread) == 0 and int(numbers[runs]) > 1
    return [f"all {numbers[runs]} runs equal"] if same else []


def _comparison(numbers: Json, result: Json) -> list[str]:
    slack = _slack("comparison", numbers, result)
    return [] if slack < LOOSE else [f"loose: code with {slack:.3g} times this regret would pass"]


def _rate(numbers: Json, result: Json) -> list[str]:
    return _within(numbers["exponent"], numbers["margin"], result)


def _line(numbers: Json, result: Json) -> list[str]:
    return _within(numbers["slope"], numbers["margin"], result)


def _within(claimed: JsonValue, margin: JsonValue, result: Json) -> list[str]:
    """The interval excludes what is claimed, and the check is consistent: what the margin does."""
    if claimed is None or result["verdict"] != "consistent" or result.get("lower") is None:
        return []
    if float(result["lower"]) <= float(claimed) <= float(result["upper"]):
        return []
    return [
        f"the interval excludes {digits(claimed)}; consistent, because it lies within the margin of "
        f"{digits(margin)} around it"
    ]


_LIMITS = {
    "mean_bound": _bound,
    "mean_at_least": _floor,
    "comparison": _comparison,
    "scaling": _rate,
    "linear_in_log": _line,
}


# ---------------------------------------------------------------- counterexamples


def shown(example: Json, claimed: float) -> float:
    """The epsilon that a counterexample itself shows, held against a claim of `claimed`."""
    if "epsilon_lower" in example:
        return float(example["epsilon_lower"])
    if example.get("divergence"):
        return math.inf
    return abs(float(example["loss"])) * claimed / float(example.get("epsilon") or claimed)


def another(example: Json, checks: Sequence[Json], claimed: float) -> str:
    """That the bound of a counterexample's checks comes from another run; empty where this one has it."""
    most = max((float(check["result"].get("epsilon_lower", 0.0)) for check in checks), default=0.0)
    here = shown(example, claimed)
    if most <= here * (1 + 1e-6):
        return ""
    return (
        f"This run shows epsilon {digits(here)}. The bound of {digits(most)} comes from another run of the "
        "same check, which the record does not keep; verify --rerun plays it again."
    )


def strongest_first(record: Json) -> list[Json]:
    """The counterexamples of a record; the one that shows the largest epsilon leads."""
    claimed = float(record["claim"]["epsilon"]) if record["claim"] else 1.0
    return sorted(record["counterexamples"], key=lambda example: -shown(example, claimed))
