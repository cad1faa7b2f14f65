"""What a reader of a record has to act on: findings with a code that stays, a place, and what to do.

The command line, pytest and SARIF show the same ones; docs/findings.md has a section for each code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from verifiable_dp.core import files
from verifiable_dp.core.validate import InputError, JsonDict, on_one_line
from verifiable_dp.evidence.words import digits
from verifiable_dp.record import power_words, questions, words
from verifiable_dp.record.decision import decision
from verifiable_dp.record.excerpts import too_costly
from verifiable_dp.record.model import Record
from verifiable_dp.render import advice, strength


class FindingCode(StrEnum):
    """Which finding."""

    REFUTED = "DP100"
    RAW_DATA = "DP101"
    RELEASE_COST = "DP102"
    UNBOUNDED = "DP201"
    UNDECIDED = "DP301"
    WEAK = "DP302"
    MISSED = "DP303"
    SHORT = "DP304"
    REGRET = "DP401"
    HOLE = "DP501"


@dataclass(frozen=True)
class FindingRule:
    """What holds of every finding of a code.

    Attributes
    ----------
    severity
        ``error``, ``warning`` or ``note``.
    title
        What it is, in a sentence.
    advice
        What to do.
    """

    severity: str
    title: str
    advice: str


RULES = {
    FindingCode.REFUTED: FindingRule(
        "error",
        "A reproducible counterexample refutes the differential-privacy claim.",
        "run the counterexample again, fix the code, or claim an epsilon that it keeps, then audit again",
    ),
    FindingCode.RAW_DATA: FindingRule(
        "warning",
        "Raw data influences a decision before any noise.",
        "decide from released values only, or add noise to what decides here and release it",
    ),
    FindingCode.RELEASE_COST: FindingRule(
        "warning",
        "The releases cost more than the privacy claim allows, according to the bound from their noise.",
        "increase the noise scale, release less often, or limit how much one reward can change",
    ),
    FindingCode.UNBOUNDED: FindingRule(
        "note",
        "There is no upper bound on epsilon: we could not follow the code to its end.",
        "rewrite this line so that we can follow it (you may also have to rewrite later lines); until then, "
        "only the tests support the claim",
    ),
    FindingCode.UNDECIDED: FindingRule(
        "warning",
        "The audit neither refuted the privacy claim nor found enough evidence for it.",
        "try a larger --budget or a smaller instance, which makes the tests sharper; only an upper bound "
        "excludes leaks (DP201 says why there is none); -v shows the evidence",
    ),
    FindingCode.WEAK: FindingRule(
        "warning",
        "The audit found no violation of the privacy claim, but could have missed a large one.",
        "try a larger --budget, or a smaller instance, on which weak noise shows sooner",
    ),
    FindingCode.MISSED: FindingRule(
        "warning",
        "The audit missed a broken variant that it has to catch.",
        "try a larger --budget",
    ),
    FindingCode.SHORT: FindingRule(
        "warning",
        "The privacy claim is not refuted, but the evidence for it is weaker than required.",
        "find out why there is no upper bound with that scope (DP201), or require less",
    ),
    FindingCode.REGRET: FindingRule(
        "error",
        "Measurements contradict the regret theorem.",
        "compare the code with the listing, and its constants with the theorem's",
    ),
    FindingCode.HOLE: FindingRule(
        "error",
        "An answer in the declarations contradicts the privacy promise or makes it void.",
        "change the deployment, or correct the answer if it is wrong, then declare again",
    ),
}


@dataclass(frozen=True)
class Finding:
    """One thing to act on.

    Attributes
    ----------
    code
        Of its rule.
    sentence
        What was found here.
    file, line
        Where; empty and 0 where no line is known.
    detail
        The counterexample in words, or what a reader has to know of an open one; empty without either.
    ignored
        Why a comment in the code says to ignore it; empty if none does. The verdict stays what it is.
    todo
        What to do here, where it is not what its rule says.
    """

    code: FindingCode
    sentence: str
    file: str = ""
    line: int = 0
    detail: str = ""
    ignored: str = ""
    todo: str = ""

    @property
    def of_code(self) -> bool:
        """Whether the place is what it is about, not where the target begins."""
        return self.code in (FindingCode.RAW_DATA, FindingCode.RELEASE_COST, FindingCode.UNBOUNDED)

    @property
    def severity(self) -> str:
        """See `FindingRule`; a finding that is ignored is a note."""
        return "note" if self.ignored else RULES[self.code].severity

    @property
    def advice(self) -> str:
        """See `FindingRule`, unless it has its own; of a finding that is ignored, why it is."""
        if self.ignored:
            return f"nothing, because the code says to ignore it: {self.ignored}"
        return self.todo or RULES[self.code].advice

    def told(self, title: str) -> str:
        """Sentence and detail, of the target of this title unless a line of code is what it is about."""
        said = " ".join(filter(None, (self.sentence, self.detail)))
        return said if self.of_code else f"{title}: {said}"

    def words(self) -> str:
        """Severity, code, place and sentence, as linters write it."""
        at = f" {self.file}{f':{self.line}' if self.line else ''}:" if self.file else ":"
        return f"{self.severity} {self.code}{at} {self.sentence}"


def findings(record: Record) -> list[Finding]:
    """All of a record, in the order of what to look at first: lines of code, what was measured, notes.

    Those that a comment in the code says to ignore are notes. An error cannot be ignored.
    """
    found = [
        *_of_code(record),
        *_of_privacy(record),
        *_of_regret(record),
        *_of_declarations(record),
        *_noted(record),
    ]
    reasons = {(one.code, one.file, one.line): one.reason for one in record.provenance.ignored or ()}
    marked = [
        one
        if one.severity == "error"
        else replace(one, ignored=reasons.get((one.code, one.file, one.line), ""))
        for one in found
    ]
    return sorted(marked, key=lambda one: bool(one.ignored))


_COMMENT = re.compile(r"#\s*verifiable-dp:\s*ignore\[([A-Z0-9, ]+)\][ \t]*(\S.*)")


def comments(record: Record) -> list[JsonDict]:
    """Entries of `Provenance.ignored` from the code that findings point at: a comment in that line.

    It reads ``# verifiable-dp: ignore[DP101] reason``; without a reason it has no effect.
    """
    entries = []
    for one in findings(record):
        found = _COMMENT.search(_line(one.file, one.line))
        if found and one.code in found[1].replace(" ", "").split(","):
            reason = on_one_line(found[2]).strip()
            entries.append({"code": one.code.value, "file": one.file, "line": one.line, "reason": reason})
    return entries


_LARGEST = 1 << 20  # bytes of a file in which comments are looked for


def _line(file: str, line: int) -> str:
    try:
        lines = files.content("code", file, _LARGEST).decode("utf-8", "replace").splitlines() if file else []
    except InputError:  # the code is elsewhere: nothing is ignored
        return ""
    return lines[line - 1] if 0 < line <= len(lines) else ""


def told(record: Record) -> list[Finding]:
    """Those to act on: that a baseline, which promises nothing, is refuted is none."""
    return [
        one for one in findings(record) if not (words.is_baseline(record) and one.code is FindingCode.REFUTED)
    ]


def _of_code(record: Record) -> Iterator[Finding]:
    """Lines that are evidence against the claim, unless that is not refuted."""
    if record.verdict == "not_refuted":
        return
    for numbers in (check.statistics for check in record.checks if check.kind == "tracing"):
        for lead in numbers["leads"]:
            if lead["open"] and lead["what"] != "unfollowed":  # of that DP201 tells
                yield _at_line(record, FindingCode.RAW_DATA, words.lead_in_words(lead), lead)
        for row in too_costly(numbers):
            yield _at_line(record, FindingCode.RELEASE_COST, words.share_in_words(row), row)


def _at_line(record: Record, code: FindingCode, said: str, place: JsonDict) -> Finding:
    other = advice.report_alone(record) if record.verdict == "inconclusive" else ""
    todo = f"{RULES[code].advice}; or {other}" if other else ""
    return Finding(code, said, place["file"], place["line"], todo=todo)


def _of_privacy(record: Record) -> Iterator[Finding]:
    found, place = decision(record), _place(record)
    if found.privacy == "refuted":
        examples = [f"{e.check}: {words.counterexample(e, record)}" for e in record.counterexamples]
        for example in examples or [""]:
            yield Finding(FindingCode.REFUTED, words.verdict(record), *place, example)
    elif found.privacy == "inconclusive":
        said, todo = words.verdict(record), advice.undecided(record)
        yield Finding(FindingCode.UNDECIDED, said, *place, words.note(record), todo=todo)
    if found.weak:
        weak = "the audit is weak" if found.scope is None else "only the proof supports the claim"
        yield Finding(FindingCode.WEAK, f"{weak}: {strength.weakness(record)}{_decisive(record)}", *place)
    elif found.privacy != "refuted" and found.faults:
        yield Finding(FindingCode.MISSED, strength.missed(record), *place)
    if found.ground and found.short:
        yield Finding(FindingCode.SHORT, strength.required(record), *place, todo=advice.short(record))


_NO_LINE = "run `inspect TARGET --play` to see which lines we cannot follow"


def _decisive(record: Record) -> str:
    """What a weak audit was accepted for, where that is another number than the one that is weak."""
    seen, kind = words.catches(record)
    if decision(record).scope is not None or record.detectable is None or float(record.detectable) >= seen:
        return ""
    at = f"a loss of {digits(record.detectable)} at the tested event would have been caught"
    return f"; accepted because {at} (--detect)" if kind == power_words.KIND else ""


def _of_regret(record: Record) -> Iterator[Finding]:
    for check in record.regret_checks:
        if check.verdict == "contradicted":
            yield Finding(FindingCode.REGRET, f"{words.line(check)}.", *_place(record))


def _of_declarations(record: Record) -> Iterator[Finding]:
    for hole in questions.holes(record):
        said = f"declared hole, {hole.question.brief}: {hole.why} (declared: {hole.words})."
        yield Finding(FindingCode.HOLE, said)


def _noted(record: Record) -> Iterator[Finding]:
    """Where the upper bound ends."""
    ended = record.unbounded
    if ended is not None and words.unbounded(record):
        said = f"no upper bound; first obstacle: {ended.what}"
        todo = "" if ended.line else _NO_LINE
        yield Finding(FindingCode.UNBOUNDED, said, ended.file, ended.line, todo=todo)


def _place(record: Record) -> tuple[str, int]:
    """Where the target begins."""
    source = record.target.source
    return str(source.path), int(source.line)
