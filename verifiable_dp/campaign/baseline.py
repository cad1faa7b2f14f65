"""A baseline: warnings that are known, so that only new ones fail a gate; a refuted claim always does."""

from __future__ import annotations

import ast
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from verifiable_dp.core import files
from verifiable_dp.core.validate import InputError
from verifiable_dp.record import words
from verifiable_dp.record.model import Record
from verifiable_dp.render.findings import RULES, Finding, FindingCode, findings
from verifiable_dp.report import Report

_VERSION = 4
_OLDER = {
    1: "names no lines",
    2: "does not record the other files that code reads",
    3: "does not record what was asked",
}
_LARGEST = 1 << 20  # bytes of a file


class Known(NamedTuple):
    """A finding that stays the same when its line moves, and not when the line changes.

    `function` is the qualified name of what the line is in. `text` is the line without its indent; of a
    finding about a whole target it is a digest of its code in that file (of the file, where that cannot be
    read), of what was asked, of the reason, and of the other files that it read.
    """

    target: str
    code: str
    file: str
    function: str
    text: str

    @property
    def words(self) -> str:
        """Code, target and place."""
        at = f", {self.function}" if self.function else ""
        line = "" if self.text.startswith("sha256:") else f": {self.text}"
        return f"{self.code} of {self.target} in {self.file}{at}{line}"


