"""Regret against epsilon, as a study that lies beside a record measured it, with a baseline."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.record.model import Record
from verifiable_dp.registry import entries
from verifiable_dp.render import prices
from verifiable_dp.render.study import verify_study

_LEAST = 3  # values of one of them that make a line


def over_epsilon(record: Record, folder: Path) -> JsonDict | None:
    """The figure of the study of a folder that says most, with words on it; None without one.

    Most says what has the record's settings, a baseline, many other algorithms, many points: in this order.
    """
    found = [one for path in sorted(folder.glob("studies/*/study.json")) for one in _lines(record, path)]
    return max(found, key=lambda one: one["says"], default=None)


@functools.cache
def _read(path: Path, _changed: int) -> Json | None:
    """A study that holds."""
    try:
        return verify_study(path)
    except InputError:
        return None


def _lines(record: Record, path: Path) -> Iterator[JsonDict]:
    """Cells of the record's algorithm that differ in one of the axes alone, as far as they say."""
    whole, audited = _read(path, path.stat().st_mtime_ns), record.target.parameters
    groups: dict[tuple[object, ...], dict[float, list[Json]]] = {}
    for cell in whole["cells"].values() if whole else ():
        fixed, axis = dict(cell["parameters"]), next(iter(cell["parameters"].keys() & prices.AXES), "")
        printed = fixed.get("variant") == audited.get("variant")
        if cell["algorithm"] == record.target.name and axis and printed:
            value = fixed.pop(axis)
            key = (axis, cell["environment"], *sorted(fixed.items()))
            groups.setdefault(key, {}).setdefault(value, []).append(cell)
    for (axis, *_), line in groups.items():
        # Two cells that differ in what no cell states are left out.
        cells = {value: same[0] for value, same in sorted(line.items()) if len(same) == 1}
        if whole and len(cells) >= _LEAST:
            apart = _apart(next(iter(cells.values()))["parameters"], audited)
            told = _told(whole, str(axis), cells)
            says = (-len(apart), bool(told["free"]), told["played"], len(cells))
            yield {**told, "apart": apart, "path": path, "says": says}


def _apart(parameters: Json, audited: Json) -> list[str]:
    """Settings that are not those of the record; sizes and other numbers may differ."""
    named = {key: value for key, value in parameters.items() if isinstance(value, str | bool)}
    return [f"{key} = {value}" for key, value in named.items() if audited.get(key, value) != value]


def _told(whole: Json, axis: str, cells: Mapping[float, Json]) -> JsonDict:
    first, xs = next(iter(cells.values())), list(cells)
    sizes = [(size, first["parameters"].get(size)) for size in ("horizon", "n_arms")]
    around = [
        cell
        for cell in whole["cells"].values()
        if cell["environment"] == first["environment"]
        and all(cell["parameters"].get(size) == value for size, value in sizes)
    ]
    free: dict[str, list[float]] = {}  # of algorithms of the catalogue that promise nothing
    for name, cell in (
        (cell["algorithm"], cell) for cell in around if not cell["parameters"].keys() & prices.AXES
    ):
        if name in entries.every() and entries.auditor(name).model == "none":
            free.setdefault(name, []).append(cell["mean"])
    measured = {key: value for key, value in first.items() if key == "measured"}
    place = prices.setting(first["environment"], first["parameters"]["horizon"])
    means, halves = [cell["mean"] for cell in cells.values()], [_half(cell) for cell in cells.values()]
    ends = [[mean + side * half for mean, half in zip(means, halves, strict=True)] for side in (-1, 1)]
    line = prices.series(f"{first['algorithm']}: {place}", xs, means, *ends)
    least = sorted((sum(found) / len(found), name) for name, found in free.items())[:1]
    bounds = [(f"{name}: {place}", xs, [mean] * len(xs)) for mean, name in least]
    return {
        "figure": prices.figure(axis, [line], bounds, **measured),
        "measured": "Samples" if measured else "Regret",
        "axis": axis,
        "free": "".join(name for _, name in least),
        "runs": first["runs"],
        "played": len({cell["algorithm"] for cell in around}),
        "study": whole["study"],
    }


def _half(cell: Json) -> float:
    """Half of a 95 % t interval of a cell's mean."""
    from scipy.special import stdtrit

    return float(stdtrit(cell["runs"] - 1, 0.975)) * float(cell["sd"]) / math.sqrt(cell["runs"])
