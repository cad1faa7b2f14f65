"""Scores: estimates of the log-likelihood ratio of an output under two inputs, learnt from selection runs.

Discrete columns are counted, numbers are binned and their ratios added up, and where columns hang together
a logistic regression and boosted trees of pairs of columns are fitted. Counts of rare values are shrunk
towards the ratios that the column's values have in general, so that chance does not put them first.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from verifiable_dp.core.kernels import kernel
from verifiable_dp.core.tapes import Derived
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray
from verifiable_dp.evidence.blackbox.observations import Observation, whole


class Score(Protocol):
    """Maps an observation to one number a row; large speaks for world 0."""

    def __call__(self, seen: Observation) -> FloatArray:
        """Scores, (n,)."""
        ...

    def describe(self) -> str:
        """What is scored, in words."""
        ...


# ---------------------------------------------------------------- features of outputs


@dataclass(frozen=True)
class Feature:
    """A number computed from the numeric columns.

    Attributes
    ----------
    kind
        ``value``, ``difference`` of two columns, ``sum``, ``largest`` or ``smallest`` of all; ``rest`` of a
        column after division by `unit`.
    names
        The columns.
    unit
        Of the rest.
    places
        Decimal places that the column is rounded to before, None: it is not.
    """

    kind: str
    names: tuple[str, ...]
    unit: float = 1.0
    places: int | None = None

    def __call__(self, seen: Observation) -> FloatArray:
        """Values, (n,); NaN as numpy's arithmetic has it.

        What is computed is rounded to single precision: noise that cancels leaves rounding errors behind.
        """
        columns = [seen.numeric[name] for name in self.names]
        if self.kind == "value":
            return columns[0]
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray(self._combined(columns).astype(np.float32), np.float64)

    def _combined(self, columns: list[FloatArray]) -> FloatArray:
        if self.kind == "rest":
            shares = columns[0] / self.unit
            if self.places is not None:
                shares = np.rint(columns[0] * 10.0**self.places) / (self.unit * 10.0**self.places)
            return np.asarray(shares - np.floor(shares))
        if self.kind == "difference":
            return columns[0] - columns[1]
        if self.kind == "sum":
            return np.asarray(sum(columns[1:], columns[0]))
        combine = np.fmax if self.kind == "largest" else np.fmin
        return np.asarray(combine.reduce(columns))

    def describe(self) -> str:
        """In words."""
        if self.kind == "value":
            return self.names[0]
        if self.kind == "difference":
            return f"{self.names[0]} - {self.names[1]}"
        if self.kind == "rest":
            return f"{self.names[0]} / {self.unit:g} modulo 1"
        return f"{self.kind} of {len(self.names)} numbers"


def missing(seen: Observation) -> IntArray:
    """Which numeric columns are NaN, as bits, (n,)."""
    code = np.zeros(seen.size, np.int64)
    for bit, column in enumerate(list(seen.numeric.values())[:62]):
        code |= np.isnan(column).astype(np.int64) << bit
    return code


class Computed(str):
    """Name of a discrete column that is computed from all numbers."""


MISSING, ORDER = Computed("the pattern of missing numbers"), Computed("the order of the numbers")


class ValueOf(Derived):
    """Name of a discrete column: the values of a numeric one."""

    PREFIX = "value of "


def column_of(seen: Observation, name: str) -> IntArray:
    """A discrete column by name, (n,): as seen, or computed from the numbers.

    A prefix that no run of this batch is long enough for stands for the whole sequence.
    """
    if name in seen.discrete:
        return seen.discrete[name]
    if isinstance(name, Computed):
        return missing(seen) if name == MISSING else _order(seen)
    if isinstance(name, ValueOf) and name.of in seen.numeric:
        # Adding zero makes -0.0 and 0.0 one value.
        return np.ascontiguousarray(seen.numeric[name.of] + 0.0, np.float64).view(np.int64)
    return whole(seen)


def _order(seen: Observation) -> IntArray:
    """Code of the ranking of the numeric columns, (n,)."""
    ranks = np.argsort(np.stack(list(seen.numeric.values()), axis=1), axis=1, kind="stable")
    return np.asarray(ranks @ (np.int64(len(seen.numeric)) ** np.arange(len(seen.numeric))), np.int64)


# ---------------------------------------------------------------- scores


@dataclass(frozen=True)
class Likelihood:
    """The exact log-likelihood ratio of the transcript."""

    def __call__(self, seen: Observation) -> FloatArray:
        """Scores, (n,)."""
        if seen.likelihood is None:
            return np.zeros(seen.size)
        # On a grid, so that rounding errors at an atom (the largest loss) decide nothing: the last bits of a
        # release depend on the input, but that is a leak of the sampler, which is idealised here.
        return np.asarray(np.floor(seen.likelihood * 1e6 + 0.318) / 1e6)

    def describe(self) -> str:
        """In words."""
        return "log-likelihood ratio of the released values"


@dataclass(frozen=True)
class ScoreColumn:
    """One number itself; NaN scores lowest."""

    feature: Feature
    sign: int

    def __call__(self, seen: Observation) -> FloatArray:
        """Scores, (n,)."""
        return np.nan_to_num(self.sign * self.feature(seen), nan=-np.inf, posinf=np.inf, neginf=-np.inf)

    def describe(self) -> str:
        """In words."""
        return self.feature.describe() if self.sign > 0 else f"-({self.feature.describe()})"


@dataclass(frozen=True)
class Codes:
    """Estimated log ratio of each value of a discrete column.

    Attributes
    ----------
    name
        Of the column.
    values, ratios
        Values, sorted, and their log ratios, (m,).
    other
        Log ratio of all other values together.
    """

    name: str
    values: IntArray
    ratios: FloatArray
    other: float = 0.0

    def __call__(self, seen: Observation) -> FloatArray:
        """Scores, (n,)."""
        column = column_of(seen, self.name)
        row = np.minimum(np.searchsorted(self.values, column), len(self.values) - 1)
        return np.where(self.values[row] == column, self.ratios[row], self.other)

    def describe(self) -> str:
        """In words."""
        return f"log ratio of {self.name} ({len(self.values)} values)"


@dataclass(frozen=True)
class Departure:
    """Estimated log ratio of the first prefix at which a run leaves the commonest path.

    Attributes
    ----------
    names
        Prefix columns, shortest first.
    path
        Code of the commonest prefix of each, (m,).
    ratios
        Log ratio by the number of prefixes that are the path's, (m + 1,).
    """

    names: tuple[str, ...]
    path: IntArray
    ratios: FloatArray

    def __call__(self, seen: Observation) -> FloatArray:
        """Scores, (n,)."""
        return self.ratios[self.places(seen)]

    def places(self, seen: Observation) -> IntArray:
        """Number of prefixes that are the path's before the first that is not, (n,)."""
        on, place = np.ones(seen.size, bool), np.zeros(seen.size, np.int64)
        for name, code in zip(self.names, self.path.tolist(), strict=True):
            on &= column_of(seen, name) == code
            place += on
        return place

    def describe(self) -> str:
        """In words."""
        point = "the point at which a run leaves the most common path"
        return f"log ratio of {point} ({len(self.names)} prefixes)"


