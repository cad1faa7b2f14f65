"""Sheets: the words and settings of an auditor or a study, in a TOML file beside its code.

The code asks for a row by its name and adds what is computed. `FORMS` says which tables there are, and its
structures what a row may hold. A text may be several lines, joined by spaces. In texts and names of rows
``{x}`` is the text `x` of the table ``words``, or the value that the code gives as `x`, which may have a
format, as in ``{x:g}``. Other braces stay as they are.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from verifiable_dp.core import files
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.claims import Basis, RegretClaim, Source
from verifiable_dp.core.neighbours import AnyPair
from verifiable_dp.core.validate import FloatArray, Function, Given, InputError, Json, JsonDict
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.mean_bound import mean_bound
from verifiable_dp.evidence.statement import statement
from verifiable_dp.registry.auditor import Auditor, Mutant, Printed
from verifiable_dp.registry.mutants import Make
from verifiable_dp.registry.study import Figure, Panel, Statement, StudyOutcome
from verifiable_dp.registry.theorems import Checking

Text = str | list[str]
_LARGEST = 1 << 18  # bytes
_PLACE = re.compile(r"\{(\w+)(?::([^{}]*))?\}")


class SheetRow(msgspec.Struct, forbid_unknown_fields=True):
    """A row, or a table of one row alone."""


class Cited(SheetRow, kw_only=True):
    """Fields of `Source`; `where` is its statement."""

    where: Text
    note: Text = ""
    basis: Basis = Basis.PAPER


class ClaimRow(Cited, kw_only=True):
    """Fields of `RegretClaim`."""

    statement: Text
    formula: Text
    kind: str
    domain: Text = ""
    about: str = "regret"
    checkable: bool = True


class MutantRow(SheetRow, kw_only=True):
    """Fields of `Mutant`; the name is the row's unless given, and a fault alone may be the row."""

    name: str = ""

    fault: Text
    breaks: str = ""
    bounding: bool = False


class AuditorRow(SheetRow, kw_only=True):
    """Fields of `Auditor`."""

    model: str
    instance: JsonDict = {}
    small: JsonDict = {}
    experiment: JsonDict = {}
    longest: int = Auditor.longest
    tightness: float = Auditor.tightness
    reference_epsilon: float | None = None
    printed: JsonDict | None = None


class CompareRow(SheetRow, kw_only=True):
    """Two sides of a comparison at every point of a grid; `points` says what a grid is.

    The mean regret of the cell `worse` is at least `factor` times that of the cell `better`. Its name and the
    cells are texts with values of the grid, and `about` is what a record says of it besides.
    """

    name: str
    better: str
    worse: str
    grid: JsonDict
    factor: float = 1.0
    about: JsonDict = {}


class StatementRow(Cited, kw_only=True):
    """Fields of `Statement`; where it is tested by comparisons alone, these stand for its checks."""

    words: Text
    expected: str = "consistent"
    compare: CompareRow | None = None


class FigureRow(SheetRow, kw_only=True):
    """Fields of `Figure`; the name is the row's unless given."""

    name: str = ""
    caption: Text
    statements: tuple[str, ...] = ()


class RateRow(SheetRow, kw_only=True):
    """What is claimed of regret over one parameter; the last words are those that are printed and false."""

    where: Text = ""
    words: Text
    axis: Text
    region: Text
    margin: float
    exponent: float = 0.0
    log_power: float = 0.0
    false_words: Text = ""
    claimed: str = ""
    growth: float = 0.0


class CheckRow(SheetRow, kw_only=True):
    """A number that is computed, and the relation to a limit in which it stands; see `statement`."""

    name: Text
    holds: str
    limit: float | None = None
    tolerance: float = 0.0


class RatioRow(SheetRow, kw_only=True):
    """What was computed over its bound, and `largest` without the claim: a `mean_bound` at no horizon."""

    name: Text
    claim: str
    instance: Text
    largest: float = math.nan


FORMS: Mapping[str, Given] = {
    "words": Text,
    "claims": ClaimRow,
    "mutants": Text | MutantRow,
    "auditor": AuditorRow,
    "statements": StatementRow,
    "figures": FigureRow,
    "rates": RateRow,
    "notes": list[Text],
    "checks": CheckRow,
    "ratios": RatioRow,
    "grids": list[int | float | str],
}
_SINGLE = ("auditor", "notes")


