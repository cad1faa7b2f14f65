"""Mutation operators on the noise: its scale, its law, and what shares it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from verifiable_dp.core.algorithm import Memory, Query, State
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.validate import FloatArray, IntArray
from verifiable_dp.registry.wrapped import AlteredNoise, Wrapped
from verifiable_dp.selfcheck.operator_forms import (
    Break,
    Operator,
    Traits,
    always,
    asks_sums,
    draws_for_releases,
    draws_noise,
    not_known,
    traits,
)

_FAR = 50  # bits: slots of re-drawn noise lie beyond those of any mechanism
_LAST = 3  # of four slots, the one that "skipped" leaves without noise


@dataclass(frozen=True)
class ChangedNoise(Wrapped):
    """An algorithm whose source of noise is changed on the way.

    Parameters
    ----------
    inner
        The algorithm.
    change
        `change(noise, state)` gives the source that its release gets.
    """

    change: Callable[[Noise, State], Noise]

    def release(
        self, state: State, memory: Memory, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath, with the changed noise."""
        return super().release(state, memory, query, answer, self.change(noise, state))


def _noise(change: Callable[[Noise, State], Noise]) -> Break:
    return lambda algorithm: ChangedNoise(algorithm, change)


def _asked(change: Callable[[Draw, State], Draw], *, hidden: bool = False) -> Break:
    """`change(draw, state)` of what is asked of the source; of noise that stays hidden only if `hidden`."""

    def changed(noise: Noise, state: State) -> Noise:
        return lambda draw: noise(change(draw, state) if hidden or draw.hidden is None else draw)

    return _noise(changed)


def _scaled(factor: Callable[[Draw, State], float | FloatArray], *, hidden: bool = False) -> Break:
    """Scales times `factor(draw, state)`, which broadcasts to (n, m)."""
    return _asked(lambda draw, state: replace(draw, scale=draw.scale * factor(draw, state)), hidden=hidden)


def _slots(reslot: Callable[[IntArray], IntArray]) -> Break:
    """Slots of visible draws (n, m) mapped to slots; equal slots share one draw."""
    return _asked(lambda draw, state: replace(draw, slot=reslot(draw.slot)))


def _not_largest(draw: Draw, state: State) -> FloatArray:
    """0 for the largest of the values that are released together, 1 for the others."""
    best = np.where(draw.where, draw.value, -np.inf).argmax(axis=1)
    return np.where(np.arange(draw.value.shape[1]) == best[:, None], 0.0, 1.0)


def averaged(draws: int, far: int = _FAR) -> Break:
    """The mean of `draws` fresh releases of each value, each with the noise of one."""

    def changed(noise: Noise, state: State) -> Noise:
        def source(draw: Draw) -> FloatArray:
            if draw.hidden is not None:
                return noise(draw)
            copies = [noise(replace(draw, slot=draw.slot + (number << far))) for number in range(draws)]
            return np.asarray(np.mean(copies, axis=0))

        return source

    return _noise(changed)


Reshape = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def _law(reshape: Reshape) -> Break:
    """What comes of Laplace noise is changed with the exact value at hand: `reshape(value, noise, scale)`.

    The law of the release is then another one; used for faults that make the loss infinite.
    """

    def changed(noise: Noise, state: State) -> Noise:
        def source(draw: Draw) -> FloatArray:
            out = noise(draw)
            if draw.hidden is not None or draw.count is not None:
                return out
            return np.where(draw.where, reshape(draw.value, out - draw.value, draw.scale), out)

        return source

    return _noise(changed)


def _one_sided(value: FloatArray, noise: FloatArray, scale: FloatArray) -> FloatArray:
    return np.asarray(value + np.abs(noise))


def _uniform(value: FloatArray, noise: FloatArray, scale: FloatArray) -> FloatArray:
    """Noise of the same variance, uniform on [-sqrt 6 b, sqrt 6 b]."""
    share = -np.expm1(-np.abs(noise) / np.where(scale > 0, scale, 1.0))
    return np.asarray(value + np.sign(noise) * share * np.sqrt(6) * scale)


