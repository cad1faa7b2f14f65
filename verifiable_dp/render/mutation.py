"""The kill table as one document: a data file whose outcomes follow from its numbers, and its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from verifiable_dp.core.files import write_text
from verifiable_dp.core.validate import Json, JsonDict
from verifiable_dp.record.kills import OUTCOMES
from verifiable_dp.record.provenance import provenance
from verifiable_dp.record.sealing import sealed, text
from verifiable_dp.record.verify import Given, judged_again, verify_sealed
from verifiable_dp.render import page, timelines
from verifiable_dp.selfcheck.mutation import concluded, summary

MUTANTS_VERSION = "mutants-2.0.0"
RUNGS = {
    "alignment": "alignment",
    "exact": "exact distribution",
    "shuffle": "exact bounds of shuffling",
    "black_box": "black box",
}


def document(
    rows: Sequence[Json],
    seconds: Mapping[str, float],
    *,
    budget: str,
    seed: int,
    started: float,
    cpu_seconds: float,
) -> JsonDict:
    """The data file of a run of the suite (`selfcheck.mutation.run`): JSON values, provenance and digest.

    The CPU seconds of each mutant stand in the provenance: they may differ between two runs.
    """
    return sealed(
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


def verify_mutants(given: Given) -> JsonDict:
    """Read a data file of the suite and judge every check again; return it.

    Raises
    ------
    InputError
        If it is unreadable, was edited, or says what its numbers do not.
    """
    return verify_sealed(given, "mutants", MUTANTS_VERSION, _again)


def before(given: Given) -> list[JsonDict]:
    """Rows of an older kill table, whose outcomes may follow from its numbers by older rules.

    Raises
    ------
    InputError
        If it is unreadable or was edited.
    """
    return list(verify_sealed(given, "mutants", MUTANTS_VERSION, lambda whole: whole)["mutants"])


def _again(whole: Json) -> JsonDict:
    """The data file with everything computed anew that follows from its numbers."""
    rows = [_row_again(row) for row in whole["mutants"]]
    return {**whole, "mutants": rows, "summary": summary(rows)}


def _row_again(row: Json) -> JsonDict:
    found = {**row, "checks": judged_again(row["checks"])}
    return {**found, **concluded(found)}


def save(whole: Json, folder: Path) -> tuple[Path, Path]:
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


def render(whole: Json) -> str:
    """The kill table as a self-contained page; the same document gives the same bytes."""
    rows = whole["mutants"]
    names = list(dict.fromkeys(row["algorithm"] for row in rows))
    return page.filled(
        "mutants.html.jinja",
        whole=whole,
        plot=page.layouts(timelines.kills, rows),
        summary=whole["summary"],
        groups=[(name, [row for row in rows if row["algorithm"] == name]) for name in names],
        seconds=whole["provenance"]["cpu_seconds_by_mutant"],
        rungs=RUNGS,
        outcomes=OUTCOMES,
        samples=samples,
    )


def samples(row: Json) -> str:
    """What the audit of a mutant took, in words."""
    parts = []
    if row["transcripts"]:
        parts.append(f"{row['transcripts']} transcripts")
    if row["runs"]:
        parts.append(f"{row['runs']} runs")
    return ", ".join(parts) or "no samples"


def line(row: Json) -> str:
    """One line of a mutant: name, outcome, rung and samples."""
    rung = RUNGS.get(row["killed_by"], "")
    return f"{row['name']:<57}  {OUTCOMES[row['outcome']]:<18}{rung:<26}{samples(row)}"


def summary_lines(whole: Json) -> list[str]:
    """The suite in some lines."""
    found = whole["summary"]
    outcomes = ", ".join(f"{n} {OUTCOMES[name]}" for name, n in found["outcome"].items() if n)
    rungs = ", ".join(f"{RUNGS[kind]} {n}" for kind, n in found["rung"].items())
    lines = [
        f"broken variants: {found['mutants']}: {outcomes}",
        f"caught by: {rungs or 'none'}",
        f"true epsilon at least 1.25 times the claim: {found['clear']}, caught {found['clear_killed']}",
    ]
    return [*lines, *(f"missed: {name}" for name in found["clear_missed"])]
