"""The first screen of a record: what was promised, whether it held, how sure that is, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from verifiable_dp.compliance.nist import BEARS, HAZARDS, MOST_DELTA, UNSETTLED, Reviewed, apart_worlds
from verifiable_dp.core.claims import Basis
from verifiable_dp.core.units import Plays, Role, Unit
from verifiable_dp.core.validate import Json, JsonValue
from verifiable_dp.evidence import exclusions
from verifiable_dp.evidence.premises import briefly
from verifiable_dp.evidence.words import digits
from verifiable_dp.record import conclude, kills, questions, words, worth
from verifiable_dp.record.decision import WEAK, caught, decision
from verifiable_dp.record.model import Checkout, Claim, CodeEntry, Provenance, Record
from verifiable_dp.record.signing import NONE, SignatureState
from verifiable_dp.render import limits
from verifiable_dp.render.strength import (
    Strength,
    brief,
    capital,
    could_pass,
    few,
    many,
    missed,
    strength,
    variants,
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
        What is known of the signature file beside the record, which a page does not check; None without one.
    """

    links: tuple[tuple[str, str], ...] = ()
    signature: SignatureState | None = None


ALONE = Around()


@dataclass(frozen=True)
class Open:
    """Open hazards that a declaration can close, or those that none can.

    Attributes
    ----------
    head
        How many they are, and who can settle them.
    groups
        What they can do, those that can void the promise first, with identifier and short name of each.
    """

    head: str
    groups: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]

    @property
    def count(self) -> int:
        """How many they are."""
        return sum(len(rows) for _, rows in self.groups)

    @property
    def names(self) -> list[str]:
        """Their short names, the gravest first."""
        return [name for _, rows in self.groups for _, name in rows]

    @property
    def words(self) -> str:
        """Who can settle them, and which they are."""
        named = [f"{what}: {', '.join(name for _, name in rows)}" for what, rows in self.groups]
        return f"{self.head}: {'; '.join(named)}."

    @property
    def grave(self) -> int:
        """How many of them can void the promise."""
        return sum(len(rows) for what, rows in self.groups if what == BEARS[0].lower())


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
            *self.answers,
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


def of(record: Reviewed, around: Around = ALONE) -> Card:
    """The card of a record with its blocks (`blocks.of`)."""
    return Card(
        headline(record),
        tuple(_lines(record, around)),
        promise(record),
        interval(record),
        premises(record),
        strength(record),
        variant(record),
        instance(record),
        tuple(_audited(record, around)),
        tuple(_caveats(record))[:_CAVEATS],
        following(record),
        open_hazards(record),
        regret(record),
        words.measured(record),
    )


def headline(record: Record) -> str:
    """The verdict in a sentence that needs no training."""
    said = _verdict(record)
    holes = questions.holes(record)
    if not holes:
        return said
    named = f"{many(len(holes), 'declared hole')} ({questions.brief(holes)})"
    return f"Not as declared: {named}. The algorithm alone: {said[:1].lower()}{said[1:]}"


def _verdict(record: Record) -> str:
    if not record.checks:
        verdict = str(record.regret.verdict if record.regret else "not measured").replace("_", " ")
        return f"{words.measured(record)}: {verdict}; privacy was not audited"
    if words.is_baseline(record):
        return f"No promise made; leaks at least epsilon {digits(words.least(record))}"
    if record.verdict == "refuted":
        return f"Does not hold: {words.broken(record)}; promised {words.promised(record)}"
    if record.verdict == "inconclusive":
        return (
            f"Undecided: epsilon is at least {digits(words.least(record))}, promised {words.promised(record)}"
        )
    return f"{_found_nothing(record)}{_but(record)}"


def _found_nothing(record: Record) -> str:
    if record.epsilon_upper is None or not conclude.bounded(record.checks):
        return f"No leak found: {words.interval(record)}"
    scope = {"certified": "for this instance", "every path": "on every code path"}.get(
        record.bound.scope, f"on the {record.bound.paths} code paths we explored"
    )
    return f"Holds {scope}: {_between(record)} ({_assumed(record)})"


