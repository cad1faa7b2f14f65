"""The first screen of a record: what was promised, whether it held, how sure that is, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from verifiable_dp.compliance.nist import Reviewed
from verifiable_dp.core.validate import Json
from verifiable_dp.evidence.words import digits
from verifiable_dp.record import conclude, kills, questions, words
from verifiable_dp.record.decision import decision
from verifiable_dp.record.model import Record
from verifiable_dp.record.signing import SignatureState
from verifiable_dp.render import audited, parameters, regrets, strips
from verifiable_dp.render.bounds import interval, premises, taken
from verifiable_dp.render.following import Open, caveats, following, open_hazards, parted
from verifiable_dp.render.promised import promise
from verifiable_dp.render.strength import (
    Strength,
    brief,
    capital,
    few,
    many,
    missed,
    required,
    strength,
    undecided,
    weakness,
)

_CAVEATS = 3


@dataclass(frozen=True)
class Around:
    """What lies beside a record, and what its page says of it.

    Attributes
    ----------
    links
        Words and relative address of each page or file beside it.
    signature
        What is known of the signature file next to the record, which a page does not check; None without one.
    prices
        Regret against epsilon in a study next to it (`studied.over_epsilon`), with its `link`; None if none.
    errata
        Of a listing as printed: the name, what it is about and the relative address of each erratum.
    """

    links: tuple[tuple[str, str], ...] = ()
    signature: SignatureState | None = None
    prices: Json | None = None
    errata: tuple[tuple[str, str, str], ...] = ()


ALONE = Around()


@dataclass(frozen=True)
class AnswerLine:
    """One of the six answers.

    Attributes
    ----------
    label, words
        The question in a word or two, and the answer in a line.
    more, place
        Which of those words stand for names that are left out, and the anchor of the section that has all;
        empty where none are.
    """

    label: str
    words: str
    more: str = ""
    place: str = ""


@dataclass(frozen=True)
class Card:
    """What the first screen says.

    Attributes
    ----------
    headline
        The verdict in a sentence; declared holes come first.
    lines
        Promised what to whom, held, how strong, not looked at, do next, who vouches.
    promise, interval, premises, variant, instance, regret, following
        A sentence each: what was claimed, where epsilon lies, what the upper bound rests on, how the variant
        differs from the paper, which instance was audited, what of regret agrees, what to do next. `variant`
        is empty without a known difference, `regret` if it was not measured.
    strength
        How small a leak the audit catches.
    audited
        Labels and words: what was audited, when, by whom.
    caveats
        The largest, with the anchor of the section that says more.
    hazards
        Those that are open: first what a declaration can close, then what none can, as `Open`.
    measured
        What `regret` is about.
    """

    headline: str
    lines: tuple[AnswerLine, ...]
    promise: str
    interval: str
    premises: str
    strength: Strength
    variant: str
    instance: str
    audited: tuple[tuple[str, str], ...]
    caveats: tuple[tuple[str, str], ...]
    following: str
    hazards: tuple[Open, ...]
    regret: str
    measured: str

    @property
    def answers(self) -> list[tuple[str, str]]:
        """Label and words of each of the `lines`."""
        return [(line.label, line.words) for line in self.lines]

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The first screen as labels and words, for faces without links."""
        found = [
            *((label, said.removesuffix(f" {_CHECK}")) for label, said in self.answers),
            ("Interval", self.interval),
            ("Premises", self.premises),
            ("Strength", self.strength.shown),
            ("Variant", self.variant),
            ("What was audited", self.instance),
            (self.measured, self.regret),
            *((f"Caveat {i}", line) for i, (line, _) in enumerate(self.caveats, 1)),
            ("Open hazards", self.open),
        ]
        return [row for row in found if row[1]]

    @property
    def person(self) -> str:
        """The last sentence of the promise: whom it does not protect; empty where it does not say that."""
        first, _, last = self.promise.rpartition(". ")
        return last if first else ""

    @property
    def open(self) -> str:
        """How many hazards are open, and which; empty without any."""
        return " ".join(part.words for part in self.hazards)


ROOM = 150  # words of a first screen


