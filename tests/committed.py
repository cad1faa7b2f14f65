"""The committed records, of which one of each kind is looked at by day and all of them at night."""

from pathlib import Path

import pytest

REPORTS = Path(__file__).parents[1] / "reports"
NAMES = sorted(path.parent.name for path in REPORTS.glob("*/record.json"))
# Releases seen, actions alone with exact laws, local reports as printed and refuted, shuffled reports, a
# stopping rule with hidden noise, and a baseline.
SIX = ("tree-sum", "dp-se", "ldp-linear-printed", "shuffled-linear", "dp-nas", "ucb1")


def each(names=NAMES, by_day=SIX):
    """Names as parameters; those that are not looked at by day are slow."""
    return [pytest.param(name, marks=() if name in by_day else pytest.mark.slow) for name in names]
