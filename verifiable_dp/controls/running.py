"""Audits of the controls: the bound beside the truth, and beside what the best event gives."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from verifiable_dp.auditing import rungs
from verifiable_dp.auditing.request import AuditRequest, Inputs, Promise, Settings
from verifiable_dp.controls.catalogue import Control, controls
from verifiable_dp.core import validate
from verifiable_dp.core.validate import InputError, JsonDict
from verifiable_dp.evidence.alignment.searching import plain
from verifiable_dp.evidence.blackbox.test import ALPHA, CONFIDENCE, Plan
from verifiable_dp.evidence.check import Check
from verifiable_dp.record import conclude
from verifiable_dp.record.provenance import provenance
from verifiable_dp.targets.releases import DataPair, ReleaseSampler

PLANS = {
    "quick": Plan(24, 200_000, 1_000_000),
    "standard": Plan(24, 1_000_000, 5_000_000),
    "thorough": Plan(24, 4_000_000, 25_000_000),
}
_DRAWS = 500_000  # test draws a side for each unit of a budget in numbers


def plan_of(budget: str | float) -> Plan:
    """Sizes of the audit of each control, in draws a side: the clock has no say, so that it can be repeated.

    Raises
    ------
    InputError
        If the budget is neither quick, standard, thorough nor a positive number.
    """
    if isinstance(budget, str) and budget in PLANS:
        return PLANS[budget]
    try:
        millions = float(budget)
    except (TypeError, ValueError):
        raise InputError(
            f"budget must be one of {', '.join(PLANS)} or a positive number of million draws, got {budget!r}"
        ) from None
    test = max(1000, int(_DRAWS * validate.positive("budget", millions)))
    return Plan(24, max(500, test // 5), test)


@dataclass(frozen=True)
class ControlOutcome:
    """What the audit of a control gave.

    Attributes
    ----------
    control
        The control.
    verdict, bound
        Of the audit; the bound is on epsilon, at confidence .95. A selftest shows the power on the broken
        controls, so that what is not refuted says so without stating power.
    runs
        Test draws a side; their inputs are tossed by a coin.
    cpu_seconds
        Of the whole audit.
    check
        The test of the black box that decides, as in a record.
    """

    control: Control
    verdict: str
    bound: float
    runs: int
    cpu_seconds: float
    check: JsonDict

    @property
    def best(self) -> float:
        """The bound that the best event gives at as many draws, by Neyman and Pearson from the known law."""
        return self.control.best_bound(self.runs, 1 - CONFIDENCE)

    @property
    def samples(self) -> int:
        """Draws of the deciding test, both sides."""
        return int(self.check["statistics"]["n0"]) + int(self.check["statistics"]["n1"])

    @property
    def right(self) -> bool:
        """Whether the verdict on refutation is that of the truth."""
        return (self.verdict == "refuted") == (self.control.expected == "refuted")

    @property
    def false_alarm(self) -> bool:
        """Whether a control that keeps its claim was refuted."""
        return self.verdict == "refuted" and not self.right

    @property
    def missed(self) -> bool:
        """Whether a control that breaks its claim was not refuted."""
        return not self.right and not self.false_alarm

    @property
    def efficiency(self) -> float:
        """Bound over the best event's."""
        return self.bound / self.best

    def as_dict(self) -> JsonDict:
        """Plain values; infinite ones as strings."""
        return {
            "control": self.control.name,
            "mechanism": self.control.words,
            "claimed": self.control.claimed,
            "truth": plain(self.control.truth),
            "mass_apart": self.control.mass_apart,
            "expected": self.control.expected,
            "verdict": self.verdict,
            "epsilon_lower": plain(self.bound),
            "best_event_bound": self.best,
            "efficiency": plain(self.efficiency),
            "samples": self.samples,
            "cpu_seconds": round(self.cpu_seconds, 3),
            "right": self.right,
            "false_alarm": self.false_alarm,
            "check": self.check,
        }


