"""A check: the numbers that were measured, and what follows from them.

What follows is always computed by a *judge*, a pure function of the recorded numbers. The audit calls it,
and so does `verify`: a record cannot say anything that its own numbers do not.

A `Kind` is the home of all that belongs to checks of one kind. It is an object of one module, and a package
registers it with an entry point of group ``verifiable_dp.checks`` under the kind's name; ours does it in the
same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from verifiable_dp.core import plugins, validate
from verifiable_dp.core.validate import InputError, Json, JsonDict, JsonValue
from verifiable_dp.evidence.fields import Recorded

GROUP = "verifiable_dp.checks"
Judge = Callable[[Json], JsonDict]
Scales = Callable[[Json, Json], Json]
Words = Callable[[Json, Json], str]
Limits = Callable[[Json, Json], Sequence[str]]
Slack = Callable[[Json, Json], float]


@dataclass(frozen=True)
class Column:
    """A column of the table of a kind.

    Attributes
    ----------
    head
        Its heading.
    value
        What stands in it, of the statistics and the result of a check.
    """

    head: str
    value: Callable[[Json, Json], JsonValue]


@dataclass(eq=False)
class Kind:
    """All that belongs to checks of one kind; its judge and its sentence are given by decorators.

    Parameters
    ----------
    name
        As a record has it, such as ``mean_bound``.
    about
        ``privacy``, ``regret``, ``table`` (algorithms beside each other, from which no verdict follows) or
        ``number`` (computed, of studies and errata).
    method, citation
        What is done, in a line, and where the method is described.
    short
        What finds or decides, as a sentence begins with it: its kind if empty.
    rank
        Place of its table on a page; smaller comes first.
    caption, columns
        Of its table, where no template ``checks/NAME.html.jinja`` is there: name and verdict come of
        themselves, and without columns the sentence.
    runs
        How many runs were counted, of the statistics; None for a kind that samples nothing.
    decisive
        Whether a sampled audit rests on it: a true epsilon would have been refuted at its event.
    counts
        Whether its lower bounds, and what it would have detected, count for the conclusion. What does not
        count can speak against a claim, never for it.
    numbers
        Keys of the compliance blocks, and where their numbers stand: ``statistics`` or ``result``, key.
    cells
        Of a table: which fields of a row are shown in text, and their headings; ``{0}`` and ``{1}`` are the
        algorithms of its statistics.
    statistics, result
        What a check of this kind holds, as types; None: what its judge takes and gives.
    """

    name: str
    about: str
    method: str = ""
    citation: str | None = None
    short: str = ""
    rank: int = 100
    caption: str = ""
    columns: tuple[Column, ...] = ()
    runs: Callable[[Json], int] | None = None
    decisive: bool = False
    counts: bool = False
    numbers: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    cells: Mapping[str, str] = field(default_factory=dict)
    statistics: type[Recorded] | None = None
    result: type[Recorded] | None = None
    judge: Judge | None = None
    words: Words | None = None
    scales: Scales | None = None
    limits: Limits | None = None
    slack: Slack | None = None

    def __post_init__(self) -> None:
        validate.choice("about", self.about, ("privacy", "regret", "table", "number"))

    def judged_by(self, scales: Scales | None = None) -> Callable[[Judge], Judge]:
        """Say what judges; it returns a dict with at least ``verdict``, but for a table.

        Parameters
        ----------
        scales
            Gives, for statistics and a result, the scales at which their floats are compared (`rounding`):
            a mapping with keys ``statistics`` and ``result``, each nested as these are. One number holds for
            all that is below it. What is left out is compared at its own size.
        """

        def taken(function: Judge) -> Judge:
            self.judge, self.scales = function, scales
            return function

        return taken

    def worded_by(self, function: Words) -> Words:
        """Say what makes its sentence: what was measured against what is claimed, in one line.

        It is a function of the statistics and the result. Every rendering takes it from here, so that a
        number is worded once, beside the judge that makes it. The verdict is not in it.
        """
        self.words = function
        return function

    def limited_by(self, function: Limits) -> Limits:
        """Say what makes the sentences on what a check of this kind does not show."""
        self.limits = function
        return function

    def slack_by(self, function: Slack) -> Slack:
        """Say how many times what was measured would still pass."""
        self.slack = function
        return function

    @property
    def sampled(self) -> bool:
        """Whether runs were counted."""
        return self.runs is not None


_KINDS: dict[str, Kind] = {}


def kind_of(name: str) -> Kind:
    """The kind of this name.

    Raises
    ------
    InputError
        If no installed package registers it, or two do, if its code may not run here, or if it has no judge
        or no sentence.
    """
    if name not in _KINDS or not plugins.may_be(GROUP, name):
        found = plugins.registered(GROUP, name, Kind)
        if found.judge is None or found.words is None:
            raise InputError(f"check: the kind {name!r} must have a judge and a sentence")
        _KINDS[name] = found
    return _KINDS[name]


def kinds(about: str | None = None) -> list[Kind]:
    """All registered kinds, or those about something, by rank."""
    found = map(kind_of, plugins.names(GROUP))
    return sorted((k for k in found if about in (None, k.about)), key=lambda k: (k.rank, k.name))


@dataclass(frozen=True)
class Check:
    """One check of a record.

    Attributes
    ----------
    name
        Unique within a record.
    kind
        Which judge reads the numbers: ``alignment``, ``black_box``, ``mean_bound``, …
    statistics
        What was measured and against what: JSON values that suffice to judge.
    result
        What the judge makes of them, with ``verdict``.
    """

    name: str
    kind: str
    statistics: Json
    result: Json

    @classmethod
    def of(cls, name: str, kind: str, statistics: Json) -> Check:
        """Judge `statistics` and keep both."""
        return cls(name, kind, dict(statistics), judged(kind, statistics))

    @classmethod
    def read(cls, values: Json) -> Check:
        """A check as it stands in a record or in another data file."""
        return cls(str(values["name"]), str(values["kind"]), values["statistics"], values["result"])

    @property
    def verdict(self) -> str:
        """The result's verdict; empty for a table, which has none."""
        return str(self.result.get("verdict", ""))

    @property
    def epsilon_lower(self) -> float:
        """The lower bound on epsilon; 0 where the check gives none."""
        return float(self.result.get("epsilon_lower", 0.0))

    @property
    def form(self) -> Kind:
        """The kind of the check."""
        return kind_of(self.kind)

    def as_dict(self) -> JsonDict:
        """Plain values, as they stand in a record."""
        return {
            "name": self.name,
            "kind": self.kind,
            "statistics": dict(self.statistics),
            "result": dict(self.result),
        }


