"""The whole catalogue at once: a record and a page for each algorithm, the errata, and an index."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from verifiable_dp import _validate, api
from verifiable_dp._validate import InputError
from verifiable_dp.auditing import mutation, registry
from verifiable_dp.auditing.errata import chosen, examine
from verifiable_dp.auditing.plans import BUDGETS, Progress, silent
from verifiable_dp.claims import PrivacyClaim, RegretClaim, Source
from verifiable_dp.reporting.declarations import given as read_declarations
from verifiable_dp.reporting.errata import document, save, verify_errata
from verifiable_dp.reporting.mutation import document as kill_table
from verifiable_dp.reporting.mutation import verify_mutants
from verifiable_dp.reporting.page import of_claim, render_index
from verifiable_dp.reporting.record import Report, schema, write_text
from verifiable_dp.reporting.study import verify_study
from verifiable_dp.reporting.verify import read

# Begun first, so that the workers end together.
_LONGEST = ("dp-se", "dp-nas", "dp-ucb", "dp-robust-elimination", "dp-robust-ucb", "shuffled-linear")


def run(
    *,
    budget: str = "quick",
    out: str | Path = "reports",
    only: Sequence[str] = (),
    seed: int = 0,
    workers: int = 1,
    declarations: api.Declared = None,
    progress: Progress = silent,
) -> list[Report]:
    """Audit the catalogue, check its regret claims and write everything into `out`.

    Parameters
    ----------
    budget
        ``quick``, ``standard`` or ``thorough``.
    out
        Folder; it is made if needed. One folder for each algorithm and for each listing as printed that
        the class corrects, ``errata.json`` and its page, ``index.html`` and the JSON Schemas.
    only
        Names to restrict to; all, and the errata, if empty.
    seed
        Whole number.
    workers
        Algorithms that are audited at the same time.
    declarations
        As `api.audit`; the same for every record.
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
    declared = read_declarations(declarations)
    place = Path(out)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"out: {str(place)!r} cannot be made: {error.strerror}") from None
    targets = [(name, False) for name in names]
    targets += [(name, True) for name in names if registry.auditor(name).printed]
    order = sorted(targets, key=lambda target: target[0] not in _LONGEST)
    tasks = (
        delayed(api.evidence)(name, printed=printed, budget=budget, seed=seed, declarations=declared)
        for name, printed in order
    )
    done: dict[str, Report] = {}
    progress(f"auditing {len(order)} algorithms")
    for report in Parallel(n_jobs=min(workers, len(order)), return_as="generator")(tasks):
        folder = folder_of(report.name, report.printed)
        report.save(place / folder)
        done[folder] = report
        progress(f"{folder} done, {len(done)} of {len(order)}")
    if not only:
        progress("errata")
        save(errata(seed=seed, workers=workers), place)
    write_index(place)
    return [done[folder_of(*target)] for target in targets]


def folder_of(name: str, printed: bool) -> str:
    """Where the record of an algorithm, or of its listing as printed, is written."""
    return f"{name}-printed" if printed else name


def errata(names: Sequence[str] = (), *, seed: int = 0, workers: int = 1) -> dict[str, Any]:
    """Produce the evidence of errata, all if none is named; the data file.

    Raises
    ------
    InputError
        If a name is unknown.
    """
    started, cpu = time.time(), time.process_time()
    rows = chosen(names)
    tasks = (delayed(examine)(row, seed) for row in rows)
    done = list(Parallel(n_jobs=min(workers, len(rows)))(tasks))
    return document(done, seed=seed, started=started, cpu_seconds=time.process_time() - cpu)


