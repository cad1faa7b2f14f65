"""A study as a document: a data file whose verdicts follow from its numbers, tables, figures and a page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verifiable_dp.core import frames
from verifiable_dp.core.files import make_folder, write_bytes, write_text
from verifiable_dp.core.validate import FloatArray, InputError, Json, JsonDict
from verifiable_dp.evidence.check import Check
from verifiable_dp.record import conclude
from verifiable_dp.record.provenance import provenance
from verifiable_dp.record.sealing import sealed, text
from verifiable_dp.record.verify import Given, judged_again, verify_sealed
from verifiable_dp.registry.study import (
    REGRET,
    Cell,
    Figure,
    Guide,
    Line,
    Panel,
    Study,
    StudyBound,
    StudyOutcome,
    StudyPlan,
)
from verifiable_dp.render import figures, page, svg

if TYPE_CHECKING:
    import pandas as pd

    from verifiable_dp.core.algorithm import Algorithm
    from verifiable_dp.registry.study import Statement

STUDY_VERSION = "study-1.0.0"
_POINTS = 60  # of a curve in the data file; tables hold them all


# ---------------------------------------------------------------- the data file


def document(
    study: Study,
    plan: StudyPlan,
    outcomes: Mapping[str, StudyOutcome],
    *,
    scale: float,
    seed: int,
    started: float,
    cpu_seconds: float,
) -> JsonDict:
    """The data file of a study: JSON values with provenance and digest."""
    return sealed(
        {
            "schema_version": STUDY_VERSION,
            "study": study.name,
            "title": study.title,
            "paper": study.paper,
            "scale": scale,
            "seed": seed,
            "notes": list(plan.notes),
            "cells": {name: _cell(cell, outcomes[name]) for name, cell in plan.cells.items()},
            "figures": [_figure(figure, outcomes) for figure in plan.figures],
            "statements": [_statement(statement, outcomes) for statement in plan.statements],
            "provenance": provenance(started, cpu_seconds),
        }
    )


def _cell(cell: Cell, outcome: StudyOutcome) -> JsonDict:
    regret = outcome.regret
    return {
        "algorithm": cell.algorithm.name,
        "parameters": _scalars(cell.algorithm),
        "environment": cell.environment.name,
        "runs": cell.runs,
        "mean": float(regret.mean()),
        "sd": float(regret.std(ddof=1)),
        **_unless_regret(cell),
    }


def _unless_regret(thing: Cell | Panel) -> JsonDict:
    """What was measured, if it is not regret."""
    return {} if thing.measured == REGRET else {"measured": thing.measured}


def _scalars(algorithm: Algorithm) -> JsonDict:
    """Parameters that are single values."""
    values = algorithm.parameters.items()
    return {name: value for name, value in values if isinstance(value, bool | int | float | str)}


def _statement(statement: Statement, outcomes: Mapping[str, StudyOutcome]) -> JsonDict:
    checks = list(statement.checks(outcomes))
    return {
        "name": statement.name,
        "words": statement.words,
        "source": statement.source.as_dict(),
        "expected": statement.expected,
        "checks": [check.as_dict() for check in checks],
        "verdict": conclude.regret(checks),
    }


def _figure(figure: Figure, outcomes: Mapping[str, StudyOutcome]) -> JsonDict:
    return {
        "name": figure.name,
        "caption": figure.caption,
        "statements": list(figure.statements),
        "panels": [_panel(panel, outcomes) for panel in figure.panels],
    }


def _panel(panel: Panel, outcomes: Mapping[str, StudyOutcome]) -> JsonDict:
    lines = [_thinned(drawn(line, outcomes), panel.axis) for line in panel.lines]
    return {
        "title": panel.title,
        "axis": panel.axis,
        "logx": panel.logx,
        "logy": panel.logy,
        **_unless_regret(panel),
        "lines": lines,
        "bounds": [_bound(bound, lines, panel.logx) for bound in panel.bounds],
    }


def drawn(line: Line, outcomes: Mapping[str, StudyOutcome]) -> JsonDict:
    """xs, means, lows and highs of a line: quartiles over time, else 95 % t limits of the mean."""
    cells = [outcomes[name] for name in line.cells]
    if line.xs is None:
        times = cells[0].times
        if any(len(cell.times) != len(times) or (cell.times != times).any() for cell in cells):
            raise InputError(f"line {line.label!r}: its cells must have the same times")
        runs = np.concatenate([cell.regrets for cell in cells])
        low, high = np.quantile(runs, [0.25, 0.75], axis=0)
        return {"label": line.label, "xs": times, "means": runs.mean(axis=0), "lows": low, "highs": high}
    groups: dict[float, list[FloatArray]] = {}
    for x, cell in zip(line.xs, cells, strict=True):
        groups.setdefault(x, []).append(cell.regret)
    if line.worst:
        groups = {x: [max(group, key=lambda regret: float(regret.mean()))] for x, group in groups.items()}
    limits = np.array([_limits(group) for group in groups.values()])
    return {
        "label": line.label,
        "xs": np.array(list(groups)),
        "means": limits[:, 0],
        "lows": limits[:, 0] - limits[:, 1],
        "highs": limits[:, 0] + limits[:, 1],
    }


def _limits(samples: Sequence[FloatArray]) -> tuple[float, float]:
    """Mean of the samples' means, and the half-width of its 95 % t limits."""
    from scipy.special import stdtrit

    error = math.sqrt(sum(float(s.var(ddof=1)) / len(s) for s in samples)) / len(samples)
    # The least degrees of freedom that it can have, whatever the shares of the samples in the error.
    freedom = min(len(s) for s in samples) - 1
    return float(np.mean([s.mean() for s in samples])), float(stdtrit(freedom, 0.975)) * error


