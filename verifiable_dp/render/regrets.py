"""Checks of regret as a figure: what is claimed, what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from verifiable_dp.evidence.check import Check
from verifiable_dp.record.model import Record
from verifiable_dp.render import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MEASURED, _CLAIM, _LARGEST = "#2563a8", "#b45309", "#6b7280"
_WIDE = 2  # panels side by side


def svg(record: Record) -> str | None:
    """The figure of a record's claims about regret as inline SVG; None where there is nothing to draw."""
    checks = record.regret_checks
    panels = [[check] for check in checks if check.kind == "scaling"]
    means = [check for check in checks if check.kind == "mean_bound" and check.statistics["mean"] > 0]
    panels = [*([means] if means else []), *panels]
    if not panels:
        return None
    across = min(len(panels), _WIDE)
    down = -(-len(panels) // across)

    def draw(figure: Figure) -> None:
        grid = figure.subplots(down, across, squeeze=False)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        for axes, shown in zip(grid.flat, panels, strict=False):
            if shown[0].kind == "scaling":
                _rate(axes, shown[0])
            else:
                _bounds(axes, shown)

    return plots.inline("regret-claims", (3.9 * across, 3.4 * down), draw)


def _bounds(axes: Axes, checks: Sequence[Check]) -> None:
    for row, check in enumerate(checks):
        numbers, result, first = check.statistics, check.result, row == 0
        if result["lower"] is not None and result["lower"] > 0:
            axes.plot([result["lower"], result["upper"]], [row, row], color=_MEASURED, linewidth=1.5)
        axes.plot(numbers["mean"], row, "o", color=_MEASURED, label="measured" if first else None)
        if numbers["bound"] > 0:
            axes.plot(
                numbers["bound"], row, "|", color=_CLAIM, markersize=14, label="bound" if first else None
            )
        if numbers["largest"] > 0:
            axes.plot(
                numbers["largest"], row, "x", color=_LARGEST, label="largest possible" if first else None
            )
    axes.set_xscale("log")
    axes.set_yticks(range(len(checks)), [check.statistics.get("instance", "") for check in checks])
    axes.set_ylim(len(checks) - 0.4, -0.6)
    axes.set_title("bound", fontsize=9, loc="left")
    axes.set_xlabel("mean pseudo-regret at the horizon")
    plots.decades(axes.xaxis)
    plots.legend(axes, 3)


def _rate(axes: Axes, check: Check) -> None:
    """Means over x on logarithmic axes, with the claimed rate through their middle."""
    numbers, result = check.statistics, check.result
    xs = [float(point[0]) for point in numbers["points"]]
    means = [float(point[1]) for point in numbers["points"]]
    errors = [
        min(2 * float(point[2]), 0.9 * mean) for point, mean in zip(numbers["points"], means, strict=True)
    ]
    exponent, power = float(numbers["exponent"]), float(numbers["log_power"])
    claimed = [exponent * math.log(x) + (power * math.log(math.log(x)) if power else 0.0) for x in xs]
    shift = sum(math.log(mean) - line for mean, line in zip(means, claimed, strict=True)) / len(xs)
    over = str(numbers.get("over", "T"))
    rate = f"log {over}" if power else f"{over}^{exponent:g}"
    axes.errorbar(xs, means, yerr=errors, fmt="o", color=_MEASURED, markersize=4, capsize=2, label="measured")
    axes.plot(
        xs,
        [math.exp(line + shift) for line in claimed],
        color=_CLAIM,
        linewidth=1.2,
        label=f"claimed: {rate}",
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    few = sorted({xs[0], xs[len(xs) // 2], xs[-1]})
    axes.set_xticks(few, [f"{x:.4g}" for x in few])
    axes.set_xticks([], minor=True)
    axes.set_title(
        f"{check.name}: exponent {result['slope']:.3f}, {result['verdict']}", fontsize=9, loc="left"
    )
    axes.set_xlabel({"T": "horizon T", "K": "arms K"}.get(over, over))
    axes.set_ylabel("mean pseudo-regret")
    plots.decades(axes.yaxis)
    plots.legend(axes, 2)