def mutants(
    only: Sequence[str] = (),
    *,
    budget: str = "quick",
    seed: int = 0,
    workers: int = 1,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Run the mutation suite on the algorithms in `only`, or on all private ones; the data file.

    Raises
    ------
    InputError
        If a name is unknown or an argument out of range.
    """
    started, cpu = time.time(), time.process_time()
    rows, seconds = mutation.run(only, budget=budget, seed=seed, workers=workers, progress=progress)
    return kill_table(
        rows, seconds, budget=budget, seed=seed, started=started, cpu_seconds=time.process_time() - cpu
    )


def claims(folder: str | Path) -> list[dict[str, str]]:
    """Every claim of the catalogue with the verdict of the records in `folder`.

    Returns
    -------
    list of dict
        ``algorithm``, ``claim``, ``source``, ``verdict``, ``statement``, ``formula``, ``domain``. The verdict
        is ``no record``, ``not checked`` where the claim says why, ``no check``, or those of its checks.

    Raises
    ------
    InputError
        If a record cannot be read.
    """
    rows = []
    for name in registry.names():
        auditor = registry.auditor(name)
        path = Path(folder) / name / "record.json"
        record = read(path) if path.is_file() else None
        promise = auditor.algorithm(**auditor.instance).claim
        if promise is not None and promise.source is not None:
            verdict = str(record["verdict"]).replace("_", " ") if record else "no record"
            rows.append(_claim_row(name, "privacy", promise.source, verdict, _promise(promise), "", ""))
        for claim in auditor.claims:
            verdict = _verdict_of(claim, record)
            rows.append(
                _claim_row(
                    name, claim.name, claim.source, verdict, claim.statement, claim.formula, claim.domain
                )
            )
    return rows


def _claim_row(
    algorithm: str, claim: str, source: Source, verdict: str, statement: str, formula: str, domain: str
) -> dict[str, str]:
    return {
        "algorithm": algorithm,
        "claim": claim,
        "source": source.statement,
        "verdict": verdict,
        "statement": statement,
        "formula": formula,
        "domain": domain,
    }


def _promise(claim: PrivacyClaim) -> str:
    delta = f", delta = {claim.delta:g}" if claim.delta else ""
    return (
        f"epsilon = {claim.epsilon:g}{delta} ({claim.trust_model} model; the adversary sees {claim.observe})"
    )


def _verdict_of(claim: RegretClaim, record: Mapping[str, Any] | None) -> str:
    if record is None or not record["regret"]:
        return "no record"
    found = of_claim(record["regret"]["checks"], claim.name)
    return "not checked" if found == "no check" and "not checked" in claim.source.note else found


def write_index(folder: Path) -> Path:
    """Write ``index.html`` over all records of a folder, and the schema beside them.

    Raises
    ------
    InputError
        If a record cannot be read or the folder cannot be written.
    """
    paths = sorted(folder.glob("*/record.json"))
    records = [read(path) for path in paths]
    links = [f"{path.parent.name}/record.html" for path in paths]
    whole = folder / "errata.json"
    slips = verify_errata(whole)["errata"] if whole.exists() else []
    table = folder / "mutants.json"
    killed = verify_mutants(table)["summary"] if table.exists() else None
    studies = [verify_study(path) for path in sorted(folder.glob("studies/*/study.json"))]
    (folder / "schema").mkdir(exist_ok=True)
    for major in (1, 2):
        whole_schema = json.dumps(schema(major), indent=1, sort_keys=True) + "\n"
        write_text(folder / "schema" / f"record-{major}.json", whole_schema)
    return write_text(folder / "index.html", render_index(records, links, slips, killed, studies))


def exit_status(reports: Sequence[Report]) -> int:
    """1 if a promise is refuted, a theorem contradicted or a mutant missed; 3 if a promise is undecided.

    A listing as printed must come out as its auditor expects, or the status is 1.
    """
    for report in reports:
        if report.printed:
            known = registry.auditor(report.name).printed
            if known is None or report.verdict != known.expected:
                return 1
            continue
        missed = [m for m in report.record["mutants"] if m["verdict"] not in ("refuted", "contradicted")]
        if missed or report.regret_verdict == "contradicted":
            return 1
        if not report.baseline and report.verdict == "refuted":
            return 1
    promising = [r for r in reports if not r.baseline and not r.printed]
    undecided = [r for r in promising if r.verdict != "not_refuted"]
    return 3 if undecided else 0