def _thinned(line: JsonDict, axis: str) -> JsonDict:
    """Few points, six digits."""
    count = len(line["xs"])
    some = range(count)
    if axis == "t" and count > _POINTS:
        some = np.unique(np.linspace(0, count - 1, _POINTS).round().astype(int)).tolist()
    return {
        "label": line["label"],
        **{
            key: [float(f"{float(line[key][i]):.6g}") for i in some]
            for key in ("xs", "means", "lows", "highs")
        },
    }


def _bound(bound: StudyBound | Guide, lines: Sequence[Json], logx: bool) -> JsonDict:
    reach = [x for line in lines for x in line["xs"]]
    low, high = min(reach), max(reach)
    xs: FloatArray = np.geomspace(low, high, 25) if logx else np.linspace(low, high, 25)
    value = bound.value if isinstance(bound, StudyBound) else _through(bound, lines)
    points = [(float(f"{x:.6g}"), float(f"{value(float(x)):.6g}")) for x in xs]
    points = [(x, y) for x, y in points if math.isfinite(y) and y > 0]
    return {
        "label": bound.label,
        "line": bound.line,
        "xs": [x for x, _ in points],
        "ys": [y for _, y in points],
    }


def _through(guide: Guide, lines: Sequence[Json]) -> Callable[[float], float]:
    """The guide's line, in the mean distance (of logarithms) from the points of its line."""

    def shape(x: float) -> float:
        return float(x**guide.exponent * (math.log(x) ** guide.log_power if guide.log_power else 1.0))

    line = next((line for line in lines if line["label"] == guide.line), lines[0])
    apart = [math.log(y / shape(x)) for x, y in zip(line["xs"], line["means"], strict=True) if y > 0]
    level = math.exp(sum(apart) / len(apart)) if apart else math.nan
    return lambda x: level * shape(x)


def verify_study(given: Given) -> JsonDict:
    """Read a data file of a study and judge every check again; return it.

    Raises
    ------
    InputError
        If it is unreadable, was edited, or says what its numbers do not.
    """
    return verify_sealed(given, "study", STUDY_VERSION, _again)


