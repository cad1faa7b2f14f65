"""The errata as one document: a data file whose outcomes follow from its numbers, and its page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# The judges register themselves when their modules are imported.
import verifiable_dp.evidence.alignment
import verifiable_dp.evidence.blackbox
import verifiable_dp.evidence.regret
import verifiable_dp.evidence.statement  # noqa: F401
from verifiable_dp._validate import InputError
from verifiable_dp.auditing.errata import outcome
from verifiable_dp.evidence.check import judged
from verifiable_dp.reporting import page
from verifiable_dp.reporting.record import canonical, digest, plain, provenance, text, write_text
from verifiable_dp.reporting.verify import first_difference, read

ERRATA_VERSION = "errata-1.0.0"
_CHECKS = ("checks_of_printed", "checks_of_right")


def document(
    rows: Sequence[Mapping[str, Any]], *, seed: int, started: float, cpu_seconds: float
) -> dict[str, Any]:
    """The data file of errata rows (`auditing.errata.examine`): JSON values with provenance and digest."""
    whole = plain(
        {
            "schema_version": ERRATA_VERSION,
            "errata": list(rows),
            "seed": seed,
            "provenance": provenance(started, cpu_seconds),
        }
    )
    whole = json.loads(canonical(whole))
    whole["digest"] = digest(whole)
    return dict(whole)


def is_errata(record: Mapping[str, Any]) -> bool:
    """Whether this is a data file of errata rather than the record of an audit."""
    return record.get("schema_version") == ERRATA_VERSION


def verify_errata(path: str | Path) -> dict[str, Any]:
    """Read a data file of errata and judge every check again; return it.

    Raises
    ------
    InputError
        If it is unreadable, was edited, or says what its numbers do not.
    """
    whole = read(path)
    if not is_errata(whole):
        raise InputError(
            f"errata: schema_version must be {ERRATA_VERSION}, got {whole.get('schema_version')!r}"
        )
    stated = digest(whole)
    if whole.get("digest") != stated:
        raise InputError(f"errata: edited or corrupted: digest is not {stated}")
    for i, row in enumerate(whole["errata"]):
        try:
            again = {
                part: [{**c, "result": plain(judged(c["kind"], c["statistics"]))} for c in row[part]]
                for part in _CHECKS
            }
            expected = {**row, **again, "outcome": outcome(row["kind"], *(again[part] for part in _CHECKS))}
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"errata: row {i} cannot be judged: {error!r}") from None
        difference = first_difference(row, expected, f"errata.{i}")
        if difference:
            raise InputError(f"errata: edited or corrupted: {difference}")
    return whole


def save(whole: Mapping[str, Any], folder: Path) -> tuple[Path, Path]:
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


def line(row: Mapping[str, Any]) -> str:
    """One line of an erratum: name, outcome and what the checks came to."""
    printed = ", ".join(dict.fromkeys(c["result"]["verdict"] for c in row["checks_of_printed"])) or "not run"
    right = ", ".join(dict.fromkeys(c["result"]["verdict"] for c in row["checks_of_right"])) or "not run"
    return f"{row['name']:<22}{row['outcome'].replace('_', ' '):<15} printed: {printed}; right: {right}"
