"""Controls: classic mechanisms, right and broken, whose true epsilon is computed here.

An auditor that is right must refute those whose truth exceeds the claim, and no other; `selftest` shows it,
and how close the bounds come to those of the best event (Neyman & Pearson), which the known laws give.
"""

from verifiable_dp.controls.catalogue import Control, controls
from verifiable_dp.controls.laws import Laws
from verifiable_dp.controls.running import ControlOutcome, plan_of, record, run, selftest, table

__all__ = [
    "Control",
    "ControlOutcome",
    "Laws",
    "controls",
    "plan_of",
    "record",
    "run",
    "selftest",
    "table",
]
