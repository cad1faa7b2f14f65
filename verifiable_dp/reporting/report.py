"""What an audit returns: a record, and everything that can be done with it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verifiable_dp._files import make_folder, write_text
from verifiable_dp._locks import lock
from verifiable_dp._validate import InputError, printable
from verifiable_dp.reporting import blocks, conclude, page, regrets, tables
from verifiable_dp.reporting.declarations import given
from verifiable_dp.reporting.provenance import ci, place, provenance
from verifiable_dp.reporting.record import SCHEMA_VERSION, as_read, sealed, text
from verifiable_dp.reporting.verify import examine, verify
from verifiable_dp.reporting.words import (
    in_words,
    is_baseline,
    is_lead_only,
    is_printed,
    leads,
    p_value_in_words,
)

_STATEMENTS = {
    "refuted": "The claim is refuted: the counterexample below can be run again.",
    "not_refuted": "No violation of the claim was found. This is not a proof of privacy.",
    "inconclusive": "The evidence decides nothing: no refutation, and no power that could be stated.",
}


def finish(
    draft: Mapping[str, Any],
    *,
    started: float,
    cpu_seconds: float,
    declarations: Mapping[str, Any] | None = None,
) -> Report:
    """Conclude a draft: verdicts, provenance, blocks and digest.

    Parameters
    ----------
    draft
        What the audit found; blocks in it are made anew.
    started, cpu_seconds
        Seconds since the epoch; seconds of processor time.
    declarations
        As `declarations.checked` gives them; None: those of the draft, if any.
    """
    regret = draft.get("regret")
    if declarations is None:
        declarations = draft.get(blocks.DECLARED)
    record = {
        **{key: value for key, value in draft.items() if key not in blocks.BLOCKS},
        "schema_version": SCHEMA_VERSION,
        blocks.DECLARED: declarations,
        "verdict": conclude.privacy(draft["checks"], draft["power"]),
        "epsilon_lower": conclude.epsilon_lower(draft["checks"]),
        "regret": _regret(regret) if regret else None,
        "provenance": {
            **provenance(started, cpu_seconds, not draft["plan"].get("numerics", False)),
            "target": place(str(draft["target"]["source"]["path"])),
            "ci": ci(),
        },
    }
    # Blocks follow from what a reader gets back.
    record = as_read(record)
    return Report(sealed({**record, **blocks.of(record)}))


def declared(record: Mapping[str, Any], declarations: Mapping[str, Any]) -> dict[str, Any]:
    """A record with these declarations in place of its own; what follows from them is computed again.

    Parameters
    ----------
    record
        Whole, one that holds: it is not checked here.
    declarations
        As `declarations.checked` gives them.

    Raises
    ------
    InputError
        If records of its version cannot hold declarations.
    """
    if blocks.DECLARED not in record:
        raise InputError(
            f"record: schema_version {record['schema_version']} cannot hold declarations, "
            f"{SCHEMA_VERSION} can; audit again"
        )
    bare = {key: value for key, value in record.items() if key not in (*blocks.BLOCKS, "digest")}
    whole = as_read({**bare, blocks.DECLARED: declarations})
    return sealed({**whole, **blocks.of(whole)})


def _regret(draft: Mapping[str, Any]) -> dict[str, Any]:
    """With its verdict, and tables beside the checks: they promise nothing."""
    checks = [check for check in draft["checks"] if check["kind"] not in tables.KINDS]
    apart = [check for check in draft["checks"] if check["kind"] in tables.KINDS]
    found = {**draft, "checks": checks, "verdict": conclude.regret(checks)}
    return {**found, "tables": apart} if apart else found


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else of us writes into the folder meanwhile, so that a record and its page belong together."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        yield
        return
    try:
        lock(handle)
        yield
    finally:
        os.close(handle)


@dataclass(frozen=True)
class Report:
    """What an audit returns.

    Attributes
    ----------
    record : dict
        The whole record, JSON values.
    """

    record: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Name of the target."""
        return str(self.record["target"]["name"])

    @property
    def verdict(self) -> str:
        """On privacy: ``refuted``, ``not_refuted`` or ``inconclusive``."""
        return str(self.record["verdict"])

    @property
    def epsilon_lower(self) -> float:
        """Lower bound on the true epsilon, at confidence `record["confidence"]`."""
        return float(self.record["epsilon_lower"])

    @property
    def regret_verdict(self) -> str | None:
        """``consistent``, ``contradicted``, ``vacuous`` or ``inconclusive``; None if not checked."""
        regret = self.record["regret"]
        return None if regret is None else regret["verdict"]

    @property
    def baseline(self) -> bool:
        """Whether the target makes no privacy promise."""
        return is_baseline(self.record)

    @property
    def printed(self) -> bool:
        """Whether the target is a listing as printed that the default variant corrects."""
        return is_printed(self.record)

    def to_json(self) -> str:
        """The record as indented JSON."""
        return text(self.record)

    def to_html(self) -> str:
        """A self-contained page."""
        return page.render(self.record)

    def save(self, folder: str | Path, stem: str = "record") -> tuple[Path, Path]:
        """Write ``<stem>.json`` and ``<stem>.html`` into `folder`, which is made if needed.

        Raises
        ------
        InputError
            If it cannot be written; nothing half-written is left behind.
        """
        place = Path(folder)
        make_folder("folder", place)
        with _alone(place):
            return (
                write_text(place / f"{stem}.json", self.to_json()),
                write_text(place / f"{stem}.html", self.to_html()),
            )

    @classmethod
    def load(cls, path: str | Path) -> Report:
        """Read a record and check it; see `verify.read`.

        Raises
        ------
        InputError
            If it is unreadable, malformed or was edited.
        """
        return cls(verify(path).record)

    def declare(self, declarations: str | os.PathLike[str] | Mapping[str, Any]) -> Report:
        """The same report with these declarations in place of those it has; no code of the target is run.

        Every count, verdict and all of its provenance stay; blocks and digest are computed again.

        Parameters
        ----------
        declarations
            Path of a TOML file (`verifiable-dp init` writes one to start from), or its values.

        Raises
        ------
        InputError
            If the record does not hold (as `verify.verify`) or is of version 1, which has no place for
            declarations; if they cannot be read or hold anything unknown.
        """
        examine(self.record)
        return Report(declared(self.record, given(declarations) or {}))

    def line(self) -> str:
        """One line: name, verdicts, bound and power."""
        record = self.record
        parts = [f"{self.name + (' (as printed)' if self.printed else ''):<34}"]
        if record["checks"]:
            note = " (baseline, promises nothing)" if self.baseline else ""
            parts.append(f"{self.verdict}{note}")
            parts.append(f"epsilon >= {self.epsilon_lower:.4g} against {record['claim']['epsilon']:g}")
            if record["power"]:
                power = record["power"]
                caught = (
                    "any excess" if power["by"] == "alignment" else f"{float(power['smallest_epsilon']):.4g}"
                )
                parts.append(f"power: catches {caught}")
        mutants = record["mutants"]
        if mutants:
            killed = sum(m["verdict"] in ("refuted", "contradicted") for m in mutants)
            parts.append(f"mutants {killed}/{len(mutants)}")
        if self.regret_verdict:
            parts.append(f"regret {self.regret_verdict}")
        return printable("  ".join(parts))

    def summary(self, saved: str | Path | None = None, again: str | None = None) -> str:
        """Some lines for a terminal.

        Parameters
        ----------
        saved
            Where the record is, for the command that runs a refutation again.
        again
            This command, if it is another one.
        """
        record, lines = self.record, [self.line()]
        if record["checks"]:
            lines.append(_STATEMENTS[self.verdict])
        if record["target"]["note"]:
            lines.append(f"note: {record['target']['note']}")
        for check in record["checks"]:
            lines.append(f"  {check['name']}: {_check_line(check)}")
            lines.extend(leads(check))
        for found in record["counterexamples"]:
            pair = found.get("pair", {}).get("words", "")
            lines.append(f"  counterexample ({found['check']}): {pair}; {in_words(found, record)}")
        if record["power"] and record["checks"]:
            power = record["power"]
            least = (
                "more than the claim"
                if power["by"] == "alignment"
                else f"{float(power['smallest_epsilon']):.4g}"
            )
            lines.append(
                f"  power: a true epsilon of {least} would have been caught with probability "
                f"{power['probability']:g} ({power['by'].replace('_', ' ')}: {power['statement']})"
            )
        for check in record["regret"]["checks"] if record["regret"] else []:
            lines.append(f"  {regrets.line(check)}")
        for table in record["regret"].get("tables", []) if record["regret"] else []:
            lines.append(f"  {table['name']}: {tables.in_short(table)}")
        if record["counterexamples"]:
            where = "RECORD" if saved is None else shlex.quote(str(saved))
            lines.append(f"  again: {again or f'verifiable-dp verify {where} --rerun'}")
        return printable("\n".join(lines))


