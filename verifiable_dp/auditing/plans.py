"""How large an audit is: budgets, the sizes that they stand for, and what no audit covers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from verifiable_dp import _validate
from verifiable_dp._validate import InputError
from verifiable_dp.evidence.blackbox import Plan

Progress = Callable[[str], None]
BUDGETS = ("quick", "standard", "thorough")
MOST_SECONDS = 1e6  # 64 million runs a side, the most of a test, take less

IDEALISED = "the floating-point sampler: the noise is audited as idealised real numbers"
NOT_COVERED = (
    "timing and other side channels",
    IDEALISED,
    "inputs, events and sample sizes beyond those stated here: an audit cannot prove privacy",
)


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
    seconds
        Seconds of sampling of a user's code.
    repeats
        Audits of the mutant at which the power is stated.
    """

    steps: int
    most: int
    examples: int
    seconds: float
    repeats: int


_SIZES = {
    "quick": Budget(1 << 22, 400_000, 60, 20.0, 3),
    "standard": Budget(1 << 25, 8_000_000, 300, 180.0, 10),
    "thorough": Budget(1 << 28, 64_000_000, 1000, 1200.0, 20),
}


def sizes_of(budget: str | float) -> Budget:
    """The sizes of a named budget, or of a number of seconds of sampling.

    Raises
    ------
    InputError
        If it is neither a known name nor a number in (0, `MOST_SECONDS`].
    """
    if isinstance(budget, str) and budget in _SIZES:
        return _SIZES[budget]
    try:
        seconds = float(budget)
    except (TypeError, ValueError):
        raise InputError(
            f"budget must be one of {', '.join(BUDGETS)} or a positive number of seconds, got {budget!r}"
        ) from None
    seconds = _validate.positive("budget", seconds)
    if seconds > MOST_SECONDS:
        raise InputError(f"budget must be at most {MOST_SECONDS:.0f} seconds, got {budget!r}")
    # About 2 million blocks a second, a third of them in the test, both sides.
    steps = max(1 << 14, int(seconds * 3e5))
    return Budget(steps, 64_000_000, int(np.clip(20 * seconds, 40, 1000)), seconds, 3)


def silent(message: str) -> None:
    """Progress that is not shown."""


def pinned_plan(mapping: Mapping[str, Any]) -> Plan:
    """The plan of an earlier record."""
    sizes = {f.name: int(mapping.get(f.name, 1)) for f in fields(Plan) if f.name != "sequential"}
    return Plan(**sizes, sequential=bool(mapping.get("sequential", False)))
