"""Regret against epsilon beside that of a baseline, as the figures of studies have it."""

from __future__ import annotations

from collections.abc import Sequence

from verifiable_dp.core.validate import Json, JsonDict, JsonValue
from verifiable_dp.evidence.regret import readings
from verifiable_dp.evidence.words import digits
from verifiable_dp.record import words
from verifiable_dp.record.model import Record
from verifiable_dp.render import figures

AXES = frozenset({"epsilon", "rho"})  # parameters that say how much privacy is bought
_KEYS = ("epsilon", "mean_a", "lower_a", "upper_a", "mean_b")


def prices(record: Record, *, narrow: bool = False) -> str | None:
    """The plot of a record's tables of prices; None without one."""
    tables = [t for t in record.tables if t.kind == "price"]
    places: dict[str, list[Json]] = {}
    for row in (row for t in tables for row in readings.joined(t.statistics, t.result)):
        places.setdefault(setting(row["instance"], row["horizon"]), []).append(row)
    lines, free = [], []
    for where, rows in places.items():
        xs, means, lows, highs, without = ([float(row[key]) for row in rows] for key in _KEYS)
        lines.append(series(f"{rows[0]['private']}: {where}", xs, means, lows, highs))
        free.append((f"{rows[0]['free']}: {where}", xs, without))
    return figures.panels(figure("epsilon", lines, free), narrow=narrow) if lines else None


def missing(record: Record) -> str:
    """Why a page among others has no line of regret against epsilon; empty of users' code."""
    if words.is_baseline(record):
        return "This target promises no privacy, so there is no epsilon to plot its cost against."
    if not words.promises(record) or record.target.kind != "algorithm":
        return ""
    if words.is_stream(record):
        return "This target chooses no arms, so it has no regret."
    if not record.target.parameters.keys() & AXES:
        return "This promise follows from other parameters, so there is no epsilon to plot regret against."
    return "No study next to this record shows its regret against epsilon."


def figure(
    axis: str,
    lines: Sequence[Json],
    free: Sequence[tuple[str, list[float], list[float]]],
    **measured: JsonValue,
) -> JsonDict:
    """As a study's data file has one: lines, and the baseline of each as its bound."""
    owned = zip(free, lines, strict=False)
    bounds = [{"label": name, "line": line["label"], "xs": xs, "ys": ys} for (name, xs, ys), line in owned]
    panel = {"title": "", "axis": axis, "logx": True, "logy": True, "lines": lines, "bounds": bounds}
    panel |= measured
    return {"name": "prices", "panels": [panel]}


def setting(instance: str, horizon: float) -> str:
    """Where it was played."""
    return f"{instance}, T = {digits(horizon)}"


def series(
    label: str, xs: list[float], means: list[float], lows: list[float], highs: list[float]
) -> JsonDict:
    """A line of a figure."""
    return {"label": label, "xs": xs, "means": means, "lows": lows, "highs": highs}
