"""The errata as one document: a data file whose outcomes follow from its numbers, and its page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from verifiable_dp.core.files import write_text
from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.record.provenance import provenance
from verifiable_dp.record.sealing import sealed, text
from verifiable_dp.record.verify import Given, judged_again, read, verify_sealed
from verifiable_dp.registry.errata import outcome
from verifiable_dp.render import page

ERRATA_VERSION = "errata-2.0.0"
_CHECKS = ("checks_of_printed", "checks_of_right")


def document(rows: Sequence[Json], *, seed: int, started: float, cpu_seconds: float) -> JsonDict:
    """The data file of errata rows (`registry.errata.examine`): JSON values with provenance and digest."""
    return sealed(
        {
            "schema_version": ERRATA_VERSION,
            "errata": list(rows),
            "seed": seed,
            "provenance": provenance(started, cpu_seconds),
        }
    )


def verify_errata(given: Given) -> JsonDict:
    """Read a data file of errata and judge every check again; return it.

    Raises
    ------
    InputError
        If it is unreadable, was edited, or says what its numbers do not.
    """
    whole = read(given)
    rows = whole.get("errata")
    named = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    for name, count in Counter(str(row.get("name")) for row in named).items():
        if count > 1:
            raise InputError(f"errata: {name[:60]!r} must occur once, got {count} rows of it")
    return verify_sealed(whole, "errata", ERRATA_VERSION, _again)


def _again(whole: Json) -> JsonDict:
    """The data file with every check judged and every outcome drawn anew."""
    return {**whole, "errata": [_row_again(row) for row in whole["errata"]]}


def _row_again(row: Json) -> JsonDict:
    parts = {part: judged_again(row[part]) for part in _CHECKS}
    return {**row, **parts, "outcome": outcome(row["kind"], row["register"], *parts.values())}


def save(whole: Json, folder: Path) -> tuple[Path, Path]:
    """Write ``errata.json`` and ``errata.html`` into `folder`.

    Raises
    ------
    InputError
        If they cannot be written.
    """
    return (
        write_text(folder / "errata.json", text(whole)),
        write_text(folder / "errata.html", page.render_errata(whole)),
    )


def line(row: Json) -> str:
    """One line of an erratum: name, register, outcome and what the checks came to."""
    printed = ", ".join(dict.fromkeys(c["result"]["verdict"] for c in row["checks_of_printed"])) or "not run"
    right = ", ".join(dict.fromkeys(c["result"]["verdict"] for c in row["checks_of_right"])) or "not run"
    head = f"{row['name']:<20}  {row['register']:<8} {row['outcome'].replace('_', ' '):<15}"
    return f"{head} printed: {printed}; corrected: {right}"