def of(record: Reviewed, around: Around = ALONE) -> Card:
    """The card of a record with its blocks (`blocks.of`), in the words for which a first screen has room."""
    drawn = strips.of(record)
    beside = [words.title(record), audited.origin(record) or str(record.target.source.path)]
    beside += [audited.briefly(record), drawn.brief if drawn else ""]
    for terse in range(_TERSEST + 1):
        head, lines = headline(record, terse), tuple(_lines(record, around, terse))
        said = [*beside, head, *(f"{line.label} {line.words}" for line in lines)]
        if len(" ".join(said).split()) <= ROOM:
            break
    return Card(
        head,
        lines,
        promise(record),
        interval(record),
        premises(record),
        strength(record),
        audited.variant(record),
        audited.instance(record),
        tuple(audited.rows(record, around.signature)),
        tuple(caveats(record))[:_CAVEATS],
        following(record),
        open_hazards(record),
        regrets.sentence(record),
        words.measured(record),
    )


# Steps to a terser screen; each leaves out what the sections below say in full: (1) checks of regret, (2)
# names of limits, (3) names of questions, (4) how many assumptions, names of authors, (5) most of what was
# not looked at, (6) what strength is about, at which epsilon regret was measured, (7) most names of holes,
# (8) all of them.
_TERSEST = 8


def headline(record: Record, terse: int = 0) -> str:
    """The verdict in a sentence that needs no training."""
    said = _verdict(record, terse)
    holes = questions.holes(record)
    if not holes:
        return f"{said}{_but(record)}"
    names = [one.question.brief for one in holes]
    named = ", ".join(names) if terse < 7 else " ".join(few(names)).strip() if terse == 7 else "named below"
    alone = f"The algorithm alone: {said[:1].lower()}{said[1:]}"
    return f"Not as declared: {many(len(holes), 'hole')} ({named}). {alone}"


def _verdict(record: Record, terse: int) -> str:
    if not record.checks:
        verdict = str(record.regret.verdict if record.regret else "not measured").replace("_", " ")
        return f"{words.measured(record)}: {verdict}; privacy was not audited"
    if words.is_baseline(record):
        return f"No promise made; leaks at least epsilon {digits(words.least(record))}"
    if record.verdict == "refuted":
        return f"Does not hold: {words.broken(record)}; promised {words.promised(record)}"
    if record.verdict == "inconclusive":
        least = words.least(record)
        known = f"epsilon is at least {digits(least)}" if least else "nothing is known of epsilon"
        return f"Undecided: {known}, promised {words.promised(record)}"
    return _found_nothing(record, terse)


def _found_nothing(record: Record, terse: int) -> str:
    if record.epsilon_upper is None or not conclude.bounded(record.checks):
        least = f"epsilon is at least {digits(words.least(record))}"
        return f"No leak found, none excluded: {least}, promised {digits(record.claimed.epsilon)}"
    calls = words.of_calls(record)
    scope = {"certified": "for this instance", "every path": f"on every {'' if calls else 'code '}path"}.get(
        record.bound.scope, f"on the {record.bound.paths} code paths we explored"
    )
    found = f"olds {scope}{calls}: {_between(record)}"
    if record.bound.scope == "certified" or not taken(record):
        return f"H{found}{'' if terse > 3 else f' ({_assumed(record)})'}"
    return f"If {_if_assumed(record)}, it h{found}"


def _but(record: Record) -> str:
    """What weakens a verdict in favour of a claim, in the same sentence."""
    if decision(record).privacy != "not_refuted":
        return ""
    if decision(record).regret == "contradicted":
        return f"; but a claim on {words.measured(record).lower()} is contradicted"
    if decision(record).regret_status:
        return f"; but a claim on {words.measured(record).lower()} is undecided"
    if decision(record).weak:
        return "; but the tests are weak"
    if decision(record).short:
        return f"; but {required(record)}"
    names = kills.missed(record)
    return f"; but the tests missed {many(len(names), 'broken variant')}" if names else ""