def _normal(value: FloatArray, noise: FloatArray, scale: FloatArray) -> FloatArray:
    """Noise of the same variance, normal."""
    tail = 0.5 * np.exp(-np.abs(noise) / np.where(scale > 0, scale, 1.0))
    return np.asarray(value - np.sign(noise) * special.ndtri(tail) * np.sqrt(2) * scale)


def _single(value: FloatArray, noise: FloatArray, scale: FloatArray) -> FloatArray:
    """The sum in single precision, whose last bits tell the value."""
    return (value.astype(np.float32) + noise.astype(np.float32)).astype(np.float64)


def _coarse(value: FloatArray, noise: FloatArray, scale: FloatArray) -> FloatArray:
    grid = np.where(scale > 0, scale, 1.0) / 3
    return np.asarray(value + np.round(noise / grid) * grid)


def _signed(value: FloatArray, noise: FloatArray, scale: FloatArray) -> FloatArray:
    return np.where(value > 0, 1.0, -1.0) * np.abs(value + noise)


def _silent_zero(value: FloatArray, noise: FloatArray, scale: FloatArray) -> FloatArray:
    return np.where(value == 0, 0.0, value + noise)


def _clipped(limit: float) -> Reshape:
    def reshape(value: FloatArray, noise: FloatArray, scale: FloatArray) -> FloatArray:
        return np.asarray(value + np.clip(noise, -limit * scale, limit * scale))

    return reshape


def _times(factor: float) -> Operator:
    return Operator(
        f"scale x{factor:g}",
        f"every noise value is {factor:g} times as large as the proof needs",
        "scale",
        lambda algorithm: AlteredNoise(algorithm, factor),
        draws_noise,
        always(1 / factor),
    )


def _redraw(draws: int) -> Operator:
    # The mean of m draws has tails with the slope m / b, up to a power of the distance.
    return Operator(
        f"re-drawn x{draws}",
        f"{draws} noisy copies of each value are averaged, although each copy uses the budget of one release",
        "sharing",
        averaged(draws),
        asks_sums,
        always(float(draws)),
    )


def _unsplit(share: Callable[[int], float]) -> Break:
    """Noise multiplied by `share(number of releases that a reward enters)`."""
    return lambda algorithm: AlteredNoise(algorithm, share(traits(algorithm).entries))


def _split(found: Traits) -> bool:
    return found.visible and found.entries > 1


def scale_operators() -> list[Operator]:
    """Less noise, noise of another split, and none at all."""
    inf = always(np.inf)
    return [
        *(_times(factor) for factor in (0.95, 0.9, 0.8, 0.75, 0.5, 0.25)),
        Operator(
            "no noise",
            "exact values are released and compared",
            "scale",
            lambda algorithm: AlteredNoise(algorithm, 0.0),
            draws_noise,
            inf,
        ),
        Operator(
            "budget not split",
            "each release gets the whole budget, although a reward enters several releases",
            "scale",
            _unsplit(lambda entries: 1 / entries),
            _split,
            lambda found: float(found.entries),
        ),
        Operator(
            "off by one depth",
            "the budget is split among one release too few",
            "scale",
            _unsplit(lambda entries: (entries - 1) / entries),
            _split,
            lambda found: found.entries / (found.entries - 1),
        ),
        Operator(
            "first block bare",
            "the first block is released without noise",
            "scale",
            _scaled(lambda draw, state: (state.t > 0)[:, None].astype(np.float64)),
            draws_noise,
            lambda found: np.inf if found.visible or found.shuffled else None,
        ),
        Operator(
            "fading noise",
            "the noise of a block that starts at round t is divided by 1 + log2(1 + t)",
            "scale",
            _scaled(lambda draw, state: 1 / (1 + np.log2(1 + state.t))[:, None], hidden=True),
            lambda found: draws_noise(found) and found.blocks > 1,
            not_known,
        ),
        Operator(
            "skipped draws",
            "one in four draws is left out",
            "scale",
            _scaled(lambda draw, state: np.where(draw.slot % 4 == _LAST, 0.0, 1.0)),
            lambda found: found.width * found.blocks > 3 and (found.laplace or found.reports),
            not_known,
        ),
        Operator(
            "largest value bare",
            "the largest of the values that are released together gets no noise",
            "scale",
            _scaled(_not_largest),
            lambda found: asks_sums(found) and found.width > 1,
            inf,
        ),
        Operator(
            "scale follows the data",
            "the scale of the noise grows with the exact value",
            "scale",
            _scaled(lambda draw, state: 1 + 0.1 * np.abs(draw.value)),
            lambda found: asks_sums(found) and found.visible,
            inf,
        ),
        *_hidden_operators(),
    ]