def _again(whole: Json) -> JsonDict:
    """The data file with every check judged and every verdict drawn anew."""
    named = {name for figure in whole["figures"] for name in figure["statements"]}
    missing = sorted(named - {row["name"] for row in whole["statements"]})
    if missing:
        raise InputError(f"study: the figures name an unknown statement: {missing[0]!r:.100}")
    return {**whole, "statements": [_statement_again(row) for row in whole["statements"]]}


def _statement_again(row: Json) -> JsonDict:
    checks = judged_again(row["checks"])
    return {**row, "checks": checks, "verdict": conclude.regret(list(map(Check.read, checks)))}


# ---------------------------------------------------------------- tables and files


def curves(plan: StudyPlan, outcomes: Mapping[str, StudyOutcome]) -> pd.DataFrame:
    """Every line of every figure, one row a point.

    Columns figure, panel, line, x, mean, low, high: see `drawn`.
    """
    frames.needed()
    import pandas as pd

    parts = [
        pd.DataFrame({"figure": figure.name, "panel": panel.title, **drawn(line, outcomes)})
        for figure in plan.figures
        for panel in figure.panels
        for line in panel.lines
    ]
    names = {"label": "line", "xs": "x", "means": "mean", "lows": "low", "highs": "high"}
    return pd.concat(parts, ignore_index=True).rename(columns=names)


def runs(plan: StudyPlan, outcomes: Mapping[str, StudyOutcome]) -> pd.DataFrame:
    """Regret at the horizon of every run: columns cell, algorithm, environment, run, regret."""
    frames.needed()
    import pandas as pd

    parts = [
        pd.DataFrame(
            {
                "cell": name,
                "algorithm": cell.algorithm.name,
                "environment": cell.environment.name,
                "run": np.arange(cell.runs),
                "regret": outcomes[name].regret,
            }
        )
        for name, cell in plan.cells.items()
    ]
    return pd.concat(parts, ignore_index=True)


def pages(whole: Json) -> Iterator[tuple[str, str]]:
    """Name and text of each page: that of the study, and one of each figure: one of all is too heavy."""
    yield "index.html", page.render_study(whole)
    names = ["", *(str(figure["name"]) for figure in whole["figures"]), ""]
    for figure, before, after in zip(whole["figures"], names, names[2:], strict=False):
        shown = page.layouts(figures.panels, figure) or ""
        yield f"{figure['name']}.html", page.render_figure(whole, figure, shown, before, after)


def save(whole: Json, plan: StudyPlan, outcomes: Mapping[str, StudyOutcome], folder: Path) -> None:
    """Write ``study.json``, its pages, ``tables/*.csv`` and ``figures/*.{svg,png}`` into `folder`.

    Raises
    ------
    InputError
        If they cannot be written.
    """
    for name in ("tables", "figures"):
        make_folder("out", folder / name)
    tables: Sequence[tuple[str, pd.DataFrame]] = [
        ("curves", curves(plan, outcomes)),
        ("runs", runs(plan, outcomes)),
    ]
    for name, table in tables:
        write_text(folder / "tables" / f"{name}.csv", table.to_csv(index=False, float_format="%.6g"))
    for figure in whole["figures"]:
        name = figure["name"]
        write_text(folder / "figures" / f"{name}.svg", svg.alone(figures.svg(figure)))
        write_bytes(folder / "figures" / f"{name}.png", figures.png(figure))
    write_text(folder / "study.json", text(whole))
    for name, made in pages(whole):
        write_text(folder / name, made)


def lines(whole: Json) -> list[str]:
    """Verdicts of the statements, a line each, for a terminal."""
    rows = whole["statements"]
    width = max((len(row["name"]) for row in rows), default=0) + 2
    return [f"{row['name']:<{width}}{row['verdict']!s:<14}{row['words']}" for row in rows]


def surprising(whole: Json) -> bool:
    """Whether a statement is contradicted that is not known to be, or the other way round."""
    return any(
        (row["verdict"] == "contradicted") != (row["expected"] == "contradicted")
        for row in whole["statements"]
    )