@dataclass(frozen=True)
class Binned:
    """Sum over numeric columns of the estimated log ratio of their bins, by groups of a discrete column."""

    columns: tuple[Feature, ...]
    group: Codes | None
    edges: Mapping[tuple[int, int], FloatArray]
    ratios: Mapping[tuple[int, int], FloatArray]

    def __call__(self, seen: Observation) -> FloatArray:
        """Scores, (n,)."""
        columns = [column(seen) for column in self.columns]
        if self.group is None:
            return self._within(columns, 0, np.ones(seen.size, bool))
        total = self.group(seen)
        codes = column_of(seen, self.group.name)
        for key in {key for key, _ in self.edges}:
            where = codes == key
            if where.any():
                total[where] += self._within(columns, key, where)
        return total

    def _within(self, columns: Sequence[FloatArray], key: int, where: BoolArray) -> FloatArray:
        total = np.zeros(int(where.sum()))
        for number, column in enumerate(columns):
            if (key, number) in self.edges:
                bins = bin_of(column[where], self.edges[key, number])
                total += self.ratios[key, number][bins]
        return total

    def describe(self) -> str:
        """In words."""
        named = [column.describe() for column in self.columns]
        what = ", ".join(named) if len(named) <= 3 else f"{len(named)} numbers"
        return f"log ratio of {what}" + (f" given {self.group.name}" if self.group else "")


@dataclass(frozen=True)
class LogisticScore:
    """Logistic regression on numbers, their squares, their sizes and on whether they are missing.

    Attributes
    ----------
    columns
        The numbers, m of them.
    centre, width
        What they are standardised by, (m,).
    slopes
        (m, 4): of number, square, size and missing.
    """

    columns: tuple[Feature, ...]
    centre: FloatArray
    width: FloatArray
    slopes: FloatArray

    def __call__(self, seen: Observation) -> FloatArray:
        """Scores, (n,)."""
        total = np.zeros(seen.size)
        for column, centre, width, slopes in zip(
            self.columns, self.centre, self.width, self.slopes, strict=True
        ):
            total += terms_of(column(seen), centre, width) @ slopes
        return total

    def describe(self) -> str:
        """In words."""
        return f"logistic regression on {_listed(self.columns)}"


