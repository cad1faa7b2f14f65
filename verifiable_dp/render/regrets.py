"""Checks of regret as one figure: what is claimed, what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verifiable_dp.record.model import Record
from verifiable_dp.render import courses, plots

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDE = 2  # panels side by side


def svg(record: Record) -> str | None:
    """The figure of a record's claims about regret as inline SVG; None where there is nothing to draw."""
    checks = record.regret_checks
    means = [check for check in checks if check.kind == "mean_bound" and check.statistics["mean"] > 0]
    rates = [check for check in checks if check.kind == "scaling"]
    count = bool(means) + len(rates)
    if not count:
        return None
    across = min(count, _WIDE)
    down = -(-count // across)

    def draw(figure: Figure) -> None:
        left, *others = [*figure.subplots(down, across, squeeze=False).flat]
        if means:
            plots.bounds(left, means, {})
        for axes, check in zip(others if means else [left, *others], rates, strict=False):
            courses.growing(axes, [check], str(check.statistics.get("over", "horizon T (rounds)")))
            axes.set_title(f"{check.name}: {check.verdict}", fontsize=9, loc="left")
        for axes in [left, *others][count:]:
            axes.set_visible(False)

    return plots.inline("regret-claims", (3.9 * across, 3.4 * down), draw)
