"""The rounds of a session: what it is between two of them, and how a reward leads from one to the next."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.meter import Meter, farthest, metered
from verifiable_dp.core.noise import Draw, Noise, Secure, Seeded
from verifiable_dp.core.query import Memory, Own, Query, State
from verifiable_dp.core.units import TrustModel
from verifiable_dp.core.validate import FloatArray, InputError, IntArray, JsonDict


class Played(Protocol):
    """What a session needs of an algorithm; see `verifiable_dp.core.algorithm.Algorithm`."""

    @property
    def name(self) -> str:
        """Name in the catalogue."""

    @property
    def n_arms(self) -> int:
        """K."""

    @property
    def horizon(self) -> int:
        """T."""

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the rewards."""

    @property
    def contribution(self) -> float:
        """Largest absolute value that one reward adds to a sum of a complete block."""

    @property
    def claim(self) -> PrivacyClaim | None:
        """The privacy promise."""

    @property
    def parameters(self) -> JsonDict:
        """Constructor arguments."""

    def start(self, run: IntArray) -> State:
        """Public state of fresh runs."""

    def private(self, run: IntArray) -> Memory:
        """Private memory of fresh runs."""

    def query(self, state: Own) -> Query:
        """Next block of each run."""

    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Pass the answers through the mechanism."""

    def decide(self, state: Own, query: Query, released: FloatArray) -> State:
        """Next public state."""


@dataclass(frozen=True)
class Moment:
    """All that changes in a session.

    Attributes
    ----------
    state, memory, query
        Of the algorithm, arrays with one row.
    sums, done
        Of the open block: what its rewards add up to, with noise if they are reports, and their number.
    meter
        What was spent.
    scales
        Of reports, see `Turns._reports`.
    """

    state: State
    memory: Memory
    query: Query
    sums: FloatArray
    done: int
    meter: Meter
    scales: FloatArray | None

    @property
    def rounds(self) -> int:
        """Rewards received so far."""
        return int(self.query.start[0]) + self.done


class Turns:
    """An algorithm with its source of noise: each step makes another moment, and changes nothing.

    Parameters
    ----------
    algorithm
        Whose rounds they are.
    noise
        Its source. Unless it is seeded, sums are exact and releases are held against the claim, see
        `session.Session`.

    Raises
    ------
    InputError
        If what a reward adds to a sum is not bounded.
    """

    def __init__(self, algorithm: Played, noise: Noise) -> None:
        self.algorithm, self.noise = algorithm, noise
        self.seeded = type(noise) is Seeded
        self.metered = not self.seeded and metered(algorithm.claim)
        self.unit = 0.0 if self.seeded else _unit(algorithm)

    def first(self) -> Moment:
        """Before the first reward."""
        run = np.zeros(1, np.int64)
        state = self.algorithm.start(run)
        return self.opened(state, self.algorithm.private(run), self.algorithm.query(state), Meter())

    def opened(self, state: State, memory: Memory, query: Query, meter: Meter) -> Moment:
        """The beginning of a block."""
        asked = (query.ask.size,) if query.ask is not None and query.ask.size > 1 else ()
        sums = np.zeros((1, self.algorithm.n_arms, *asked))
        return Moment(state, memory, query, sums, 0, meter, self._reports(state, memory, query, sums))

    def _reports(self, state: State, memory: Memory, query: Query, sums: FloatArray) -> FloatArray | None:
        """Scales of the noise of single reports, (1, K); None where the sums are released and not reports.

        Where the block ends in no release they are infinite: nothing of its rewards is kept.
        """
        claim = self.algorithm.claim
        if self.seeded or claim is None or claim.trust_model == TrustModel.CENTRAL:
            return None
        if not query.complete[0]:
            return np.full(sums.shape, np.inf)
        asked: list[Draw] = []

        def ask(draw: Draw) -> FloatArray:
            asked.append(draw)
            return np.where(draw.where, draw.value, np.nan)

        self.algorithm.release(*copy.deepcopy((state, memory, query, sums)), ask)
        if int(query.rounds[0]) <= 1 and not any(draw.count is not None for draw in asked):
            return None  # a block is one report, and released at once
        single = len(asked) == 1 and asked[0].count is not None and asked[0].hidden is None
        if not single or asked[0].value.shape != sums.shape:
            raise InputError(
                f"session: {self.algorithm.name} promises the {claim.trust_model} model: it must release one "
                "sum of reports per block (Draw.count), so each report can get its noise when it arrives"
            )
        return asked[0].scale

    def _asked(self, query: Query, reward: float, arm: int) -> FloatArray:
        """What the reward adds to the sums of its arm, on the grid."""
        ask, found = query.ask, np.asarray(reward)
        if ask is not None:
            found = np.asarray(ask.values(found[None], np.zeros(1, np.int64), np.array([arm]))[0])
        if not self.unit:
            return found
        most = self.algorithm.contribution
        if query.complete[0] and (np.abs(found) > most).any():
            raise InputError(
                f"algorithm: a reward adds more to a sum than {most:g}, which is what `contribution` "
                "states; override that property"
            )
        found = found - np.fmod(found, self.unit)
        if ask is None:  # where 0 is out of bounds, towards 0 can be out of bounds
            low, high = (bound / self.unit for bound in self.algorithm.bounds)
            found = np.clip(found, np.ceil(low) * self.unit, np.floor(high) * self.unit)
        return np.asarray(found)

    def _draw(self, draw: Draw) -> FloatArray:
        """The noise of the session; where it is to be secure, a promise needs some."""
        promised = self.algorithm.claim if type(self.noise) is Secure else None
        if promised is not None and (draw.where & (draw.scale == 0)).any():
            raise InputError(
                f"noise: {self.algorithm.name} promises epsilon {promised.epsilon:g} and asks "
                "for noise of scale 0, which would release an exact value; give it a positive scale"
            )
        return self.noise(draw)

    def checked(self, reward: float) -> float:
        """The reward as a number within the bounds."""
        low, high = self.algorithm.bounds
        number = isinstance(reward, int | float | np.integer | np.floating)
        try:
            value = float(reward) if number else math.nan
        except OverflowError:
            value = math.inf
        if not (math.isfinite(value) and low <= value <= high):
            what = "a number that is not" if number else f"a {type(reward).__name__}"
            # What was given is somebody's data and stays out of logs.
            raise InputError(
                f"reward must be finite and lie within the declared bounds [{low:g}, {high:g}], got {what}"
            )
        return value

    def added(self, now: Moment, reward: float, arm: int) -> Moment:
        """With the reward in its sum; a report gets its noise."""
        found, sums, meter = self._asked(now.query, reward, arm), now.sums.copy(), now.meter
        if now.scales is None:
            sums[0, arm] += found
            return replace(now, sums=sums)
        scale = float(np.max(now.scales[0, arm]))
        if math.isinf(scale):
            return now
        claim, name = self.algorithm.claim, self.algorithm.name
        if claim is not None and metered(claim):
            far = float(farthest(self.algorithm, now.query)[arm])
            meter = meter.reported(far / scale if scale else math.inf, claim, name)
        value = np.reshape(found, (1, -1)).astype(np.float64)
        nowhere = np.zeros(value.shape, np.int64)
        draw = Draw(
            value, np.full(value.shape, scale), np.zeros(1, np.int64), nowhere, np.ones(value.shape, bool)
        )
        sums[0, arm] += self._draw(draw).reshape(found.shape)
        return replace(now, sums=sums, meter=meter)

    def after(self, now: Moment, added: Moment) -> Moment:
        """The next round, or the next block after a release."""
        if now.done + 1 < int(now.query.rounds[0]):
            return replace(added, done=now.done + 1)
        algorithm, drawn = self.algorithm, list[tuple[Draw, FloatArray]]()

        def noise(draw: Draw) -> FloatArray:
            if now.scales is not None:
                return _noised(draw, now, algorithm.name)
            out = self._draw(draw)
            drawn.append(copy.deepcopy((draw, out)))
            return out

        # Copies: an algorithm may work in place, and this session stays as it was if anything fails.
        given = copy.deepcopy((now.state, now.memory, now.query, added.sums))
        memory, released = algorithm.release(*given, noise)
        meter = added.meter
        if now.scales is None and self.metered:
            meter = meter.charged(algorithm, now.state, memory, now.query, added.sums, drawn, released)
        state = algorithm.decide(*copy.deepcopy((now.state, now.query)), released)
        return self.opened(state, memory, algorithm.query(state), meter)


def _noised(draw: Draw, now: Moment, name: str) -> FloatArray:
    """A sum of reports that have their noise already."""
    pulls, scales = now.query.pulls(), now.scales
    pulls = pulls.reshape(*pulls.shape, *([1] * (draw.value.ndim - pulls.ndim)))
    same = scales is not None and draw.count is not None and draw.value.shape == now.sums.shape
    apart = (draw.scale != scales) | (draw.count != pulls) if same else draw.where
    if not same or (draw.where & apart).any():
        raise InputError(
            f"session: {name} asks for different noise at the end of a block than at its start, so its "
            "reports cannot get their noise when they arrive"
        )
    return np.where(draw.where, draw.value, np.nan)


def _unit(algorithm: Played) -> float:
    """The grid of what is summed: T values of it have a sum of at most 2^52 units; 0 without a promise."""
    if algorithm.claim is None:
        return 0.0
    total = algorithm.horizon * algorithm.contribution
    if not math.isfinite(total):
        raise InputError(
            f"session: {algorithm.name} does not bound what a reward adds to a sum, so no noise can hide a "
            "reward; give it finite `bounds`, or override `contribution`"
        )
    return 2.0 ** (math.frexp(total)[1] - 52)