def fits(check: Check) -> None:
    """Refuse a check that does not hold what its kind says.

    Raises
    ------
    InputError
        In that case, or if there is no such kind.
    """
    for name in ("statistics", "result"):
        form: type[Recorded] | None = getattr(check.form, name)
        try:
            if form is not None:
                form.of(getattr(check, name))
        except msgspec.ValidationError as error:
            raise InputError(f"{check.name}: {name}: {error}") from None


def judged(kind: str, statistics: Json) -> JsonDict:
    """What the judge of `kind` makes of `statistics`; nothing where a run depends on the one before it.

    Raises
    ------
    InputError
        If there is no such kind.
    KeyError
        If a number is missing.
    """
    found = kind_of(kind)
    assert found.judge is not None, f"{kind} has a judge"
    result = found.judge(statistics)
    if statistics.get("carried"):
        return {**result, "verdict": "inconclusive", "epsilon_lower": 0.0}
    return result


def in_words(check: Check) -> str:
    """The sentence of a check."""
    assert check.form.words is not None, f"{check.kind} has a sentence"
    return check.form.words(check.statistics, check.result)


def limits_of(check: Check) -> list[str]:
    """Sentences on what a check does not show; none where its verdict needs none."""
    limits = check.form.limits
    return list(limits(check.statistics, check.result)) if limits else []


def slack_of(check: Check) -> float:
    """How many times what was measured would still pass; 1 where that is not known, or the check does not."""
    slack = check.form.slack
    return slack(check.statistics, check.result) if slack and check.verdict == "consistent" else 1.0


def scales_of(check: Check) -> Json:
    """Scales of a check, as its judge states them; none if its numbers are unusable."""
    try:
        scales = check.form.scales
        return scales(check.statistics, check.result) if scales else {}
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return {}
