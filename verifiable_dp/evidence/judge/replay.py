"""Replays of the plain program: data and noise on one side, a neighbour and shifted noise on the other.

A bound says: whatever a run shows on data S with noise z, it shows on a neighbour S' with noise z + h, and h
costs no more than the bound. Here that is tried. The program runs unmodified, with nothing replaced but its
generators, once on each side, and three things are required:

A. both runs return the same, and what the search says that they return;
B. both ask for the same draws in the same order: the same methods, sizes and scales;
C. what is shifted costs no more than the bound, by the laws below.

Who proposes S, S' and the shifts is not trusted: a proposal that is wrong fails A or costs too much. That all
of them pass proves nothing of pairs that were not tried. It says that the numbers that stood for data and
noise while the bound was looked for have done what NumPy and Python do.
"""

from __future__ import annotations

import contextvars
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import numpy as np

from verifiable_dp.core.validate import FloatArray, Foreign
from verifiable_dp.evidence.judge.laws import METHODS, parameter_of, price

CLOSE = 1e-8  # relative, of floats that are shown: sums are added up in another order
CHANGES_DATA = (
    "the code changes its input data, so another call with the same data releases something different"
)
GIVEN = 0  # the stream of the generator that the program is given
Key = tuple[int, tuple[int, ...], int]  # stream, where it stands after a call, which draw of the call
Maker = Callable[[np.random.BitGenerator, int], np.random.Generator]  # of bits and the number of their stream
_LARGE = 700.0  # beyond, exp overflows


@dataclass(frozen=True)
class Move:
    """What becomes of one draw.

    Parameters
    ----------
    shift
        How far the draw moves; for a uniform number, how far the noise does, in units of its scale.
    instead
        For a uniform number: the one that takes its place; None if the draw itself is the noise.
    law, step
        For a uniform number: of what the program makes of it, at scale 1, and what a step of that costs if it
        is geometric. This is taken from the proposal; laws of NumPy's methods are not.
    push
        How far it moves on both sides, which costs nothing: any noise may come out.
    """

    shift: float
    instead: float | None = None
    law: str = ""
    step: float = 0.0
    push: float = 0.0


@dataclass(frozen=True)
class Sides:
    """One proposal.

    Parameters
    ----------
    left, right
        Neighbouring data.
    seed
        Of the noise.
    moves
        Draws that move on the right.
    pushed
        Draws that take another value on the left; on the right too, if they do not move.
    around
        Makes the surroundings of a plain run, in which other sources of randomness are generators made so.
    shown
        What the search says that the left side returns.
    chance
        That what changes counts at all, where nothing else shows whether it does.
    """

    left: FloatArray
    right: FloatArray
    seed: int
    moves: Mapping[Key, Move]
    around: Callable[[Maker], AbstractContextManager[object]]
    shown: Foreign
    chance: float = 1.0
    pushed: Mapping[Key, Move] = field(default_factory=dict)

    def cost(self, prices: Sequence[tuple[float, float]]) -> tuple[float, float]:
        """What shifts with these prices cost together.

        What counts with a chance p only and costs c if it does costs log(1 + p (e^c - 1)) (Balle, Barthe &
        Gaboardi, Privacy Amplification by Subsampling, NeurIPS 2018); of normal noise nothing is taken off.
        """
        loss, squared = math.fsum(one for one, _ in prices), math.fsum(two for _, two in prices)
        if self.chance < 1 and not squared and loss < _LARGE:
            loss = math.log1p(self.chance * math.expm1(loss))
        return loss, squared


@dataclass
class DrawLog:
    """What a run asked its generators for: stream, method, number, scales; and prices of what moved."""

    asked: list[tuple[int, str, int, Foreign]] = field(default_factory=list)
    prices: list[tuple[float, float]] = field(default_factory=list)

    def like(self, other: DrawLog) -> bool:
        """Whether another run asked for the same."""
        if len(self.asked) != len(other.asked):
            return False
        return all(
            one[:3] == two[:3] and alike(one[3], two[3], 0.0)
            for one, two in zip(self.asked, other.asked, strict=True)
        )


