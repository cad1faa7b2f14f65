"""Rates of mean regret: a power of one parameter, and a level that neither uniform nor timid play keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from verifiable_dp.auditors.studies import Outcomes
from verifiable_dp.core.claims import Basis, Source
from verifiable_dp.core.validate import FloatArray, Json, JsonValue
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.comparison import comparison
from verifiable_dp.evidence.regret.mean_bound import mean_bound
from verifiable_dp.evidence.regret.scaling import scaling
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.study import Cell, Guide, Line, Panel, Statement

ROOM = 1.5  # regret over that of the path: runs are within a fifth of it, three passes are not
_REACHED = 1e-6  # of a closed form: runs that all end in one epoch reach it


def uniform(cell: Cell) -> float:
    """Regret of uniform play in a cell."""
    return float(cell.algorithm.horizon * cell.gaps.mean())


def near(path: Callable[[Cell], float], words: str = "") -> tuple[Callable[[Cell], float], str]:
    """Bound and form of a level that is `ROOM` times the regret of a path, which has a name; see `_paths`."""
    name = words or "regret with every mean at its expectation"
    return lambda made: ROOM * path(made), f"{ROOM:g} times {name}"


@dataclass(frozen=True)
class Rate:
    """A rate of mean regret over one parameter, all else being fixed: ours, as papers only bound regret.

    Environments and horizons do not depend on the rule that is played. At each value of the parameter the
    largest mean regret of its cells counts: of one, or of one for each gap of a grid. Two checks hold the
    level at the ends of the range against a closed form, which a rule that learns eight times more slowly
    breaks, and uniform play by far. Few points leave a slope so few degrees of freedom that one which is a
    whole power off may stay undecided; the level is then too high at one end.

    Attributes
    ----------
    name
        Of the statement, after ``rate-``.
    words
        What is claimed.
    axis
        The parameter, in words.
    cells
        By value of the parameter, and by name.
    exponent, log_power
        The claimed rate.
    margin
        How far the fitted exponent may lie from it.
    region
        What is fixed, in words.
    source
        Where it is claimed.
    bound
        The closed form of mean regret in a cell; it must not ask the algorithm for more than its parameters.
    form
        Which closed form it is.
    false_exponent, false_words, false_source
        What the paper prints where it is wrong.
    claimed
        The rate as a figure shows it; the slope if empty.
    growth
        By which factor regret over the range may grow more, or less, than the closed form; not checked if 0.
        It tells rates apart that differ by less than the margin.
    """

    name: str
    words: str
    axis: str
    cells: Mapping[float, Mapping[str, Cell]]
    exponent: float
    margin: float
    region: str
    source: Source
    bound: Callable[[Cell], float]
    form: str
    log_power: float = 0.0
    false_exponent: float | None = None
    false_words: str = ""
    false_source: Source | None = None
    claimed: str = ""
    growth: float = 0.0

    @classmethod
    def of(
        cls,
        sheet: Sheet,
        name: str,
        cells: Mapping[float, Mapping[str, Cell]],
        level: tuple[Callable[[Cell], float], str],
        computed: Json | None = None,
        **values: JsonValue,
    ) -> Rate:
        """The row ``[rates.NAME]`` of a sheet with its cells, bound and form, and what is `computed`."""
        row = sheet.row("rates", name, **values)
        where, region = row.pop("where"), f"measured with {row['region']}"
        if where:
            printed = f"{where.removesuffix(', corrected')}, as printed"
            row["source"] = Source(sheet.paper, where, region, Basis.OURS)
            row["false_source"] = Source(sheet.paper, printed, f"{region}; see the errata", Basis.OURS)
        return cls(cells=cells, bound=level[0], form=level[1], **{**row, **(computed or {})})

    @property
    def names(self) -> dict[str, float]:
        """Values of the parameter by cell."""
        return {name: x for x, group in self.cells.items() for name in group}

    @property
    def plan(self) -> dict[str, Cell]:
        """All cells."""
        return {name: cell for group in self.cells.values() for name, cell in group.items()}

    def worst(self, outcomes: Outcomes) -> dict[float, FloatArray]:
        """Regret by run of the worst cell, by value of the parameter."""
        return {
            x: max((outcomes[name].regret for name in group), key=lambda values: float(values.mean()))
            for x, group in self.cells.items()
        }

    def slope(self, outcomes: Outcomes, exponent: float) -> Check:
        """The fitted slope against an exponent; with it the share of uniform play's regret."""
        worst = self.worst(outcomes)
        means = [float(values.mean()) for values in worst.values()]
        most = [max(map(uniform, group.values())) for group in self.cells.values()]
        return scaling(
            f"exponent over {self.axis}",
            list(worst.items()),
            exponent=exponent,
            log_power=self.log_power,
            margin=self.margin,
            region=self.region,
            shares=[mean / least for mean, least in zip(means, most, strict=True)],
        )

    def levels(self, outcomes: Outcomes) -> list[Check]:
        """Mean regret at both ends of the range against the closed form of the worst cell."""
        found, worst = [], self.worst(outcomes)
        for x in (min(self.cells), max(self.cells)):
            group = self.cells[x].values()
            largest = [float(c.algorithm.horizon * c.gaps.max()) for c in group]
            limits = [min(self.bound(c), most) for c, most in zip(group, largest, strict=True)]
            found.append(
                mean_bound(
                    f"level at {self.axis} = {x:.4g}",
                    worst[x],
                    bound=max(limits) * (1 + _REACHED),
                    largest=max(largest),
                    closed_form=self.form,
                )
            )
        return found

    def grown(self, outcomes: Outcomes) -> list[Check]:
        """Mean regret at each end of the range over that at the other, against the closed form's."""
        worst, ends = self.worst(outcomes), (min(self.cells), max(self.cells))
        forms = {x: max(map(self.bound, self.cells[x].values())) for x in ends}
        return [
            comparison(
                f"from {self.axis} = {a:.4g} to {b:.4g}",
                worst[a],
                worst[b],
                factor=forms[b] / forms[a] / self.growth,
                rival=f"{self.axis} = {b:.4g}",
                closed_form=self.form,
            )
            for a, b in (ends, ends[::-1])
            if self.growth
        ]

    def checks(self, outcomes: Outcomes) -> list[Check]:
        """The exponent, the level, and how far regret grows."""
        return [self.slope(outcomes, self.exponent), *self.levels(outcomes), *self.grown(outcomes)]

    def statements(self) -> list[Statement]:
        """The rate, and the printed one where it is false."""
        found = [Statement(f"rate-{self.name}", self.words, self.source, self.checks)]
        wrong = self.false_exponent
        if wrong is not None:
            found.append(
                Statement(
                    f"rate-{self.name}-printed",
                    self.false_words,
                    self.false_source or self.source,
                    lambda outcomes: [self.slope(outcomes, wrong)],
                    expected="contradicted",
                )
            )
        return found

    def panel(self, title: str, label: str) -> Panel:
        """Its points, and through them the slope that is claimed."""
        words = self.claimed or f"slope {self.exponent:.3g}"
        guides = [Guide(f"claimed: {words}", self.exponent, self.log_power)]
        wrong = self.false_exponent
        if wrong is not None:
            guides.append(Guide(f"printed: slope {wrong:.3g}", wrong, self.log_power))
        line = Line(label, tuple(self.names), tuple(self.names.values()), worst=True)
        return Panel(title, (line,), tuple(guides), axis=self.axis)
