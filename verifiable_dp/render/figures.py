"""Figures of a study, drawn from the numbers of its data file: the same numbers give the same bytes."""

from __future__ import annotations

import functools
import io
from typing import TYPE_CHECKING

from verifiable_dp.core import paths
from verifiable_dp.core.validate import InputError, Json
from verifiable_dp.registry.study import REGRET
from verifiable_dp.render import plots
from verifiable_dp.render.plots import Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#2563a8", "#9f1d35", "#1f2933", "#b45309", "#0f766e", "#6b7280", "#7c3aed", "#a16207")
_DASHES = ("-", "--", "-.", ":")
_WIDE = 2  # panels side by side
_DECADES = 1e5  # how far back from the horizon a logarithmic time axis reaches


def svg(figure: Json) -> str:
    """A figure of the data file as inline SVG, panels side by side."""
    return plots.inline(figure["name"], size(figure), lambda drawn: _draw(drawn, figure))


def panels(figure: Json, *, narrow: bool = False) -> str:
    """The panels of a figure of the data file, each as inline SVG, for a page and for paper."""
    return "".join(
        plots.single(
            f"{figure['name']} {number}",
            (2.4 + 0.17 * (len(panel["lines"]) + len(panel["bounds"])) * narrow),
            functools.partial(_panel, panel=panel),
            narrow=narrow,
        )
        for number, panel in enumerate(figure["panels"])
    )


def png(figure: Json) -> bytes:
    """The same as PNG at 160 dots per inch, on white.

    Raises
    ------
    InputError
        Without matplotlib.
    """
    try:
        with paths.elsewhere():
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
    except ImportError:
        raise InputError('figures need matplotlib: pip install "verifiable-dp[plots]"') from None
    with plots.styled():
        drawn = Figure(figsize=size(figure), layout="constrained")
        FigureCanvasAgg(drawn)
        _draw(drawn, figure)
        out = io.BytesIO()
        drawn.savefig(out, format="png", dpi=160, metadata={"Software": None})
    return out.getvalue()


def size(figure: Json) -> tuple[float, float]:
    """Width and height in inches."""
    shown = figure["panels"]
    across = min(len(shown), _WIDE)
    named = max((len(panel["lines"]) + len(panel["bounds"]) for panel in shown), default=0)
    return (plots.WIDE if across > 1 else 5.5, (3.0 + 0.17 * named) * -(-len(shown) // across))


def _draw(drawn: Figure, figure: Json) -> None:
    shown = figure["panels"]
    across = min(len(shown), _WIDE)
    grid = drawn.subplots(-(-len(shown) // across), across, squeeze=False)
    for axes in grid.flat[len(shown) :]:
        axes.set_visible(False)
    for axes, panel in zip(grid.flat, shown, strict=False):
        _panel(axes, panel)


def _lowest(axes: Axes, panel: Json) -> None:
    """The y axis begins below what is seen."""
    left = axes.get_xlim()[0]
    seen = [
        y
        for line in panel["lines"]
        for x, y in zip(line["xs"], line["means"], strict=True)
        if x >= left and y > 0
    ]
    if seen and panel["logy"]:
        axes.set_ylim(bottom=0.7 * min(seen))


def _panel(axes: Axes, panel: Json) -> None:
    colours = {}
    for number, line in enumerate(panel["lines"]):
        colour = colours[line["label"]] = _COLOURS[number % len(_COLOURS)]
        xs, means, lows, highs = (line[key] for key in ("xs", "means", "lows", "highs"))
        style: Style = {"color": colour, "linestyle": _DASHES[number % len(_DASHES)], "label": line["label"]}
        if panel["axis"] == "t":
            axes.plot(xs, means, linewidth=1.3, **style)
            if lows != highs:
                axes.fill_between(xs, lows, highs, color=colour, alpha=0.15, linewidth=0)
            continue
        sizes = [
            [mean - low for mean, low in zip(means, lows, strict=True)],
            [high - mean for mean, high in zip(means, highs, strict=True)],
        ]
        marker = "osD^v"[number % 5]
        axes.errorbar(xs, means, yerr=sizes, linewidth=1.2, marker=marker, markersize=3.5, capsize=2, **style)
    for number, bound in enumerate(panel["bounds"]):
        style = {"color": colours.get(bound["line"], "#111827"), "label": bound["label"]}
        axes.plot(bound["xs"], bound["ys"], linestyle=(0, (1, 1 + number % 3)), linewidth=1.1, **style)
    if not panel["logy"]:
        axes.set_ylim(bottom=0)
    axes.set(**{f"{name}scale": "log" for name in "xy" if panel[f"log{name}"]})
    if panel["axis"] == "t" and panel["logx"]:
        last = max((line["xs"][-1] for line in panel["lines"]), default=1.0)
        axes.set_xlim(max(last / _DECADES, 1.0), 1.3 * last)
        _lowest(axes, panel)
    named = "round t" if panel["axis"] == "t" else panel["axis"]
    logarithmic = "".join(name for name in "xy" if panel[f"log{name}"])
    # The title stands in the legend: one of the axes would lie under it.
    measured = panel.get("measured", REGRET)
    plots.framed(axes, named, measured, log=logarithmic, columns=2, title=panel["title"])
