"""A record as a list of tests, for formats that know nothing else: passed, failed or undecided."""

from __future__ import annotations

from dataclasses import dataclass

from verifiable_dp.core.validate import Json
from verifiable_dp.record import words
from verifiable_dp.record.kinds import in_words

_STATUS = {
    "not_refuted": "passed",
    "consistent": "passed",
    "refuted": "failed",
    "contradicted": "failed",
    "inconclusive": "undecided",
    "vacuous": "undecided",
}
_CAUGHT = ("refuted", "contradicted")


@dataclass(frozen=True)
class Outcome:
    """What became of one check.

    Attributes
    ----------
    group
        ``privacy``, ``regret`` or ``mutant``.
    name
        Of the check or the mutant.
    verdict
        The record's word, such as ``refuted``; of a mutant too, so that there ``refuted`` is what passes.
    status
        ``passed``, ``failed`` or ``undecided``.
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


def outcomes(record: Json) -> list[Outcome]:
    """Every check on privacy, the power, every check on regret, every mutant.

    A check fails where it refutes the privacy claim or contradicts a regret theorem. Undecided are
    inconclusive and vacuous checks, a power that could not be stated, and a mutant that was not caught:
    it says that the audit is weak, not that the claim fails.
    """
    regret = record["regret"]["checks"] if record["regret"] else []
    return [
        *(_check("privacy", check, record) for check in record["checks"]),
        *_power(record),
        *(_check("regret", check, record) for check in regret),
        *(_mutant(mutant) for mutant in record["mutants"]),
    ]


def _check(group: str, check: Json, record: Json) -> Outcome:
    verdict = str(check["result"]["verdict"])
    found = [
        f"counterexample: {words.counterexample(example, record)}"
        for example in record["counterexamples"]
        if group == "privacy" and example["check"] == check["name"]
    ]
    status = _STATUS.get(verdict, "undecided")
    details = (
        *found,
        *words.leads(check),
        *(_context(record) if group == "privacy" and status == "failed" else ()),
    )
    return Outcome(group, str(check["name"]), verdict, status, in_words(check), details)


def _context(record: Json) -> tuple[str, ...]:
    """What a reader of a failure has to know of its target."""
    if words.is_baseline(record):
        return ("the target promises no privacy, so that a refutation is expected",)
    if words.is_printed(record):
        return (str(record["target"]["note"]),)
    return ()


def _power(record: Json) -> list[Outcome]:
    """The power that is stated, and why the audit is inconclusive, if it is: all checks may have passed."""
    if not record["checks"]:
        return []
    if record["power"]:
        found = [Outcome("privacy", "power", "stated", "passed", words.power(record))]
        return found if record["verdict"] != "inconclusive" else [*found, _undecided("verdict", record)]
    return [_undecided("power", record)] if record["verdict"] == "inconclusive" else []


def _undecided(name: str, record: Json) -> Outcome:
    return Outcome("privacy", name, "inconclusive", "undecided", words.why(record))


def _mutant(mutant: Json) -> Outcome:
    caught = mutant["verdict"] in _CAUGHT
    by = f", by {str(mutant['decided_by']).replace('_', ' ')}" if mutant["decided_by"] else ""
    message = f"{mutant['fault']}: {'caught' + by if caught else 'not caught'}"
    status = "passed" if caught else "undecided"
    return Outcome("mutant", str(mutant["name"]), str(mutant["verdict"]), status, message)
