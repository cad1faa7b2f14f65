"""A record as a list of tests, for formats that know nothing else: passed, failed or undecided.

What they add up to is what the record decides (`decision.result`), in every one of these formats.
"""

from __future__ import annotations

from dataclasses import dataclass

from verifiable_dp.evidence.check import Check, in_words
from verifiable_dp.record import power_words, questions, words
from verifiable_dp.record.decision import EXIT, decision
from verifiable_dp.record.model import MutantEntry, Record
from verifiable_dp.record.questions import Answer
from verifiable_dp.record.requests import REQUIRED
from verifiable_dp.record.worth import AnswerState
from verifiable_dp.render import strength

_STATUS = {0: "passed", 1: "failed", 3: "undecided"}  # by exit status


@dataclass(frozen=True)
class TestOutcome:
    """What became of one check.

    Attributes
    ----------
    group
        ``privacy``, ``regret``, ``broken variant`` or ``declaration``.
    name
        Of the check or the mutant.
    verdict
        The record's word, such as ``refuted``; of a broken variant ``caught`` or ``missed``.
    status
        ``passed``, ``failed``, ``undecided``, or ``silent`` where a check says nothing but others decide.
    message
        One line: the numbers.
    details
        Further lines: counterexamples, lines of code.
    """

    group: str
    name: str
    verdict: str
    status: str
    message: str
    details: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Group and name."""
        return f"{self.group}: {self.name}"


def outcomes(record: Record) -> list[TestOutcome]:
    """Every check on privacy, power, strength, evidence, every check on regret, broken variant, declaration.

    A check fails where it refutes the privacy claim or contradicts a regret theorem. Undecided are a weak
    audit, one on less evidence than is required, a power that could not be stated, a mutant that was not
    caught: it says that the audit is weak, not that the claim fails; and inconclusive and vacuous checks,
    unless others settle the verdict without them.
    """
    regret = record.regret_checks
    whole = (record.regret.verdict if record.regret else None) or ""
    return [
        *(_check("privacy", check, record, record.verdict) for check in record.checks),
        *_power(record),
        *_strength(record),
        *_required(record),
        *(_check("regret", check, record, whole) for check in regret),
        *(_mutant(mutant) for mutant in record.mutants),
        *(_declared(answer) for answer in questions.answers(record) if answer.given),
    ]


def _check(group: str, check: Check, record: Record, whole: str) -> TestOutcome:
    """Of a check, beside the verdict of all checks of its group."""
    verdict = str(check.verdict)
    found = [
        f"counterexample: {words.counterexample(example, record)}"
        for example in record.counterexamples
        if group == "privacy" and example.check == check.name
    ]
    status = _STATUS[EXIT.get(verdict, 3)]
    if status == "undecided" and EXIT.get(whole) == 0:
        status = "silent"
    details = (
        *found,
        *words.leads(check),
        *(_context(record) if group == "privacy" and status == "failed" else ()),
    )
    return TestOutcome(group, check.name, verdict, status, in_words(check), details)


def _context(record: Record) -> tuple[str, ...]:
    """What a reader of a failure has to know of its target."""
    if words.is_baseline(record):
        return ("the target promises no privacy, so a refutation is expected",)
    if words.is_printed(record):
        return (words.note(record),)
    return ()


def _power(record: Record) -> list[TestOutcome]:
    """The power that is stated, and why the audit is inconclusive, if it is: all checks may have passed."""
    if not record.checks:
        return []
    if record.power:
        found = [TestOutcome("privacy", "power", "stated", "passed", power_words.power(record))]
        return found if record.verdict != "inconclusive" else [*found, _undecided("verdict", record)]
    return [_undecided("power", record)] if record.verdict == "inconclusive" else []


def _undecided(name: str, record: Record) -> TestOutcome:
    return TestOutcome("privacy", name, "inconclusive", "undecided", words.why(record))


def _strength(record: Record) -> list[TestOutcome]:
    """Of an audit that found nothing: whether it would have caught much."""
    found = decision(record)
    if found.privacy != "not_refuted":
        return []
    status = "undecided" if found.weak else "passed"
    return [TestOutcome("privacy", "strength", found.strength, status, strength.strength(record).words)]


def _required(record: Record) -> list[TestOutcome]:
    """Of an audit that found nothing: whether it rests on the evidence that its request requires."""
    found = decision(record)
    if not found.ground or found.require == REQUIRED[0]:
        return []
    status = "undecided" if found.short else "passed"
    return [TestOutcome("privacy", "evidence", found.require, status, strength.required(record))]


def _mutant(mutant: MutantEntry) -> TestOutcome:
    caught = mutant.caught
    by = f", by {words.decided_by(mutant)}" if mutant.decided_by else ""
    message = f"{mutant.fault}: {'caught' + by if caught else 'missed'}"
    status = "passed" if caught else "undecided"
    return TestOutcome("broken variant", mutant.name, "caught" if caught else "missed", status, message)


_WORTH = {AnswerState.ACCEPTABLE: "passed", AnswerState.HOLE: "failed", AnswerState.OPEN: "silent"}


def _declared(answer: Answer) -> TestOutcome:
    message = f"{answer.words} ({answer.why})"
    return TestOutcome("declaration", answer.question.brief, answer.state, _WORTH[answer.state], message)
