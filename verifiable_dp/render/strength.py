"""How small a leak an audit catches, in words and on a meter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from verifiable_dp.core.validate import JsonValue
from verifiable_dp.evidence.words import digits
from verifiable_dp.record import conclude, kills, power_words, words
from verifiable_dp.record.decision import decision
from verifiable_dp.record.model import Record

_MARKS = (1, 2, 4, 8)  # times the claim: the marks of the meter, which ends where a leak has no limit
_EXACT = 1.005  # times the claim: a leak no larger counts as any excess


@dataclass(frozen=True)
class Strength:
    """How small a leak the audit catches.

    Attributes
    ----------
    words
        In one line.
    state
        ``strong``, ``weak`` or ``none`` where the question does not arise.
    full
        Of the meter, in percent: 100 where any excess over the claim is caught.
    mark
        What the meter shows at the place where it begins to be full.
    ticks
        Of the meter: its place in percent, the epsilon there, and what that is.
    """

    words: str
    state: str
    full: int = 0
    mark: str = ""
    ticks: tuple[tuple[int, str, str], ...] = ()

    @property
    def shown(self) -> str:
        """State and words."""
        return self.words if self.state == "none" else f"{self.state.capitalize()}. {self.words}"

    def in_words(self) -> str:
        """The meter for who does not see it."""
        places = ", ".join(f"epsilon {epsilon} ({what})" for _, epsilon, what in self.ticks)
        return f"Scale of leaks, evenly doubling: {places}. {capital(self.mark)}."


def strength(record: Record) -> Strength:
    """How small a leak the audit catches: weak where one of more than 1.5 times the claim could pass."""
    if not record.checks:
        return Strength("Privacy was not audited.", "none")
    if record.verdict == "refuted":
        return Strength(f"Not relevant here: a counterexample decides{_sampled(record)}.", "none")
    found = decision(record)
    missed, ratio, claim = found.passed, found.ratio, record.claimed.epsilon
    sizes = [size for _, size in missed if size is not None]
    said = brief(record, len(missed))
    unknown = record.power is not None and record.power.of_event
    if missed:
        names = "; ".join(
            f"{name} (its epsilon: {'unknown' if size is None else digits(size)})" for name, size in missed
        )
        said = f"{variants(len(missed))} missed: {names}. {said}"
    if found.strength == "weak" and record.epsilon_upper is not None:
        most, seen = record.epsilon_upper.epsilon, ratio * claim
        caught = "state no epsilon" if unknown else "show nothing"
        caught = caught if math.isinf(seen) else f"would only have caught {digits(seen)} or more"
        faults = "this broken variant" if len(missed) == 1 else "these broken variants"
        alone = f"but the tests of the premises missed {faults}" if missed else f"the tests alone {caught}"
        said += f" If the premises hold, epsilon is at most {digits(most)}; {alone}."
    batches = " in all batches" if record.power and record.power.every_batch_at else ""
    leak = f"less noise{batches}" if record.power else "a loss at the tested event"
    exact = record.power is None or record.power.by in ("exact", "shuffle")
    alone = "" if exact else "by samples alone, "
    mark = f"{alone}{leak} is caught at epsilon {digits(ratio * claim)} or more"
    if record.power is not None and record.power.by == "alignment" and ratio <= _EXACT:
        mark = "any excess on the replayed runs is caught"
    none = "no epsilon is known to be caught" if unknown else "no leak is known to be caught"
    mark = none if math.isinf(ratio) else mark
    mark = "a broken variant was missed" if missed else mark
    mark = _unnoticed(max(sizes)) if sizes else mark
    ticks = [(_place(times), digits(times * claim), f"{times}×") for times in _MARKS[1:]]
    ends = ((0, digits(claim), "claim"), (100, "∞", "no limit"))
    return Strength(said, found.strength, 100 - _place(ratio), mark, (ends[0], *ticks, ends[1]))


def _unnoticed(size: float) -> str:
    return "a total leak was missed" if math.isinf(size) else f"epsilon {digits(size)} was missed"


def _place(ratio: float) -> int:
    """Of a leak on the meter, in percent: even for each doubling; all beyond the last mark share the rest."""
    last, part = _MARKS[-1], 100 / len(_MARKS)
    if ratio <= _EXACT:
        return 0
    return round(part * math.log2(ratio) if ratio <= last else 100 - part * last / ratio)


def _sampled(record: Record) -> str:
    """That what refutes was seen in sampled runs, and how often those are wrong; empty where it was not."""
    checks = [c for c in words.sampling(record) if c.result.get("epsilon_lower") == words.least(record)]
    level = max((float(c.statistics["alpha"]) for c in checks), default=0.0)
    said = "; it comes from sampled runs, which reject a true claim at most once in {:,.0f} audits"
    return said.format(1 / level) if level else ""


def brief(record: Record, missed: int = 0, *, terse: bool = False) -> str:
    """The sentence on the smallest leak that is caught; `terse` where there is little room.

    The excess of a fault that was `missed` is in none of the runs that were replayed.
    """
    power, claim = record.power, record.claimed.epsilon
    if not power:
        seen = record.detectable
        if seen is None or float(seen) == math.inf or conclude.constant(record.checks):
            return "We know of no leak, however large, that the tests would catch."
        return (
            f"The test would catch a loss of {digits(seen)}{_times(seen, claim)} at its event "
            "with 95 % probability."
        )
    least = float(power.smallest_epsilon)
    if power.by == "alignment":
        runs = sum(int(c.statistics["examined"]) for c in record.checks if c.kind == "alignment")
        bounded = record.epsilon_upper is not None
        others = f"other inputs {'rest on the conditional proof' if bounded else 'were not examined'}"
        others = "others by conditional proof" if terse and bounded else others
        if missed:
            fault = "this broken variant leaks" if missed == 1 else "these broken variants leak"
            rest = "covered by the proof alone" if bounded else "not examined"
            others = f"{fault} only in other runs ({rest})"
        return f"{runs} runs were checked exactly; {others}."
    if power.by in ("exact", "shuffle"):
        caught = f"Exact computation catches epsilon {digits(least)}"
        if not power.every_batch_at:
            return f"{caught}{_times(least, claim, power_words.SHORT)}."
        single = f"in one, up to {power.every_batch_at:.3g} times too little may pass"
        return f"{caught}{_times(least, claim, f'{power_words.SHORT} in all batches; {single}')}."
    chance = f"{100 * float(power.probability):.4g} % probability"
    if power.of_event:
        return f"Sampling catches {power_words.variant(power)} with {chance}; its epsilon is not known."
    return f"Sampling catches epsilon {digits(least)}{_times(least, claim, power_words.SHORT)} with {chance}."


def _times(value: JsonValue, claim: float, kind: str = "") -> str:
    """How many times the claim a leak is, and of which kind, in parentheses."""
    ratio = float(value) / claim
    said = ", ".join(filter(None, (f"{ratio:.3g} times the claim" if ratio > _EXACT else "", kind)))
    return f" ({said})" if said else ""


def capital(line: str) -> str:
    """With a capital letter."""
    return line[:1].upper() + line[1:]


def many(n: int, noun: str) -> str:
    """A number of things."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def variants(n: int) -> str:
    """How many broken variants, in words."""
    return many(n, "broken variant")


