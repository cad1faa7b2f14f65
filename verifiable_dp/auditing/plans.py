"""How large an audit is: budgets, the sizes that they stand for, and what no audit covers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace

import numpy as np

from verifiable_dp.core import validate
from verifiable_dp.core.validate import InputError, Json
from verifiable_dp.evidence.blackbox.test import FEW_PAIRS, Plan

Progress = Callable[[str], None]
BUDGETS = ("quick", "standard", "thorough")  # of regret checks and of whole catalogues
AUDIT_BUDGETS = ("smoke", *BUDGETS)
MOST_SECONDS = 1e6  # 64 million runs a side, the most of a test, take less


@dataclass(frozen=True)
class Budget:
    """Sizes by budget.

    Attributes
    ----------
    steps
        Blocks that one side of the black-box test of an algorithm may play.
    most
        Most runs a side.
    examples
        Examples of the alignment search.
    runs
        Calls of a user's `play` in all; vectorised targets get more rows, see `ROWS`.
    seconds
        Cap on the time that an audit of a user's code takes. Where it binds the record says so.
    repeats
        Audits of the mutant at which the power is stated.
    """

    steps: int
    most: int
    examples: int
    runs: int
    seconds: float
    repeats: int

    @property
    def operations(self) -> float:
        """After how many the search for an upper bound gives up: not by the time, which differs."""
        return self.seconds * _OPERATIONS


_OPERATIONS = 1_000_000 // 3  # that the search for an upper bound may take for a second of budget
SHORT = 4  # of how many parts of its runs a look makes one where an upper bound settles the audit
_RATE = 4000  # plays that a second of budget stands for, on every machine
_SIZES = {
    "smoke": Budget(1 << 18, 50_000, 20, _RATE, 60.0, 1),
    "quick": Budget(1 << 20, 400_000, 60, 20 * _RATE, 300.0, 3),
    "standard": Budget(1 << 25, 8_000_000, 300, 180 * _RATE, 2700.0, 10),
    "thorough": Budget(1 << 28, 64_000_000, 1000, 1200 * _RATE, 18_000.0, 20),
}
# Rows of vectorised targets, and draws of mechanisms, that cost about as much as one play.
ROWS = {"play": 1, "release_one": 10, "play_many": 40, "release": 150}
LEAST_RUNS = 400
_LEAST_SECONDS, _MANY = 600.0, 20  # of `most_seconds`: at any budget, and times the cap
_DAY, _RUNS_A_DAY = 86_400.0, 1000


def sizes_of(budget: str | float, runs: int | None = None) -> Budget:
    """The sizes of a named budget, or of a number of seconds, which is also the cap.

    Parameters
    ----------
    budget
        ``smoke``, ``quick``, ``standard``, ``thorough`` or a number of seconds. Seconds stand for a fixed
        number of runs (4000 plays each), so that fast machines do not see more than slow ones.
    runs
        Calls of a user's code in place of those that the budget stands for.

    Raises
    ------
    InputError
        If the budget is neither a known name nor a number in (0, `MOST_SECONDS`], or there are too few runs.
    """
    found = _named(budget)
    if runs is None:
        return found
    return replace(found, runs=validate.integer("runs", runs, least=LEAST_RUNS))


def _named(budget: str | float) -> Budget:
    if isinstance(budget, str) and budget in _SIZES:
        return _SIZES[budget]
    try:
        seconds = float(budget)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"budget must be one of {', '.join(AUDIT_BUDGETS)} or a positive number of seconds, "
            f"got {budget!r}"
        ) from None
    seconds = validate.positive("budget", seconds)
    if seconds > MOST_SECONDS:
        raise InputError(f"budget must be at most {MOST_SECONDS:.0f} seconds, got {budget!r}")
    # About 2 million blocks a second, a third of them in the test, both sides.
    steps = max(1 << 14, int(seconds * 3e5))
    runs = max(LEAST_RUNS, int(seconds * _RATE))
    return Budget(steps, 64_000_000, int(np.clip(20 * seconds, 40, 1000)), runs, seconds, 3)


@dataclass
class Allowance:
    """What is left of the runs, and of the time, that an audit of a user's code may take.

    Sizes follow from the runs alone unless the cap on time binds, and then `capped` says so. A rerun has no
    cap: it takes its sizes from the record.

    Attributes
    ----------
    runs
        In all; fewer than the budget's where the cap binds.
    each
        Seconds that one run takes.
    seconds
        The cap.
    capped
        Whether the cap has changed any size.
    spent
        Runs that were made.
    """

    runs: int
    each: float = 0.0
    seconds: float = math.inf
    capped: bool = False
    spent: int = 0
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, budget: Budget, kind: str, each: float, started: float) -> Allowance:
        """The runs of a budget for a target of this kind, as far as they fit under the cap."""
        wanted = budget.runs * ROWS[kind]
        fits = max(1, int(budget.seconds / max(each, 1e-12)))
        runs = min(wanted, fits)
        return cls(runs, each, budget.seconds, runs < wanted, started=started)

    def spend(self, runs: float) -> None:
        """Count runs that were made."""
        self.spent += int(runs)

    @property
    def left(self) -> int:
        """Runs that may still be made."""
        return self._in_time(max(0, self.runs - self.spent))

    def beyond(self, factor: int) -> int:
        """Runs of a test that may exceed the budget: what is left and `factor` budgets, within the cap."""
        return self._in_time(self.left + factor * self.runs)

    def _in_time(self, wanted: int) -> int:
        """As many of these runs as the cap leaves time for; notes whether it binds."""
        fit = int(self.seconds_left / self.each) if self.each and math.isfinite(self.seconds) else wanted
        self.capped = self.capped or fit < wanted
        return min(wanted, fit)

    @property
    def seconds_left(self) -> float:
        """Until the cap."""
        return max(0.0, self.seconds - (time.monotonic() - self.started))

    def until(self, share: float) -> float:
        """When so much of the time has gone, on the clock of `time.monotonic`."""
        return self.started + share * self.seconds


def first_plan(runs: int, needed: int | None) -> Plan:
    """Sizes of the first look at a bandit: about an eighth of the runs.

    `needed` are the test runs a side that suffice where plain tables leave all runs alike.
    """
    most = 20_000 if needed is None else min(max(100, needed), max(100, runs // 10))
    test = int(np.clip(0.03 * runs if needed is None else most, min(100, 0.15 * runs), most))
    select = min(test if runs >= 2500 else max(4, test // 3), 100 if needed else test)
    return Plan(max(24 if runs >= 2500 else 8, test // 16 if needed is None else 0), select, test)


def second_plan(runs: int, pairs: int, most: int, *, once: bool = False) -> Plan:
    """Sizes such that probing, selection and test take their shares of `runs`.

    With `once` a few pairs are probed in one round; see `blackbox.rank`.
    """
    # A quarter of the probing runs goes to every pair, the whole to the eight best (`blackbox.rank`).
    probed = pairs if once and pairs <= FEW_PAIRS else pairs / 4 + 8
    probe = int(np.clip(0.25 * runs / (2 * probed), 8, 20_000))
    finalists = min(pairs, 3 if runs >= 2500 else 1)
    select = int(np.clip(0.2 * runs / (2 * finalists), 16, most // 2))
    test = int(np.clip(0.55 * runs / 2, 50, most))
    return Plan(probe, select, test, finalists=finalists)


def shorter(plan: Plan, part: int) -> Plan:
    """The plan of a look at what an upper bound settles: a part of its runs."""
    if part == 1:
        return plan
    probe, select, test = (min(size, max(100, size // part)) for size in (plan.probe, plan.select, plan.test))
    return replace(plan, probe=probe, select=select, test=test)


def cost_of(plan: Plan, pairs: int, *, once: bool = False) -> int:
    """Runs that a look with these sizes makes, on both inputs of its pairs."""
    probing = 0
    if pairs > max(plan.keep, 1):
        once = once and pairs <= FEW_PAIRS
        first = 0 if once else 2 * pairs * max(8, plan.probe // 4)
        probing = first + 2 * (pairs if once else min(pairs, 8)) * plan.probe
    return probing + 2 * plan.finalists * plan.select + 2 * plan.test


def most_seconds(budget: str | float, timeout: float) -> float:
    """Seconds after which the audit of a user's code is ended without a verdict, if it has not ended by then.

    Far above the cap on an audit of this budget whose runs may take `timeout` seconds each, so that no slow
    machine comes near: it ends what hangs where no single call is timed.
    """
    return _LEAST_SECONDS + _MANY * (sizes_of(budget).seconds + timeout)


def most_of_regret(runs: int) -> float:
    """As `most_seconds`, of a check of regret: nothing caps it, and its horizon may be long."""
    return _DAY * max(1.0, runs / _RUNS_A_DAY)


def silent(message: str) -> None:
    """Progress that is not shown."""


def pinned_plan(mapping: Json) -> Plan:
    """The plan of an earlier record."""
    held = (f.name for f in fields(Plan) if f.name not in ("sequential", "beyond"))
    sizes = {name: int(mapping.get(name, 1)) for name in held}
    return Plan(**sizes, sequential=bool(mapping.get("sequential", False)))