@dataclass(frozen=True)
class Baseline:
    """Findings that are known.

    Parameters
    ----------
    path
        Of the file.
    known
        Each finding, as often as it is there.
    folder
        In which paths of findings begin: that of the campaign.
    """

    path: Path
    known: tuple[Known, ...] = ()
    folder: Path = Path()

    @classmethod
    def at(cls, path: Path, folder: Path = Path()) -> Baseline:
        """The baseline in a file; without a file nothing is known yet.

        Raises
        ------
        InputError
            If the file is not a baseline of this version.
        """
        return cls(path, _read(path) if path.exists() else (), folder)

    def new(self, name: str, report: Report) -> list[Known]:
        """Warnings about a target that are not known, those too that a comment ignores."""
        return sorted((Counter(_of(name, report, self.folder)) - Counter(self.known)).elements())

    def excuses(self, name: str, report: Report) -> bool:
        """Whether a target is undecided, nothing is refuted or contradicted, and each warning is known.

        What is excused rests on nothing, so it is never where more than samples is required.
        """
        found = report.decision
        undecided = found.privacy == "inconclusive" and found.exit_code == 3
        undecided = undecided and found.regret in (None, "consistent") and not found.short
        return undecided and bool(_of(name, report, self.folder)) and not self.new(name, report)

    def gone(self, reports: Iterable[tuple[str, Report]]) -> list[Known]:
        """What is known of these targets and was not found any more."""
        several = dict(reports)
        found = Counter(one for name, report in several.items() for one in _of(name, report, self.folder))
        return sorted(one for one in (Counter(self.known) - found).elements() if one.target in several)

    def write(self, reports: Iterable[tuple[str, Report]]) -> int:
        """Make all that was found of these targets known, in the file; how many findings it then holds.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        several = dict(reports)
        kept = [one for one in self.known if one.target not in several]
        rows = sorted(kept + [one for item in several.items() for one in _of(*item, self.folder) if one.text])
        listed = [row._asdict() for row in rows]
        files.write_text(self.path, json.dumps({"version": _VERSION, "findings": listed}, indent=1) + "\n")
        return len(rows)


_EXCUSED = [code.value for code, rule in RULES.items() if rule.severity == "warning"]  # errors never are
_OF_HELD = (FindingCode.WEAK, FindingCode.SHORT)  # of claims that are not refuted: nothing to excuse


_Named = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _of(name: str, report: Report, folder: Path) -> list[Known]:
    record = report.parsed
    found = {
        (one.code, one.file, one.line): one
        for one in findings(record)
        if one.code in _EXCUSED and one.code not in _OF_HELD  # ignored or not: the verdict is the same
    }
    return [Known(name, one.code.value, one.file, *_place(one, record, folder)) for one in found.values()]


def _place(finding: Finding, record: Record, folder: Path) -> tuple[str, str]:
    """Function and text of a finding; no text where nothing tells it from others, and it is never known."""
    source, asked = record.target.source, record.provenance.request
    if asked and asked.target.kind == "command":  # which files it reads is unknown
        return "", ""
    whole = f"sha256:{source.sha256}" if source.sha256 and finding.file == source.path else ""
    name, code = _code(finding, folder, source.sha256, whole)
    if finding.of_code or not code:
        return name, code
    body = "\n".join([code, *_beside(record)])
    return name, f"sha256:{hashlib.sha256(body.encode()).hexdigest()}"


def _code(finding: Finding, folder: Path, sha256: str, whole: str) -> tuple[str, str]:
    """Function of a finding, and the code that it is about; `whole` where that cannot be read."""
    try:
        content = files.content("code", folder / finding.file, _LARGEST)
        if whole and hashlib.sha256(content).hexdigest() != sha256:
            return "", whole  # not the code that was audited
        text = content.decode("utf-8")
        tree = ast.parse(text)
        name = ".".join(node.name for node in _around(tree, finding.line))
    except (InputError, ValueError, SyntaxError, RecursionError):
        return "", whole
    lines = [line.strip() for line in text.splitlines()]
    if finding.of_code:
        return name, "".join(lines[finding.line - 1 : finding.line]) if finding.line else whole
    start = next((one for one in tree.body if finding.line in _span(one)), None)
    if start is None:
        return name, whole
    kept = [lines[number - 1] for one in _needed(tree, start) for number in _span(one)]
    return name, "\n".join(line for line in kept if line)


def _span(statement: ast.stmt) -> range:
    """Numbers of the lines of a statement, with its decorators."""
    marks = statement.decorator_list if isinstance(statement, _Named) else []
    return range(min([statement.lineno, *(mark.lineno for mark in marks)]), (statement.end_lineno or 0) + 1)


def _beside(record: Record) -> Iterator[str]:
    """What else a finding about a whole target is about: the promise, what was asked, and the other files.

    The reason, too, and which checks it is of; how much was run does not matter.
    """
    yield f"{words.promised(record)}, {record.reason}"
    yield from sorted(f"{one.kind} {one.name}" for one in record.checks if one.verdict == "inconclusive")
    asked, read = record.provenance.request, record.provenance.target.opened
    if asked:
        plan = {key: value for key, value in asked.plan.items() if key not in _HOW_MUCH}
        stated = [asked.target.parameters, asked.claim, asked.inputs, plan]
        yield json.dumps(stated, sort_keys=True)
    digests = {**(read or {}), **(asked.target.files if asked else {})}
    own = record.target.source.sha256
    yield from (f"{name} {digest}" for name, digest in sorted(digests.items()) if digest != own)


_HOW_MUCH = ("budget", "runs", "timeout", "detect", "sequential", "curve", "mutants")  # of a plan


def _needed(tree: ast.Module, start: ast.stmt) -> list[ast.stmt]:
    """Statements of a module that one of them needs, in order: those that define what it names, and so on.

    With those that do something as the module is imported: they may change what it uses.
    """
    found = {start, *filter(_acts, tree.body)}
    todo = [*found]
    while todo:
        named = {
            word
            for node in ast.walk(todo.pop())
            for word in (getattr(node, "id", ""), getattr(node, "attr", ""))
        }
        new = {one for one in tree.body if one not in found and named & _defined(one)}
        found |= new
        todo += new
    return [one for one in tree.body if one in found]


def _acts(statement: ast.stmt) -> bool:
    """Whether a statement of a module may do more, as it is imported, than define a name."""
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass):
        return False
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return bool(statement.decorator_list) or _calls(statement.args)
    if isinstance(statement, ast.ClassDef):
        head = (*statement.decorator_list, *statement.bases, *statement.keywords)
        return any(map(_calls, head)) or any(map(_acts, statement.body))
    if isinstance(statement, ast.If) and ast.unparse(statement.test) == "__name__ == '__main__'":
        return any(map(_acts, statement.orelse))
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return _calls(statement) or not all(isinstance(one, ast.Name) for one in targets)
    return not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))


def _calls(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Call) for one in ast.walk(node))


def _defined(statement: ast.stmt) -> set[str]:
    """Names that a statement of a module may define."""
    if isinstance(statement, _Named):
        return {statement.name}
    inner = [*ast.walk(statement)]
    stored = {node.id for node in inner if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    given = {node.asname or node.name.partition(".")[0] for node in inner if isinstance(node, ast.alias)}
    return stored | given | {node.name for node in inner if isinstance(node, _Named)}


def _around(tree: ast.AST, line: int) -> Iterator[_Named]:
    """Functions and classes that a line is in, from the outside; a decorator's line counts."""
    for node in ast.iter_child_nodes(tree):
        marks = node.decorator_list if isinstance(node, _Named) else []
        first = min([getattr(node, "lineno", 1), *(mark.lineno for mark in marks)])
        if first <= line <= (getattr(node, "end_lineno", None) or first):
            if isinstance(node, _Named):
                yield node
            yield from _around(node, line)


def _read(path: Path) -> tuple[Known, ...]:
    wrong = InputError(
        f"baseline: {str(path)!r} is not a baseline; remove it, and write a new one with --write-baseline"
    )
    try:
        loaded = json.loads(files.content("baseline", path, _LARGEST))
        if not isinstance(loaded, dict) or loaded.keys() != {"version", "findings"}:
            raise wrong
        if loaded["version"] in _OLDER:
            lacks = _OLDER[loaded["version"]]
            raise InputError(
                f"baseline: {str(path)!r} has version {loaded['version']}, which {lacks}, "
                "so new findings could go unnoticed; remove it, and write a new one with verifiable-dp audit "
                "--write-baseline"
            )
        rows = [Known(**row) for row in loaded["findings"]]
        texts = all(isinstance(word, str) for row in rows for word in row)
        if loaded["version"] != _VERSION or not texts:
            raise wrong
    except InputError:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise wrong from None
    if any(row.code not in {*_EXCUSED} or not row.text for row in rows):
        raise wrong
    return tuple(rows)
