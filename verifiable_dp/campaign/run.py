"""The whole catalogue at once: a record and a page for each algorithm, the errata, and an index."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from verifiable_dp import api
from verifiable_dp.auditing import identity, resume
from verifiable_dp.auditing.plans import BUDGETS, Progress, silent
from verifiable_dp.campaign import papers
from verifiable_dp.core import engine, remembered, validate
from verifiable_dp.core.files import check_own_folder, make_folder, write_text
from verifiable_dp.core.units import Role
from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.record import passing, words
from verifiable_dp.record.declarations import given as read_declarations
from verifiable_dp.record.provenance import begun
from verifiable_dp.record.sealing import SCHEMAS, schema, text
from verifiable_dp.record.verify import verify
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.errata import chosen, examine_named
from verifiable_dp.render import portfolio
from verifiable_dp.render.errata import document, save
from verifiable_dp.render.mutation import document as kill_table
from verifiable_dp.render.mutation import save as save_mutants
from verifiable_dp.render.mutation import verify_mutants
from verifiable_dp.report import Report
from verifiable_dp.selfcheck import mutation

_STEPS = "audit.checkpoint"
_USUAL = 30.0  # seconds of an audit that was not made before


@dataclass(frozen=True)
class Wanted:
    """What is asked of every record of the catalogue.

    Parameters
    ----------
    budget
        ``quick``, ``standard`` or ``thorough``.
    seed
        Whole number.
    declarations
        As `api.audit`; the same for every record.

    Raises
    ------
    InputError
        If the budget has no such name.
    """

    budget: str = "quick"
    seed: int = 0
    declarations: api.Declared = None

    def __post_init__(self) -> None:
        validate.choice("budget", self.budget, BUDGETS)


def run(
    wanted: Wanted | None = None,
    *,
    out: str | Path = "reports",
    only: Sequence[str] = (),
    workers: int = 1,
    resume: bool = False,
    progress: Progress = silent,
    say: Progress = silent,
) -> list[Report]:
    """Audit the catalogue, check its regret claims and write everything into `out`.

    Parameters
    ----------
    wanted
        Of every record.
    out
        Folder, made if needed: of each algorithm and each corrected listing as printed; errata, papers,
        ``index.html`` and schemas. What a kill table there (``mutants.json``) says goes into the records.
    only
        Names to restrict to; all, and the errata, if empty.
    workers
        Algorithms that are audited at the same time.
    resume
        Whether records that are in `out` already are kept where you made them on this machine, they hold and
        were made by this code with the same budget, seed and declarations, and audits that were interrupted
        go on after their last step. Records of other packages' algorithms are made anew.
    progress
        Called with a line of text at each stage.
    say
        Called with a line for each verdict as it falls, with the time left for the whole, and for each file
        in `out` that does not hold: it is named on the index, and left out otherwise.

    Returns
    -------
    list of Report
        In the order of their names.

    Raises
    ------
    InputError
        If a name is unknown, the folder cannot be written, or a record that was written does not hold.
    """
    wanted, workers = wanted or Wanted(), validate.workers(workers)
    wanted = replace(wanted, declarations=read_declarations(wanted.declarations))
    names = [registry.auditor(name).name for name in only] or registry.every()
    place = Path(out)
    make_folder("out", place)
    targets = [(name, False) for name in names]
    targets += [(name, True) for name in names if registry.auditor(name).printed]
    shares = {folder_of(*target): _seconds(place / folder_of(*target)) for target in targets}
    order, done = _in_order(targets, shares), dict[str, Report]()
    if resume:
        found = _kept(place, order, wanted)
        done = {
            name: one
            for name, one in found.items()
            if vouched(place / name / "record.json", one.parsed.digest)
        }
        progress(f"{len(done)} of {len(order)} algorithms were already finished")
        if unknown := [name for name in found if name not in done]:
            progress(not_vouched(unknown))
    tasks = [
        _Task(*target, wanted, steps_of(place / folder_of(*target), resume))
        for target in order
        if folder_of(*target) not in done
    ]
    if tasks:
        progress(f"auditing {len(tasks)} algorithms")
    # The errata and the index take about as long as one audit.
    whole = sum(shares[folder_of(task.name, task.printed)] for task in tasks)
    clock, spent = engine.Countdown(whole + (0 if only else _USUAL), pace=1 / workers), 0.0
    for _, report in engine.run(_evidence, tasks, workers=workers):
        folder = folder_of(report.name, report.printed)
        put(report, place / folder)
        forget_steps(place / folder)
        done[folder] = report
        spent += shares[folder]
        say(f"{report.line()}  ({len(done)} of {len(order)}{clock.after(spent)})")
    if not only:
        progress("errata")
        save(errata(seed=wanted.seed, workers=workers), place)
        papers.write(place)
    write_schemas(place)
    done |= _with_table_of(place, done)
    write_index(place, done, say)
    return [done[folder_of(*target)] for target in targets]


def _in_order(targets: Sequence[tuple[str, bool]], shares: Mapping[str, float]) -> list[tuple[str, bool]]:
    """The shortest, so that there is a result soon; then the longest first: the workers end together."""
    order = sorted(targets, key=lambda target: -shares[folder_of(*target)])
    return [order[-1], *order[:-1]]


def _seconds(folder: Path) -> float:
    """How long the audit took whose record is in the folder: for the order, and for the time left."""
    try:
        return float(json.loads((folder / "record.json").read_bytes())["provenance"]["cpu_seconds"])
    except (OSError, ValueError, LookupError, TypeError):
        return _USUAL


@dataclass(frozen=True)
class _Task:
    """One algorithm of `run`, as it is sent to a worker."""

    name: str
    printed: bool
    wanted: Wanted
    steps: Path | None


def _evidence(task: _Task) -> Report:
    def make(steps: Path | None) -> Report:
        return api.evidence(task.name, printed=task.printed, **vars(task.wanted), checkpoint=steps)

    return resume.attempt(make, task.steps)


def steps_of(folder: Path, resume: bool) -> Path | None:
    """Where an audit that will be saved in `folder` keeps its steps; None where other machines run it.

    Raises
    ------
    InputError
        If the folder is a link.
    """
    if engine.remote():
        return None
    check_own_folder("out", folder)
    with suppress(OSError):  # saving will tell
        folder.mkdir(exist_ok=True)
    if not resume:
        forget_steps(folder)
    return folder.absolute() / _STEPS


def put(report: Report, folder: Path) -> None:
    """Save a report that was just made, and remember that it was made here.

    Raises
    ------
    InputError
        If it cannot be written. Where nothing can be remembered, it will be made again.
    """
    report.save(folder)
    with suppress(InputError):
        remembered.remember(folder / "record.json", report.parsed.digest.encode())


def vouched(path: Path, digest: str) -> bool:
    """Whether this user of this machine made the record with this digest, which is at `path`."""
    return remembered.recall(path) == digest.encode()


def not_vouched(names: Sequence[str]) -> str:
    """Why records that hold are not kept."""
    return f"audited again, because you did not make these records on this machine: {', '.join(names)}"


def forget_steps(folder: Path) -> None:
    """Remove the steps of an audit whose record is saved."""
    with suppress(OSError):
        resume.forget(folder / _STEPS)


def _kept(place: Path, targets: Sequence[tuple[str, bool]], wanted: Wanted) -> dict[str, Report]:
    found = {folder_of(*target): _finished(place, *target, wanted) for target in targets}
    return {folder: report for folder, report in found.items() if report is not None}


def _finished(place: Path, name: str, printed: bool, wanted: Wanted) -> Report | None:
    """A record that need not be made again; None where there is none, or not the one that is asked for."""
    path = place / folder_of(name, printed) / "record.json"
    if not (registry.ours(name) and path.is_file() and path.with_suffix(".html").is_file()):
        return None
    try:
        report = Report(verify(path).record)
    except InputError:
        return None
    record, asked = report.parsed, report.parsed.provenance.request
    same = (
        asked is not None
        and not asked.difference(api.ask_evidence(name, printed=printed, **vars(wanted)))
        and (report.name, report.printed) == (name, printed)
        and record.provenance.code == engine.code_digest()
        and record.declarations == wanted.declarations
        and (record.regret is None) == printed
    )
    return report if same else None


def folder_of(name: str, printed: bool) -> str:
    """Where the record of an algorithm, or of its listing as printed, is written."""
    return f"{name}-printed" if printed else name


def errata(
    names: Sequence[str] = (),
    *,
    seed: int = 0,
    workers: int = 1,
    steps: str | PathLike[str] | None = None,
    progress: Progress = silent,
) -> JsonDict:
    """Produce the evidence of errata, all if none is named; the data file.

    `steps` is a file in which finished rows are kept: interrupted, the same call goes on after them. Remove
    it when the data file is saved.

    Raises
    ------
    InputError
        If a name is unknown, or the file of steps is that of another call.
    """
    started, cpu = begun(), time.process_time()
    rows = chosen(names)
    tasks = [(row.name, seed) for row in rows]
    with resume.at(steps, lambda: identity.of_rows(errata=tasks), progress):
        done = engine.ordered(examine_named, tasks, workers=workers, step="erratum")
    return document(done, seed=seed, started=started, cpu_seconds=time.process_time() - cpu)


def mutants(
    only: Sequence[str] = (),
    *,
    budget: str = "quick",
    seed: int = 0,
    workers: int = 1,
    steps: str | PathLike[str] | None = None,
    progress: Progress = silent,
) -> JsonDict:
    """Run the mutation suite on the algorithms in `only`, or on all private ones; the data file.

    `steps` as for `errata`.

    Raises
    ------
    InputError
        If a name is unknown, an argument out of range, or the file of steps is that of another call.
    """
    started, cpu = begun(), time.process_time()
    asked = {"mutants": list(only), "budget": budget, "seed": seed}
    with resume.at(steps, lambda: identity.of_rows(**asked), progress):
        rows, seconds = mutation.run(only, budget=budget, seed=seed, workers=workers, progress=progress)
    return kill_table(
        rows, seconds, budget=budget, seed=seed, started=started, cpu_seconds=time.process_time() - cpu
    )


def put_kill_table(table: Json, folder: Path, reports: Mapping[str, Report]) -> dict[str, Report]:
    """Put what a kill table says of an algorithm into its record, and seal those anew that it changes.

    Parameters
    ----------
    table
        That holds.
    folder
        Of the reports.
    reports
        By their folders in it.

    Returns
    -------
    dict
        The reports that changed, which are written, by their folders.

    Raises
    ------
    InputError
        If one cannot be written.
    """
    new = {name: report.with_kill_table(table) for name, report in reports.items()}
    changed = {name: report for name, report in new.items() if report is not reports[name]}
    for name, report in changed.items():
        ours = vouched(folder / name / "record.json", reports[name].parsed.digest)
        (put if ours else Report.save)(report, folder / name)
    return changed


def save_kill_table(whole: Json, folder: Path, say: Progress = silent) -> list[str]:
    """Write a kill table and its page into a folder of reports, and what it says into their records.

    The records that it changes get a new digest, so that signatures of them have to be made anew; nothing
    else of them changes, and no code is run.

    Returns
    -------
    list of str
        The folders of the records that were sealed anew.

    Raises
    ------
    InputError
        If a file cannot be written.
    """
    make_folder("records", folder)
    save_mutants(whole, folder)
    reports = {
        path.parent.name: Report(one.record)
        for path, one in portfolio.find(folder).records.items()
        if path == folder / path.parent.name / "record.json"
    }
    changed = put_kill_table(whole, folder, reports)
    write_index(folder, reports, say)
    return list(changed)


def _with_table_of(folder: Path, reports: Mapping[str, Report]) -> dict[str, Report]:
    """Those that the kill table in their folder changes; the index names one that does not hold."""
    place = folder / "mutants.json"
    try:
        return put_kill_table(verify_mutants(place), folder, reports) if place.is_file() else {}
    except InputError:
        return {}


def write_schemas(folder: Path) -> None:
    """Write the published JSON Schemas into a folder.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    make_folder("out", folder / "schema")
    for name in SCHEMAS:
        write_text(folder / "schema" / f"{name}.json", text(schema(name)))