def could_pass(record: Record, ratio: float, *, terse: bool = False) -> str:
    """What the tests could miss, and which leaks that is about; `terse` where there is little room."""
    who = "exact tests" if record.power and record.power.by in ("exact", "shuffle") else "samples alone"
    if record.power and record.power.of_event:
        return f"samples alone catch only {power_words.variant(record.power)}, whose epsilon is not known"
    if math.isinf(ratio):
        return f"{who} could miss a leak of any size"
    if terse:
        return f"{who} could miss {ratio:.3g} times the claim, or more"
    return f"{who} could miss up to {ratio:.3g} times the claim, and larger leaks of other kinds"


def few(names: Sequence[str], words: int = 6) -> tuple[str, str]:
    """The first of these names, as many as fit into so many words, and how many more there are."""
    fit = sum(count <= words for count in accumulate(len(name.split()) for name in names))
    left = len(names) - max(fit, 1)
    return (", ".join(names[:-left]), f"and {left} more") if left > 0 else (", ".join(names), "")


def missed(record: Record) -> str:
    """Which broken variants were missed; empty where none was."""
    names = kills.missed(record)
    return f"{variants(len(names))} missed ({' '.join(few(names)).strip()})" if names else ""


def undecided(record: Record) -> str:
    """How many broken variants were not caught without being known to leak; empty where none is."""
    count = len(kills.undecided(record))
    return f"{count if kills.missed(record) else variants(count)} undecided" if count else ""


def required(record: Record) -> str:
    """Beside what is required, what a promise rests on that is not refuted."""
    found = decision(record)
    only = "only " if found.short else ""
    return f"the evidence is {only}{found.evidence}, and {found.require} is required"


def weakness(record: Record, *, terse: bool = False) -> str:
    """What a weak audit could pass, or did; `terse` where there is little room."""
    if record.reason == "unsearched":
        return "sampling shows nothing"
    return missed(record) or could_pass(record, decision(record).ratio, terse=terse)