def _but(record: Record) -> str:
    """What weakens a verdict in favour of a claim, in the same sentence."""
    if decision(record).weak:
        return "; but the tests are weak"
    names = kills.missed(record)
    return f"; but the tests missed {many(len(names), 'broken variant')}" if names else ""


def _between(record: Record) -> str:
    """Where epsilon lies, beside the promise."""
    low, high = words.ends(record)
    claim, delta = record.claimed, f" at delta {digits(record.bound.delta)}" if record.bound.delta else ""
    promised = "as promised" if digits(record.bound.epsilon) == digits(claim.epsilon) else ""
    promised = promised or f"promised {digits(claim.epsilon)}"
    if low == high:
        return f"epsilon = {low.removeprefix('exactly ')}{delta}, {promised}"
    return f"epsilon is {low} to {high}{delta}, {promised}"


def _assumed(record: Record) -> str:
    taken = _taken(record)
    untested = sum(not premise["tested_by"] for premise in taken)
    return f"{many(len(taken), 'assumption')}, {untested} untested"


def _taken(record: Record) -> Sequence[Json]:
    """What the upper bound that stands takes for granted."""
    upper = record.epsilon_upper
    named = [c for c in record.of_kind("upper_bound") if upper and c.name == upper.check]
    return named[0].statistics["premises"] if named else ()


def promise(record: Record) -> str:
    """The claim and its unit."""
    claim = record.claim
    if claim is None or not record.checks:
        return "Privacy was not audited."
    if words.is_baseline(record):
        return (
            "None: no epsilon, no unit, no adversary. The audit measures against epsilon "
            f"{digits(claim.epsilon)}, a yardstick, for changing {words.changed(record)}, seen in "
            f"{words.seen(record)}."
        )
    delta = f" and delta {digits(claim.delta)}" if claim.delta else ""
    delta += f" (a 1 in {1 / claim.delta:,.0f} chance of failing)" if claim.delta > MOST_DELTA else ""
    several = " with several" if _event(record) == "entry" else ""
    verb = "was meant to protect" if record.verdict == "refuted" else "protects"
    one = f" It {verb} one {_event(record)}, not a person{several}." if _of_one(claim) else ""
    implied = f"{words.promised(record)}, which implies " if claim.curve else ""
    return (
        f"{capital(f'{implied}epsilon')} {digits(claim.epsilon)}{delta} for changing "
        f"{words.changed(record)}, against anyone who sees {words.seen(record)}.{one}"
    )


def _of_events(record: Record) -> bool:
    """Whether the promise, as far as it is not known to be false, is about one event rather than more."""
    return _of_one(record.claimed) and record.verdict != "refuted"


def _of_one(claim: Claim) -> bool:
    return claim.size == 1 and claim.unit != Unit.PAIRS


_LISTED = 3  # things not looked at that the first screen names
_ASKED = 3  # words of the names of open questions there


def _lines(record: Reviewed, around: Around) -> Iterator[AnswerLine]:
    yield AnswerLine("Promised", promise(record))
    yield AnswerLine("Held?", _held(record))
    yield AnswerLine("How strong", _strong(record), few(kills.missed(record))[1], "mutants")
    left = words.not_looked_at(record)
    more = f"and {len(left) - _LISTED} more" if left[_LISTED:] else ""
    named = capital(" ".join(filter(None, (", ".join(left[:_LISTED]), more))))
    yield AnswerLine("Not looked at", f"{named}." if left else "Nothing is left out.", more, "not-covered")
    asked = _parted(record)[0].names
    yield AnswerLine("Do next", following(record, brief=True), few(asked, _ASKED)[1], "hazards")
    yield AnswerLine("Who vouches", _vouches(record, around))


