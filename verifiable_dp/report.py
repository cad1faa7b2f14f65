"""What an audit returns: a record, and everything that can be done with it."""

from __future__ import annotations

import functools
import importlib.util
import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from verifiable_dp.core import frames
from verifiable_dp.core.files import lock, make_folder, write_text
from verifiable_dp.core.plot import NEEDED, Plot
from verifiable_dp.core.validate import InputError, Json, JsonDict, named, on_one_line
from verifiable_dp.evidence.blackbox.statistics import DETECT
from verifiable_dp.evidence.check import Check, in_words
from verifiable_dp.evidence.regret.readings import is_table
from verifiable_dp.record import conclude, how, kills, power_words, questions, words
from verifiable_dp.record.decision import Decision, decision
from verifiable_dp.record.declarations import given
from verifiable_dp.record.model import Record, Target
from verifiable_dp.record.provenance import ci, place, provenance
from verifiable_dp.record.requests import RequestEntry
from verifiable_dp.record.sealing import SCHEMA_VERSION, plain, sealed, text
from verifiable_dp.record.verify import examine, verify
from verifiable_dp.render import page, plots, regrets, svg
from verifiable_dp.render.findings import FindingCode, comments, findings, told
from verifiable_dp.targets.source import located

if TYPE_CHECKING:
    import pandas as pd


def finish(
    draft: Json,
    *,
    started: float,
    cpu_seconds: float,
    declarations: Json | None = None,
    request: RequestEntry | None = None,
    kept: Json | None = None,
    resumed: int = 0,
    opened: Mapping[str, str] | None = None,
) -> Report:
    """Conclude a draft: verdicts, provenance and digest.

    Parameters
    ----------
    draft
        What the audit found.
    started, cpu_seconds
        Seconds since the epoch; seconds of processor time.
    declarations
        As `declarations.checked` gives them; None: those of the request or of the draft, if any.
    request
        What was asked, a copy of which the record holds; None for a rerun.
    kept
        What a record says about the run: ``in_process``, or ``cage`` and ``counted``.
    resumed
        How many finished steps were taken from a checkpoint of an earlier attempt.
    opened
        Files that a user's code read, by their paths in its repository, and their digests.
    """
    target, regret = Target.of(plain(draft["target"])), draft.get("regret")
    checks = [Check.read(check) for check in draft["checks"]]
    verdict, reason = conclude.conclusion(checks, draft["plan"].get("detect", DETECT))
    bound = conclude.epsilon_upper(checks)
    stated = draft.get("declarations") if declarations is None else declarations
    stated = request.declarations if request else stated
    found = target.source.path if target.ours else str(located(target.name, target.source.path))
    facts = {
        **provenance(started, cpu_seconds, not draft["plan"].get("numerics", False)),
        "target": place(found, target.ours, request.target.files if request else None, opened),
        "ci": ci(),
        **({"request": request.as_dict()} if request else {}),
        **(kept or {}),
        **({"resumed": {"steps": resumed}} if resumed else {}),
    }
    record = {
        **draft,
        "schema_version": SCHEMA_VERSION,
        "declarations": stated,
        "verdict": verdict,
        "reason": reason,
        "epsilon_lower": conclude.epsilon_lower(checks),
        "epsilon_upper": bound and bound.as_dict(),
        "detectable": conclude.detectable(checks),
        "unbounded": draft.get("unbounded"),
        "kill_table": draft.get("kill_table"),
        "regret": _regret(regret) if regret else None,
        "provenance": facts,
    }
    report = Report(sealed(record))
    ignored = comments(report.parsed)
    facts |= {"ignored": ignored} if ignored else {}
    return Report(sealed(record)) if ignored else report


def _regret(draft: Json) -> JsonDict:
    """With its verdict, and tables beside the checks: they promise nothing."""
    found = [Check.read(check) for check in draft["checks"]]
    checks, tables = ([c for c in found if is_table(c) == apart] for apart in (False, True))
    made = {**draft, "checks": [c.as_dict() for c in checks], "verdict": conclude.regret(checks)}
    return {**made, "tables": [c.as_dict() for c in tables]} if tables else made


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


_LINES = 6  # that a terminal shows unless asked for all
_OF_VERDICT = (FindingCode.REFUTED, FindingCode.UNDECIDED)  # findings that say what the verdict says
_SHOWN = 9  # lines of a report that `print` shows


