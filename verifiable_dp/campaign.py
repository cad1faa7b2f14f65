"""The whole catalogue at once: a record and a page for each algorithm, and an index."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from joblib import Parallel, delayed

from verifiable_dp import _validate, api
from verifiable_dp._validate import InputError
from verifiable_dp.auditing import registry
from verifiable_dp.auditing.audit import BUDGETS, Progress
from verifiable_dp.reporting.record import Report, schema, write_text


def run(
    *,
    budget: str = "quick",
    out: str | Path = "reports",
    only: Sequence[str] = (),
    seed: int = 0,
    workers: int = 1,
    progress: Progress = api._silent,
) -> list[Report]:
    """Audit the catalogue, check its regret claims and write everything into `out`.

    Parameters
    ----------
    budget
        ``quick``, ``standard`` or ``thorough``.
    out
        Folder; it is made if needed. One folder for each algorithm, ``index.html`` and the JSON Schema.
    only
        Names to restrict to; all if empty.
    seed
        Whole number.
    workers
        Algorithms that are audited at the same time.
    progress
        Called with a line of text whenever an algorithm is done.

    Returns
    -------
    list of Report
        In the order of their names.

    Raises
    ------
    InputError
        If a name is unknown or the folder cannot be written.
    """
    _validate.choice("budget", budget, BUDGETS)
    names = [registry.auditor(name).name for name in only] or registry.names()
    place = Path(out)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"out: {str(place)!r} cannot be made: {error.strerror}") from None
    # The longest first, so that the workers end together.
    order = sorted(names, key=lambda name: name not in ("dp-se", "dp-nas", "dp-ucb"))
    tasks = (delayed(api.evidence)(name, budget=budget, seed=seed) for name in order)
    done: dict[str, Report] = {}
    progress(f"auditing {len(order)} algorithms")
    for report in Parallel(n_jobs=min(workers, len(order)), return_as="generator")(tasks):
        report.save(place / report.name)
        done[report.name] = report
        progress(f"{report.name} done, {len(done)} of {len(order)}")
    reports = [done[name] for name in names]
    write_index(place)
    return reports


def write_index(folder: Path) -> Path:
    """Write ``index.html`` over all records of a folder, and the schema beside them.

    Raises
    ------
    InputError
        If a record cannot be read or the folder cannot be written.
    """
    from verifiable_dp.reporting.page import render_index
    from verifiable_dp.reporting.verify import read

    paths = sorted(folder.glob("*/record.json"))
    records = [read(path) for path in paths]
    links = [f"{path.parent.name}/record.html" for path in paths]
    (folder / "schema").mkdir(exist_ok=True)
    write_text(folder / "schema" / "record-1.json", json.dumps(schema(), indent=1, sort_keys=True) + "\n")
    return write_text(folder / "index.html", render_index(records, links))


def exit_status(reports: Sequence[Report]) -> int:
    """1 if a promise is refuted, a theorem contradicted or a mutant missed; 3 if a promise is undecided."""
    for report in reports:
        missed = [m for m in report.record["mutants"] if m["verdict"] not in ("refuted", "contradicted")]
        if missed or report.regret_verdict == "contradicted":
            return 1
        if not report.baseline and report.verdict == "refuted":
            return 1
    undecided = [r for r in reports if not r.baseline and r.verdict != "not_refuted"]
    return 3 if undecided else 0