def _held(record: Record) -> str:
    found = [words.counted(record)]
    if record.verdict == "inconclusive" and record.checks:
        found.append(f"{capital(words.why(record))}.")
    if record.regret:
        agree = sum(check.verdict == "consistent" for check in record.regret_checks)
        found.append(f"{words.measured(record)}: {agree} of {len(record.regret_checks)} checks agree.")
    return " ".join(filter(None, found))


def _strong(record: Record) -> str:
    """How sure the verdict is, and of what: the one sentence that decides, and its scope."""
    found = decision(record)
    if record.verdict == "refuted":
        return "Not needed: a counterexample decides."
    if found.strength == "none":
        return strength(record).words
    bounded = record.epsilon_upper is not None
    if found.strength == "weak":
        scope, rest = ("", " Only the proof bounds epsilon.") if bounded else (", for this instance", "")
        return f"Weak{scope}: {weakness(record)}.{rest}"
    but = missed(record)
    return f"Strong, for this instance: {brief(record)}{f' But {but}.' if but else ''}"


def _vouches(record: Reviewed, around: Around) -> str:
    signed = "Nobody has signed this" if around.signature is None else capital(around.signature.words)
    authors = "; ".join(record.blocks["administrative"]["authors"])
    by = f" by {authors} (as declared)" if authors else ""
    expires = worth.lookup(record.declared, "administrative.expires")
    until = f", until {expires}" if expires else ""
    return f"{signed}; made{by} {str(record.provenance.finished)[:10]}{until}."


def _event(record: Record) -> str:
    """What a person may have several of."""
    if words.is_stream(record):
        return "value"
    return "entry" if record.target.plays == Plays.DATA else "round"


# What a certificate is, and who vouches for it.
_CERTIFIED = ("proved", "by this tool; nobody else has checked")


def interval(record: Record) -> str:
    """Where epsilon lies, and what that rests on; empty if privacy was not audited."""
    if not record.checks:
        return ""
    upper = record.epsilon_upper
    if upper is None or float(upper.epsilon) == math.inf:
        least = f"epsilon is at least {digits(words.least(record))}"
        if record.verdict == "refuted" and not words.is_baseline(record):
            least = words.broken(record)
        return f"{capital(least)}: {_seen(record)}.{_again(record)} {_unbounded(record)}"
    sure, by = _CERTIFIED if upper.scope == "certified" else ("bounded", "over what was traced")
    least, most = words.ends(record)
    delta = f" at delta {digits(upper.delta)}" if upper.delta else ""
    if least == most:
        return f"Epsilon is {most}{delta}: observed, and {sure} to be no more ({by})."
    delta = f", both{delta}" if delta else ""
    return f"Epsilon lies between {least} (observed) and {most} ({sure} {by}){delta}."


# Checks that test premises, in other words than their names.
_TESTS = {"alignment": "replaying runs", "alignment of one report": "replaying runs of one report"}


def premises(record: Record) -> str:
    """What the upper bound that stands rests on, and which checks tested that."""
    if not record.checks:
        return ""
    found = _taken(record)
    if not found:
        return "None: no upper bound stands."
    groups: dict[str, list[str]] = {}
    for premise in found:
        brief = briefly(premise, "value" if words.is_stream(record) else "reward")
        by = premise["tested_by"]
        groups.setdefault(f"tested by {_TESTS.get(by, by)}" if by else "not tested", []).append(brief)
    said = [f"{len(names)} {how} ({', '.join(names)})" for how, names in groups.items()]
    return f"{many(len(found), 'assumption')}: {', '.join(said)}."