@dataclass(frozen=True, repr=False)
class Report:
    """What an audit returns.

    Attributes
    ----------
    record : dict
        The whole record, as JSON values.
    """

    record: Json

    def __bool__(self) -> NoReturn:
        """Refuse to be a condition: a report that refutes a claim would count as true.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError(
            "a Report is neither true nor false; compare its verdict, such as report.verdict == 'not_refuted'"
        )

    def __repr__(self) -> str:
        """One line, for a session: the record has some thousand."""
        return f"<Report: {self.line()}>"

    def __str__(self) -> str:
        """The first lines of the summary."""
        lines = self.summary().splitlines()
        more = [f"and {len(lines) - _SHOWN} more lines: summary()"] if len(lines) > _SHOWN + 1 else []
        return "\n".join([*(lines[:_SHOWN] if more else lines), *more])

    @property
    def name(self) -> str:
        """Name of the target."""
        return self.parsed.target.name

    @property
    def verdict(self) -> str:
        """On privacy: ``refuted``, ``not_refuted`` or ``inconclusive``."""
        return self.parsed.verdict

    @property
    def epsilon_lower(self) -> float:
        """Lower bound on the true epsilon, at the confidence that the record states."""
        return float(self.parsed.epsilon_lower)

    @property
    def epsilon_upper(self) -> float | None:
        """Upper bound on the true epsilon; None if none was proved. `record` contains its premises."""
        found = self.parsed.epsilon_upper
        return None if found is None else float(found.epsilon)

    @property
    def reason(self) -> str | None:
        """Why the verdict is inconclusive; None for other verdicts.

        ``lead`` (evidence without proof), ``weak`` (only larger leaks would have been caught) or
        ``unsearched`` (no input that we tried changed the output).
        """
        return self.parsed.reason

    @property
    def regret_verdict(self) -> str | None:
        """``consistent``, ``contradicted``, ``inconclusive`` or ``vacuous`` (cannot fail); or None."""
        return self.parsed.regret.verdict if self.parsed.regret else None

    @functools.cached_property
    def parsed(self) -> Record:
        """The record as a type."""
        return Record.of(self.record)

    @functools.cached_property
    def decision(self) -> Decision:
        """What the record decides, as every rendering and exit status has it."""
        return decision(self.parsed)

    @property
    def baseline(self) -> bool:
        """Whether the target makes no privacy promise."""
        return words.is_baseline(self.parsed)

    @property
    def printed(self) -> bool:
        """Whether the target is a printed listing that the default variant corrects."""
        return words.is_printed(self.parsed)

    def to_json(self) -> str:
        """The record as indented JSON."""
        return text(self.record)

    def to_html(self) -> str:
        """A self-contained page."""
        return page.render(self.parsed)

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, the interval of epsilon, the checks and the plots."""
        record = self.parsed
        plots_ = (plots.epsilon_bars(record) if record.audited else None, regrets.svg(record))
        lines = [words.verdict(record)] if record.audited else []
        lines += [words.line(check) for check in (*record.checks, *record.regret_checks)]
        return "".join(
            [
                f"<p><strong>{escape(self.line())}</strong></p>",
                *(f"<p>{escape(line)}</p>" for line in lines),
                *(f"<p>note: {escape(note)}</p>" for note in [words.note(record)] if note),
                *(f"<div>{svg.alone(drawn, white=True)}</div>" for drawn in plots_ if drawn),
            ]
        )

    def to_frame(self) -> pd.DataFrame:
        """A row per check, with columns subject (privacy or regret), check, kind, verdict and words."""
        frames.needed()
        import pandas as pd

        checks = [("privacy", check) for check in self.parsed.checks]
        checks += [("regret", check) for check in self.parsed.regret_checks]
        rows = [
            {
                "subject": subject,
                "check": check.name,
                "kind": check.kind,
                "verdict": check.verdict,
                "words": in_words(check),
            }
            for subject, check in checks
        ]
        return pd.DataFrame(rows, columns=["subject", "check", "kind", "verdict", "words"])

    def plot(self) -> Plot:
        """Plot lower bounds on epsilon and the claim or, for a report on regret alone, the measured regret.

        Raises
        ------
        InputError
            Without matplotlib, or if there is nothing to draw.
        """
        if importlib.util.find_spec("matplotlib") is None:
            raise InputError(NEEDED)
        record = self.parsed
        drawn = (plots.epsilon_bars(record) if record.audited else None) or regrets.svg(record)
        if drawn is None:
            raise InputError(f"plot: the record of {self.name} has no numbers to draw; use to_frame()")
        return Plot(self.line(), svg.alone(drawn, white=True))

    def save(self, folder: str | Path, stem: str = "record") -> tuple[Path, Path]:
        """Write ``<stem>.json`` and ``<stem>.html`` into `folder`, creating it if needed.

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

    def declare(self, declarations: str | os.PathLike[str] | Json) -> Report:
        """Return the same report with these declarations instead, without running the target's code.

        Every count, verdict and all of its provenance stay; the digest is computed again.

        Parameters
        ----------
        declarations
            Path of a TOML file (`verifiable-dp init` writes one to start from), or its values.

        Raises
        ------
        InputError
            If the record does not hold (as `verify.verify`), or they cannot be read or hold anything unknown.
        """
        examine(self.record)
        return Report(sealed({**self.record, "declarations": given(declarations) or {}}))

    def with_kill_table(self, table: Json) -> Report:
        """Return the same report with a valid kill table (audits of its broken variants), running no code.

        Every count, verdict and all of its provenance stay; the digest is computed again. A table that says
        nothing of the algorithm, or of this promise of it, changes nothing.
        """
        found = kills.of_table(table, self.parsed)
        if found is None or found == self.parsed.kill_table:
            return self
        return Report(sealed({**self.record, "kill_table": found.as_dict()}))

    def line(self) -> str:
        """One line: name, verdicts, bounds on epsilon, and whether the audit was resumed."""
        record = self.parsed
        parts = [f"target {named(self.name) + (' (as printed)' if self.printed else ''):<34}"]
        if record.audited:
            note = " (baseline, promises nothing)" if self.baseline else ""
            reason = f" ({self.reason})" if self.reason else ""
            parts.append(f"{self.verdict}{reason}{note}")
            claimed = f", claimed {words.promised(record)}" if record.claimed.curve else ""
            interval = words.interval(record)
            parts.append(interval if "claimed" in interval else interval + claimed)
        mutants = record.mutants
        if mutants:
            parts.append(f"mutants {words.caught(mutants)}/{len(mutants)}")
        if self.regret_verdict:
            parts.append(f"regret {self.regret_verdict}")
        if found := questions.holes(record):
            parts.append(f"declared holes: {questions.brief(found)}")
        if record.provenance.resumed:
            parts.append("resumed from a checkpoint")
        return on_one_line("  ".join(parts))

    def brief(self, saved: str | Path | None = None, again: str | None = None) -> str:
        """The first lines of `summary`, at most six, for a terminal.

        The verdict, the finding to look at first with its place, what to do, the counterexample, the command
        that runs it again, and where the record is; in the room that is left, other findings and checks of
        regret.
        """
        record, lines = self.parsed, [self.line()]
        found = told(record)
        first, others = found[:1], [one for one in found[1:] if one.code not in _OF_VERDICT]
        says = any(one.code in _OF_VERDICT for one in first) or (
            self.verdict == "refuted" and not self.baseline
        )
        lines += [words.verdict(record)] if record.audited and not says else []
        for finding in first:
            lines += [finding.words(), f"  to do: {finding.advice}"]
        last = [
            f"  counterexample ({found.check}): {words.counterexample(found, record)}"
            for found in record.counterexamples[:1]
        ]
        last += self._again(saved, again)
        last += [f"  record: {saved}"] if saved else []
        rest = [one.words() for one in others]
        rest += [
            f"  check {words.line(check)}"
            for check in record.regret_checks
            if check.verdict != "contradicted"  # these are findings
        ]
        room = _LINES - len(lines) - len(last)
        if len(rest) > room:
            rest = [*rest[: room - 1], f"  and {len(rest) - room + 1} more: -v"] if room else []
        return "\n".join(map(on_one_line, [*lines, *rest, *last]))

    def _again(self, saved: str | Path | None, again: str | None) -> list[str]:
        """The command that runs a refutation again, if it can be."""
        if not self.parsed.counterexamples or not words.found_again(self.parsed):
            return []
        where = "RECORD" if saved is None else shlex.quote(str(saved))
        return [f"  again: {again or f'verifiable-dp verify {where} --rerun'}"]

    def summary(self, saved: str | Path | None = None, again: str | None = None) -> str:
        """The report as a terminal shows it; each line begins with this program's own words.

        Parameters
        ----------
        saved
            Where the record is, for the command that runs a refutation again.
        again
            This command, if it is another one.
        """
        record, lines = self.parsed, [self.line()]
        if record.audited:
            lines.append(words.verdict(record))
        if words.note(record):
            lines.append(f"note: {words.note(record)}")
        lines += [f"note: {note}" for note in how.notes(record)]
        for check in record.checks:
            lines += [f"  check {words.line(check)}", *(f"  at {lead}" for lead in words.leads(check))]
        for found in record.counterexamples:
            lines.append(f"  counterexample ({found.check}): {words.counterexample(found, record)}")
        if record.power and record.audited:
            lines.append(f"  noise reduction detected: {power_words.power(record)}")
        lines += [f"  check {words.line(check)}" for check in (*record.regret_checks, *record.tables)]
        lines += [f"{finding.words().rstrip('.')}; to do: {finding.advice}" for finding in findings(record)]
        return "\n".join(map(on_one_line, [*lines, *self._again(saved, again)]))