def run(control: Control, plan: Plan, *, seed: int = 0, alpha: float = ALPHA) -> ControlOutcome:
    """Audit one control with the sizes of `plan`."""
    kept = ReleaseSampler(control.release, seed).draws_kept(DataPair(*control.pair), plan.test)
    plan = replace(plan, select=max(plan.select, kept))
    start = time.process_time()
    settings = Settings(seed=seed, alpha=alpha, confidence=CONFIDENCE, plan=plan, trusted=True, power=False)
    promise, inputs = Promise(control.claimed), Inputs(pairs=[control.pair])
    draft = rungs.draft(AuditRequest(control.release, control.name, promise, inputs, settings))
    spent = time.process_time() - start
    # Evidence of other kinds, such as an upper bound, has no draws that could be held against the best event.
    check = [check for check in draft["checks"] if check["kind"] == "black_box"][-1]
    return ControlOutcome(
        control,
        str(check["result"]["verdict"]),
        float(conclude.epsilon_lower([Check.read(one) for one in draft["checks"]])),
        plan.test,
        spent,
        check,
    )


def selftest(
    *,
    budget: str | float = "quick",
    seed: int = 0,
    only: Sequence[str] = (),
    alpha: float = ALPHA,
    progress: Callable[[str], None] = lambda message: None,
) -> list[ControlOutcome]:
    """Audit every control; with the seed and the budget every count is decided.

    Parameters
    ----------
    budget
        quick: 2 * 10^6 test draws of each control; standard: 10^7; thorough: 5 * 10^7. A number: as many
        million; a second of the audits' budgets is worth about one.
    seed
        Whole number.
    only
        Names of controls; none: all.
    alpha
        Level of a refutation.
    progress
        Called with the name of each control.

    Returns
    -------
    list of Outcome
        `right` says whether each came out as its truth says.

    Raises
    ------
    InputError
        If an argument is out of range.
    """
    validate.integer("seed", seed, least=0)
    plan = plan_of(budget)
    chosen = controls()
    names = [control.name for control in chosen]
    for name in only:
        validate.choice("only", name, tuple(names))
    # Imports and compilation on first use do not count as the cost of a control.
    run(next(c for c in chosen if c.name == "sparse-vector-3"), plan_of(0.05), seed=seed)
    outcomes = []
    for control in chosen:
        if only and control.name not in only:
            continue
        progress(f"auditing {control.name}")
        outcomes.append(run(control, plan, seed=seed, alpha=alpha))
    return outcomes


def record(outcomes: Sequence[ControlOutcome], *, budget: str | float, seed: int, started: float) -> JsonDict:
    """All that a selftest gave, as plain values: with budget and seed every count can be made again."""
    return {
        "budget": str(budget),
        "seed": seed,
        "plan": plan_of(budget).as_dict(),
        "confidence": CONFIDENCE,
        "alpha": ALPHA,
        "passed": all(outcome.right for outcome in outcomes),
        "false_alarms": sum(outcome.false_alarm for outcome in outcomes),
        "missed": sum(outcome.missed for outcome in outcomes),
        "provenance": provenance(started, sum(o.cpu_seconds for o in outcomes)),
        "controls": [outcome.as_dict() for outcome in outcomes],
    }


def table(outcomes: Sequence[ControlOutcome]) -> Iterator[str]:
    """Lines to print: one for each control, and a summary."""
    yield (
        f"{'control':<28}{'claim':>6}{'truth':>8}{'best':>9}{'bound':>9}{'ratio':>7}"
        f"{'samples':>10}{'CPU s':>7}  verdict"
    )
    for outcome in outcomes:
        control = outcome.control
        wrong = "" if outcome.right else f"  WRONG: should be {control.expected}"
        yield (
            f"{control.name:<28}{control.claimed:>6g}{control.truth:>8.4f}{outcome.best:>9.4f}"
            f"{outcome.bound:>9.4f}{outcome.efficiency:>7.3f}{outcome.samples:>10}"
            f"{outcome.cpu_seconds:>7.2f}  {outcome.verdict}{wrong}"
        )
    alarms = sum(outcome.false_alarm for outcome in outcomes)
    missed = sum(outcome.missed for outcome in outcomes)
    middle = math.exp(math.fsum(math.log(max(o.efficiency, 1e-9)) for o in outcomes) / len(outcomes))
    yield f"false alarms: {alarms}; missed: {missed}; bound over best event's, geometric mean: {middle:.3f}"