def _seen(record: Record) -> str:
    """What the lower bound rests on, and which instance: a loss that was computed, a limit from samples."""
    least, claim = words.least(record), record.claimed.epsilon
    limit = max(
        (
            (c.epsilon_lower, float(c.statistics["confidence"]))
            for c in words.sampling(record)
            if "confidence" in c.statistics
        ),
        default=(0.0, 0.0),
    )
    from_runs = f"the {100 * limit[1]:.4g} % lower limit of the sampled runs of the audited instance"
    bounds = [c.epsilon_lower for c in words.sampling(record)]
    if float(record.epsilon_lower) == least and least in bounds:
        return from_runs if limit[0] > claim else "that much was seen"
    shows = least * (1 - 1e-6)
    kept = [e for e in record.counterexamples if e.replayed and limits.shown(e, claim) >= shows]
    other = words.elsewhere(kept[0], record) if kept else {}
    here = _here(record)
    exact = "a replayed run of this instance has exactly that loss"
    if not kept:
        exact = exact if here else "that loss was computed in a run that the record does not keep"
    elif other and not here:
        exact = (
            f"a loss of {digits(abs(float(kept[0].loss or 0.0)))} was computed on another instance of the "
            f"same code ({_named(other, record)}), {digits(least / claim)} times what that one claims"
        )
    if limit[0] <= least:
        return exact
    # Which of the two numbers to quote: the limit may be above the truth, the computed loss cannot.
    once = f"may exceed the truth in 1 audit of {round(1 / (1 - limit[1]))}"
    return f"{exact}; {from_runs} is {digits(limit[0])}, and such a limit {once}: quote {digits(least)}"


def _here(record: Record) -> bool:
    """Whether the costliest transcript of the audited instance, if its course is recorded, has the bound."""
    shows = words.least(record) * (1 - 1e-6)
    courses = [c.statistics.get("spent") for c in record.of_kind("alignment")]
    return any(course and abs(float(course[-1][2])) >= shows for course in courses)


def _again(record: Record) -> str:
    """Which run the page shows as a counterexample, and how it is run again; empty if none was replayed."""
    runs = [e for e in limits.strongest_first(record) if e.replayed and not e.divergence]
    if not runs:
        return ""
    other, claim = words.elsewhere(runs[0], record), record.claimed.epsilon
    shown = limits.shown(runs[0], claim) >= words.least(record) * (1 - 1e-6)
    if shown and not (other and _here(record)):
        return " It is the counterexample below, and can be run again: verify --rerun."
    where = f", with {_named(other, record)}" if other else ""
    loss, claimed = abs(float(runs[0].loss or 0.0)), float(runs[0].epsilon or claim)
    said = f"{where}: loss {digits(loss)}, claimed {digits(claimed)}"
    return f" The record keeps another run, below{said}. Both can be run again: verify --rerun."


def _unbounded(record: Record) -> str:
    """Why no upper bound stands."""
    for check in record.checks:
        if check.kind == "upper_bound" and record.epsilon_upper is None:
            tests = " and ".join(sorted({p["tested_by"] for p in check.statistics["premises"]} - {""}))
            what = " (runs replayed on neighbouring inputs)" if tests == "alignment" else ""
            return (
                f"There is no upper bound: one was computed, but counts only if the {tests} check{what} "
                "passes, and that check refuted the claim."
            )
    return "There is no upper bound; other inputs may show more."


# ---------------------------------------------------------------- what was audited


def _audited(record: Reviewed, around: Around) -> list[tuple[str, str]]:
    target, facts = record.target, record.provenance
    model = "no promise of privacy" if target.model == "none" else f"{target.model} model"
    what = f"{words.title(record)} ({words.kind(record)}, {model})"
    found = [("Target", what)]
    source = record.claimed.source if record.claim else None
    if source:
        found.append(("Promise from", source.statement))
    found.append(("Code", _code(target.source, facts.target)))
    found.append(("When", str(facts.finished)[:10]))
    authors = "; ".join(record.blocks["administrative"]["authors"])
    ci = "in continuous integration" if facts.ci else "outside continuous integration"
    by = f"{authors} (as declared), with " if authors else "nobody is named; "
    own = f"tool {_commit(facts)}"
    found.append(("Audited by", f"{by}{facts.tool} {facts.version} ({own}), {ci}"))
    if record.target.role is Role.USER and facts.request is not None:
        found.append(("Trust in the code", _TRUST))
    tier = record.blocks["tier"]
    if tier:
        found.append(("Tier", f"{tier} (as declared)"))
    signed = around.signature or NONE
    check = "; check with verify --key" if signed.holds is None else ""
    found.append(("Signature", f"{signed.words}{check}"))
    return found if words.is_baseline(record) else [*found, ("Noise", sampler(record))]


