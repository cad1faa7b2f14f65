"""A baseline: warnings that are known, so that only new ones fail a gate; a refuted claim always does."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from verifiable_dp.core import files
from verifiable_dp.core.validate import InputError
from verifiable_dp.render.findings import RULES, findings
from verifiable_dp.report import Report

_VERSION = 1
_LARGEST = 1 << 20  # bytes of a file
Known = tuple[str, str, str]  # name of the target, code of the finding, file


@dataclass(frozen=True)
class Baseline:
    """Findings that are known.

    Parameters
    ----------
    path
        Of the file.
    known
        Name of the target, code and file of each finding; lines are left out, for they move.
    """

    path: Path
    known: frozenset[Known] = frozenset()

    @classmethod
    def at(cls, path: Path) -> Baseline:
        """The baseline in a file; without a file nothing is known yet.

        Raises
        ------
        InputError
            If the file is not a baseline.
        """
        return cls(path, _read(path) if path.exists() else frozenset())

    def new(self, name: str, report: Report) -> list[Known]:
        """Warnings about a target that are not known."""
        return sorted(_of(name, report) - self.known)

    def excuses(self, name: str, report: Report) -> bool:
        """Whether a target is undecided, nothing is refuted or contradicted, and each warning is known."""
        undecided = report.decision.exit_code == 3 and report.decision.regret in (None, "consistent")
        return undecided and bool(_of(name, report)) and not self.new(name, report)

    def gone(self, reports: Iterable[tuple[str, Report]]) -> list[Known]:
        """What is known of these targets and was not found any more."""
        several = dict(reports)
        found = {one for name, report in several.items() for one in _of(name, report)}
        return sorted(one for one in self.known - found if one[0] in several)

    def write(self, reports: Iterable[tuple[str, Report]]) -> int:
        """Make all that was found of these targets known, in the file; how many findings it then holds.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        several = dict(reports)
        kept = {one for one in self.known if one[0] not in several}
        rows = sorted(kept.union(*(_of(name, report) for name, report in several.items())))
        listed = [dict(zip(_KEYS, row, strict=True)) for row in rows]
        files.write_text(self.path, json.dumps({"version": _VERSION, "findings": listed}, indent=1) + "\n")
        return len(rows)


_KEYS = ("target", "code", "file")
_EXCUSED = [code.value for code, rule in RULES.items() if rule.severity == "warning"]  # errors never are


def _of(name: str, report: Report) -> set[Known]:
    found = findings(report.parsed)
    return {(name, one.code.value, one.file) for one in found if one.code in _EXCUSED}


def _read(path: Path) -> frozenset[Known]:
    wrong = InputError(
        f"baseline: {str(path)!r} is not a baseline; remove it, and write it with --write-baseline"
    )
    try:
        loaded = json.loads(files.content("baseline", path, _LARGEST))
        if not isinstance(loaded, dict) or loaded.keys() != {"version", "findings"}:
            raise wrong
        rows = [tuple(row[key] for key in _KEYS) for row in loaded["findings"] if row.keys() == {*_KEYS}]
        texts = all(isinstance(word, str) for row in rows for word in row)
        if loaded["version"] != _VERSION or len(rows) != len(loaded["findings"]) or not texts:
            raise wrong
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise wrong from None
    if any(row[1] not in {*_EXCUSED} for row in rows):
        raise wrong
    return frozenset((row[0], row[1], row[2]) for row in rows)
