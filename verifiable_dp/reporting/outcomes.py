"""A record as a list of tests, for formats that know nothing else: passed, failed or undecided."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from verifiable_dp.reporting.page import measured
from verifiable_dp.reporting.words import in_words, is_baseline, is_printed, leads

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


def outcomes(record: Mapping[str, Any]) -> list[Outcome]:
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


def _check(group: str, check: Mapping[str, Any], record: Mapping[str, Any]) -> Outcome:
    verdict = str(check["result"]["verdict"])
    found = [
        f"counterexample: {example.get('pair', {}).get('words', '')}; {in_words(example, record)}"
        for example in record["counterexamples"]
        if group == "privacy" and example["check"] == check["name"]
    ]
    status = _STATUS.get(verdict, "undecided")
    details = (
        *found,
        *leads(check),
        *(_context(record) if group == "privacy" and status == "failed" else ()),
    )
    return Outcome(group, str(check["name"]), verdict, status, numbers(check), details)


def numbers(check: Mapping[str, Any]) -> str:
    """The numbers that a check comes down to, in a few words."""
    kind, seen, result = check["kind"], check["statistics"], check["result"]
    if kind == "mean_bound":
        words = (
            f"mean regret {number(seen['mean'])} ({number(result['lower'])} to {number(result['upper'])}) of "
            f"{seen['n']} runs at horizon {number(seen['horizon'])}, bound {number(seen['bound'])}"
        )
        least = seen.get("least_horizon")
        late = result["verdict"] == "vacuous" and least
        return f"{words}, which is vacuous below T = {number(least)}" if late else words
    if kind == "mean_at_least":
        return (
            f"mean {number(seen['mean'])} ({number(result['lower'])} to {number(result['upper'])}) of "
            f"{seen['n']} runs, at least {number(seen['bound'])} claimed"
        )
    if kind == "comparison":
        return (
            f"{number(result['ratio'])} times ({number(result['lower'])} to {number(result['upper'])}) "
            f"better than {seen.get('rival', 'its rival')}, claimed at least {number(seen['factor'])}"
        )
    if kind == "shuffle":
        return (
            f"delta in [{number(result['delta_lower'])}, {number(result['delta_upper'])}] against "
            f"{number(seen['delta'])}, epsilon at least {number(result['epsilon_lower'])}"
        )
    return measured(check)


def number(value: Any) -> str:
    """Four significant digits; whole numbers whole; infinities as words."""
    if value is None:
        return ""
    found = float(value)
    if math.isfinite(found) and found == int(found) and abs(found) < 1e9:
        return str(int(found))
    return f"{found:.4g}"


def _context(record: Mapping[str, Any]) -> tuple[str, ...]:
    """What a reader of a failure has to know of its target."""
    if is_baseline(record):
        return ("the target promises no privacy, so that a refutation is expected",)
    if is_printed(record):
        return (str(record["target"]["note"]),)
    return ()


def _power(record: Mapping[str, Any]) -> list[Outcome]:
    """Whether the power is stated; nothing where there is no claim to be refuted, or it is refuted."""
    if not record["checks"]:
        return []
    power = record["power"]
    if power:
        return [Outcome("privacy", "power", "stated", "passed", power_in_words(power))]
    if record["verdict"] == "refuted":
        return []
    return [Outcome("privacy", "power", "inconclusive", "undecided", "no power could be stated")]


def power_in_words(power: Mapping[str, Any]) -> str:
    """What the audit would have caught."""
    if power["by"] == "alignment":
        return (
            f"any loss above the claim on the transcripts examined would have been seen: {power['statement']}"
        )
    return (
        f"a true epsilon of {float(power['smallest_epsilon']):.4g} would have been caught with probability "
        f"{float(power['probability']):g}: {power['statement']}"
    )


def _mutant(mutant: Mapping[str, Any]) -> Outcome:
    caught = mutant["verdict"] in _CAUGHT
    by = f", by {str(mutant['decided_by']).replace('_', ' ')}" if mutant["decided_by"] else ""
    message = f"{mutant['fault']}: {'caught' + by if caught else 'not caught'}"
    status = "passed" if caught else "undecided"
    return Outcome("mutant", str(mutant["name"]), str(mutant["verdict"]), status, message)