# What no audit that runs code can exclude.
_TRUST = (
    "assumed not to deceive: hostile code could make up its counts, or behave differently when it is watched"
)


def _code(source: CodeEntry, place: Checkout) -> str:
    """Which code was audited: the file, its digest and its commit, as far as the record knows them."""
    digest = f"SHA-256 {source.sha256[:12]}…" if source.sha256 else "digest unknown"
    return f"{source.path or 'file unknown'}, {digest}, {_commit(place)}"


def _commit(facts: Checkout | Provenance) -> str:
    dirty = ", with uncommitted changes" if facts.dirty else ""
    return f"commit {facts.commit[:12]}{dirty}" if facts.commit else "commit unknown"


def variant(record: Record) -> str:
    """How what was audited differs from what the paper prints; empty where no difference is known."""
    corrected = record.target.parameters.get("variant") == "corrected"
    # Where the promise is not quite that of the paper, another thing was audited than the paper says.
    source = record.claimed.source if record.claim else None
    note = source.note if source else ""
    if words.is_printed(record):
        return "As printed in the paper."
    if corrected:
        return f"Corrected, not as printed (see errata){f': {note}' if note else ''}."
    if source and source.basis == Basis.UNREAD:
        return "Our own version: the paper's text was not at hand, so all constants are ours."
    return f"On the promise: {note}." if note else ""


def instance(record: Record) -> str:
    """Which instance was audited, and that nothing was said of others."""
    parameters = dict(record.target.parameters)
    named = _named({key: value for key, value in parameters.items() if key != "variant"}, record)
    return f"Only this instance{f': {named}' if named else ''}."


def _named(parameters: Json, record: Record) -> str:
    """Parameters with short values; those of the catalogue in words, names that a user chose as they are."""
    named = {key: key for key in parameters}
    if record.target.kind == "algorithm":
        named = {key: key.removeprefix("n_").replace("_", " ") for key in parameters}
        named["budget"] = "split of epsilon"
    return ", ".join(f"{named[k]} = {_short(v)}" for k, v in parameters.items())


_SHOWN = 3  # numbers of a list that are written out


def _short(value: JsonValue) -> str:
    if isinstance(value, list):
        if len(value) <= _SHOWN and all(isinstance(x, int | float) for x in value):
            return f"[{', '.join(map(_short, value))}]"
        return many(len(value), "vector" if all(isinstance(x, list) for x in value) else "value")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return digits(value) if isinstance(value, float) else str(value)


def sampler(record: Record) -> str:
    """Whether the noise of the audit is that of production."""
    if record.target.kind == "algorithm":
        drawn = "the audit drew seeded, ideal noise of this package; a live session draws from OpenDP, "
        return f"{drawn}{words.of_production(record) or 'which was not tested here'}"
    return "the audit drew the target's own noise; whether production draws the same is not known"


# ---------------------------------------------------------------- caveats and what follows


