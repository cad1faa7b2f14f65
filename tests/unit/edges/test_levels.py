"""The levels, margins and limits that verdicts rest on: each is a decision that a reader is told.

A judge that is right at its edges is wrong all the same if the edge lies elsewhere. Where a value stands in
the documents or in a formula, the row says so.
"""

import importlib

import pytest

LEVELS = [
    # refutations, contradictions, and what is stated beside them
    ("evidence.blackbox.test", "ALPHA", 1e-6),  # docs: "at family-wise error 1e-6"
    ("evidence.blackbox.test", "CONFIDENCE", 0.95),
    ("evidence.blackbox.test", "FEW_PAIRS", 12),
    ("evidence.blackbox.positions", "_LEVEL", 1e-6),
    ("evidence.regret.common", "ALPHA", 1e-6),
    ("evidence.regret.common", "CONFIDENCE", 0.99),
    ("evidence.regret.common", "STATED", 0.95),
    ("evidence.regret.common", "LOOSE", 10.0),
    ("evidence.regret.rows", "CONFIDENCE", 0.99),
    ("evidence.regret.rows", "PER_ROW", 3),  # two means and their difference
    ("evidence.regret.scaling", "SATURATED", 0.75),
    ("evidence.regret.scaling", "_MOST_RUNS", 50),
    # what rounding explains
    ("evidence.alignment.replay", "TOLERANCE", 1e-9),
    ("evidence.alignment.replay", "_LOST", 1e-12),
    ("evidence.exact.law", "_ROUNDING", 1e-12),
    ("evidence.exact.shuffle", "_NOTHING", 1e-12),
    ("evidence.rounding", "TOLERANCE", 1e-9),
    ("evidence.rounding", "ROUNDING", 2.0**-46),
    # what a test detects, and how closely limits are found
    ("evidence.blackbox.statistics", "DETECT", 2.0),
    ("evidence.blackbox.statistics", "DETECTED", 0.95),
    ("evidence.blackbox.statistics", "DETECTABLE_STEP", 1e-3),
    ("evidence.blackbox.statistics", "SEARCHED", 1e-5),
    ("evidence.blackbox.statistics", "_FARTHEST", 64.0),
    ("evidence.blackbox.statistics", "_FAR", -20.0),
    ("evidence.blackbox.statistics", "_FEW", 1000),
    ("evidence.blackbox.statistics", "_FEWER", 200),
    ("evidence.blackbox.statistics", "_LOOKS", 24),
    ("evidence.blackbox.statistics", "_SPAN", 2.0),
    ("evidence.blackbox.statistics", "_NO_HIT", 0.01),
    ("evidence.blackbox.statistics", "_TRIES", 8),
    ("evidence.blackbox.statistics", "_NEAR", 1e-6),
    ("evidence.blackbox.statistics", "_FINE", 1e-7),
    ("evidence.blackbox.statistics", "_EXACT", 1e-12),
    ("evidence.blackbox.statistics", "_SURE", 1 - 1e-15),
    ("evidence.blackbox.curves", "_HALVINGS", 60),
    ("evidence.blackbox.curves", "_LEAST_HITS", 6),
    ("evidence.blackbox.bets", "_ALMOST", 1 - 1e-9),
    ("evidence.blackbox.bets", "_KEPT", 1e-9),
    ("evidence.blackbox.unconditional", "LEAST", 1e-50),
    ("evidence.blackbox.unconditional", "_NUISANCE", 1e-3),  # its docstring: a thousandth of the p-value
    ("evidence.blackbox.unconditional", "_MARGIN", 1 + 1e-4),  # its docstring: raised by 1e-4
    ("evidence.blackbox.sequential", "CASH", 0.25),
    ("evidence.blackbox.bets", "_DETECTED", 1.6448536269514722),  # normal quantile of .95
    ("evidence.blackbox.sequential", "_RATIO", 8),
    ("evidence.blackbox.sequential", "_LEAST", 500),
    # what a record decides
    ("record.decision", "WEAK", 1.5),
]


@pytest.mark.parametrize(("module", "name", "value"), LEVELS)
def test_levels(module, name, value):
    assert getattr(importlib.import_module(f"verifiable_dp.{module}"), name) == value
