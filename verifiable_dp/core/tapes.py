"""Tapes of noise: what a run drew, and the replay of it on other data."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from verifiable_dp.core.noise import Draw, Hidden, Noise
from verifiable_dp.core.symmetric import likelihood
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class _Entries:
    """Draws of one kind, a row each, ordered by (run, slot, visit)."""

    address: IntArray  # (N, 3)
    columns: Mapping[str, FloatArray]  # each (N,)

    def find(self, address: IntArray) -> tuple[IntArray, BoolArray]:
        """Rows of `address` (n, 3), and whether each was found."""
        if not len(self.address):
            return np.zeros(len(address), np.int64), np.zeros(len(address), bool)
        mine, theirs = self._keys, _as_keys(address)
        row = np.minimum(np.searchsorted(mine, theirs), len(mine) - 1)
        return row, np.asarray(mine[row] == theirs)

    @functools.cached_property
    def _keys(self) -> npt.NDArray[np.void]:
        return _as_keys(self.address)


def _as_keys(address: IntArray) -> npt.NDArray[np.void]:
    names = ["run", "slot", "visit"]
    record = np.dtype([(name, np.int64) for name in names])
    keys = np.empty(len(address), record)
    for i, name in enumerate(names):
        keys[name] = address[:, i]
    return keys


class _Log:
    """Grows a table of draws; counts how often each (run, slot) was visited."""

    def __init__(self) -> None:
        self._visits: dict[tuple[int, int], int] = {}
        self._addresses: list[IntArray] = []
        self._columns: list[dict[str, FloatArray]] = []

    def visit(self, draw: Draw) -> IntArray:
        """Addresses (N, 3) of what is drawn, each with the number of this visit."""
        rows, columns = np.nonzero(draw.where)
        address = np.empty((len(rows), 3), np.int64)
        address[:, 0], address[:, 1] = draw.run[rows], draw.slot[rows, columns]
        visits = []
        for pair in map(tuple, address[:, :2].tolist()):
            visits.append(self._visits.get(pair, 0))
            self._visits[pair] = visits[-1] + 1
        address[:, 2] = visits
        return address

    def add(self, draw: Draw, columns: Mapping[str, FloatArray]) -> None:
        """Append what is drawn; `columns` are (n, m)."""
        self._addresses.append(self.visit(draw))
        self._columns.append({name: column[draw.where] for name, column in columns.items()})

    def entries(self) -> _Entries:
        """All rows, ordered; NaN in columns that a draw does not have."""
        if not self._addresses:
            return _Entries(np.zeros((0, 3), np.int64), {})
        address = np.concatenate(self._addresses)
        order = np.lexsort((address[:, 2], address[:, 1], address[:, 0]))
        parts = [
            (part, np.full(len(rows), np.nan))
            for part, rows in zip(self._columns, self._addresses, strict=True)
        ]
        names = dict.fromkeys(name for part in self._columns for name in part)
        columns = {n: np.concatenate([part.get(n, nothing) for part, nothing in parts])[order] for n in names}
        return _Entries(address[order], columns)


@dataclass(frozen=True)
class Tape:
    """What a `Recorder` wrote: releases, and hidden draws with what came of them."""

    releases: _Entries
    hidden: _Entries

    def rows(self, run: int | None = None) -> list[dict[str, float]]:
        """Released values as rows with run, slot, value, scale, output; those of one run if it is given."""
        names, address = list(self.releases.columns), self.releases.address
        own = slice(None) if run is None else address[:, 0] == run
        table = zip(address[own].tolist(), *(v[own] for v in self.releases.columns.values()), strict=True)
        return [
            {"run": a[0], "slot": a[1], **{n: float(v) for n, v in zip(names, vs, strict=True)}}
            for a, *vs in table
        ]


class Derived(str):
    """Name of a column that is made of another one, `of`: that in words, after the prefix of the class."""

    PREFIX: ClassVar[str]
    of: str

    def __new__(cls, of: str) -> Self:
        """The name in words, with the column that it is of."""
        made = super().__new__(cls, f"{cls.PREFIX}{of}")
        made.of = of
        return made

    def __getnewargs__(self) -> tuple[str]:
        return (self.of,)


class _Shown(Derived):
    """Name of a column of what came of hidden draws."""

    PREFIX = "shown: "


class Recorder:
    """Passes every draw on to `inner` and writes it down; `tape()` gives the record."""

    def __init__(self, inner: Noise) -> None:
        self._inner = inner
        self._releases, self._hidden = _Log(), _Log()

    def __call__(self, draw: Draw) -> FloatArray:
        """The answer of `inner`."""
        out = self._inner(draw)
        if draw.hidden is None:
            summed = np.full(out.shape, float(draw.count is not None))
            normal = np.full(out.shape, float(draw.normal))
            columns = {"value": draw.value, "scale": draw.scale, "output": out, "summed": summed}
            columns |= {"normal": normal} if draw.normal else {}
            columns |= {"freedom": np.full(out.shape, float(draw.freedom))} if draw.freedom else {}
            self._releases.add(draw, columns)
            return out
        shown = draw.hidden.outcome(out) if draw.hidden.outcome else {}
        columns = {_Shown(name): array for name, array in shown.items()}
        self._hidden.add(draw, {"value": draw.value, "scale": draw.scale, "answer": out, **columns})
        return out

    def tape(self) -> Tape:
        """What was recorded so far."""
        return Tape(self._releases.entries(), self._hidden.entries())


class Divergence(StrEnum):
    """Why a replay left the recorded run."""

    RELEASED_MORE = "released-more"
    DRAWN_MORE = "drawn-more"
    RELEASED_FEWER = "released-fewer"
    SCALE = "scale"
    REUSED_NOISE = "reused-noise"
    EXACT_VALUE = "exact-value"
    NO_NOISE = "no-noise"
    WRONG_SHIFT = "wrong-shift"
    UNDRAWN = "undrawn"
    ACTIONS = "actions"
    PUBLISHED = "published"

    @property
    def words(self) -> str:
        """For a report."""
        return {
            Divergence.RELEASED_MORE: "a value is released that is not released on the other input",
            Divergence.DRAWN_MORE: "hidden noise is drawn that is not drawn on the other input",
            Divergence.RELEASED_FEWER: "more values are released on the other input",
            Divergence.SCALE: "the scale of the noise depends on the data",
            Divergence.REUSED_NOISE: "one noise value was used for two releases",
            Divergence.EXACT_VALUE: "a released exact value differs between the inputs",
            Divergence.NO_NOISE: "a comparison was made without noise",
            Divergence.WRONG_SHIFT: "the declared noise shift does not give the same output",
            Divergence.UNDRAWN: "values were published for which this run drew no noise",
            Divergence.ACTIONS: "the actions differ although every release is the same",
            Divergence.PUBLISHED: "what is published differs although every release is the same",
        }[self]


_MISSING = (Divergence.RELEASED_MORE, Divergence.DRAWN_MORE)
_Where = tuple[IntArray, ...]  # rows and columns, as np.nonzero gives them


class Replayer:
    """Forces the releases of a `Tape` on other data, and adds up what that costs, run by run.

    Attributes
    ----------
    loss : (n,) float
        Log-likelihood ratio of the forced releases, recorded data over these data: the sum of
        (|o - q'| - |o - q|) / b. Exact if nothing was hidden; hidden draws and sums of reports enter
        with |shift| / b.
    cost : (n,) float
        The sum of |q - q'| / b over releases and of |shift| / b over hidden draws: a bound on the
        loss in absolute value. Infinite where the run left the recorded path.
    square : (n,) float
        The sum of ((q - q') / sd)^2 over releases with normal noise. Their loss is normal with this variance
        and half of it as its mean, if the changes do not depend on the noise; it is part of `loss`, and
        nothing of `cost`.
    matrices : list of tuple
        Of releases with Wishart noise: runs (m,), changes of the matrix (m, p, p) in units of the scale, k.
        Their part of the loss has a law that depends on these alone, see `mechanisms.wishart`.
    diverged : dict
        Why a run left the path, by run; the first cause is kept.
    """

    _TOLERANCE = 1e-9

    def __init__(self, tape: Tape, runs: int) -> None:
        self._tape = tape.releases, tape.hidden
        self._logs = _Log(), _Log()
        self._counts = np.zeros((2, runs), np.int64)
        self._moved: dict[tuple[int, int], float] = {}
        self.matrices: list[tuple[IntArray, FloatArray, int]] = []
        self.loss = np.zeros(runs)
        self.cost = np.zeros(runs)
        self.square = np.zeros(runs)
        self.diverged: dict[int, Divergence] = {}

    def _leave(self, runs: IntArray, why: Divergence) -> None:
        if not len(runs):
            return
        for run in np.unique(runs).tolist():
            self.diverged.setdefault(run, why)
        self.cost[runs] = self.square[runs] = np.inf
        self.loss[runs] = np.inf

    def __call__(self, draw: Draw) -> FloatArray:
        """The recorded outputs, or the value with recorded noise moved by the mechanism's declared shift."""
        kind = int(draw.hidden is not None)
        address = self._logs[kind].visit(draw)
        row, found = self._tape[kind].find(address)
        np.add.at(self._counts[kind], address[:, 0], 1)
        self._leave(address[~found, 0], _MISSING[kind])
        out = np.where(draw.where, draw.value, np.nan)
        if found.any():
            rows = {name: column[row[found]] for name, column in self._tape[kind].columns.items()}
            at, address = tuple(index[found] for index in np.nonzero(draw.where)), address[found]
            same = np.isclose(rows["scale"], draw.scale[at], rtol=self._TOLERANCE, atol=0)
            self._leave(address[~same, 0], Divergence.SCALE)
            if draw.hidden is None:
                self._charge(address, draw.value[at], rows)
                out[at] = rows["output"]
            else:
                self._shift(draw, draw.hidden, address[:, 0], rows, out, at)
        return out

    def _charge(self, address: IntArray, value: FloatArray, rows: Mapping[str, FloatArray]) -> None:
        """Add the loss of forced releases; reused noise must move by the same amount everywhere."""
        run, moved = address[:, 0], rows["value"] - value
        fresh = address[:, 2] == 0
        for (r, s, _), m in zip(address[fresh].tolist(), moved[fresh].tolist(), strict=True):
            self._moved[r, s] = m
        for i in np.flatnonzero(~fresh).tolist():
            first = self._moved[int(address[i, 0]), int(address[i, 1])]
            # Differences of large values carry their rounding errors.
            rounding = 1e-15 * (abs(rows["value"][i]) + abs(value[i]))
            if abs(first - moved[i]) > self._TOLERANCE * max(abs(first), abs(moved[i])) + rounding:
                self._leave(run[i : i + 1], Divergence.REUSED_NOISE)
        exact = fresh & (rows["scale"] == 0) & (np.abs(moved) > 0)
        self._leave(run[exact], Divergence.EXACT_VALUE)
        noisy = fresh & (rows["scale"] > 0)
        if "normal" in rows:
            bell = noisy & (rows["normal"] > 0)
            self._charge_normal(run[bell], value[bell], {name: column[bell] for name, column in rows.items()})
            noisy = noisy & ~bell
        if "freedom" in rows:
            self._charge_wishart(run, value, rows, noisy)
            noisy = noisy & ~(rows["freedom"] > 0)
        scale, output = rows["scale"][noisy], rows["output"][noisy]
        # |o - q'| - |o - q|, without subtracting outputs that dwarf the change.
        middle = 2 * output - value[noisy] - rows["value"][noisy]
        span = np.abs(moved[noisy])
        loss = np.sign(moved[noisy]) * np.clip(middle, -span, span) / scale
        # Of a sum of reports the one that differs decides; its noise may lie beyond the change.
        loss = np.where(rows["summed"][noisy] > 0, np.abs(moved[noisy]) / scale, loss)
        np.add.at(self.loss, run[noisy], loss)
        np.add.at(self.cost, run[noisy], np.abs(moved[noisy]) / scale)

    def _charge_normal(self, run: IntArray, value: FloatArray, rows: Mapping[str, FloatArray]) -> None:
        """Add the loss of forced releases with normal noise, ((o - q')^2 - (o - q)^2) / (2 sd^2)."""
        moved = (rows["value"] - value) / rows["scale"]
        middle = (2 * rows["output"] - value - rows["value"]) / (2 * rows["scale"])
        np.add.at(self.loss, run, moved * middle)
        np.add.at(self.square, run, moved**2)

    def _charge_wishart(
        self, run: IntArray, value: FloatArray, rows: Mapping[str, FloatArray], noisy: BoolArray
    ) -> None:
        """Add the loss of forced matrices with Wishart noise, each on a run of its own.

        A matrix whose entries have noise of different scales, or none, says nothing here: its law is unknown.
        """
        each = np.unique(run)
        run, noisy = run.reshape(len(each), -1), noisy.reshape(len(each), -1)
        columns = {name: column.reshape(run.shape) for name, column in rows.items()}
        scale = columns["scale"]
        known = noisy.all(axis=1) & (scale == scale[:, :1]).all(axis=1)
        if not known.any():
            return
        output, here, there = (
            part.reshape(run.shape)[known] for part in (columns["output"], columns["value"], value)
        )
        loss, change = likelihood(output, here, there, scale[known, 0], int(columns["freedom"].max()))
        self.loss[run[known, 0]] += loss
        self.matrices.append((run[known, 0], change, int(columns["freedom"].max())))

    def _shift(
        self,
        draw: Draw,
        hidden: Hidden,
        run: IntArray,
        rows: Mapping[str, FloatArray],
        out: FloatArray,
        at: _Where,
    ) -> None:
        """Answer with recorded noise, moved; what comes of it must be what came of it before."""
        shown = {}
        for name in rows:
            if isinstance(name, _Shown):
                shown[name.of] = np.full(out.shape, np.nan)
                shown[name.of][at] = rows[name]
        shifts = np.nan_to_num(np.broadcast_to(hidden.shift(shown), out.shape)[at])
        silent = (rows["scale"] == 0) & (shifts != 0)
        self._leave(run[silent], Divergence.NO_NOISE)
        noisy = rows["scale"] > 0
        for total in (self.cost, self.loss):
            np.add.at(total, run[noisy], np.abs(shifts[noisy]) / rows["scale"][noisy])
        out[at] = rows["answer"] + (draw.value[at] - rows["value"] + shifts)
        if hidden.outcome:
            differs = shown["output"][at] != hidden.outcome(out)["output"][at]
            self._leave(run[differs], Divergence.WRONG_SHIFT)

    def finish(self) -> None:
        """Compare the numbers of draws; call once, after the run."""
        for counted, entries in zip(self._counts, self._tape, strict=True):
            recorded = np.bincount(entries.address[:, 0], minlength=len(counted))
            short = np.flatnonzero(counted < recorded)
            self._leave(short, Divergence.RELEASED_FEWER)
