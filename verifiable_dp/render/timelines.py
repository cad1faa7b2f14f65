"""Plots of where things happen: in the stream, over the rounds, along a rate; and of broken variants."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from verifiable_dp.core.validate import Json
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.words import digits
from verifiable_dp.record.kills import OUTCOMES
from verifiable_dp.record.model import Record
from verifiable_dp.render import plots
from verifiable_dp.render.plots import BAD, CLAIM, GOOD, RIVAL, Style
from verifiable_dp.render.svg import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STEPS = 400  # steps of a drawn stream, at most
_FAR = 1e3  # of the claim: what lies beyond stands at the edge
_MARKERS = "osD^v<>p"


# ---------------------------------------------------------------- privacy loss over time


def spent(record: Record) -> Json | None:
    """Statistics of the first alignment that says how its costliest transcript pays; None without one."""
    found = [c.statistics for c in record.of_kind("alignment")]
    return next((numbers for numbers in found if numbers.get("spent")), None)


def loss_over_time(record: Record, *, narrow: bool = False) -> str | None:
    """How cost and privacy loss of the costliest transcript add up over the rounds, against the claim.

    Of normal noise both are epsilons at delta; where they are the same, there is one line. None where all is
    paid at once.
    """
    numbers = spent(record)
    costs = {row[1] for row in numbers["spent"]} if numbers else set()
    if numbers is None or (len(costs) == 1 and costs != {"inf"}):
        return None
    claim = float(numbers["epsilon"])
    rows = [(int(t), float(cost), float(loss)) for t, cost, loss in numbers["spent"]]
    right = rows[-1][0]
    finite = [(t, cost, abs(loss)) for t, cost, loss in rows if cost < _FAR * claim]
    beyond = [t for t, cost, _ in rows if cost >= _FAR * claim][:1]
    names, alike = ("cost", "size of the loss"), all(cost == loss for _, cost, loss in rows)
    if numbers["visible"] and record.claimed.delta:
        names = ("epsilon at delta" if alike else "epsilon at delta, at most", "at least")
    lines = [(1, GOOD, 2.0, names[0]), (2, INK, 1.0, names[1])][: 1 if alike else 2]

    def draw(axes: Axes) -> None:
        edge = plots.against(axes, record, [cost for _, cost, _ in finite], 1.02 * max(right, 1))
        times = [0, *(t for t, _, _ in finite), *(beyond or [right])]
        for column, color, width, name in lines:
            ys = [0.0, *(row[column] for row in finite)]
            axes.step(times, [*ys, ys[-1]], where="post", color=color, linewidth=width, label=name)
        if beyond:
            axes.plot(beyond, [edge], "^", color=BAD, markersize=7, clip_on=False, label="no bound")
            axes.axvline(beyond[0], color=BAD, linewidth=0.8, linestyle=":")
        plots.framed(axes, "rounds so far", "epsilon" if record.claimed.delta else "epsilon (log of a ratio)")

    return plots.single("loss over time", 2.5, draw, narrow=narrow)


# ---------------------------------------------------------------- where a counterexample sits


def seen_rounds(example: Json, horizon: int) -> tuple[int, int] | None:
    """First and last round that the event of a counterexample looks at; None where these are not its places.

    How many rounds a block has differs from run to run: only all of them are rounds.
    """
    found = example.get("looks_at")
    if not found or found["what"] not in ("round", "block"):
        return None
    if found["last"] is None:
        return 1, horizon
    return (1, min(int(found["last"]), horizon)) if found["what"] == "round" else None


def placed(example: Json) -> str:
    """What `placement` shows of a counterexample, in words; empty where there is nothing to show."""
    found = _changed(example.get("pair", {}))
    if found is None:
        return ""
    pair, horizon = example["pair"], sum(int(n) for n, _ in example["pair"]["rows"])
    place, arm, was, is_ = found
    where = f" of arm {arm}" if pair["type"] == "table" else ""
    words = (
        f"Rewards{where} in the recorded input; the reward of round {place} (of {horizon}) is {was:.4g} "
        "there "
        f"and {is_:.4g} in the neighbouring input."
    )
    event = str(example.get("event", ""))
    if not event:
        return f"{words} The whole run was recorded and replayed."
    rounds = seen_rounds(example, horizon)
    if rounds:
        return f"{words} The event depends on rounds {rounds[0]} to {rounds[1]} (bar below)."
    if (found := example.get("looks_at")) and found["what"] == "block":
        blocks = f"blocks 1 to {found['last']}"
        return f"{words} The event depends on {blocks}, whose rounds differ from run to run."
    return f"{words} The event depends on the final output."


def _changed(pair: Json) -> tuple[int, int, float, float] | None:
    """Round from 1, arm, reward in the recorded input and in the neighbour, of a pair that differs in one."""
    if pair.get("type") not in ("table", "stream") or not pair.get("rows"):
        return None
    place, arm, before = int(pair["round"]), int(pair.get("arm", 0)), 0
    for repeats, rewards in pair["rows"]:
        before += int(repeats)
        if place < before:
            return place + 1, arm, float(rewards[arm]), float(pair["value"])
    return None


def worlds(pair: Json, most: int = 10) -> list[tuple[str, str, str, bool]]:
    """Rewards of both inputs side by side: rounds, recorded input, neighbour, and whether they differ.

    Rounds that are equal within and between the inputs are one row; at most `most` rows, the one that differs
    among them. Empty where the inputs do not differ in one reward of a table or stream.
    """
    found = _changed(pair)
    if found is None:
        return []
    place, arm, _, value = found
    rows: list[tuple[str, str, str, bool]] = []
    start = 1
    for repeats, rewards in pair["rows"]:
        end = start + int(repeats) - 1
        if start <= place <= end:
            other = [value if i == arm else float(reward) for i, reward in enumerate(rewards)]
            rows += _run(start, place - 1, rewards, rewards)
            rows += _run(place, place, rewards, other)
            rows += _run(place + 1, end, rewards, rewards)
        else:
            rows += _run(start, end, rewards, rewards)
        start = end + 1
    if len(rows) > most:
        at = next(i for i, row in enumerate(rows) if row[3])
        first = max(0, min(at - most // 2, len(rows) - most))
        rows = rows[first : first + most]
    return rows


def _run(
    first: int, last: int, left: Sequence[float], right: Sequence[float]
) -> list[tuple[str, str, str, bool]]:
    if last < first:
        return []
    was, is_ = (", ".join(digits(float(reward)) for reward in rewards) for rewards in (left, right))
    rounds = str(first) if first == last else f"{first} to {last}"
    return [(rounds, was, is_, list(map(float, left)) != list(map(float, right)))]


def placement(example: Json, number: int = 0, *, narrow: bool = False) -> str | None:
    """Where the reward that differs sits in the stream, and which rounds the event looks at.

    Parameters
    ----------
    example
        Of the counterexamples of a record.
    number
        Of the figure on its page: its ids have to differ from those of others.

    Returns
    -------
    str or None
        Inline SVG; None where the inputs differ in several rounds, or are chosen as the run goes on, or
        where there is one round only.
    """
    found = _changed(example.get("pair", {}))
    if found is None:
        return None
    place, arm, was, is_ = found
    edges, values = [0.5], []  # a round reaches half a round to either side of its number
    for repeats, rewards in example["pair"]["rows"]:
        edges.append(edges[-1] + int(repeats))
        values.append(float(rewards[arm]))
    horizon = int(edges[-1])
    if horizon == 1:
        return None
    if len(values) > _STEPS:  # drawn as a few: nobody sees more
        kept = range(0, len(values), -(-len(values) // _STEPS))
        edges, values = [*(edges[i] for i in kept), edges[-1]], [values[i] for i in kept]
    rounds = seen_rounds(example, horizon)

    def draw(axes: Axes) -> None:
        style: Style = {"color": RIVAL, "linewidth": 1.2, "label": "recorded input"}
        axes.stairs(values, edges, baseline=None, **style)
        axes.plot([place, place], [was, is_], color=BAD, linewidth=1)
        axes.plot(place, was, "o", color=BAD, markersize=6, label="reward that differs")
        axes.plot(place, is_, "o", color=BAD, mfc="white", markersize=6, label="in the neighbour")
        low, high = min([*values, is_]), max([*values, is_])
        room = (high - low) or 1.0
        if rounds:
            bar: Style = {
                "color": GOOD,
                "linewidth": 5,
                "solid_capstyle": "butt",
                "label": "seen by the event",
            }
            axes.plot([rounds[0] - 0.5, rounds[1] + 0.5], [low - 0.22 * room] * 2, **bar)
        axes.set_ylim(low - 0.35 * room, high + 0.15 * room)
        axes.set_xlim(0.5, horizon + 0.5)
        plots.framed(axes, "round", "reward")

    return plots.single(f"placement {number}", 1.9, draw, narrow=narrow)


# ---------------------------------------------------------------- scaling


def over_time(record: Record, *, narrow: bool = False) -> str | None:
    """Mean regret over horizons with the rate that its theorem claims; None where none was measured so."""
    checks = _rates(record).get(_TIME)
    return _grown("regret over time", _TIME, checks, narrow) if checks else None


def over_others(record: Record, *, narrow: bool = False) -> str | None:
    """The same over each quantity but the horizon."""
    others = [(over, checks) for over, checks in _rates(record).items() if over != _TIME]
    drawn = (_grown(f"scaling {number}", *one, narrow) for number, one in enumerate(others))
    return "".join(drawn) or None


def _rates(record: Record) -> dict[str, list[Check]]:
    """Checks of growth by what it is in."""
    found: dict[str, list[Check]] = {}
    for check in record.regret_checks:
        if check.kind in ("scaling", "linear_in_log") and len({p[0] for p in check.statistics["points"]}) > 1:
            over = check.statistics.get("over", "T")
            found.setdefault(_TIME if over in ("horizon T", "T") else over, []).append(check)
    return found


def _grown(name: str, over: str, checks: Sequence[Check], narrow: bool) -> str:
    height = 2.6 + (0.32 if narrow else 0.18) * len(checks)
    return plots.single(name, height, functools.partial(growing, checks=checks, over=over), narrow=narrow)


def growing(axes: Axes, checks: Sequence[Check], over: str) -> None:
    """Means over a quantity, which is horizon T where no check says another, with the claimed rates."""
    for check, marker, color in zip(checks, _MARKERS, plots.MANY, strict=False):
        _growing(axes, check, marker, color, "T" if over == _TIME else over)
    plots.framed(axes, over, "mean pseudo-regret (units of reward)", log="xy", columns=2)


_TIME = "horizon T (rounds)"


def _growing(axes: Axes, check: Check, marker: str, color: str, letter: str) -> None:
    """Means with error bars, and the claimed growth through their (geometric) middle."""
    numbers = check.statistics
    xs, means, errors = (
        [float(value) for value in column] for column in zip(*(p[:3] for p in numbers["points"]), strict=True)
    )
    bars = plots.bars(errors, means)
    instance = numbers.get("instance", check.name)
    axes.errorbar(xs, means, yerr=bars, fmt=marker, color=color, markersize=4, capsize=2, label=instance)
    logs = check.kind == "linear_in_log"
    exponent, power = (0.0, 1.0) if logs else (float(numbers["exponent"]), float(numbers["log_power"]))
    claimed = [exponent * math.log(x) + (power * math.log(math.log(x)) if power else 0.0) for x in xs]
    shift = math.fsum(math.log(y) - line for y, line in zip(means, claimed, strict=True)) / len(xs)
    parts = [f"{letter}^{exponent:.3g}" if exponent else "", f"(log {letter})^{power:.3g}" if power else ""]
    rate = " ".join(filter(None, parts)).replace("^1", "") or "constant"
    style: Style = {"color": color, "linestyle": "--", "linewidth": 1}
    growth = [math.exp(line + shift) for line in claimed]
    axes.plot(xs, growth, label=f"{instance}: theorem's rate {rate}", **style)


# ---------------------------------------------------------------- broken variants

_OUTCOMES = {"killed": (GOOD, ""), "within_the_claim": (RIVAL, "//"), "undecided": (CLAIM, "..")}


def kills(rows: Sequence[Json], *, narrow: bool = False) -> str | None:
    """How many broken variants of each algorithm came out how; None without any."""
    names = list(dict.fromkeys(row["algorithm"] for row in rows))
    outcomes = dict.fromkeys([*_OUTCOMES, *(row["outcome"] for row in rows)])
    if not names:
        return None

    def draw(axes: Axes) -> None:
        left, height = [0] * len(names), 0.5 if narrow else 0.7
        for outcome in outcomes:
            counts = [sum(r["algorithm"] == n and r["outcome"] == outcome for r in rows) for n in names]
            if not any(counts):
                continue
            color, hatch = _OUTCOMES.get(outcome, (BAD, "xx"))
            style: Style = {"color": color, "hatch": hatch, "edgecolor": "white", "height": height}
            axes.barh(range(len(names)), counts, left=left, label=OUTCOMES[outcome], **style)
            left = [a + b for a, b in zip(left, counts, strict=True)]
        plots.rows_named(axes, names)
        axes.set_ylim(len(names) - 0.4, -0.8 if narrow else -0.6)
        plots.framed(axes, "broken variants")

    return plots.single("kills", 0.9 + (0.38 if narrow else 0.2) * len(names), draw, narrow=narrow)