def _between(record: Record) -> str:
    """Where epsilon lies, beside the promise."""
    low, high = words.ends(record)
    claim, delta = record.claimed, f" at delta {digits(record.bound.delta)}" if record.bound.delta else ""
    promised = "as promised" if digits(record.bound.epsilon) == digits(claim.epsilon) else ""
    where = f"= {low.removeprefix('exactly ')}" if low == high else f"is {low} to {high}"
    found = f"epsilon {where}{delta}"
    if claim.curve:  # its epsilon is but what it implies, and so is that of the bound
        return (
            f"{words.promised(record)}, as promised; {found}"
            if promised
            else f"promised {words.promised(record)}; {found}"
        )
    return f"{found}, {promised or f'promised {digits(claim.epsilon)}'}"


def _assumed(record: Record) -> str:
    found = taken(record)
    untested = sum(not premise["tested_by"] for premise in found)
    return f"{many(len(found), 'assumption')}, {untested} untested"


def _if_assumed(record: Record) -> str:
    """The condition of a bound on code that we do not know."""
    found = taken(record)
    untested = sum(not premise["tested_by"] for premise in found)
    if untested == len(found):
        return f"{many(untested, 'untested assumption')} hold"
    return f"{many(len(found), 'assumption')} hold ({untested} untested)"


_CHECK = "Check it."
_LISTED = 10  # things not looked at that the first screen names


def _lines(record: Reviewed, around: Around, terse: int) -> Iterator[AnswerLine]:
    yield AnswerLine("Promised", promise(record))
    yield AnswerLine("Held?", _held(record, terse))
    yield AnswerLine("How strong", _strong(record, terse), few(kills.missed(record))[1], "mutants")
    left = words.not_looked_at(record)
    listed = _LISTED if terse < 5 else 2 if terse < 6 else 1
    more = f"and {len(left) - listed} more" if left[listed:] else ""
    named = capital(" ".join(filter(None, (", ".join(left[:listed]), more))))
    yield AnswerLine("Not looked at", f"{named}." if left else "Nothing is left out.", more, "not-covered")
    asked = many(parted(record)[0].count, "question")
    yield AnswerLine("Do next", following(record, brief=True, terse=terse), asked, "hazards")
    yield AnswerLine("Who vouches", f"{_vouches(record, around, terse)} {_CHECK}", _CHECK, "check")


def _held(record: Record, terse: int) -> str:
    found = [words.counted(record)]
    if record.verdict == "inconclusive" and record.checks:
        found.append(f"{capital(words.why(record))}.")
    if record.regret:
        what, private = words.measured(record), parameters.at_other_privacy(record)
        if not terse:
            loose = regrets.loose(record)
            coarse = f"; {loose} would miss a tenfold excess" if loose else ""
            where = (
                f" at {private}" if private else ", other settings" if parameters.differing(record) else ""
            )
            found.append(f"{what}{where}: {regrets.agreeing(record)}{coarse}.")
        elif private and terse < 6:
            found.append(f"{what} checks at {parameters.at_other_privacy(record, brief=True)}.")
    return " ".join(filter(None, found))


def _strong(record: Record, terse: int) -> str:
    """How sure the verdict is, and of what: the one sentence that decides, and its scope."""
    found = decision(record)
    if record.verdict == "refuted":
        return "Not needed: a counterexample decides."
    if found.strength == "none":
        return strength(record).words
    if terse > 5:
        return f"{capital(found.strength)}."
    bounded = record.epsilon_upper is not None
    more = f"; {open_ones}" if (open_ones := undecided(record)) else ""
    if found.strength == "weak":
        rest = " Only the conditional proof bounds epsilon." if bounded else ""
        return f"Weak: {weakness(record, terse=terse > 2)}{more}.{rest}"
    but = missed(record)
    return f"Strong: {brief(record, terse=terse > 3).removesuffix('.')}{f'. But {but}' if but else ''}{more}."


def _vouches(record: Reviewed, around: Around, terse: int) -> str:
    signed = "Nobody (unsigned)" if around.signature is None else capital(around.signature.words)
    authors = record.blocks["administrative"]["authors"]
    named = "; ".join(authors) if terse < 4 else many(len(authors), "author")
    by = f"; {named} answer{'s' * (len(authors) == 1)} for the declarations" if authors else ""
    last = record.declared.get("expires")
    until = f"; expires {last}" if last else ""
    return f"{signed}; made {str(record.provenance.finished)[:10]}{by}{until}."
