"""Noise sources: the only way for data to become public.

A mechanism never draws and adds noise itself: it passes a `Draw` with the exact value to a source, and the
source returns the released value. A source is a function of the draw; a source that modifies another source
wraps it. The same mechanism therefore works for every use:

- `Seeded` simulates: noise is a pure function of (seed, path, run, slot), whatever the batch or worker;
- `Recorder` records what a run releases and at which scale, and changes nothing;
- `Replayer` forces the same releases on other data and adds up the privacy loss (randomness alignment);
- `Secure` draws from OpenDP's samplers, for live use: the only place where an exact value meets secure noise.

A *slot* is the number of a draw within a run. Two draws in a run with the same slot are the same draw. This
is how we represent reused noise, and how we find it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from verifiable_dp.core import philox
from verifiable_dp.core.symmetric import normal_of, wishart
from verifiable_dp.core.validate import (
    BoolArray,
    FloatArray,
    InputError,
    IntArray,
    Json,
    JsonDict,
    WordArray,
    integer,
)

Shift = Callable[[Mapping[str, FloatArray]], float | FloatArray]
Outcome = Callable[[FloatArray], Mapping[str, FloatArray]]


@dataclass(frozen=True)
class Hidden:
    """The alignment that a mechanism declares for hidden noise.

    Attributes
    ----------
    shift
        On replay the recorded noise moves by `shift(shown)`, which broadcasts to (n, m): a function of what
        came of the draw when it was recorded.
    outcome
        `outcome(answer)` tells what comes of the draw's value plus noise, arrays (n, m) by name. The entry
        ``output`` is public and must be equal on replay. None if nothing comes of the draw by itself, as with
        a threshold.
    """

    shift: Shift
    outcome: Outcome | None = None


@dataclass(frozen=True)
class Draw:
    """A mechanism's request to a source of noise, for n runs at once.

    Attributes
    ----------
    value : (n, m) float
        Exact values that the noise is added to. What is compared with the answer must not be a function of
        the data: the source alone adds noise to exact values.
    scale : (n, m) float
        Scale of the Laplace noise, standard deviation of normal noise; at 0 the exact value is released.
    run, slot : (n,) and (n, m) int
        Address of each draw.
    where : (n, m) bool
        Where it is False nothing is drawn and the answer is NaN.
    count : (n, m) int or None
        Where `value` is a sum of reports, each with noise of its own, their number. Neighbouring inputs
        differ in one report, so that the change of `value` is that of one report.
    hidden
        What is declared of noise that stays with its mechanism; None if the answer is released.
    normal
        Whether the noise is normal and not Laplace.
    freedom
        Degrees of freedom k of the noise where each row is a symmetric matrix as `symmetric.outer` has it,
        which gets Wishart noise less its mean, scale (W - k I); 0 elsewhere.
    excess : float or (n, m) float
        By what share of the sensitivity rounding can move `value` further than exact arithmetic would.
        `Secure` enlarges the scale by it; sources that simulate count noise and values as real numbers.
    """

    value: FloatArray
    scale: FloatArray
    run: IntArray
    slot: IntArray
    where: BoolArray
    count: IntArray | None = None
    hidden: Hidden | None = None
    normal: bool = False
    freedom: int = 0
    excess: float | FloatArray = 0.0


# A source of noise answers a draw with value plus noise, (n, m).
Noise = Callable[[Draw], FloatArray]


def key_of(seed: int, path: tuple[int, ...] = ()) -> WordArray:
    """Key, uint64 (2,), of the stream with this `seed` at this `path` (pair, world, shard, …)."""
    return np.asarray(np.random.SeedSequence(seed, spawn_key=path).generate_state(2, np.uint64), np.uint64)


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
    key: WordArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        integer("seed", self.seed, least=0)
        object.__setattr__(self, "key", key_of(self.seed, self.path))

    def __call__(self, draw: Draw) -> FloatArray:
        """Value plus noise; a sum of Laplace draws is the difference of two Gamma draws."""
        key, run, slot, scale = self.key, draw.run, draw.slot, draw.scale
        if draw.normal or draw.freedom:
            standard = philox.fill_laplace(key, run, slot, np.ones_like(scale), draw.where)
            noise = scale * (wishart(standard, draw.freedom) if draw.freedom else normal_of(standard))
        elif draw.count is None:
            noise = philox.fill_laplace(key, run, slot, scale, draw.where)
        else:
            noise = philox.fill_reports(key, run, slot, draw.count, scale, draw.where)
        return np.asarray(draw.value + noise)


_SPARE = 2.0**-40  # share by which scales are enlarged: the few roundings of a computed scale are below it
_DIGITS = 24  # binary digits of the scale above the grid of hidden noise
_FAR = 2.0**27  # scales at which values that are compared are cut off; floats are exact up to twice that


def grid(scale: float) -> int:
    """The k of the grid 2^k for hidden noise of this scale: `_DIGITS` bits below the scale's leading bit."""
    return max(math.frexp(scale)[1] - 1 - _DIGITS, -1074)


