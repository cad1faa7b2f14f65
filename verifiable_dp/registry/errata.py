"""Errata: what a paper prints, word for word, beside what holds instead, in three registers.

``false``: the statement fails as printed. ``loose``: it holds, with a rate or a constant that can be much
better. ``reading``: it depends on how it is read, or is a slip of the pen that the paper itself puts right
elsewhere. Only the first contradicts a statement.

A package registers its errata with an entry point of group ``verifiable_dp.errata`` that names a sequence
of `Erratum` objects; `read` makes them from a TOML file and the evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path

from verifiable_dp.core import plugins, validate
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.claims import Source
from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.evidence.check import Check
from verifiable_dp.registry import items
from verifiable_dp.registry.mutants import Make
from verifiable_dp.registry.wrapped import Listed, original, with_parameters

GROUP = "verifiable_dp.errata"
KINDS = ("privacy", "regret", "proof", "text")
REGISTERS = {
    "false": "False as printed",
    "loose": "True but loose",
    "reading": "Ambiguous, or a slip",
}
_ENDS = re.compile(r"[.:](?:\s*\\quad \(\d+\))?\$?$")  # a sentence, or a formula that ends one
SHOWN = ("confirmed", "by_reading")  # outcomes of errata that stand
_FALSE = ("refuted", "contradicted")
_HOLDS = ("not_refuted", "consistent")


@dataclass(frozen=True)
class Quotation:
    """Words of a paper, as they stand there.

    Parameters
    ----------
    place
        The number of what is quoted: ``Theorem 3.3``, ``proof of Lemma 4``, ``Algorithm 2``, ``Section 5``.
    text
        Verbatim, with formulas as LaTeX between dollar signs; ``[...]`` where something is left out.

    Raises
    ------
    InputError
        If one of them is empty, or a formula is not closed.
    """

    place: str
    text: str

    def __post_init__(self) -> None:
        if not self.place or not self.text or self.text.count("$") % 2:
            raise InputError(
                f"quotation must have a place and a text, with every formula closed by $; got {self}"
            )


def excerpt(text: str) -> str:
    """A quotation with ``[...]`` where it begins or ends within a sentence, as in a formula or a listing."""
    begins = text[0].isupper() or text[0].isdigit() or text.startswith("[...]")
    return f"{'' if begins else '[...] '}{text}{'' if _ENDS.search(text) else ' [...]'}"


@dataclass(frozen=True)
class Findings:
    """What the evidence of an erratum came to.

    Parameters
    ----------
    printed
        Checks of the statement as printed: they fail, unless it is loose; then they measure by how much.
        Empty where no run can show the slip.
    corrected
        Checks of what holds instead.
    counterexample
        The smallest one: values that suffice to see the failure. Parameters of a mechanism are those of the
        right one, into which the fault is put (`Fault.on`).
    """

    printed: Sequence[Check]
    corrected: Sequence[Check]
    counterexample: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Fault:
    """What is wrong with a mechanism as printed, and nothing else: the evidence of an erratum on privacy.

    A listing that is wrong in two respects has two errata. With one of them put right the other one alone has
    to be refuted, on that algorithm's own mechanism.

    Parameters
    ----------
    right
        The algorithm without this fault.
    make
        Puts the one fault in (`registry.mutants` has operators).
    show
        `show(seed, faulty, right)` produces the evidence in some seconds: checks of the one algorithm and of
        the other, with nothing known of the fault. With `right` in both places its checks hold.
    listed
        Whether the listing has it (``variant="printed"``), and not a proof alone.
    """

    right: Algorithm
    make: Make
    show: Callable[[int, Algorithm, Algorithm], Findings]
    listed: bool = True

    def found(self, seed: int) -> Findings:
        """The evidence."""
        return self.show(seed, self.make(self.right), self.right)

    def on(self, instance: JsonDict) -> Listed:
        """The algorithm with the fault, and with the parameters of a counterexample, which name no fault."""
        return self.make(with_parameters(original(self.right), **instance))


Find = Callable[[int], Findings] | Fault


@dataclass(frozen=True)
class Erratum:
    """One discrepancy.

    Parameters
    ----------
    name
        Short and unique, such as ``tree-budget``.
    source
        Where it stands.
    register
        ``false``, ``loose`` or ``reading`` (see `REGISTERS`).
    quotes
        What is printed, verbatim; at least one.
    printed, right
        What is printed, and what holds instead, in our words.
    kind
        What it is about: ``privacy``, ``regret``, a ``proof`` or the ``text`` alone.
    find
        `find(seed)` produces the evidence in some seconds; None where the text alone shows the slip. On
        privacy a `Fault`, whose mechanism is run.
    claims
        Claims of the catalogue, as ``algorithm/claim``, that state what is printed: this evidence
        contradicts them. None but where the statement is false.

    Raises
    ------
    InputError
        If `kind` or `register` is unknown, nothing is quoted, a text alone comes with evidence or the other
        way round, privacy without a fault or the other way round, or a claim is named that is not
        contradicted.
    """

    name: str
    source: Source
    register: str
    quotes: tuple[Quotation, ...]
    printed: str
    right: str
    kind: str
    find: Find | None = None
    claims: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        validate.choice("kind", self.kind, KINDS)
        if (self.find is None) != (self.kind == "text"):
            raise InputError(f"find must be given for {self.name}, unless its kind is text")
        if isinstance(self.find, Fault) != (self.kind == "privacy"):
            raise InputError(f"find must be a Fault for {self.name} if and only if its kind is privacy")
        validate.choice("register", self.register, tuple(REGISTERS))
        if not self.quotes:
            raise InputError(f"quotes must not be empty for {self.name}")
        if self.claims and self.register != "false":
            raise InputError(
                f"claims: {self.name} contradicts no claim, so claims must be empty; its register is "
                f"{self.register}"
            )

    def found(self, seed: int) -> Findings:
        """The evidence; nothing where the text alone shows the slip."""
        if self.find is None:
            return Findings((), ())
        return self.find.found(seed) if isinstance(self.find, Fault) else self.find(seed)


def read(path: str | PathLike[str], paper: str, evidence: Mapping[str, Find]) -> tuple[Erratum, ...]:
    """The errata ``[[erratum]]`` of a TOML file about a paper, with the evidence that has their names.

    A row has the fields of `Erratum` but `source`, which are a `statement` and a `note`, and but `find`;
    its ``quotes`` are tables with the fields of `Quotation`.

    Raises
    ------
    InputError
        As `items.rows` and `items.made`; if evidence has a name that no row has.
    """
    found = []
    for row in items.rows(path, "erratum"):
        quotes = tuple(items.made(Quotation, quote) for quote in row.pop("quotes", ()))
        about: JsonDict = {key: row.pop(key) for key in ("statement", "note") if key in row}
        source, find = items.made(Source, about, paper=paper), evidence.get(row.get("name", ""))
        found.append(items.made(Erratum, row, source=source, quotes=quotes, find=find))
    if unknown := evidence.keys() - {erratum.name for erratum in found}:
        raise InputError(f"errata: {Path(path).name} has no erratum for the evidence {sorted(unknown)}")
    return tuple(found)


def outcome(
    kind: str,
    register: str,
    printed: Sequence[Json],
    corrected: Sequence[Json],
) -> str:
    """``confirmed``, ``not_confirmed``, or ``by_reading`` where nothing was run; from checks as in a record.

    Confirmed: every check of what is printed fails (it holds, where the statement is loose), and every check
    of what is right holds.
    """
    validate.choice("register", register, tuple(REGISTERS))
    if kind == "text":
        return "by_reading"
    expected = _HOLDS if register == "loose" else _FALSE
    failed = [check["result"]["verdict"] in expected for check in printed]
    held = [check["result"]["verdict"] in _HOLDS for check in corrected]
    return "confirmed" if failed and held and all(failed) and all(held) else "not_confirmed"


def examine(erratum: Erratum, seed: int = 0) -> JsonDict:
    """The row of an erratum: plain values with every number of its checks."""
    found = erratum.found(seed)
    printed = [check.as_dict() for check in found.printed]
    corrected = [check.as_dict() for check in found.corrected]
    return {
        "name": erratum.name,
        "source": erratum.source.as_dict(),
        "register": erratum.register,
        "quotes": [asdict(quote) for quote in erratum.quotes],
        "printed": erratum.printed,
        "right": erratum.right,
        "kind": erratum.kind,
        "checks_of_printed": printed,
        "checks_of_right": corrected,
        "counterexample": dict(found.counterexample),
        "claims": list(erratum.claims),
        "command": f"verifiable-dp errata {erratum.name}",
        "outcome": outcome(erratum.kind, erratum.register, printed, corrected),
    }


def examine_named(task: tuple[str, int]) -> JsonDict:
    """As `examine`, by name and seed, so that it can be sent to a worker."""
    name, seed = task
    return examine(chosen([name])[0], seed)


def registered() -> list[Erratum]:
    """All registered errata, sorted by name of the package's entry point, in the package's order.

    Raises
    ------
    InputError
        If something registered cannot be imported, is not a sequence of `Erratum`, or two have one name.
    """
    return list(plugins.rows(GROUP, Erratum, lambda erratum: erratum.name).values())


def chosen(names: Sequence[str]) -> list[Erratum]:
    """Errata by name; all if none is named.

    Raises
    ------
    InputError
        If a name is unknown.
    """
    known = {row.name: row for row in registered()}
    for name in names:
        if name not in known:
            raise InputError(f"erratum: unknown name {name!r}; known names are {', '.join(known)}")
    return [known[name] for name in names] if names else list(known.values())
