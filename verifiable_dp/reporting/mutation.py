"""The kill table as one document: a data file whose outcomes follow from its numbers, and its page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# The judges register themselves when their modules are imported.
import verifiable_dp.evidence.alignment
import verifiable_dp.evidence.blackbox
import verifiable_dp.evidence.exact
import verifiable_dp.evidence.exact_shuffle  # noqa: F401
from verifiable_dp._validate import InputError
from verifiable_dp.auditing.mutation import concluded, summary
from verifiable_dp.evidence.check import judged
from verifiable_dp.reporting import courses, page
from verifiable_dp.reporting.record import canonical, digest, plain, provenance, text, write_text
from verifiable_dp.reporting.verify import first_difference, read

MUTANTS_VERSION = "mutants-1.0.0"
RUNGS = {
    "alignment": "alignment",
    "exact": "exact law",
    "shuffle": "exact bounds of shuffling",
    "black_box": "black box",
}


def document(
    rows: Sequence[Mapping[str, Any]],
    seconds: Mapping[str, float],
    *,
    budget: str,
    seed: int,
    started: float,
    cpu_seconds: float,
) -> dict[str, Any]:
    """The data file of a run of the suite (`auditing.mutation.run`): JSON values, provenance and digest.

    The CPU seconds of each mutant stand in the provenance: they may differ between two runs.
    """
    whole = plain(
        {
            "schema_version": MUTANTS_VERSION,
            "mutants": list(rows),
            "summary": summary(rows),
            "budget": budget,
            "seed": seed,
            "provenance": {
                **provenance(started, cpu_seconds),
                "cpu_seconds": round(sum(seconds.values()), 3),
                "cpu_seconds_by_mutant": dict(seconds),
            },
        }
    )
    whole = json.loads(canonical(whole))
    whole["digest"] = digest(whole)
    return dict(whole)


def is_mutants(record: Mapping[str, Any]) -> bool:
    """Whether this is a data file of the mutation suite."""
    return record.get("schema_version") == MUTANTS_VERSION


def verify_mutants(path: str | Path) -> dict[str, Any]:
    """Read a data file of the suite and judge every check again; return it.

    Raises
    ------
    InputError
        If it is unreadable, was edited, or says what its numbers do not.
    """
    whole = read(path)
    if not is_mutants(whole):
        raise InputError(
            f"mutants: schema_version must be {MUTANTS_VERSION}, got {whole.get('schema_version')!r}"
        )
    stated = digest(whole)
    if whole.get("digest") != stated:
        raise InputError(f"mutants: edited or corrupted: digest is not {stated}")
    try:
        rows = [_again(row) for row in whole["mutants"]]
        expected = plain({**whole, "mutants": rows, "summary": summary(rows)})
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"mutants: a row cannot be judged: {error!r}") from None
    difference = first_difference(whole, expected, "mutants")
    if difference:
        raise InputError(f"mutants: edited or corrupted: {difference}")
    return whole


def _again(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with everything computed anew that follows from its numbers."""
    checks = [{**c, "result": plain(judged(c["kind"], c["statistics"]))} for c in row["checks"]]
    judged_again = {**row, "checks": checks}
    return {**judged_again, **plain(concluded(judged_again))}


def save(whole: Mapping[str, Any], folder: Path) -> tuple[Path, Path]:
    """Write ``mutants.json`` and ``mutants.html`` into `folder`.

    Raises
    ------
    InputError
        If they cannot be written.
    """
    return (
        write_text(folder / "mutants.json", text(whole)),
        write_text(folder / "mutants.html", render(whole)),
    )


def render(whole: Mapping[str, Any]) -> str:
    """The kill table as a self-contained page; the same document gives the same bytes."""
    environment = page._environment()
    rows = whole["mutants"]
    names = list(dict.fromkeys(row["algorithm"] for row in rows))
    drawn = environment.get_template("mutants.html.jinja").render(
        whole=whole,
        plot=courses.kills(rows),
        summary=whole["summary"],
        groups=[(name, [row for row in rows if row["algorithm"] == name]) for name in names],
        seconds=whole["provenance"]["cpu_seconds_by_mutant"],
        rungs=RUNGS,
        samples=samples,
        style=page._style(),
    )
    return page.reachable(drawn)


def samples(row: Mapping[str, Any]) -> str:
    """What the audit of a mutant took, in words."""
    parts = []
    if row["transcripts"]:
        parts.append(f"{row['transcripts']} transcripts")
    if row["runs"]:
        parts.append(f"{row['runs']} runs")
    return ", ".join(parts) or "no samples"


def line(row: Mapping[str, Any]) -> str:
    """One line of a mutant: name, outcome, rung and samples."""
    rung = RUNGS.get(row["killed_by"], "")
    return f"{row['name']:<56}{row['outcome'].replace('_', ' '):<18}{rung:<26}{samples(row)}"


def summary_lines(whole: Mapping[str, Any]) -> list[str]:
    """The suite in some lines."""
    found = whole["summary"]
    outcomes = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in found["outcome"].items() if n)
    rungs = ", ".join(f"{RUNGS[kind]} {n}" for kind, n in found["rung"].items())
    lines = [
        f"mutants: {found['mutants']}: {outcomes}",
        f"killed by: {rungs or 'none'}",
        f"true epsilon at least 1.25 times the claim: {found['clear']}, killed {found['clear_killed']}",
    ]
    return [*lines, *(f"missed: {name}" for name in found["clear_missed"])]