def write_index(folder: Path, made: Collection[str] = (), say: Progress = silent) -> Path:
    """Write ``index.html`` over all records of a folder; what does not hold is named there as such.

    Parameters
    ----------
    folder
        Of the records.
    made
        Folders in it whose records were just made.
    say
        Called with a line for each file that does not hold.

    Raises
    ------
    InputError
        If the index cannot be written, or one of the records that were just made does not hold.
    """
    found = portfolio.find(folder)
    place = write_text(folder / "index.html", portfolio.page(found, folder / "index.html", own=True))
    portfolio.write_pages(found, made)
    for path, why in found.broken.items():
        if path.name == "record.json" and path.parent.name in made and path.parent.parent == folder:
            raise InputError(f"out: {str(path)!r} is invalid, although we have just written it: {why}")
        say(f"invalid, and listed as invalid in the index: {path}: {why}")
    return place


def verdict(report: Report) -> str:
    """That on privacy, with that on regret unless it is consistent; that on regret where it was alone."""
    found = report.decision
    beside = f", regret {found.regret}" if found.privacy and found.regret_status else ""
    return f"{found.main or report.verdict}{beside}"


def promise(report: Report) -> str:
    """What a verdict on privacy is about, to follow it: the promise, and what neighbours are; else empty."""
    record = report.parsed
    if record.claim is None or not record.audited:
        return ""
    exact = "" if record.claim.curve or record.claim.delta else ", delta 0"
    return f": {words.promised(record)}{exact}; neighbours: {words.neighbours(record)}"


def exit_status(reports: Sequence[Report]) -> int:
    """The exit status of many reports: `passing.exit_status` of what each decides.

    A listing as printed must come out as its auditor expects, or the status is 1.
    """
    return passing.exit_status((report.decision, _expected(report)) for report in reports)


def _expected(report: Report) -> str | None:
    """What the auditor of a listing as printed expects; None of anything else."""
    if report.decision.role is not Role.PRINTED:
        return None
    known = registry.auditor(report.name).printed
    return None if known is None else known.expected