@dataclass(frozen=True)
class Rounds:
    """A number for each arm in each round, added up over the rounds of a run; 0 for one that it has not met.

    Attributes
    ----------
    slopes
        (T, K).
    made
        What they were made of.
    """

    slopes: FloatArray
    made: str = "logistic regression"

    def __call__(self, seen: Observation) -> FloatArray:
        """Scores, (n,)."""
        total = np.zeros(seen.size)
        assert seen.actions is not None
        n_arms = self.slopes.shape[1]
        unmet = (seen.actions < 0) | (seen.actions >= n_arms)
        known = np.where(unmet, n_arms, seen.actions) if unmet.any() else seen.actions
        for arms, slopes in zip(known.T, np.pad(self.slopes, ((0, 0), (0, 1))), strict=True):
            total += slopes[arms]
        return total

    def describe(self) -> str:
        """In words."""
        return f"{self.made} on the arms of {len(self.slopes)} rounds"


@dataclass(frozen=True)
class MetScore:
    """A score of the runs that have played the reward that differs; all others tell nothing and score 0.

    Attributes
    ----------
    score
        Of what they played since.
    """

    score: Score

    def __call__(self, seen: Observation) -> FloatArray:
        """Scores, (n,)."""
        total = np.zeros(seen.size)
        total[seen.met] = self.score(seen.since)
        return total

    def describe(self) -> str:
        """In words."""
        return f"{self.score.describe()}, of runs that play the arm whose reward differs,"


@dataclass(frozen=True)
class Boosted:
    """Boosted trees of pairs of columns, as tables.

    Attributes
    ----------
    columns
        Numbers, binned at `edges`.
    group
        A discrete column that is used beside them, and its values; none: empty.
    edges
        Of the bins of each number.
    single
        (c, m) value by column and bin.
    pairs
        (p, 2) columns, and `joint` (p, m, m): what each pair adds.
    """

    columns: tuple[Feature, ...]
    group: str
    values: IntArray
    edges: tuple[FloatArray, ...]
    single: FloatArray
    pairs: IntArray
    joint: FloatArray

    def __call__(self, seen: Observation) -> FloatArray:
        """Scores, (n,)."""
        return np.asarray(_look_up(self.bins(seen), self.single, self.pairs, self.joint))

    def bins(self, seen: Observation) -> IntArray:
        """Bin of each row by column, (c, n); the group's comes last."""
        bins = [bin_of(column(seen), e) for column, e in zip(self.columns, self.edges, strict=True)]
        if self.group:
            bins.append(group_of(column_of(seen, self.group), self.values))
        return np.stack(bins)

    def describe(self) -> str:
        """In words."""
        return f"boosted trees on {_listed(self.columns)}" + (f" and {self.group}" if self.group else "")


def _listed(columns: Sequence[Feature]) -> str:
    named = [column.describe() for column in columns]
    return ", ".join(named) if len(named) <= 3 else f"{len(named)} numbers"


def bin_of(column: FloatArray, edges: FloatArray) -> IntArray:
    """Number of edges at or below each value; len(edges) + 1 for NaN."""
    return np.where(np.isnan(column), len(edges) + 1, np.searchsorted(edges, column, side="right"))


def _sums(bins, single, pairs, joint):  # type: ignore[no-untyped-def]
    """`_look_up` in NumPy; it adds in the same order."""
    out = np.zeros(bins.shape[1])
    for c in range(bins.shape[0]):
        out += single[c, bins[c]]
    for p in range(len(pairs)):
        out += joint[p, bins[pairs[p, 0]], bins[pairs[p, 1]]]
    return out


@functools.partial(kernel, plain=_sums)
def _look_up(bins, single, pairs, joint):  # type: ignore[no-untyped-def]
    """Sum of the tables' entries for each row."""
    out = np.zeros(bins.shape[1])
    for i in range(bins.shape[1]):
        total = 0.0
        for c in range(bins.shape[0]):
            total += single[c, bins[c, i]]
        for p in range(len(pairs)):
            total += joint[p, bins[pairs[p, 0], i], bins[pairs[p, 1], i]]
        out[i] = total
    return out


def group_of(column: IntArray, values: IntArray) -> IntArray:
    """Place of each code among `values` (sorted); len(values) for others."""
    row = np.minimum(np.searchsorted(values, column), len(values) - 1)
    return np.where(values[row] == column, row, len(values))


def terms_of(column: FloatArray, centre: float, width: float) -> FloatArray:
    """Standardised number, square, size, missing: (n, 4)."""
    gone = np.isnan(column)
    z = np.clip(np.where(gone, 0.0, (column - centre) / width), -8.0, 8.0)
    return np.stack([z, z * z / 8, np.abs(z), gone.astype(np.float64)], axis=1)