def _hidden_operators() -> list[Operator]:
    """Of noise that nobody sees: that of comparisons."""
    changes: list[tuple[str, str, Callable[[Draw, State], float]]] = [
        (
            "hidden noise x0.5",
            "the noise in comparisons is half as large as the proof needs",
            lambda draw, state: 0.5 if draw.hidden else 1.0,
        ),
        (
            "threshold noise omitted",
            "the threshold of the comparisons gets no noise",
            lambda draw, state: 0.0 if _of_threshold(draw) else 1.0,
        ),
        (
            "query noise omitted",
            "values that are compared with the threshold get no noise",
            lambda draw, state: float(not draw.hidden or _of_threshold(draw)),
        ),
    ]
    return [
        Operator(name, fault, "scale", _scaled(factor, hidden=True), lambda found: found.hidden, not_known)
        for name, fault, factor in changes
    ]


_LAWS: tuple[tuple[str, str, Reshape], ...] = (
    ("one-sided noise", "only the absolute value of the noise is added", _one_sided),
    ("uniform noise", "uniform noise of the right variance is added", _uniform),
    ("normal noise", "normal noise of the right variance is added, which gives no pure epsilon", _normal),
    ("clipped noise x3", "noise beyond three times its scale is cut off", _clipped(3.0)),
    (
        "clipped noise x8",
        "noise beyond eight times its scale (one draw in three thousand) is cut off",
        _clipped(8.0),
    ),
    ("coarse noise", "the noise, not the release, is rounded to multiples of a third of its scale", _coarse),
    ("float32", "value and noise are added in single precision, so the last bits reveal the value", _single),
    ("sign kept", "the release gets the sign of the exact value", _signed),
    ("zeros bare", "a sum of zero is released without noise", _silent_zero),
)


def law_operators() -> list[Operator]:
    """Noise of another law than Laplace."""
    inf = always(np.inf)
    return [
        Operator(name, fault, "law", _law(reshape), draws_for_releases, inf) for name, fault, reshape in _LAWS
    ]


def sharing_operators() -> list[Operator]:
    """Noise that two releases share, or that the adversary can take away."""
    return [
        Operator(
            "noise once per run",
            "all releases of a run share one draw",
            "sharing",
            _slots(lambda slot: 0 * slot),
            lambda found: asks_sums(found) and found.width * found.blocks > 1,
            not_known,
        ),
        Operator(
            "shared by two",
            "draws with consecutive numbers share one draw",
            "sharing",
            _slots(lambda slot: slot // 2),
            lambda found: asks_sums(found) and found.width * found.blocks > 1,
            not_known,
        ),
        Operator(
            "shared in a block",
            "the values that are released together share one draw",
            "sharing",
            _slots(lambda slot: np.broadcast_to(slot[:, :1], slot.shape)),
            lambda found: asks_sums(found) and found.width > 1,
            not_known,
        ),
        Operator(
            "shared between blocks",
            "every block uses the same noise",
            "sharing",
            _slots(lambda slot: np.broadcast_to(np.arange(slot.shape[1]), slot.shape)),
            lambda found: asks_sums(found) and found.blocks > 1,
            not_known,
        ),
        _redraw(2),
        _redraw(8),
        Operator(
            "seed reuse",
            "the generator is seeded again for each run, so every run draws the same noise",
            "sharing",
            _asked(lambda draw, state: replace(draw, run=0 * draw.run), hidden=True),
            lambda found: draws_noise(found) and not found.shuffled,
            always(np.inf),
        ),
    ]


def _of_threshold(draw: Draw) -> bool:
    """Whether it is hidden noise of which nothing comes by itself."""
    return draw.hidden is not None and draw.hidden.outcome is None
