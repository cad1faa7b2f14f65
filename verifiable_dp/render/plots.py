"""Plots of a record, as inline SVG: the same record gives the same bytes."""

from __future__ import annotations

import contextlib
import io
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from verifiable_dp.core import paths
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.units import Role
from verifiable_dp.core.validate import FloatArray, Function, Json, JsonValue, printable
from verifiable_dp.evidence.blackbox.statistics import ratio_lower
from verifiable_dp.evidence.check import Check
from verifiable_dp.record.model import Record
from verifiable_dp.render import svg
from verifiable_dp.render.svg import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Colours that differ in lightness too, so that they can be told apart without hue.
_LABEL = 40  # characters of a label
CLAIM, GOOD, BAD, RIVAL = "#b45309", "#2563a8", "#9f1d35", "#6b7280"
MANY = (GOOD, BAD, INK, CLAIM, "#0f766e", RIVAL, "#7c3aed", "#a16207")  # of lines that belong together


Style = Any  # type: ignore[explicit-any]  # keywords and settings of matplotlib, which types each by its name
SETTINGS: Style = {
    "svg.fonttype": "none",  # text as text: it can be read, searched and scaled, and takes fewer bytes
    "font.sans-serif": ["DejaVu Sans", "sans-serif"],
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


WIDE, NARROW = 7.0, 3.5  # inches: of a figure on a desktop, and of its own layout on a phone
_ROOM = 0.75  # inches that legends take more where they stand in one column
_CHARACTER = 4.6  # points that a character of 8 points takes
_BESIDE = 36  # characters of a line of a name beside the axes
_EQUALS = "\u00a0=\u00a0"  # a line of a label does not end beside it
_GAP = 11  # points from one name at the end of a line to the next


def single(name: str, height: float, draw: Callable[[Axes], None], *, narrow: bool = False) -> str:
    """Inline SVG of a figure with one pair of axes; ids are made unique by `name`."""
    size = (NARROW, height + _ROOM) if narrow else (WIDE, height)
    return inline(f"{name} narrow" if narrow else name, size, lambda figure: draw(figure.add_subplot()))


def is_narrow(axes: Axes) -> bool:
    """Whether the axes are in the layout of a phone."""
    return bool(axes.figure.figure.get_figwidth() < (WIDE + NARROW) / 2)


def legend(axes: Axes, columns: int = 4, title: str | None = None) -> None:
    """Names where lines and points end; of other marks, and on a phone, a legend above the data."""
    handles, labels = axes.get_legend_handles_labels()
    grid = axes.get_subplotspec()
    across = grid.get_gridspec().ncols if grid else 1
    ends = [_end(axes, handle) for handle in handles]
    labels = [str(label).replace(" = ", _EQUALS) for label in labels]
    beside = [textwrap.fill(label, _BESIDE, break_on_hyphens=False) for label in labels]
    gap = _GAP / (72 * 0.75 * axes.figure.figure.get_figheight())
    fits = gap * sum(1 + name.count("\n") for name in beside) <= 1 and not is_narrow(axes) and across == 1
    if fits and all(ends) and any(end and end[3] for end in ends):
        axes.set_title(title or "", fontsize=8, loc="left")
        _named(axes, sorted(zip(filter(None, ends), beside, strict=True)), gap)
        return
    wide = int(72 * axes.figure.figure.get_figwidth() / across / _CHARACTER) - 6
    folded = [textwrap.fill(label, wide) for label in labels]
    longest = max((len(line) for label in folded for line in label.split("\n")), default=0)
    fitting = max(1, min(columns, wide // (longest + 7)))
    style: Style = {"title": title, "title_fontsize": 8} if title else {}
    place: Style = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)}
    axes.legend(handles, folded, frameon=False, fontsize=8, ncols=fitting, **place, **style)


def _end(axes: Axes, handle: Style) -> tuple[float, float, str, bool] | None:
    """Where a line or its points end: height and place on the axes, colour, whether it has several points.

    None of other marks.
    """
    line = getattr(handle, "lines", [handle])[0]  # error bars have theirs first
    if not hasattr(line, "get_xydata") or not len(line.get_xydata()):
        return None
    points = axes.transAxes.inverted().transform(line.get_transform().transform(line.get_xydata()))
    x, y = points[max(range(len(points)), key=lambda i: (points[i][0], i))]  # the last of the rightmost
    if not (math.isfinite(x) and math.isfinite(y)):
        return None
    # Rounded, so that last digits do not say which of two lines that meet is named first.
    return round(min(max(y, 0.0), 1.0), 3), round(min(x, 1.0), 3), str(line.get_color()), len(points) > 1


def _named(axes: Axes, ends: Sequence[tuple[tuple[float, float, str, bool], str]], gap: float) -> None:
    """Names beside the axes, each at the height of its line and none over another, from the lowest."""
    apart = [gap * (2 + a.count("\n") + b.count("\n")) / 2 for (_, a), (_, b) in pairwise(ends)]
    heights: list[float] = []
    for i, ((y, *_), _) in enumerate(ends):
        heights.append(max([y, *(height + apart[i - 1] for height in heights[-1:])]))
    heights[-1] = min(heights[-1], 1.0)
    for i in reversed(range(len(heights) - 1)):  # back under the upper edge
        heights[i] = min(heights[i], heights[i + 1] - apart[i])
    style: Style = {"xycoords": "axes fraction", "textcoords": "axes fraction", "va": "center", "fontsize": 8}
    for ((y, x, colour, _), label), height in zip(ends, heights, strict=True):
        lead: Style = {"arrowstyle": "-", "color": colour, "linewidth": 0.5, "shrinkB": 0, "relpos": (0, 0.5)}
        axes.annotate(label, (x, y), (1.03, height), color=colour, arrowprops=lead, **style)


def framed(
    axes: Axes, x: str, y: str = "", *, log: str = "", columns: int = 4, title: str | None = None
) -> None:
    """Name the axes, write those in `log` in powers of ten, and add the legend: once all is drawn."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    for name in log:
        axes.set(**{f"{name}scale": "log"})
    for axis in (axes.xaxis if name == "x" else axes.yaxis for name in log):
        decades(axis)
    legend(axes, columns, title)


def decades(axis: Axis) -> None:
    """A logarithmic axis whose powers of ten are written in letters of full size."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    low, high = axis.get_view_interval()
    if high < 3 * low:
        axis.set_major_locator(MaxNLocator(4))
    else:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100 * low else (1.0,), numticks=6))
    axis.set_major_formatter(FuncFormatter(_power))
    axis.set_minor_locator(NullLocator())  # each small tick takes sixty bytes


