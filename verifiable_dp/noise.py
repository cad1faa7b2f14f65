"""Noise sources: the only door between data and the public.

A mechanism never draws noise and adds it by itself: it hands the exact value to a source, which answers
with the released one. One mechanism thus serves every use:

- `Seeded` simulates: noise is a pure function of (seed, path, run, slot), whatever the batch or worker;
- `Recorder` passes a run through and writes down what was released, at which scale;
- `Replayer` forces the same releases on other data and adds up the privacy loss (randomness alignment);
- `Secure` draws from OpenDP's samplers, for live use.

A *slot* numbers the draws of one run. Two draws of one run with the same slot are one draw: it is how a
reused noise value is represented, and found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from verifiable_dp import _philox
from verifiable_dp._validate import BoolArray, FloatArray, InputError, IntArray, integer

Shift = Callable[[Mapping[str, FloatArray]], FloatArray]


class Noise(Protocol):
    """What a mechanism asks of a source of noise. Arrays have a leading axis of n runs."""

    def laplace(
        self, value: FloatArray, scale: FloatArray, run: IntArray, slot: IntArray, where: BoolArray
    ) -> FloatArray:
        """Release `value` (n, m) with Laplace noise of `scale` (n, m); scale 0 releases it exactly.

        `run` (n,) and `slot` (n, m) address the draws. Where `where` (n, m) is False nothing is
        released and the answer is NaN.
        """
        ...

    def reports(
        self,
        value: FloatArray,
        scale: FloatArray,
        count: IntArray,
        run: IntArray,
        slot: IntArray,
        where: BoolArray,
    ) -> FloatArray:
        """Sum of `count` (n, m) reports, each with Laplace noise of its own; `value` is their exact sum.

        Neighbouring inputs differ in one report, so that the change of `value` is that of one report.
        """
        ...

    def hidden(
        self, scale: FloatArray, run: IntArray, slot: IntArray, where: BoolArray, shift: Shift
    ) -> FloatArray:
        """Draw Laplace noise (n,) that its mechanism keeps to itself.

        On replay the recorded draw moves by `shift(shown)`, a function of what `show` recorded for the
        same run and slot: the alignment that the mechanism's privacy proof declares.
        """
        ...

    def show(self, run: IntArray, slot: IntArray, where: BoolArray, **outputs: FloatArray) -> None:
        """Tell what came of hidden draws; the entry `output` is public and must be equal on replay."""
        ...


def key_of(seed: int, path: tuple[int, ...] = ()) -> Any:
    """Key, uint64 (2,), of the stream with this `seed` at this `path` (pair, world, shard, …)."""
    return np.random.SeedSequence(seed, spawn_key=path).generate_state(2, np.uint64)


@dataclass(frozen=True)
class Seeded:
    """Reproducible noise from a counter-based generator; the arithmetic is idealised floating point.

    Parameters
    ----------
    seed
        A whole number of at least 0.
    path
        Whole numbers that keep streams of one seed apart, such as (pair, world, shard).

    Raises
    ------
    InputError
        If `seed` is negative or not whole.
    """

    seed: int
    path: tuple[int, ...] = ()
    key: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        integer("seed", self.seed, least=0)
        object.__setattr__(self, "key", key_of(self.seed, self.path))

    def laplace(
        self, value: FloatArray, scale: FloatArray, run: IntArray, slot: IntArray, where: BoolArray
    ) -> FloatArray:
        """See `Noise.laplace`."""
        return np.asarray(value + _philox.fill_laplace(self.key, run, slot, scale, where))

    def reports(
        self,
        value: FloatArray,
        scale: FloatArray,
        count: IntArray,
        run: IntArray,
        slot: IntArray,
        where: BoolArray,
    ) -> FloatArray:
        """See `Noise.reports`; a sum of Laplace draws is the difference of two Gamma draws."""
        return np.asarray(value + _philox.fill_reports(self.key, run, slot, count, scale, where))

    def hidden(
        self, scale: FloatArray, run: IntArray, slot: IntArray, where: BoolArray, shift: Shift
    ) -> FloatArray:
        """See `Noise.hidden`; nothing is shifted."""
        noise = _philox.fill_laplace(self.key, run, slot[:, None], scale[:, None], where[:, None])
        return np.asarray(noise[:, 0])

    def show(self, run: IntArray, slot: IntArray, where: BoolArray, **outputs: FloatArray) -> None:
        """See `Noise.show`; nothing is kept."""


class Secure:
    """Noise from OpenDP's floating-point-safe Laplace sampler, for live sessions.

    Releases lie on OpenDP's grid; draws come from the operating system's generator and cannot be
    repeated, so `run` and `slot` are ignored.

    Raises
    ------
    InputError
        If OpenDP is not installed (extra ``opendp``).
    """

    def __init__(self) -> None:
        try:
            import opendp.prelude as dp
        except ImportError:
            raise InputError(
                "noise: secure sampling needs OpenDP (pip install 'verifiable-dp[opendp]'); "
                "give seed=… for a reproducible session instead"
            ) from None
        dp.enable_features("contrib")
        self._dp = dp
        self._space = (dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float))
        self._made: dict[float, Any] = {}

    def _add(self, value: float, scale: float) -> float:
        if scale == 0:
            return value
        if scale not in self._made:
            self._made[scale] = self._dp.m.make_laplace(*self._space, scale=scale)
        return float(self._made[scale](value))

    def laplace(
        self, value: FloatArray, scale: FloatArray, run: IntArray, slot: IntArray, where: BoolArray
    ) -> FloatArray:
        """See `Noise.laplace`."""
        out = np.full(value.shape, np.nan)
        for at in np.argwhere(where):
            index = tuple(at)
            out[index] = self._add(float(value[index]), float(scale[index]))
        return out

    def reports(
        self,
        value: FloatArray,
        scale: FloatArray,
        count: IntArray,
        run: IntArray,
        slot: IntArray,
        where: BoolArray,
    ) -> FloatArray:
        """See `Noise.reports`; every report is drawn by itself."""
        out = np.full(value.shape, np.nan)
        for at in np.argwhere(where):
            index = tuple(at)
            noise = sum(self._add(0.0, float(scale[index])) for _ in range(int(count[index])))
            out[index] = float(value[index]) + noise
        return out

    def hidden(
        self, scale: FloatArray, run: IntArray, slot: IntArray, where: BoolArray, shift: Shift
    ) -> FloatArray:
        """See `Noise.hidden`; nothing is shifted."""
        pairs = zip(scale, where, strict=True)
        return np.array([self._add(0.0, float(s)) if w else np.nan for s, w in pairs])

    def show(self, run: IntArray, slot: IntArray, where: BoolArray, **outputs: FloatArray) -> None:
        """See `Noise.show`; nothing is kept."""


def described(noise: Noise) -> dict[str, Any]:
    """What a saved session keeps of its source, as JSON values.

    Draws are addressed, so that a `Seeded` source is its seed and path; a `Secure` one has nothing to keep,
    and any other one (kind ``given``) has to be given again.
    """
    if type(noise) is Seeded:
        return {"kind": "seeded", "seed": int(noise.seed), "path": [int(part) for part in noise.path]}
    return {"kind": "secure" if type(noise) is Secure else "given"}


def source_of(stored: Mapping[str, Any], given: Noise | None) -> Noise:
    """The source of a restored session: inverse of `described`.

    Raises
    ------
    InputError
        If a source is given and not needed, or the other way round, or `stored` describes none.
    """
    kind = stored.get("kind")
    if (kind == "given") != (given is not None):
        raise InputError(
            f"noise: the saved session's source is {kind}; give noise=… if and only if it was given before"
        )
    if given is not None:
        return given
    if kind == "secure":
        return Secure()
    seed, path = stored.get("seed"), stored.get("path")
    whole = isinstance(path, list) and all(type(number) is int and number >= 0 for number in [seed, *path])
    if kind != "seeded" or not whole:
        raise InputError("noise: the saved session describes no source of noise")
    return Seeded(seed, tuple(path))  # type: ignore[arg-type]


class Around:
    """Base of a source around another one, `inner`: everything is passed on unless a subclass changes it."""

    inner: Noise

    def laplace(
        self, value: FloatArray, scale: FloatArray, run: IntArray, slot: IntArray, where: BoolArray
    ) -> FloatArray:
        """See `Noise.laplace`."""
        return self.inner.laplace(value, scale, run, slot, where)

    def reports(
        self,
        value: FloatArray,
        scale: FloatArray,
        count: IntArray,
        run: IntArray,
        slot: IntArray,
        where: BoolArray,
    ) -> FloatArray:
        """See `Noise.reports`."""
        return self.inner.reports(value, scale, count, run, slot, where)

    def hidden(
        self, scale: FloatArray, run: IntArray, slot: IntArray, where: BoolArray, shift: Shift
    ) -> FloatArray:
        """See `Noise.hidden`."""
        return self.inner.hidden(scale, run, slot, where, shift)

    def show(self, run: IntArray, slot: IntArray, where: BoolArray, **outputs: FloatArray) -> None:
        """See `Noise.show`."""
        self.inner.show(run, slot, where, **outputs)


@dataclass(frozen=True)
class Altered(Around):
    """Another source with its draws changed: how mutants of the noise are made.

    Parameters
    ----------
    inner
        The source that draws.
    factor
        Every noise value is multiplied by it; .5 halves the noise that an algorithm needs. May be an
        array (n, 1) where nothing is hidden.
    reslot
        Maps slots to slots before drawing: equal slots share one draw.
    """

    inner: Noise
    factor: float | FloatArray = 1.0
    reslot: Callable[[IntArray], IntArray] | None = None

    def _slot(self, slot: IntArray) -> IntArray:
        return slot if self.reslot is None else self.reslot(slot)

    def laplace(
        self, value: FloatArray, scale: FloatArray, run: IntArray, slot: IntArray, where: BoolArray
    ) -> FloatArray:
        """See `Noise.laplace`."""
        return self.inner.laplace(value, scale * self.factor, run, self._slot(slot), where)

    def reports(
        self,
        value: FloatArray,
        scale: FloatArray,
        count: IntArray,
        run: IntArray,
        slot: IntArray,
        where: BoolArray,
    ) -> FloatArray:
        """See `Noise.reports`."""
        return self.inner.reports(value, scale * self.factor, count, run, self._slot(slot), where)

    def hidden(
        self, scale: FloatArray, run: IntArray, slot: IntArray, where: BoolArray, shift: Shift
    ) -> FloatArray:
        """See `Noise.hidden`."""
        return self.inner.hidden(scale * self.factor, run, self._slot(slot), where, shift)

    def show(self, run: IntArray, slot: IntArray, where: BoolArray, **outputs: FloatArray) -> None:
        """See `Noise.show`."""
        self.inner.show(run, self._slot(slot), where, **outputs)


# ---------------------------------------------------------------- tape: record, then force


@dataclass(frozen=True)
class _Entries:
    """Draws of one kind, a row each, ordered by (run, slot, visit)."""

    address: IntArray  # (N, 3)
    columns: Mapping[str, FloatArray]  # each (N,)

    def find(self, address: IntArray) -> tuple[IntArray, BoolArray]:
        """Rows of `address` (n, 3), and whether each was found."""
        if not len(self.address):
            return np.zeros(len(address), np.int64), np.zeros(len(address), bool)
        mine, theirs = _as_keys(self.address), _as_keys(address)
        row = np.minimum(np.searchsorted(mine, theirs), len(mine) - 1)
        return row, np.asarray(mine[row] == theirs)


def _as_keys(address: IntArray) -> Any:
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

    def visit(self, run: IntArray, slot: IntArray) -> IntArray:
        """Addresses (n, 3) of the next visit of each (run, slot)."""
        visits = np.empty(len(run), np.int64)
        for i, pair in enumerate(zip(run.tolist(), slot.tolist(), strict=True)):
            visits[i] = self._visits.get(pair, 0)
            self._visits[pair] = int(visits[i]) + 1
        return np.column_stack([run, slot, visits]).astype(np.int64)

    def add(self, address: IntArray, **columns: FloatArray) -> None:
        """Append rows."""
        self._addresses.append(address)
        self._columns.append(columns)

    def entries(self) -> _Entries:
        """All rows, ordered."""
        if not self._addresses:
            return _Entries(np.zeros((0, 3), np.int64), {})
        address = np.concatenate(self._addresses)
        order = np.lexsort((address[:, 2], address[:, 1], address[:, 0]))
        names = self._columns[0]
        columns = {n: np.concatenate([c[n] for c in self._columns])[order] for n in names}
        return _Entries(address[order], columns)


@dataclass(frozen=True)
class Tape:
    """What a `Recorder` wrote: releases, hidden draws, and what was shown of the latter."""

    releases: _Entries
    hidden: _Entries
    shown: _Entries

    @property
    def n_releases(self) -> int:
        """Number of released values over all runs."""
        return len(self.releases.address)

    def rows(self) -> list[dict[str, float]]:
        """Released values as rows with run, slot, value, scale, output."""
        names = list(self.releases.columns)
        table = zip(self.releases.address.tolist(), *self.releases.columns.values(), strict=True)
        return [
            {"run": a[0], "slot": a[1], **{n: float(v) for n, v in zip(names, vs, strict=True)}}
            for a, *vs in table
        ]


def _address(log: _Log, run: IntArray, slot: IntArray, where: BoolArray) -> IntArray:
    rows, columns = np.nonzero(where)
    return log.visit(run[rows], slot[rows, columns])


class Recorder:
    """Passes every draw on to `inner` and writes it down; `tape()` gives the record."""

    def __init__(self, inner: Noise) -> None:
        self._inner = inner
        self._releases, self._hidden, self._shown = _Log(), _Log(), _Log()

    def laplace(
        self, value: FloatArray, scale: FloatArray, run: IntArray, slot: IntArray, where: BoolArray
    ) -> FloatArray:
        """See `Noise.laplace`."""
        out = self._inner.laplace(value, scale, run, slot, where)
        return self._note(out, value, scale, run, slot, where, summed=0.0)

    def reports(
        self,
        value: FloatArray,
        scale: FloatArray,
        count: IntArray,
        run: IntArray,
        slot: IntArray,
        where: BoolArray,
    ) -> FloatArray:
        """See `Noise.reports`."""
        out = self._inner.reports(value, scale, count, run, slot, where)
        return self._note(out, value, scale, run, slot, where, summed=1.0)

    def _note(
        self,
        out: FloatArray,
        value: FloatArray,
        scale: FloatArray,
        run: IntArray,
        slot: IntArray,
        where: BoolArray,
        summed: float,
    ) -> FloatArray:
        """Write down releases `out`; `summed` is 1 for sums of reports."""
        address = _address(self._releases, run, slot, where)
        self._releases.add(
            address,
            value=value[where],
            scale=scale[where],
            output=out[where],
            summed=np.full(int(where.sum()), summed),
        )
        return out

    def hidden(
        self, scale: FloatArray, run: IntArray, slot: IntArray, where: BoolArray, shift: Shift
    ) -> FloatArray:
        """See `Noise.hidden`."""
        out = self._inner.hidden(scale, run, slot, where, shift)
        address = self._hidden.visit(run[where], slot[where])
        self._hidden.add(address, scale=scale[where], noise=out[where])
        return out

    def show(self, run: IntArray, slot: IntArray, where: BoolArray, **outputs: FloatArray) -> None:
        """See `Noise.show`."""
        address = self._shown.visit(run[where], slot[where])
        self._shown.add(address, **{name: value[where] for name, value in outputs.items()})

    def tape(self) -> Tape:
        """What was recorded so far."""
        return Tape(self._releases.entries(), self._hidden.entries(), self._shown.entries())


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
    diverged : dict
        Why a run left the path, by run; the first cause is kept.
    """

    _TOLERANCE = 1e-9

    def __init__(self, tape: Tape, runs: int) -> None:
        self._tape = tape
        self._releases, self._hidden, self._shown = _Log(), _Log(), _Log()
        self._counts = np.zeros((3, runs), np.int64)
        self._moved: dict[tuple[int, int], float] = {}
        self.loss = np.zeros(runs)
        self.cost = np.zeros(runs)
        self.diverged: dict[int, str] = {}

    def _leave(self, runs: IntArray, why: str) -> None:
        for run in np.unique(runs).tolist():
            self.diverged.setdefault(run, why)
        self.cost[runs] = np.inf
        self.loss[runs] = np.inf

    def _charge(
        self, run: IntArray, address: IntArray, value: FloatArray, rows: Mapping[str, FloatArray]
    ) -> None:
        """Add the loss of forced releases; reused noise must move by the same amount everywhere."""
        moved = rows["value"] - value
        fresh = address[:, 2] == 0
        for (r, s, _), m in zip(address[fresh].tolist(), moved[fresh].tolist(), strict=True):
            self._moved[r, s] = m
        for i in np.flatnonzero(~fresh).tolist():
            first = self._moved[int(address[i, 0]), int(address[i, 1])]
            # Differences of large values carry their rounding errors.
            rounding = 1e-15 * (abs(rows["value"][i]) + abs(value[i]))
            if abs(first - moved[i]) > self._TOLERANCE * max(abs(first), abs(moved[i])) + rounding:
                self._leave(address[i : i + 1, 0], "one noise value was used for two releases")
        exact = fresh & (rows["scale"] == 0) & (np.abs(moved) > 0)
        self._leave(run[exact], "an exact value was released that differs between the inputs")
        noisy = fresh & (rows["scale"] > 0)
        scale, output = rows["scale"][noisy], rows["output"][noisy]
        # |o - q'| - |o - q|, without subtracting outputs that dwarf the change.
        middle = 2 * output - value[noisy] - rows["value"][noisy]
        span = np.abs(moved[noisy])
        loss = np.sign(moved[noisy]) * np.clip(middle, -span, span) / scale
        # Of a sum of reports the one that differs decides; its noise may lie beyond the change.
        loss = np.where(rows["summed"][noisy] > 0, np.abs(moved[noisy]) / scale, loss)
        np.add.at(self.loss, run[noisy], loss)
        np.add.at(self.cost, run[noisy], np.abs(moved[noisy]) / scale)

    def laplace(
        self, value: FloatArray, scale: FloatArray, run: IntArray, slot: IntArray, where: BoolArray
    ) -> FloatArray:
        """Answer with the recorded outputs; the noise is what it must have been."""
        address = _address(self._releases, run, slot, where)
        row, found = self._tape.releases.find(address)
        out = value.copy()
        out[~where] = np.nan
        owner = address[:, 0]
        self._leave(owner[~found], "a value was released that the other input does not release")
        rows = {name: column[row[found]] for name, column in self._tape.releases.columns.items()}
        if found.any():
            same = np.isclose(rows["scale"], scale[where][found], rtol=self._TOLERANCE, atol=0)
            self._leave(owner[found][~same], "the scale of the noise depends on the data")
            self._charge(owner[found], address[found], value[where][found], rows)
            forced = out[where]
            forced[found] = rows["output"]
            out[where] = forced
        np.add.at(self._counts[0], owner, 1)
        return out

    def reports(
        self,
        value: FloatArray,
        scale: FloatArray,
        count: IntArray,
        run: IntArray,
        slot: IntArray,
        where: BoolArray,
    ) -> FloatArray:
        """As `laplace`: the report that differs takes up the whole change."""
        return self.laplace(value, scale, run, slot, where)

    def hidden(
        self, scale: FloatArray, run: IntArray, slot: IntArray, where: BoolArray, shift: Shift
    ) -> FloatArray:
        """Answer with the recorded draws, moved by the mechanism's declared shift."""
        address = self._hidden.visit(run[where], slot[where])
        row, found = self._tape.hidden.find(address)
        owner = address[:, 0]
        self._leave(owner[~found], "hidden noise was drawn that the other input does not draw")
        out = np.full(len(run), np.nan)
        if found.any():
            rows = {name: column[row[found]] for name, column in self._tape.hidden.columns.items()}
            shown_row, was_shown = self._tape.shown.find(address[found])
            shown = {}
            for name, column in self._tape.shown.columns.items():
                every = np.full(len(run), np.nan)
                index = np.flatnonzero(where)[found][was_shown]
                every[index] = column[shown_row[was_shown]]
                shown[name] = every
            shifts = np.nan_to_num(np.broadcast_to(shift(shown), where.shape)[where][found])
            same = np.isclose(rows["scale"], scale[where][found], rtol=self._TOLERANCE, atol=0)
            self._leave(owner[found][~same], "the scale of the noise depends on the data")
            silent = (rows["scale"] == 0) & (shifts != 0)
            self._leave(owner[found][silent], "a comparison was made without noise")
            noisy = rows["scale"] > 0
            np.add.at(self.cost, owner[found][noisy], np.abs(shifts[noisy]) / rows["scale"][noisy])
            np.add.at(self.loss, owner[found][noisy], np.abs(shifts[noisy]) / rows["scale"][noisy])
            index = np.flatnonzero(where)[found]
            out[index] = rows["noise"] + shifts
        out[where & np.isnan(out)] = 0.0
        np.add.at(self._counts[1], owner, 1)
        return out

    def show(self, run: IntArray, slot: IntArray, where: BoolArray, **outputs: FloatArray) -> None:
        """Check that the public outcome is the recorded one."""
        address = self._shown.visit(run[where], slot[where])
        row, found = self._tape.shown.find(address)
        owner = address[:, 0]
        self._leave(owner[~found], "an outcome was shown that the other input does not show")
        if found.any():
            then = self._tape.shown.columns["output"][row[found]]
            differs = then != outputs["output"][where][found]
            self._leave(owner[found][differs], "the declared noise shift does not give the same output")
        np.add.at(self._counts[2], owner, 1)

    def finish(self) -> None:
        """Compare the numbers of draws; call once, after the run."""
        parts = (self._tape.releases, self._tape.hidden, self._tape.shown)
        for counted, entries in zip(self._counts, parts, strict=True):
            recorded = np.bincount(entries.address[:, 0], minlength=len(counted))
            short = np.flatnonzero(counted < recorded)
            self._leave(short, "the other input releases more values than this one")
