"""The committed records, of which one of each kind is looked at by day and all of them at night."""

from pathlib import Path

import pytest

from verifiable_dp.render import page, plots

REPORTS = Path(__file__).parents[1] / "reports"
NAMES = sorted(path.parent.name for path in REPORTS.glob("*/record.json"))
# Releases seen, actions alone with exact laws, local reports as printed and refuted, shuffled reports, a
# stopping rule with hidden noise, and a baseline.
SIX = ("tree-sum", "dp-se", "ldp-linear-printed", "shuffled-linear", "dp-nas", "ucb1")


def each(names=NAMES, by_day=SIX):
    """Names as parameters; those that are not looked at by day are slow."""
    return [pytest.param(name, marks=() if name in by_day else pytest.mark.slow) for name in names]


def without_plots(patched):
    """Pages are made without their plots, which take most of the time; no later page gets what this left."""
    patched.setattr(plots, "inline", lambda *_: "<svg/>")
    for kept in ("_drawn", "_kept"):
        patched.setattr(page, kept, getattr(page, kept).__wrapped__)