def rounding(*scales: float) -> float:
    """How far rounding moves a value with hidden noise that `Secure` compares with another.

    Three steps of the coarser grid: one that the value moves when it is put on its grid, one for the rounding
    of the subtraction by which a caller gets it, and one because the noise that makes up for a change of the
    value is a whole number of steps.
    """
    return 3 * max(2.0 ** grid(scale) for scale in scales)


class Secure:
    """Noise from OpenDP's floating-point-safe Laplace sampler, for live sessions.

    OpenDP gets the exact value with the scale. It adds discrete Laplace noise in exact arithmetic, on the
    grid of all floats (multiples of 2^-1074), and rounds once to the nearest float: every output can come of
    every value. The other draws of a sum of reports do not depend on the data and are added to that release,
    which is post-processing. Hidden noise lies on a coarser grid (see `grid`), where floats hold every answer
    exactly, so that comparing two answers is exact, but for noise beyond 2^27 scales.

    OpenDP takes the scale for what it is, a binary fraction. A computed scale was rounded to nearest, so it
    is enlarged by a share of 2^-40, besides the `excess` of the draw, and rounded up.

    Draws come from the operating system's generator and cannot be repeated, so `run` and `slot` are ignored.

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
        self._made: dict[tuple[float, int | None], Callable[[float], float]] = {}

    def _add(self, value: float, scale: float, k: int | None = None) -> float:
        if scale == 0:
            return value
        if (scale, k) not in self._made:
            self._made[scale, k] = self._dp.m.make_laplace(*self._space, scale=scale, k=k)
        return float(self._made[scale, k](value))

    def __call__(self, draw: Draw) -> FloatArray:
        """Value plus noise; each report is drawn by itself.

        Raises
        ------
        InputError
            If noise other than Laplace is asked for, a value or scale is not finite, or a scale is negative.
        """
        if draw.normal or draw.freedom:
            raise InputError(
                "noise: secure sampling supports only Laplace noise; give seed=… for other noise"
            )
        where, scales = draw.where, enlarged(draw)
        if not (np.isfinite(draw.value[where]).all() and np.isfinite(scales[where]).all()):
            raise InputError("noise: a value or a scale is not finite, so no noise can hide it")
        if (scales[where] < 0).any():
            raise InputError(f"noise: scale must be at least 0, got {float(scales[where].min()):g}")
        out = np.full(draw.value.shape, np.nan)
        for index in map(tuple, np.argwhere(where)):
            value, scale = float(draw.value[index]), float(scales[index])
            if draw.hidden is not None and scale:
                k, far = grid(float(draw.scale[index])), _FAR * scale
                out[index] = self._add(min(max(value, -far), far), scale, k)
                continue
            others = 0 if draw.count is None else max(int(draw.count[index]) - 1, 0)
            noised = self._add(value, scale)
            out[index] = math.fsum([noised, *(self._add(0.0, scale) for _ in range(others))])
        return out


def enlarged(draw: Draw) -> FloatArray:
    """Scales (n, m) that `Secure` passes to OpenDP, with the draw's excess, rounded up; 0 stays 0."""
    more: FloatArray = np.asarray(draw.scale * (1 + draw.excess) * (1 + _SPARE))
    return np.where(draw.scale == 0, 0.0, np.nextafter(more, np.inf))


def described(noise: Noise) -> JsonDict:
    """What a saved session stores about its noise source, as JSON values.

    Draws are addressed, so that a `Seeded` source is its seed and path; a `Secure` one has nothing to keep,
    and any other one (kind ``given``) has to be given again.
    """
    if type(noise) is Seeded:
        return {"kind": "seeded", "seed": int(noise.seed), "path": [int(part) for part in noise.path]}
    return {"kind": "secure" if type(noise) is Secure else "given"}


def source_of(stored: Json, given: Noise | None) -> Noise:
    """The source of a restored session: inverse of `described`.

    Raises
    ------
    InputError
        If a source is given and not needed, or the other way round, or `stored` describes none.
    """
    kind = stored.get("kind")
    if (kind == "given") != (given is not None):
        raise InputError(
            f"noise: the saved session's source is {kind}; give noise=… if and only if you gave it when the "
            "session was made"
        )
    if given is not None:
        return given
    if kind == "secure":
        return Secure()
    seed, path = stored.get("seed"), stored.get("path")
    whole = isinstance(path, list) and all(type(number) is int and number >= 0 for number in [seed, *path])
    if kind != "seeded" or not whole:
        raise InputError("noise: the saved session does not describe its source of noise")
    return Seeded(seed, tuple(path))  # type: ignore[arg-type]


def altered(
    inner: Noise,
    factor: float | FloatArray = 1.0,
    reslot: Callable[[IntArray], IntArray] | None = None,
) -> Noise:
    """Return a source that changes the draws of another source, for broken variants of the noise.

    Parameters
    ----------
    inner
        The source that draws.
    factor
        Every noise value is multiplied by it, a number or an array that broadcasts to (n, m); .5 halves the
        noise that an algorithm needs.
    reslot
        Maps slots to slots before drawing: equal slots share one draw.
    """

    def source(draw: Draw) -> FloatArray:
        slot = draw.slot if reslot is None else reslot(draw.slot)
        return inner(replace(draw, scale=draw.scale * factor, slot=slot))

    return source


# ---------------------------------------------------------------- tape: record, then force