def fill(text: str, values: Json) -> str:
    """The text with these values in their places."""

    def put(found: re.Match[str]) -> str:
        return format(values[found[1]], found[2] or "") if found[1] in values else found[0]

    return _PLACE.sub(put, text)


def _key(kind: str, name: str) -> str:
    return f"{kind}.{name}" if name else kind


@dataclass(frozen=True)
class Sheet:
    """The sheet of a module.

    Parameters
    ----------
    module
        Its ``__file__``; the sheet has the same name, and is read when a row is first asked for.
    paper
        What is cited, where the code does not name another paper.
    forms
        Further tables beside `FORMS`, by name, with the form of a row.

    Attributes
    ----------
    asked
        The rows that were asked for so far, by table and name.
    """

    module: str
    paper: str = ""
    forms: Mapping[str, Given] = field(default_factory=dict)
    asked: set[tuple[str, str]] = field(default_factory=set, init=False, repr=False, compare=False)

    @functools.cached_property
    def rows(self) -> dict[tuple[str, str], Given]:
        """All rows, by table and name.

        Raises
        ------
        InputError
            If the file cannot be read, has an unknown table, or a row is not of its form.
        """
        place, found, forms = Path(self.module).with_suffix(".toml"), {}, {**FORMS, **self.forms}
        for kind, table in files.toml("sheet", place, _LARGEST).items():
            if kind not in forms:
                raise InputError(f"{place.name}: unknown table {kind!r}; known tables are {', '.join(forms)}")
            if kind not in _SINGLE and not isinstance(table, dict):
                raise InputError(f"{place.name}: {kind} must be a table, got {table!r}")
            for name, row in [("", table)] if kind in _SINGLE else table.items():
                try:
                    found[kind, name] = msgspec.convert(row, forms[kind])
                except msgspec.ValidationError as error:
                    raise InputError(f"{place.name}: {_key(kind, name)}: {error}") from None
        return found

    def row(self, kind: str, name: str = "", /, **values: Given) -> JsonDict:
        """The fields of a row and its name, with texts filled in; the field of a mere text is ``text``.

        Raises
        ------
        InputError
            As `rows`; if there is no such row, or no text of it has a value that is given.
        """
        place = f"{Path(self.module).stem}.toml: {_key(kind, name)}"
        if (kind, name) not in self.rows:
            raise InputError(f"{place}: no such row")
        self.asked.add((kind, name))
        used: set[str] = set()

        def filled(value: Given) -> Given:
            if isinstance(value, SheetRow):
                return {key: filled(part) for key, part in msgspec.structs.asdict(value).items()}
            if isinstance(value, tuple):
                return tuple(map(filled, value))
            if isinstance(value, list) and kind != "grids":
                value = " ".join(value)
            if not isinstance(value, str):
                return value
            for key in {found[1] for found in _PLACE.finditer(value)} - values.keys():
                if ("words", key) in self.rows:
                    value = fill(value, {key: self.words(key)})
            used.update(found[1] for found in _PLACE.finditer(value))
            return fill(value, values)

        row = filled(self.rows[kind, name])
        made: JsonDict = row if isinstance(row, dict) else {"text": row}
        made["name"] = made.get("name") or filled(name)
        if unused := values.keys() - used:
            raise InputError(f"{place}: no text uses {', '.join(sorted(unused))}")
        return made

    def words(self, name: str, /, **values: Given) -> str:
        """A text of ``[words]``."""
        return str(self.row("words", name, **values)["text"])

    def notes(self) -> tuple[str, ...]:
        """The texts ``notes``."""
        self.asked.add(("notes", ""))
        return tuple(" ".join(note) if isinstance(note, list) else note for note in self.rows["notes", ""])

    def grid(self, name: str) -> tuple[Given, ...]:
        """The values of ``[grids]`` under a name."""
        return tuple(self.row("grids", name)["text"])

    def points(self, grid: Json) -> Iterator[JsonDict]:
        """Every combination of the values of a grid, the last of which changes fastest.

        A grid has a list of values under each name, or the name of one of ``[grids]``. Several names with
        commas between them stand for the values of each list in the list, or for values that follow each
        other in it.
        """
        axes = []
        for names, values in grid.items():
            known, keys = self.grid(values) if isinstance(values, str) else values, names.split(", ")
            steps = known if isinstance(known[0], list) else itertools.pairwise(known)
            steps = ((value,) for value in known) if len(keys) == 1 else steps
            axes.append([dict(zip(keys, step, strict=True)) for step in steps])
        for point in itertools.product(*axes):
            yield {key: value for part in point for key, value in part.items()}

    def cited(self, row: JsonDict, paper: str = "") -> Source:
        """The source of a row, whose fields are taken out of it."""
        return Source(paper or self.paper, row.pop("where"), row.pop("note"), row.pop("basis"))

    def claim(
        self,
        name: str,
        bound: Function[float | FloatArray] | None = None,
        checks: Sequence[Checking] = (),
        *,
        paper: str = "",
        **values: Given,
    ) -> RegretClaim:
        """The row ``[claims.NAME]`` with its bound and checks."""
        row = self.row("claims", name, **values)
        return RegretClaim(source=self.cited(row, paper), bound=bound, checks=checks, **row)

    def mutant(self, name: str, make: Make, caught_by: Checking | None = None, **values: Given) -> Mutant:
        """The row `name` of ``[mutants]`` with what makes it, and the check of regret that catches it."""
        row = self.row("mutants", name, **values)
        if "text" in row:
            row["fault"] = row.pop("text")
        return Mutant(make=make, caught_by=caught_by, **row)

    def auditor(
        self,
        algorithm: type[Algorithm],
        pairs: Callable[[Given], Sequence[AnyPair]],
        mutants: Sequence[Mutant],
        claims: Sequence[RegretClaim],
        **more: Given,
    ) -> Auditor:
        """The table ``[auditor]`` with what is computed; parameters that the code gives come first."""
        row = self.row("auditor")
        del row["name"]
        for key in ("instance", "small", "experiment"):
            row[key] = {**more.pop(key, {}), **row[key]}
        if row["printed"] is not None:
            row["printed"] = Printed(**row["printed"])
        about = {"paper": self.paper, **row, **more}
        return Auditor(algorithm=algorithm, pairs=pairs, mutants=mutants, claims=claims, **about)

    def statement(
        self,
        name: str,
        checks: Callable[[Mapping[str, StudyOutcome]], Sequence[Check]],
        **values: Given,
    ) -> Statement:
        """The row ``[statements.NAME]`` with its checks."""
        row = self.row("statements", name, **values)
        del row["compare"]
        return Statement(source=self.cited(row), checks=checks, **row)

    def check(
        self,
        name: str,
        value: float,
        limit: float | None = None,
        *,
        texts: Json | None = None,
        **about: Given,
    ) -> Check:
        """The row ``[checks.NAME]`` with what was computed; its name may have `about` and `texts` in it."""
        row = self.row("checks", name)
        words, relation = fill(row["name"], {**about, **(texts or {})}), row["holds"]
        tolerance, known = row["tolerance"], row["limit"] if limit is None else limit
        return statement(words, value, relation, known, tolerance=tolerance, **about)

    def ratio(
        self,
        name: str,
        values: Sequence[float],
        *,
        bound: float = 1.0,
        largest: float | None = None,
        texts: Json | None = None,
        **about: Given,
    ) -> Check:
        """The row ``[ratios.NAME]`` with what was computed; its name may have `about` and `texts` in it."""
        row = self.row("ratios", name)
        words, known = fill(row.pop("name"), {**about, **(texts or {})}), row.pop("largest")
        most = known if largest is None else largest
        return mean_bound(words, np.asarray(values), bound=bound, largest=most, **row, horizon=0, **about)

    def figure(
        self, name: str, panels: Sequence[Panel], statements: Sequence[str] = (), **values: Given
    ) -> Figure:
        """The row ``[figures.NAME]`` with its panels, and with more statements than it names."""
        row = self.row("figures", name, **values)
        row["statements"] += tuple(statements)
        return Figure(panels=tuple(panels), **row)