def _power(value: float, _: object = None) -> str:
    exponent = round(math.log10(value)) if value > 0 else 0
    if value <= 0 or abs(value / 10.0**exponent - 1) > 1e-6 or -4 < exponent < 4:
        return _short(value)
    return f"10{str(exponent).translate(_RAISED)}"


def _short(value: float) -> str:
    """Such as 0.5 and 2·10⁴."""
    digits, _, exponent = f"{value:.4g}".partition("e")
    return f"{digits}·10{str(int(exponent)).translate(_RAISED)}" if exponent else digits


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def rows_named(axes: Axes, names: Sequence[str]) -> None:
    """Names of rows beside them; above them where there is no room."""
    if not is_narrow(axes):
        axes.set_yticks(range(len(names)), names)
        return
    axes.set_yticks([])
    style: Style = {"fontsize": 8, "va": "bottom", "transform": axes.get_yaxis_transform(), "bbox": _COVER}
    for row, name in enumerate(names):
        axes.text(0.01, row - 0.34, name, **style)


_COVER = {"facecolor": "white", "edgecolor": "none", "pad": 0}  # of a line behind a text


def rows_high(names: Sized, narrow: bool) -> float:
    """Inches that rows take."""
    return (0.5 if narrow else 0.32) * len(names)


_UNDRAWN = (  # where the extra `plots` is not installed
    '<svg viewBox="0 0 {:.0f} {:.0f}" xml:space="preserve" aria-hidden="true">'
    '<text x="8" y="24" font-size="12">To draw this: pip install "verifiable-dp[plots]"</text></svg>'
)


