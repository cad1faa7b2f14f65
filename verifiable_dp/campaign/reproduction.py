"""Reproduce a paper's experiments: simulate what is missing, test statements, write figures and a page."""

from __future__ import annotations

import io
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from verifiable_dp.auditing.plans import Progress, silent
from verifiable_dp.core import engine, validate
from verifiable_dp.core.files import make_folder, write_bytes
from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.record.provenance import begun
from verifiable_dp.registry import study as studies
from verifiable_dp.registry.study import Cell, StudyOutcome, StudyPlan
from verifiable_dp.render import study as reporting

_FIELDS = ("regret", "times", "regrets", "pulls")
_EVERY = 5.0  # seconds between lines of progress


def reproduce(
    name: str,
    *,
    out: str | Path = "reproduced",
    scale: float = 1.0,
    seed: int = 0,
    workers: int = 1,
    cells: str | Path | None = None,
    progress: Progress = silent,
) -> JsonDict:
    """Reproduce a study and write it into the folder ``out/NAME``.

    Parameters
    ----------
    name
        Of a registered study, such as ``S1``.
    out
        Parent folder. ``study.json`` is the truth; the page, the tables (CSV) and figures (SVG, PNG)
        follow from it and from the cells.
    scale
        In (0, 1]: 1 is the full size; below, horizons and runs shrink.
    seed
        Whole number; decides every number, whatever `workers`.
    workers
        See `engine.run`.
    cells
        Folder of finished cells, ``out/NAME/cells`` unless given. One that is there is not simulated again.
    progress
        Called with a line of text whenever a cell is done.

    Returns
    -------
    dict
        What ``study.json`` holds.

    Raises
    ------
    InputError
        If an argument is out of range, the name is unknown or the folder cannot be written.
    """
    found = studies.study(name)
    seed = validate.integer("seed", seed, least=0)
    scale = validate.positive("scale", scale)
    if scale > 1:
        raise InputError(f"scale must lie in (0, 1], got {scale!r}")
    started = begun()
    plan = found.plan(scale)
    place = Path(out) / found.name
    store = Path(cells) if cells is not None else place / "cells"
    for folder in (place, store):
        make_folder("out", folder)
    outcomes = simulate(plan, seed, store, workers=workers, progress=progress)
    progress("testing statements and drawing figures")
    spent = sum(outcome.seconds for outcome in outcomes.values())
    whole = reporting.document(
        found, plan, outcomes, scale=scale, seed=seed, started=started, cpu_seconds=spent
    )
    reporting.save(whole, plan, outcomes, place)
    return whole


def simulate(
    plan: StudyPlan,
    seed: int,
    store: Path | None = None,
    *,
    workers: int = 1,
    progress: Progress = silent,
) -> dict[str, StudyOutcome]:
    """Outcomes of all cells of a plan by name; those in `store` are read, others are added to it."""
    keys = {name: studies.fingerprint(name, cell, seed) for name, cell in plan.cells.items()}
    outcomes = {name: _load(store, key) for name, key in keys.items()} if store else {}
    done: dict[str, StudyOutcome] = {
        name: outcome for name, outcome in outcomes.items() if outcome is not None
    }
    missing = sorted((name for name in plan.cells if name not in done), key=lambda n: -_size(plan.cells[n]))
    if done:
        progress(f"{len(done)} of {len(plan.cells)} cells were already finished")
    tasks = [(name, plan.cells[name], seed) for name in missing]
    began = said = time.monotonic()
    played: dict[str, float] = {}
    for number, outcome in engine.run(_task, tasks, workers=workers):
        name = missing[number]
        done[name], played[name] = outcome, outcome.seconds
        if store:
            _save(store, keys[name], outcome)
        now = time.monotonic()
        if now - said > _EVERY:
            left = _left(plan.cells, missing, played) * (now - began)
            progress(f"{len(done)} of {len(plan.cells)} cells, about {left:.0f} s left")
            said = now
    return {name: done[name] for name in plan.cells}


def _size(cell: Cell) -> float:
    """Rounds to play: most compiled loops take time for each, the others next to none."""
    compiled = hasattr(cell.algorithm, "kernel")
    return float(cell.runs * cell.algorithm.horizon) if compiled else 1e4 * cell.runs


def _left(cells: Mapping[str, Cell], names: Sequence[str], played: Mapping[str, float]) -> float:
    """Time that is left over time that was spent: a cell takes as long as others of its algorithm did."""
    known: dict[str, list[float]] = {}
    for name, seconds in played.items():
        known.setdefault(cells[name].algorithm.name, []).append(seconds)
    usual = sum(played.values()) / len(played)
    rate = sum(played.values()) / sum(_size(cells[name]) for name in played)
    left = 0.0
    for name in names:
        if name not in played:
            others = known.get(cells[name].algorithm.name)
            left += sum(others) / len(others) if others else min(usual, rate * _size(cells[name]))
    return left / max(sum(played.values()), 1e-9)


def _task(task: tuple[str, Cell, int]) -> StudyOutcome:
    return studies.play(*task)


# ---------------------------------------------------------------- finished cells


def _load(store: Path, key: str) -> StudyOutcome | None:
    """A finished cell; None where there is none, or no whole one."""
    try:
        content = io.BytesIO((store / f"{key}.npz").read_bytes())
        with np.load(content, allow_pickle=False) as file:
            values: Json = dict(file)
        active = values.get("active")
        return StudyOutcome(
            **{field: values[field] for field in _FIELDS}, active=active, seconds=float(values["seconds"])
        )
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None


def _save(store: Path, key: str, outcome: StudyOutcome) -> None:
    values = {field: getattr(outcome, field) for field in _FIELDS}
    if outcome.active is not None:
        values["active"] = outcome.active
    out = io.BytesIO()
    np.savez_compressed(out, seconds=np.array(outcome.seconds), **values)
    write_bytes(store / f"{key}.npz", out.getvalue())