def _caveats(record: Reviewed) -> list[tuple[str, str]]:
    """The largest first; each with the section that says more."""
    if not record.checks:
        return [("Privacy was not audited: only regret was measured", "not-covered")]
    found: list[tuple[str, str]] = []
    names = kills.missed(record)
    if names and len(names) > len(decision(record).passed):  # else the strength names them all
        found.append((f"{variants(len(names))} missed by this audit: {'; '.join(names)}", "mutants"))
    if record.verdict == "inconclusive":
        found.append((f"The audit could not decide: {words.why(record)}", "evidence"))
    ratio = caught(record) if record.verdict != "refuted" else 0.0
    if ratio > WEAK and (names or record.verdict != "not_refuted"):  # else the headline says so
        found.append((capital(could_pass(ratio)), "power"))
    if record.verdict == "refuted" and not words.is_baseline(record):
        false = "The claim is false: nobody has the protection that it promises, with one round or several"
        found.append((false, "counterexamples"))
    guarantee = record.blocks["guarantee"]
    if guarantee:
        found += [
            (_guided(row, record.claimed.delta), "guarantee")
            for row in guarantee["guidance"]
            if row["level"] == "flag"
        ]
        found += [(said, "guarantee") for said in of_a_person(record)]
        apart = apart_worlds(record)
        found += [
            (f"Declared worlds are not neighbours under the claim: {said}", "hazards") for said in apart
        ]
    if record.claimed.observe == "shuffled":
        found.append(("The shuffler was trusted, not tested", "premises"))
    audited = bool(words.of_production(record))
    if record.target.kind == "algorithm" and not words.is_baseline(record) and not audited:
        found.append(("The noise generator you will run was not tested", "hazards"))
    # The sentence under the verdict names these where there is a bound.
    bounded = record.epsilon_upper and record.verdict != "refuted"
    lines = words.not_covered(record, without=exclusions.EVERY if bounded else ())
    return [*found, *((capital(line), "not-covered") for line in lines)]


def _guided(row: Json, delta: float) -> str:
    """A flag of the guidance; of delta also what it means."""
    means = (
        f": up to a 1 in {1 / delta:,.0f} chance that epsilon does not protect"
        if row["about"] == "delta"
        else ""
    )
    return f"{capital(row['words'])} (NIST's draft guidance){means}"


_ROUNDS = 10  # of a person, whom the card speaks of where nothing is declared


def of_a_person(record: Reviewed) -> list[str]:
    """What the promise about one event leaves a person with several: as many as are declared, or our example.

    Empty where it is about more already, where it is false, where the data are given as pairs, and where a
    person has one, as declared.
    """
    if not _of_events(record):
        return []
    declared = record.blocks["guarantee"]["contribution_bounds"]["max_rounds_per_user"]
    least = most = declared
    if declared is None:
        least, most = 2, min(_ROUNDS, int(record.target.parameters.get("horizon") or _ROUNDS))
    what = "entries" if _event(record) == "entry" else f"{_event(record)}s"
    rows = [
        row for row in record.blocks["guarantee"]["group_privacy"] if max(2, least) <= row["rounds"] <= most
    ]
    return [of_rounds(row, what, "our example" if declared is None else "as declared") for row in rows[-1:]]


def of_rounds(row: Json, what: str, which: str) -> str:
    """What a row of the table of groups leaves a person."""
    person = f"{capital(what)} add up: "
    if float(row["delta"]) >= 1:
        return f"{person}for a person with {row['rounds']} ({which}) this conversion says nothing: delta is 1"
    delta = f" and delta {digits(row['delta'])}" if float(row["delta"]) else ""
    return f"{person}a person with {row['rounds']} ({which}) has only epsilon {digits(row['epsilon'])}{delta}"


def following(record: Reviewed, brief: bool = False) -> str:
    """What to do next; brief with some of the open questions and without what else remains."""
    if holes := questions.holes(record):
        return f"Do not deploy this as declared. Close {many(len(holes), 'hole')} first, then declare anew."
    if not record.checks:
        return "Audit privacy, too: this record says nothing about it."
    if words.is_baseline(record):
        return (
            "Do not use it on data that need privacy: it promises none, and the audit shows that it has none."
        )
    if record.verdict == "refuted":
        fixed = (
            "use the corrected variant" if words.is_printed(record) else "repair the code and audit it again"
        )
        return f"Do not rely on this claim. Run the counterexample again (verify --rerun), then {fixed}."
    if record.verdict == "inconclusive":
        return (
            f"Do not rely on this claim yet. Audit again with more runs ({_more(record)}), "
            "or name pairs of inputs to try."
        )
    names = kills.missed(record)
    faults = "missed fault" if len(names) == 1 else f"{len(names)} missed faults"
    first = f"Look by hand for the {faults}. " if names else ""
    if caught(record) > WEAK:
        option = _more(record)
        first += f"Audit again with more runs ({option if brief else f'{option}: runs, not epsilon'}). "
    return first + _settle(*_parted(record), brief=brief)


