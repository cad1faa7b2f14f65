"""An algorithm and its neighbour in one run: a twin shows what the other would have drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from verifiable_dp.core.algorithm import Algorithm, Data, Memory, Query, State
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.symmetric import likelihood
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray


def alike(there: FloatArray | IntArray, here: FloatArray | IntArray, missing: float) -> BoolArray:
    """Whether rows of two arrays (n, s) are equal, the shorter one being filled with `missing`."""
    width = max(there.shape[1], here.shape[1])

    def wide(columns: FloatArray | IntArray) -> FloatArray | IntArray:
        out: FloatArray | IntArray = np.full((len(columns), width), missing, columns.dtype)
        out[:, : columns.shape[1]] = columns
        return out

    left, right = wide(there), wide(here)
    if left.dtype.kind == "i":
        return np.asarray((left == right).all(axis=1), dtype=bool)
    if np.array_equal(left, right, equal_nan=True):  # as nearly always
        return np.ones(len(left), bool)
    # Forced releases are equal to the last bit, or up to rounding where they are rescaled.
    return np.asarray(np.isclose(left, right, rtol=1e-12, atol=0, equal_nan=True).all(axis=1))


class _Echo:
    """Answers the first pass from `inner` and the second with the same outputs, adding up the loss."""

    def __init__(self, inner: Noise, runs: int) -> None:
        self._inner = inner
        self._calls: list[tuple[Draw, FloatArray, FloatArray | None]] = []
        self._next: int | None = None
        self.loss = np.zeros(runs)
        self.known = True

    def rewind(self) -> None:
        self._next = 0

    def __call__(self, draw: Draw) -> FloatArray:
        if draw.hidden is not None:
            self.known = False
            return self._inner(draw)
        if self._next is None:
            out, own = self._inner(draw), None
            if draw.count is not None:
                # The noise of the one report that may differ; what the others add tells nothing.
                one = replace(draw, value=np.zeros_like(draw.value), slot=-1 - draw.slot, count=None)
                own = self._inner(one)
            self._calls.append((draw, out, own))
            return out
        if self._next >= len(self._calls):
            self.loss[:] = np.inf
            return draw.value
        there, out, own = self._calls[self._next]
        self._next += 1
        with np.errstate(divide="ignore", invalid="ignore"):
            if draw.freedom:
                terms = np.zeros_like(out)
                even = (draw.scale[:, 0] > 0) & (draw.scale == draw.scale[:, :1]).all(axis=1)
                even &= (there.value != draw.value).any(axis=1)  # equal ones, which most are, say nothing
                exact = there.value[even], draw.value[even]
                terms[even, 0] = likelihood(out[even], *exact, draw.scale[even, 0], draw.freedom)[0]
            elif draw.normal:
                terms = (there.value - draw.value) * (2 * out - draw.value - there.value)
                terms = terms / (2 * draw.scale**2)
            elif own is None:
                terms = (np.abs(out - draw.value) - np.abs(out - there.value)) / draw.scale
            else:
                terms = (np.abs(own + there.value - draw.value) - np.abs(own)) / draw.scale
        terms = np.where(draw.scale > 0, terms, np.where(draw.value == there.value, 0.0, np.inf))
        odd = (there.scale != draw.scale) & draw.where
        terms = np.where(odd | (there.where != draw.where), np.inf, np.where(draw.where, terms, 0.0))
        self.loss += terms.sum(axis=1)
        return out


@dataclass(frozen=True)
class _TwinMemory:
    here: Memory
    there: Memory

    def take(self, index: IntArray) -> _TwinMemory:
        return _TwinMemory(self.here.take(index), self.there.take(index))


class Twin(Algorithm):
    """Plays an algorithm and, beside it, what each release would have weighed on the other input.

    After `play`, `loss` (n,) is the log-likelihood ratio of each transcript, its own input over the
    other, or `known` is False because noise was hidden.
    """

    def __init__(self, inner: Algorithm, other: Data, runs: int) -> None:
        self.inner, self.other = inner, other
        self.n_arms, self.horizon = inner.n_arms, inner.horizon
        self.loss = np.zeros(runs)
        self.known = True

    def start(self, run: IntArray) -> State:
        """As the algorithm underneath; runs are numbered from `run[0]`."""
        self._first = int(run[0])
        return self.inner.start(run)

    def private(self, run: IntArray) -> Memory:
        """Both memories."""
        return _TwinMemory(self.inner.private(run), self.inner.private(run))

    def query(self, state: State) -> Query:
        """As the algorithm underneath."""
        return self.inner.query(state)

    def release(
        self, state: State, memory: Memory, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Release here, weigh there."""
        assert isinstance(memory, _TwinMemory)
        echo = _Echo(noise, len(state.run))
        here, released = self.inner.release(state, memory.here, query, answer, echo)
        if not echo.known:
            self.known = False
            return _TwinMemory(here, memory.there), released
        echo.rewind()
        other = self.other.answer(query, state.run)
        there, shown = self.inner.release(state, memory.there, query, other, echo)
        leaks = ~alike(released, shown, np.nan)
        self.loss[state.run - self._first] += np.where(leaks, np.inf, echo.loss)
        return _TwinMemory(here, there), released

    def decide(self, state: State, query: Query, released: FloatArray) -> State:
        """As the algorithm underneath."""
        return self.inner.decide(state, query, released)

    def output(self, state: State) -> FloatArray:
        """As the algorithm underneath."""
        return self.inner.output(state)