@contextlib.contextmanager
def styled(**more: Style) -> Iterator[None]:
    """Draw with our settings, and these, alone: a file in the current folder may hold others."""
    import matplotlib

    whole: Style = {**SETTINGS, **more}
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(whole)
        yield


def inline(name: str, size: tuple[float, float], draw: Callable[[Figure], None]) -> str:
    """Inline SVG of what `draw(figure)` draws; ids are made unique by `name`."""
    try:
        with paths.elsewhere():
            from matplotlib.backends.backend_svg import FigureCanvasSVG
            from matplotlib.figure import Figure
    except ImportError:
        return _UNDRAWN.format(*(72 * inches for inches in size))
    with styled(**{"svg.hashsalt": name}):
        figure = Figure(figsize=size, layout="constrained", facecolor="none", edgecolor="none")
        write: Function[None] = FigureCanvasSVG(figure).print_svg
        draw(figure)
        for axes in figure.axes:
            axes.patch.set(facecolor="none", edgecolor="none")
        out = io.StringIO()
        # As `savefig`, which draws twice: the first time to lay out what is laid out here as it is drawn.
        write(out, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = svg.compact(svg.renamed(printable(text), name))
    text = re.sub(r' xmlns(:xlink)?="[^"]*"', "", text)
    text = text.replace("xlink:href", "href")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    return re.sub(
        r'<svg [^>]*?viewBox="([^"]*)"[^>]*>',
        r'<svg viewBox="\1" xml:space="preserve" aria-hidden="true">',
        text,
        count=1,
    )


def bound(checks: Sequence[Check]) -> float:
    """The largest lower bound on epsilon of some checks."""
    return max((c.epsilon_lower for c in checks), default=0.0)


def around(checks: Sequence[Check]) -> tuple[float, float | None] | None:
    """Estimate and upper limit of the epsilon of the one event that gives the largest lower bound.

    The limit is as sure as the lower bound; None with a delta, where no interval is made. It holds for that
    event only: epsilon is the largest over all. No pair where the bound does not come from counts.
    """
    best = max(checks, key=lambda c: c.epsilon_lower, default=None)
    if best is None or best.kind != "black_box" or "epsilon_point" not in best.result:
        return None
    numbers, point = best.statistics, float(best.result["epsilon_point"])
    if float(numbers["delta"]) > 0 or not numbers["k1"]:
        return point, None
    level = (1 - float(numbers["confidence"])) / int(numbers["tests"])
    return point, -ratio_lower(int(numbers["k0"]), int(numbers["k1"]), level)


def epsilon_bars(record: Record, *, narrow: bool = False) -> str | None:
    """Bounds on epsilon of the target and of its broken variants with their intervals, against the claim."""
    if not record.checks or record.claim is None:
        return None
    claim = record.claimed.epsilon
    name = record.target.name
    name = name if len(name) <= _LABEL else f"…{name[-_LABEL:]}"  # a wide label leaves no room for bars
    bars: list[tuple[str, float, str, tuple[float, float | None] | None]] = [
        (name, bound(record.checks), record.verdict, around(record.checks))
    ]
    sampled = record.of_kind("black_box")
    if sampled and bars[0][3] is None:  # a rung without sampling says more; how near the black box comes
        best = max(sampled, key=lambda c: c.epsilon_lower)
        bars.append(("its black box", bound([best]), best.verdict, around([best])))
    own = len(bars)
    for mutant in record.mutants:
        if mutant.breaks == "privacy":
            checks = mutant.checks
            bars.append((f"broken: {mutant.name}", bound(checks), mutant.verdict, around(checks)))
    finite = [value for _, value, _, _ in bars if value < 1e6]
    upper = record.epsilon_upper
    most = float(upper.epsilon) if upper is not None and record.verdict != "refuted" else None
    right = 1.25 * max([2 * claim, *(v for v in finite if v < 12 * claim)])

    def draw(axes: Axes) -> None:
        for row, (_, value, verdict, near) in enumerate(bars):
            caught = (verdict == "refuted") == (row >= own)
            color = GOOD if caught else BAD  # a broken variant that is caught is good news
            axes.barh(row, min(value, right), color=color, height=0.5)
            end = _interval(axes, row, value, near, right) if near else value
            label = "∞" if value == float("inf") else f"{value:.3g}"
            beyond = value > 0.9 * right
            style: Style = {"color": "white", "ha": "right"} if beyond else {"bbox": _COVER, "ha": "left"}
            at: Style = {"textcoords": "offset points", "va": "center", "fontsize": 8, **style}
            # Browsers drop spaces at the ends of a text: the room beside it is an offset.
            if beyond:
                axes.annotate(f"{label} →", (right, row), (-4, 0), **at)
            else:
                clear = claim if 0 <= claim - end < 0.02 * right else end  # beside the line, not under it
                axes.annotate(label, (clear, row), (5, 0), **at)
        axes.axvline(claim, color=CLAIM, linewidth=1.5)
        axes.text(claim, -1.05, claimed(record), color=CLAIM, ha="center", fontsize=8, bbox=_COVER)
        if most is not None:
            axes.plot([most, most], [-0.42, 0.42], color=INK, linewidth=2)
            axes.plot([most - 0.01 * right, most], [-0.42, -0.42], color=INK, linewidth=1.2)
            axes.plot([most - 0.01 * right, most], [0.42, 0.42], color=INK, linewidth=1.2)
            place: Style = {"textcoords": "offset points", "va": "center", "fontsize": 8, "bbox": _COVER}
            shown = f"at most {most:.4g}"
            axes.annotate(shown, (most, -0.6), (5, 0), ha="left", **place)
        rows_named(axes, names)
        axes.set_xlim(0, right)
        axes.set_ylim(len(bars) - 0.4, -1.2)
        axes.set_xlabel("lower bound on epsilon (95 %)" if sampled else "lower bound on epsilon")

    names = [name for name, _, _, _ in bars]
    return single("epsilon", 0.9 + rows_high(names, narrow), draw, narrow=narrow)


def _interval(axes: Axes, row: int, value: float, near: tuple[float, float | None], right: float) -> float:
    """Draw estimate and upper limit beyond a bar; where they end, if that is within the plot."""
    point, upper = near
    if not value <= point < right:
        return value
    most = point if upper is None else min(upper, right)
    axes.plot([value, most], [row, row], color=INK, linewidth=1.2)
    axes.plot(point, row, "D", color=INK, mfc="white", markersize=4)
    if upper is not None and upper < right:
        axes.plot(upper, row, "|", color=INK, markersize=7)
    return most + 0.008 * right if most < 0.85 * right else value


def hockey_stick(record: Record, *, narrow: bool = False) -> str | None:
    """The measured hockey-stick curve against what the claim implies; None where none was measured."""
    found = record.of_kind("curve")
    if not found:
        return None
    return curve(record.claimed.value, found[0].result["points"], narrow=narrow)


def curve(
    claim: PrivacyClaim,
    points: Sequence[Json] = (),
    law: Callable[[list[float]], FloatArray] | None = None,
    *,
    narrow: bool = False,
) -> str:
    """Delta over epsilon: the claim's curve, lower bounds from counts, and the exact curve.

    Parameters
    ----------
    claim
        Its curve is drawn, and its (epsilon, delta) marked.
    points
        Of the result of a ``curve`` check.
    law
        `law(epsilons)` gives the exact deltas (n,) at epsilons (n,), such as `evidence.exact.law.Law.curve`.
    narrow
        In the layout of a phone.
    """
    measured = [(float(p["epsilon"]), float(p["delta_lower"])) for p in points if "epsilon" in p]
    measured += [(float(p["epsilon_lower"]), float(p["delta"])) for p in points if "delta" in p]
    measured = sorted((x, y) for x, y in measured if y > 0 and x < _WIDEST and (x > 0 or y > _FAINTEST))
    right = 1.15 * max([1.25 * claim.epsilon, *(x for x, _ in measured)])
    least = min([claim.delta or 1.0, *(y for _, y in measured)])
    bottom = max(min(0.3 * least, 1e-3), _FAINTEST)
    steps = [right * i / 300 for i in range(301)]

    def draw(axes: Axes) -> None:
        implied = [(x, max(claim.delta_at(x), 1e-300)) for x in steps]
        axes.plot(*zip(*implied, strict=True), color=CLAIM, linewidth=1.5, label="claimed at most")
        if law is not None:
            deltas = [max(float(y), 1e-300) for y in law(steps)]
            axes.plot(steps, deltas, color=INK, linewidth=1.2, linestyle="--", label="exact")
        if measured:
            style: Style = {"color": GOOD, "markersize": 4, "linestyle": "none", "label": "measured at least"}
            axes.plot(*zip(*measured, strict=True), "o", **style)
        here: Style = {"color": CLAIM, "mfc": "white", "clip_on": False, "label": "the claim"}
        axes.plot(claim.epsilon, max(claim.delta, bottom), "D", **here)
        axes.set(yscale="log", ylim=(bottom, 1.3), xlim=(0, right))
        framed(axes, "epsilon", "delta (probability)", log="y")

    return single("hockey stick", 3.0, draw, narrow=narrow)


_WIDEST, _FAINTEST = 1e3, 1e-9


_BINS = 80  # points of a plot over the horizon, at most


def traced(record: Record) -> Json | None:
    """Statistics of the check by tracing; None without one."""
    found = [check.statistics for check in record.of_kind("tracing")]
    return found[0] if found else None


def binned(points: Sequence[tuple[float, float]], most: int = _BINS) -> list[tuple[float, float]]:
    """At most `most` points (x, y) in the order of x: of neighbouring ones the one with the largest y."""
    ordered = sorted(points)
    width = -(-len(ordered) // most)
    if width <= 1:
        return ordered
    parts = [ordered[i : i + width] for i in range(0, len(ordered), width)]
    return [max(part, key=lambda point: point[1]) for part in parts]


def claimed(record: Record) -> str:
    """What the epsilon is that a plot draws as a line: nobody claims that of a baseline."""
    return "yardstick" if record.target.role is Role.BASELINE else "claim"


def against(axes: Axes, record: Record, costs: Sequence[float], right: float) -> float:
    """Draw the claim as a line and leave room above; the height at which the infinite stands."""
    claim = record.claimed.epsilon
    top = 1.3 * max([claim, *(y for y in costs if y < float("inf"))])
    axes.axhline(claim, color=CLAIM, linewidth=1.5, linestyle="--", label=claimed(record))
    axes.set_ylim(0, top)
    axes.set_xlim(0, right)
    return 0.93 * top


def budget(record: Record, *, narrow: bool = False) -> str | None:
    """What the reward of each round pays, as tracing bounds it, against the claim."""
    numbers = traced(record)
    if numbers is None or not numbers["attribution"]:
        return None
    points = binned([(row[0] + 1, float(row[2])) for row in numbers["attribution"]])
    horizon = record.target.parameters.get("horizon", 0)
    right = max([horizon if isinstance(horizon, int) else 0, *(x for x, _ in points)]) + 1
    infinite = [x for x, y in points if y == float("inf")]
    paid = [(x, y) for x, y in points if y < float("inf")]

    def draw(axes: Axes) -> None:
        edge = against(axes, record, [y for _, y in points], right)
        if paid:
            xs, ys = zip(*paid, strict=True)
            axes.vlines(xs, 0, ys, color=GOOD, linewidth=1)
            style: Style = {"color": GOOD, "markersize": 3.5, "clip_on": False, "label": "cost of the reward"}
            axes.plot(xs, ys, "o", **style)
        if infinite:
            axes.vlines(infinite, 0, edge, color=BAD, linewidth=0.8, linestyle=":")
            axes.plot(infinite, [edge] * len(infinite), "^", color=BAD, markersize=5, label="∞")
        framed(axes, "round of the reward", "cost at most (epsilon)")

    return single("budget", 2.7, draw, narrow=narrow)


def spending(record: Record, *, narrow: bool = False) -> str | None:
    """How the cost of the costliest pair of runs adds up over its releases; None for one or two of them."""
    numbers = traced(record)
    points = [(x, float(y)) for x, y in numbers.get("spent", [])] if numbers else []
    points = binned([(x, y) for x, y in points if y < float("inf")])
    if numbers is None or len(points) < _FEW:
        return None
    right = max(int(numbers["releases"]), int(points[-1][0])) + 1

    def draw(axes: Axes) -> None:
        against(axes, record, [y for _, y in points], right)
        xs, ys = zip((0, 0.0), *points, (right, points[-1][1]), strict=True)
        axes.step(xs, ys, where="post", color=GOOD, linewidth=1.5, label="cost so far")
        framed(axes, "releases so far", "cost at most (epsilon)")

    return single("spending", 2.4, draw, narrow=narrow)


_FEW = 3  # releases that pay, at least, for their sum to be worth a plot


def regret_bounds(record: Record, *, narrow: bool = False) -> str | None:
    """Measured mean regret beside the theorem's bound, and beside a rival where one was run."""
    checks = [c for c in record.regret_checks if c.kind == "mean_bound"]
    checks = [c for c in checks if c.statistics["mean"] > 0]  # the axis is logarithmic
    if not checks:
        return None
    rivals = {
        c.statistics.get("instance"): c.statistics for c in record.regret_checks if c.kind == "comparison"
    }

    def draw(axes: Axes) -> None:
        bounds(axes, checks, rivals)

    return single("regret", 1.2 + rows_high(checks, narrow), draw, narrow=narrow)


def bounds(axes: Axes, checks: Sequence[Check], rivals: Mapping[JsonValue, Json]) -> None:
    """Measured means, a row each, beside their bounds, the largest possible values and rivals by instance."""
    named: set[str] = set()
    for row, check in enumerate(checks):
        numbers, result = check.statistics, check.result
        if result["lower"] is not None and result["lower"] > 0:
            axes.plot([result["lower"], result["upper"]], [row, row], color=GOOD, linewidth=2)
        rival = rivals.get(numbers.get("instance")) or {}
        marks: list[tuple[JsonValue, str, str, Style]] = [
            (numbers["mean"], "measured", "o", {"color": GOOD}),
            (numbers["bound"], "bound", "|", {"color": CLAIM, "markersize": 14}),
            (numbers.get("largest") or None, "largest possible", "x", {"color": RIVAL}),
            (rival.get("mean_b"), rival.get("rival", "rival"), "s", {"mfc": "none", "color": BAD}),
        ]
        for x, label, marker, style in marks:
            if x is not None:
                axes.plot(x, row, marker, label=None if label in named else label, **style)
                named.add(label)
    rows_named(axes, [str(c.statistics.get("instance", c.name)) for c in checks])
    axes.set_ylim(len(checks) - 0.5, -0.8)
    framed(axes, "mean pseudo-regret at the horizon (units of reward)", log="x")


_SURE = 1.96  # standard errors of an interval at 95 %


def bars(errors: Sequence[float], means: Sequence[float] = ()) -> list[float] | None:
    """Error bars at 95 % from standard errors, none where all are 0; with means they end above an axis' 0."""
    sizes = [_SURE * float(error) for error in errors]
    sizes = [min(size, 0.9 * mean) for size, mean in zip(sizes, means, strict=True)] if means else sizes
    return sizes if any(sizes) else None
