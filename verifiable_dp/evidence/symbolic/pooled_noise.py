"""Noise in which several draws are one: pairs, differences, and pools of them."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic import enclosures
from verifiable_dp.evidence.symbolic.atoms import SymbolicDraw
from verifiable_dp.evidence.symbolic.draw_sources import HALVES
from verifiable_dp.evidence.symbolic.terms import Term
from verifiable_dp.evidence.symbolic.world import World, unseen

# Two independent draws of one kind and size together: another law, at a multiple of their size. That of
# N1 N2 + N3 N4 has the characteristic function 1 / (1 + t^2), and N1^2 + N2^2 is twice an exponential draw.
_PAIRS = {"product": ("laplace", 1.0), "square": ("exponential", 2.0)}


def _paired(world: World, noise: Foreign) -> Foreign:
    """Noise in which two products or squares of normal draws are one draw."""
    waiting: dict[tuple[str, float], SymbolicDraw] = {}
    for draw, weight in list(noise.items()):
        if draw.kind not in _PAIRS or draw.used:
            continue
        size = abs(weight) if draw.kind == "product" else weight
        first = waiting.pop((draw.kind, size), None)
        if first is None:
            waiting[draw.kind, size] = draw
            continue
        kind, times = _PAIRS[draw.kind]
        value = (noise[first] * first.value + weight * draw.value) / (times * size)
        noise = {d: w for d, w in noise.items() if d not in (first, draw)} | {
            SymbolicDraw(kind, value): times * size
        }
        first.used = draw.used = True
        world.finishing.append(functools.partial(unseen, world, first, draw))
    return noise


def geometric(world: World, draw: SymbolicDraw) -> Term:
    """A geometric draw."""
    world.pooling = functools.partial(pooled, world)
    return Term(world, 0.0, {}, {draw: 1.0}, True)


@dataclass(frozen=True)
class TwoSided:
    """The law of the difference of two geometric draws: chances fall by exp(-step) to both sides of 0."""

    step: float
    whole: bool = True

    def price(self, shift: float) -> float:
        """What it costs to move by a whole number."""
        return abs(shift) * self.step


def _differences(world: World, noise: Foreign) -> Foreign:
    """Noise in which the difference of two geometric or exponential draws of one law is one draw."""
    draws = (
        [d for d in noise if d.kind in ("geometric", "exponential") and not d.used] if len(noise) > 1 else []
    )
    for one, other in itertools.combinations(draws, 2):
        same = one.kind == other.kind and abs(one.step - other.step) <= 1e-12 * one.step
        if (
            one in noise
            and other in noise
            and same
            and noise[one] == -noise[other]
            and not (one.met and other.met)
        ):
            value = one.value - other.value
            made = (
                SymbolicDraw("law", value, of=TwoSided(max(one.step, other.step)))
                if one.step
                else SymbolicDraw("laplace", value)
            )
            noise = {d: w for d, w in noise.items() if d not in (one, other)} | {made: noise[one]}
            one.used = other.used = True
            world.finishing.append(functools.partial(unseen, world, one, other))
    return noise


def pooled(world: World, noise: Foreign) -> Foreign:
    """Noise in which draws of one scale whose shapes add up to 1 are one draw, and pairs.

    Of gamma draws it is exponential, of negative binomial ones geometric.
    """
    noise = _paired(world, noise)
    alike: dict[tuple[str, float, float], list[SymbolicDraw]] = {}
    for draw, weight in noise.items():
        if draw.kind in _PARTS and not draw.used:
            alike.setdefault((draw.kind, weight, draw.step), []).append(draw)
    for (kind, weight, step), draws in alike.items():
        if abs(math.fsum(draw.shape for draw in draws) - 1) > 1e-9:
            continue
        noise = {draw: w for draw, w in noise.items() if draw not in draws}
        noise[SymbolicDraw(_PARTS[kind], math.fsum(draw.value for draw in draws), step)] = weight
        for draw in draws:
            draw.used = True
        world.finishing.append(functools.partial(unseen, world, *draws))
    return _differences(world, noise)


_PARTS = {"gamma": "exponential", "polya": "geometric"}


def is_fresh(term: Term) -> bool:
    """Whether a term is noise of one draw that was not used yet, and may have a sign."""
    if term.raw or term.const or len(term.noise) != 1:
        return False
    draw = next(iter(term.noise))
    return draw.kind in SIGNED and not draw.used and not draw.met


# What a law becomes with a random sign.
SIGNED = {
    "exponential": "laplace",
    **{kind: kind for kind in ("laplace", "logistic", "normal", "cauchy", "hypsecant")},
}


def sign_size(function: Callable[[Foreign], Foreign]) -> float:
    """The size of a function of a draw that is a number or its opposite, half of the time each; else 0."""
    values = np.broadcast_to(np.asarray(function(HALVES), np.float64), HALVES.shape)
    size = float(abs(values[0]))
    fits = np.array_equal(np.abs(values), np.full(len(values), size)) and values.sum() == 0
    fits = fits and all(abs(enclosures.chance_of(function, end) - 0.5) < 1e-9 for end in (size, -size))
    return size if fits and math.isfinite(size) else 0.0
