"""Plots of what a promise comes to: intervals of many records beside it, and one person's rounds."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verifiable_dp.core import files
from verifiable_dp.core.claims import Relation, group_table
from verifiable_dp.record import words
from verifiable_dp.record.model import Record
from verifiable_dp.record.verify import verify
from verifiable_dp.render import plots, promised, strips, svg
from verifiable_dp.render.plots import BAD, CLAIM, GOOD, RIVAL, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROUNDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_OFFSET: Style = {"textcoords": "offset points", "fontsize": 8}
_COLOURS = {"not_refuted": GOOD, "refuted": BAD, "hole": BAD}


def certainty(record: Record, *, narrow: bool = False) -> str | None:
    """How sure an attacker becomes of one bit, against the rounds of one person; None without a promise."""
    if not words.promises(record) or record.claimed.value.relation != Relation():
        return None
    declared = record.declared.get("contribution", {}).get("max_rounds_per_user", 1)
    rounds = sorted({*_ROUNDS, declared})
    rows = group_table(record.claimed.value, rounds)
    sure = [100 * promised.certainty(row["epsilon"], row["delta"]) for row in rows]

    def draw(axes: Axes) -> None:
        axes.axhline(50, color=RIVAL, linewidth=1, linestyle=":")
        axes.plot(rounds, sure, "o-", color=GOOD, markersize=4, linewidth=1.3)
        axes.annotate(f"{sure[0]:.0f} %", (1, sure[0]), (6, -11), **_OFFSET)
        if declared > 1:
            axes.axvline(declared, color=CLAIM, linewidth=1.2)
            right = declared > rounds[-1] ** 0.5
            style: Style = {"ha": "right" if right else "left", "color": CLAIM, **_OFFSET}
            axes.annotate("declared", (declared, 60), (-4 if right else 4, 0), **style)
        axes.annotate("a coin toss", (rounds[-1], 50), (0, 4), ha="right", **_OFFSET)
        axes.set(ylim=(45, 103), ylabel="right guesses (%)", xscale="log")
        axes.set_xlabel(f"{promised.several(record)} of one person")
        plots.decades(axes.xaxis)

    return plots.single("certainty", 2.3, draw, narrow=narrow)


def forest(records: Sequence[Record], *, narrow: bool = False) -> str:
    """The interval of each record in units of its promise, an arrow where no upper bound stands."""
    found = [(words.title(record), one) for record in records if (one := strips.of(record))]

    def draw(axes: Axes) -> None:
        for row, (_, one) in enumerate(found):
            least = min(max(one.least / one.epsilon, strips.LOW), strips.HIGH)
            most = strips.HIGH if one.most is None else max(one.most / one.epsilon, least)
            colour = RIVAL if one.yardstick else _COLOURS.get(one.colour, CLAIM)
            axes.plot([least, most], [row, row], color=colour, linewidth=3, solid_capstyle="butt")
            axes.plot(least, row, "|", color=colour, markersize=9, markeredgewidth=2, zorder=3)
            axes.plot(most, row, ">" if one.most is None else "|", color=colour, markersize=6)
        axes.axvline(1, color=CLAIM, linewidth=1.2)
        axes.annotate("promise", (1, -1), (0, 4), ha="center", color=CLAIM, **_OFFSET)
        plots.rows_named(axes, [name for name, _ in found])
        axes.set(xscale="log", xlim=(strips.LOW, strips.HIGH * 1.1), ylim=(len(found) - 0.4, -1.2))
        axes.set_xticks(marks := [0.125, 0.25, 0.5, 1, 2, 4, 8], [f"{mark:g}" for mark in marks])
        axes.minorticks_off()
        axes.set_xlabel("epsilon / promise: at least, at most")

    return plots.single("forest", 0.9 + 0.2 * len(found), draw, narrow=narrow)


if __name__ == "__main__":
    known = [verify(path).parsed for path in sorted(Path(sys.argv[1]).glob("*/record.json"))]
    known.sort(key=words.is_baseline)
    files.write_text(Path(sys.argv[2]), svg.alone(forest(known), white=True))