def _settle(yours: Open, left: Open, *, brief: bool) -> str:
    """What a declaration settles, and how much it leaves."""
    limits = f"{many(left.count, 'limit')} remain{'s' if left.count == 1 else ''}"
    limits += f", {left.grave} serious" if left.grave else ""
    if not yours.count:
        return f"Weigh what no declaration settles: {limits}."
    void = f" ({yours.grave} can void the promise)" if yours.grave else ""
    named = " ".join(few(yours.names, _ASKED)).strip() if brief else ", ".join(yours.names)
    asked = f"Answer {many(yours.count, 'question')}{void}: {named}."
    return asked if brief else f"{asked} {capital(limits)}."


def _more(record: Record) -> str:
    """The option for more runs than a record's audit had."""
    return f"--budget {'SECONDS' if record.plan.budget == 'thorough' else 'thorough'}"


def open_hazards(record: Reviewed) -> tuple[Open, ...]:
    """The open hazards; none where no promise stands."""
    return () if record.verdict == "refuted" else tuple(part for part in _parted(record) if part.count)


def _parted(record: Reviewed) -> tuple[Open, Open]:
    """The open hazards that a declaration can close, and those that none can, which limit the evidence."""
    still = {row["id"] for row in record.blocks["hazards"] if row["status"] in UNSETTLED}
    parts = []
    for declarable, head in (
        (True, "for your team to settle in a declaration (verifiable-dp declare)"),
        (False, "that no declaration closes, limits of this evidence"),
    ):
        found = [h for h in HAZARDS if h.declarable == declarable and h.id in still]
        groups = ((bears, tuple((h.id, h.brief) for h in found if h.bears == bears)) for bears in BEARS)
        parts.append(Open(f"{len(found)} {head}", tuple((b.lower(), rows) for b, rows in groups if rows)))
    return parts[0], parts[1]


_THEOREMS = "the theorems"
_AGREED = {Basis.OURS: "our derivations", Basis.GIVEN: "what was claimed"}


def regret(record: Record) -> str:
    """How many checks of regret, or of what is claimed in its place, agree; empty if none was made."""
    checks = record.regret_checks
    if not checks:
        return ""
    agree = sum(c.verdict == "consistent" for c in checks)
    what = "" if words.measured(record) == "Regret" else " on errors and rounds"
    bases = {claim.source.basis for claim in (record.regret.claims if record.regret else ())}
    by = _AGREED.get(next(iter(bases)) or Basis.PAPER, _THEOREMS) if len(bases) == 1 else _THEOREMS
    said = [f"{agree} of {many(len(checks), 'check')} agree{'s' if agree == 1 else ''} with {by}{what}"]
    for verdict, text in (("contradicted", "contradicted"), ("inconclusive", "undecided")):
        names = [c.name for c in checks if c.verdict == verdict]
        said += [f"{text}: {', '.join(names)}"] if names else []
    vacuous = [c for c in checks if c.verdict == "vacuous"]
    if vacuous:
        below = [float(c.statistics["least_horizon"]) for c in vacuous if c.statistics.get("least_horizon")]
        short = f"below {min(below):.2g} rounds" if below else "at this size"
        said.append(
            f"{len(vacuous)} cannot fail {short}, so it says nothing"
            if len(vacuous) == 1
            else f"{len(vacuous)} cannot fail {short}, so they say nothing"
        )
    loose = sum(limits.is_loose(c) for c in checks)
    if loose:
        said.append(
            f"{loose} of them {'is' if loose == 1 else 'are'} coarse "
            f"({limits.LOOSE:g} times as much would pass)"
        )
    return f"{'; '.join(said)}."