def _check_line(check: Mapping[str, Any]) -> str:
    numbers, result = check["statistics"], check["result"]
    if check["kind"] == "tracing":
        if numbers["failure"]:
            return f"not traced: {numbers['failure']}"
        cost = f"cost {float(numbers['max_cost']):.6g} against epsilon {numbers['epsilon']:g}"
        if not numbers["same_output"]:
            cost = "the replay cannot follow" if numbers["divergence"] else "other actions come out"
        within = "within the claim" if result["holds"] else "not shown to stay within the claim"
        if is_lead_only(check):
            within = "a lead only, as actions alone are seen"
        return f"{result['verdict']}, {cost} in {numbers['examined']} pairs of runs: {within}"
    if check["kind"] in ("black_box", "numerics"):
        return (
            f"{result['verdict']}, {numbers['k1']} of {numbers['n1']} against "
            f"{numbers['k0']} of {numbers['n0']}, "
            f"p-value {p_value_in_words(result['p_value'])}, epsilon >= {float(result['epsilon_lower']):.4g}"
        )
    if check["kind"] == "sequential":
        return (
            f"{result['verdict']}, {numbers['runs']} runs, {result['looks']} looks, "
            f"p-value {p_value_in_words(result['p_value'])}, epsilon >= {float(result['epsilon_lower']):.4g}"
        )
    if check["kind"] == "alignment":
        return (
            f"{result['verdict']}, largest cost {float(numbers['max_cost']):.6g} in {numbers['examined']} "
            f"transcripts against epsilon {numbers['epsilon']:g}"
        )
    if check["kind"] == "exact":
        return (
            f"{result['verdict']}, epsilon of the actions {float(result['epsilon_lower']):.6g} over "
            f"{len(numbers['pairs'])} pairs against {numbers['epsilon']:g}"
        )
    if check["kind"] == "curve":
        return (
            f"{result['verdict']}, {len(numbers['points'])} points of {numbers['runs']} runs a side, "
            f"p-value {p_value_in_words(result['p_value'])}, epsilon >= {float(result['epsilon_lower']):.4g}"
        )
    if check["kind"] == "shuffle":
        return (
            f"{result['verdict']}, delta in [{float(result['delta_lower']):.4g}, "
            f"{float(result['delta_upper']):.4g}] against {numbers['delta']:g}, "
            f"epsilon0 {float(result['local_epsilon']):.4g}"
        )
    return str(result["verdict"])