def position(bits: Foreign) -> tuple[int, ...]:
    """Where a stream stands: whatever was drawn and put back in between, the same draw comes out there."""
    state = bits.state
    inner = state["state"]
    places = inner["counter"].tolist() if "counter" in inner else [inner.get("state", inner.get("pos"))]
    return (*map(int, places), int(state.get("buffer_pos", 0)))


class MovedGenerator(np.random.Generator):
    """A generator of NumPy's with the same stream of numbers, of which some are moved."""

    stream: int
    moves: Mapping[Key, Move]
    log: DrawLog

    @classmethod
    def of(
        cls, bits: np.random.BitGenerator, stream: int, moves: Mapping[Key, Move], log: DrawLog
    ) -> MovedGenerator:
        """Over these bits."""
        made = cls(bits)
        made.stream, made.moves, made.log = stream, moves, log
        return made

    def _moved(self, method: str, drawn: Foreign, scale: Foreign, shape: Foreign = 0.0) -> Foreign:
        """What was drawn, with its moves; `shape` is a chance, or degrees of freedom."""
        size = int(np.size(drawn))
        self.log.asked.append((self.stream, method, size, np.append(scale, shape)))
        if not self.moves:
            return drawn
        after = position(self.bit_generator)
        keys = ((i, (self.stream, after, i)) for i in range(size))
        hits = [(i, self.moves[key]) for i, key in keys if key in self.moves]
        if not hits:
            return drawn
        flat = np.array(drawn, dtype=np.asarray(drawn).dtype).ravel()
        scales, shapes = (np.broadcast_to(v, np.shape(drawn)).ravel() for v in (scale, shape))
        for i, move in hits:
            if method == "random":
                flat[i] = math.nan if move.instead is None else move.instead
                self.log.prices.append(price(move.law, move.shift, move.step))
            else:
                flat[i] += move.push + move.shift
                by = move.shift / scales[i]
                self.log.prices.append(price(METHODS.get(method, ""), by, parameter_of(method, shapes[i])))
        return flat.reshape(drawn.shape) if isinstance(drawn, np.ndarray) else type(drawn)(flat[0])

    def spawn(self, n_children: int) -> list[np.random.Generator]:
        """As numpy's; nothing of these moves."""
        return [np.random.Generator(bits) for bits in self.bit_generator.spawn(n_children)]

    def laplace(self, loc: Foreign = 0.0, scale: Foreign = 1.0, size: Foreign = None) -> Foreign:
        """As numpy's."""
        return self._moved("laplace", super().laplace(loc, scale, size), scale)

    def normal(self, loc: Foreign = 0.0, scale: Foreign = 1.0, size: Foreign = None) -> Foreign:
        """As numpy's."""
        return self._moved("normal", super().normal(loc, scale, size), scale)

    def gumbel(self, loc: Foreign = 0.0, scale: Foreign = 1.0, size: Foreign = None) -> Foreign:
        """As numpy's."""
        return self._moved("gumbel", super().gumbel(loc, scale, size), scale)

    def logistic(self, loc: Foreign = 0.0, scale: Foreign = 1.0, size: Foreign = None) -> Foreign:
        """As numpy's."""
        return self._moved("logistic", super().logistic(loc, scale, size), scale)

    def exponential(self, scale: Foreign = 1.0, size: Foreign = None) -> Foreign:
        """As numpy's."""
        return self._moved("exponential", super().exponential(scale, size), scale)

    def standard_normal(self, size: Foreign = None, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As numpy's."""
        return self._moved("standard_normal", super().standard_normal(size, *args, **kwargs), 1.0)

    def standard_exponential(self, size: Foreign = None, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As numpy's."""
        return self._moved("standard_exponential", super().standard_exponential(size, *args, **kwargs), 1.0)

    def standard_cauchy(self, size: Foreign = None) -> Foreign:
        """As numpy's."""
        return self._moved("standard_cauchy", super().standard_cauchy(size), 1.0)

    def standard_t(self, df: Foreign, size: Foreign = None) -> Foreign:
        """As numpy's."""
        return self._moved("standard_t", super().standard_t(df, size), 1.0, df)

    def geometric(self, p: Foreign, size: Foreign = None) -> Foreign:
        """As numpy's; the scale of what moves by whole numbers is 1."""
        return self._moved("geometric", super().geometric(p, size), 1.0, p)

    def gamma(self, shape: Foreign, scale: Foreign = 1.0, size: Foreign = None) -> Foreign:
        """As numpy's."""
        return self._moved("gamma", super().gamma(shape, scale, size), scale)

    def standard_gamma(
        self, shape: Foreign, size: Foreign = None, *args: Foreign, **kwargs: Foreign
    ) -> Foreign:
        """As numpy's."""
        return self._moved("standard_gamma", super().standard_gamma(shape, size, *args, **kwargs), 1.0)

    def negative_binomial(self, n: Foreign, p: Foreign, size: Foreign = None) -> Foreign:
        """As numpy's."""
        return self._moved("negative_binomial", super().negative_binomial(n, p, size), 1.0)

    def random(self, size: Foreign = None, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As numpy's."""
        return self._moved("random", super().random(size, *args, **kwargs), 1.0)

    def uniform(self, low: Foreign = 0.0, high: Foreign = 1.0, size: Foreign = None) -> Foreign:
        """As numpy's, which computes low + (high - low) u."""
        if np.ndim(low) or np.ndim(high):
            return super().uniform(low, high, size)
        return low + (high - low) * self.random(size)


@dataclass(frozen=True)
class ReplayResult:
    """What came of a proposal.

    Attributes
    ----------
    wrong
        What does not hold; empty if all does.
    loss, squared
        What the shifts cost.
    tried
        Whether the program came to all draws that move.
    """

    wrong: str
    loss: float = 0.0
    squared: float = 0.0
    tried: bool = True


def replayed(
    play: Callable[[FloatArray, np.random.Generator], Foreign],
    sides: Sides,
    within: Callable[[float, float], bool],
) -> ReplayResult:
    """Run both sides of a proposal, the left one in a new thread, which has no context of this one.

    Parameters
    ----------
    play
        The plain program: what it is seen to return, as arrays.
    sides
        The proposal.
    within
        Whether a loss and a squared shift of normal noise are within the bound.
    """
    shown, logs, changes = list[Foreign](), list[DrawLog](), False
    for data, moves in ((sides.left, sides.pushed), (sides.right, {**sides.pushed, **sides.moves})):
        log = DrawLog()

        def generator(
            bits: np.random.BitGenerator, stream: int, moves: Mapping[Key, Move] = moves, log: DrawLog = log
        ) -> np.random.Generator:
            return MovedGenerator.of(bits, stream, moves, log)

        with sides.around(generator):
            given = data.copy()
            run = functools.partial(play, given, generator(np.random.Philox(sides.seed), GIVEN))
            shown.append(run() if logs else _elsewhere(run))
            changes = changes or given.tobytes() != data.tobytes()
        logs.append(log)
    before, after = logs
    if changes:
        return ReplayResult(CHANGES_DATA)
    loss, squared = sides.cost(after.prices)
    if len(before.prices) < len(sides.pushed) or len(after.prices) < len({**sides.pushed, **sides.moves}):
        return ReplayResult("", loss, squared, tried=False)
    if not alike(shown[0], sides.shown):
        return ReplayResult("a run returns a different result from the traced run", loss, squared)
    if not before.like(after):
        return ReplayResult("a run on a neighbouring input requests different draws", loss, squared)
    if not alike(*shown):
        return ReplayResult(
            "a run on a neighbouring input returns a different value, although its noise was shifted to hide "
            "the change",
            loss,
            squared,
        )
    if not within(loss, squared):
        return ReplayResult("the noise shift that hides the change costs more than the bound", loss, squared)
    return ReplayResult("", loss, squared)


def _elsewhere(run: Callable[[], Foreign]) -> Foreign:
    """What a run gives in a new thread, where what a thread or a context keeps is not set."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(contextvars.Context().run, run).result()


def alike(left: Foreign, right: Foreign, least: float = CLOSE) -> bool:
    """Whether two outputs are one, up to rounding where they are floats."""
    one, two = np.asarray(left), np.asarray(right)
    if one.shape != two.shape:
        return False
    if one.dtype.kind in "fc" or two.dtype.kind in "fc":
        return bool(np.allclose(one, two, rtol=CLOSE, atol=least, equal_nan=True))
    return bool(np.array_equal(one, two))
