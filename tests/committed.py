"""The committed records, of which one of each kind is looked at by day and all of them at night."""

import json
import math
from pathlib import Path

import pytest

from verifiable_dp.render import page, plots

REPORTS = Path(__file__).parents[1] / "reports"
NAMES = sorted(path.parent.name for path in REPORTS.glob("*/record.json"))
# Releases seen, actions alone with exact laws, local reports as printed and refuted, shuffled reports, a
# stopping rule with hidden noise, and a baseline.
SIX = ("tree-sum", "dp-se", "ldp-linear-printed", "shuffled-linear", "dp-nas", "ucb1")

MEASURED = {"mean", "sd", "mean_a", "mean_b", "sd_a", "sd_b", "failures", "measured", "found", "regret"}
MEASURED = frozenset({*MEASURED, "largest_regret"})
NEAR = 1e-5  # relative: figures hold six digits


def each(names=NAMES, by_day=SIX):
    """Names as parameters; those that are not looked at by day are slow."""
    return [pytest.param(name, marks=() if name in by_day else pytest.mark.slow) for name in names]


def without_plots(patched):
    """Pages are made without their plots, which take most of the time; no later page gets what this left."""
    patched.setattr(plots, "inline", lambda *_: "<svg/>")
    for kept in ("_drawn", "_kept"):
        patched.setattr(page, kept, getattr(page, kept).__wrapped__)


def committed(*place):
    """A committed JSON file."""
    return json.loads(REPORTS.joinpath(*place).read_text("utf-8"))


def differing(made, kept, measured=MEASURED, place=()):
    """Where two JSON values differ, but for what is measured, and for the last digits."""
    if place[-1:] == ("points",) and isinstance(made, list):  # a place, and what was measured there
        made, kept = ([point[0] for point in points] for points in (made, kept))
    if isinstance(made, dict) and isinstance(kept, dict):
        for key in sorted((made.keys() | kept.keys()) - measured):
            yield from differing(made.get(key), kept.get(key), measured, (*place, key))
    elif isinstance(made, list) and isinstance(kept, list) and len(made) == len(kept):
        for number, (one, other) in enumerate(zip(made, kept, strict=True)):
            yield from differing(one, other, measured, (*place, number))
    else:
        numbers = all(isinstance(one, int | float) for one in (made, kept))
        if not (math.isclose(made, kept, rel_tol=NEAR) if numbers else made == kept):
            yield place, made, kept
