"""The sampler of production: what live sessions draw with, looked at bit by bit.

An audit draws seeded, ideal noise. Here live sessions are played on inputs that one reward makes differ; what
they ask of their source of noise is asked of that of production (`noise.Secure`) again and again, and its
outputs on both inputs are held against each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata

import numpy as np
import numpy.typing as npt

from verifiable_dp.auditing import record_parts
from verifiable_dp.auditing.algorithms import AlgorithmCase
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.noise import Draw, Noise, Secure, Seeded
from verifiable_dp.core.rights import BudgetError
from verifiable_dp.core.validate import FloatArray, InputError, IntArray
from verifiable_dp.evidence.blackbox import numerics as bits
from verifiable_dp.evidence.blackbox.test import Plan, Terms
from verifiable_dp.evidence.check import Check
from verifiable_dp.targets.releases import DataPair

_RUNS = Plan(probe=1 << 9, select=1 << 11, test=1 << 13)  # each draw is made by itself
_ROUNDS, _LONGEST = 1 << 11, 1 << 14  # of a session; more than the first ones only for its first release
_KINDS = 8  # of draws that are examined
_REWARDS = (0.0, 0.1)  # by their share of the range; the second one has many bits
_WHERE = (0.0, 0.02, 0.2, 0.9)  # the reward that differs, by its share of the rounds


@dataclass(frozen=True, eq=False)
class DrawPair(DataPair):
    """What a live session asks of its source of noise on two neighbouring inputs: one number each.

    Attributes
    ----------
    scale, excess, count
        Of the draw.
    draw
        The draw itself, which may be hidden.
    """

    scale: float
    excess: float
    count: int | None
    draw: Draw

    @property
    def kind(self) -> tuple[float, float, bool]:
        """Draws of one kind differ in nothing that matters for their bits but the value."""
        return self.scale, abs(float(self.left[0] - self.right[0])), self.draw.hidden is not None

    def describe(self) -> str:
        """See `DataPair.describe`."""
        what = "compared with others" if self.draw.hidden else "released"
        left, right = float(self.left[0]), float(self.right[0])
        return f"a value {left:.17g} against {right:.17g}, {what} with noise of scale {self.scale:g}"

    def asked(self, value: float, runs: int) -> Draw:
        """The same draw many times."""
        one, zero, run = np.ones((runs, 1)), np.zeros((runs, 1), np.int64), np.arange(runs)
        count = None if self.count is None else np.full((runs, 1), self.count)
        scale, hidden = self.scale * one, self.draw.hidden
        return Draw(value * one, scale, run, zero, one > 0, count, hidden, excess=self.excess)


class _Noted:
    """Seeded noise, and what was asked; every third comparison says yes, so that rules go on."""

    def __init__(self) -> None:
        self.asked: list[tuple[Draw, FloatArray]] = []
        self._inner, self._compared = Seeded(0), 0

    def __call__(self, draw: Draw) -> FloatArray:
        out = self._inner(draw)
        if draw.hidden is not None and draw.hidden.outcome is not None:
            self._compared += 1
            far = 1e3 * draw.scale
            out = draw.value + (far if self._compared % 3 == 0 else -far)
        self.asked.append((draw, out))
        return out


class _Repeated:
    """Answers another input what the first one was answered."""

    def __init__(self, asked: Sequence[tuple[Draw, FloatArray]]) -> None:
        self._left, self.pairs = list(asked), list[tuple[Draw, Draw]]()

    def __call__(self, draw: Draw) -> FloatArray:
        if not self._left or not np.array_equal(self._left[0][0].where, draw.where):
            raise BudgetError("numerics: the draws depend on the rewards")
        there, out = self._left.pop(0)
        self.pairs.append((there, draw))
        return out


def _played(algorithm: Algorithm, noise: Noise, rewards: FloatArray) -> None:
    """Play a live session, as far as it goes."""
    session = algorithm.session(noise=noise)
    try:
        while not session.finished and session.rounds < len(rewards):
            session.update(float(rewards[session.rounds]))
    except BudgetError:  # what was drawn before is examined; the judges of the claim see to the rest
        return


def _pairs(one: Draw, two: Draw, most: float) -> list[DrawPair]:
    """Entries in which two draws differ.

    Comparisons only where they would cost no more than the claim if they were shown: else what tells the two
    sides apart may be what only the outcome hides.
    """
    if one.normal or one.freedom or one.value.shape != two.value.shape:
        return []
    found = []
    for index in map(tuple, np.argwhere(one.where & (one.value != two.value) & (one.scale == two.scale))):
        left, right, scale = (float(part[index]) for part in (one.value, two.value, one.scale))
        if scale > 0 and (one.hidden is None or abs(left - right) <= most * scale * (1 + 1e-9)):
            count = None if one.count is None else int(one.count[index])
            excess = float(np.broadcast_to(one.excess, one.value.shape)[index])
            found.append(DrawPair(np.array([left]), np.array([right]), scale, excess, count, one))
    return found


def draws(algorithm: Algorithm) -> list[DrawPair]:
    """Draws of all kinds that live sessions make on inputs which one reward makes differ; at most `_KINDS`.

    Of a kind that one whose value is 0 on one input comes first: there the bits show most.
    """
    assert algorithm.claim is not None
    found: dict[tuple[float, float, bool], list[DrawPair]] = {}
    low, high = algorithm.search_bounds
    first = int(algorithm.query(algorithm.start(np.zeros(1, np.int64))).rounds[0])
    if first > _LONGEST:
        return []
    rounds = min(algorithm.horizon, max(_ROUNDS, first))
    for share in _REWARDS:
        # 0 is as good as any reward, where it is one
        reward = min(max(0.0, low), high) + share * (high - low)
        rewards = np.full(rounds, min(reward, high))
        noted = _Noted()
        _played(algorithm, noted, rewards)
        for part in _WHERE if rounds <= _ROUNDS else _WHERE[:1]:
            other = rewards.copy()
            other[int(part * rounds)] = high
            repeated = _Repeated(noted.asked)
            _played(algorithm, repeated, other)
            for one, two in repeated.pairs:
                for pair in _pairs(one, two, algorithm.claim.epsilon):
                    found.setdefault(pair.kind, []).append(pair)
    best = [
        min(pairs, key=lambda pair: min(abs(pair.left[0]), abs(pair.right[0]))) for pairs in found.values()
    ]
    best.sort(key=lambda pair: pair.kind)
    hidden = [pair for pair in best if pair.draw.hidden]
    shown = [pair for pair in best if not pair.draw.hidden]
    most = _KINDS if not (hidden and shown) else _KINDS // 2
    return [pair for part in (shown, hidden) for pair in _spread(part, most)]


def _spread(pairs: Sequence[DrawPair], most: int) -> list[DrawPair]:
    places = np.unique(np.linspace(0, len(pairs) - 1, min(most, len(pairs))).round().astype(int))
    return [pairs[i] for i in places] if pairs else []


@dataclass(frozen=True)
class Production:
    """Draws with the noise of live sessions; a `numerics.Releases`.

    Parameters
    ----------
    pairs
        What is asked.
    """

    pairs: tuple[DrawPair, ...]
    shard: int = 1 << 12

    def values(self, data: npt.ArrayLike, path: tuple[int, ...], runs: IntArray) -> FloatArray:
        """Answers (n, 1) to the draw of the number `path[1]`; never the same again."""
        value = float(np.asarray(data, np.float64)[0])
        return np.asarray(Secure()(self.pairs[path[1]].asked(value, len(runs))))


def last_bits(case: AlgorithmCase) -> None:
    """The floats that a live session draws: their last bits may tell inputs apart."""
    settings, found = case.request.settings, draws(case.request.target)
    if not found:
        raise InputError(
            f"numerics: within {_LONGEST} rounds, live sessions of this instance add no noise to a value "
            "that a reward changes; use another horizon, or audit it without numerics"
        )
    terms = Terms(case.claim, settings.seed, 1, settings.alpha, settings.confidence, 1)
    # Where a sampler that leaks is not refuted, no other one would be.
    told = [pair for pair in found if bits.telling(pair, pair.scale, _RUNS, terms)] or found[:1]
    check, chosen = bits.check(Production(tuple(told)), told, _RUNS, terms, [pair.scale for pair in told])
    examined = f"{len(told)} of {len(found)} kinds of draws examined"  # on the others nothing would be seen
    sampler = f"OpenDP {metadata.version('opendp')}, used as in a live session; {examined}"
    check = Check.of(check.name, check.kind, {**check.statistics, "sampler": sampler})
    case.checks.append(check)
    case.counterexamples += record_parts.counterexamples([check], {}, chosen)
