"""What a live session has spent: every release is held against the same run with one reward changed.

Theorem. Let the state after a block follow from what was released (`decide` sees nothing else). Play the
run again with one reward of one block changed as far as it may, force every release to be what it was,
and move hidden noise as its mechanism declares. If every draw is then asked for at the same places and
scales, the two runs give the same output with noise that is moved by known amounts, and the sum of
|amount| / scale bounds the privacy loss of the transcript (randomness alignment). A session that stops
before that sum exceeds epsilon, for every reward, keeps epsilon, whatever its algorithm does.

The other runs are the rows of one batch. A row whose memory is that of the run itself again costs nothing
more and is dropped: of algorithms without memory every reward is followed to its end. Of those with
memory at most `ROWS` are kept, evenly spread over the blocks: there a fault that only some rewards show
can pass. Moves that lie between the ends are not tried: a release that is not monotone in a sum could
hide one.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.noise import Draw
from verifiable_dp.core.query import Batch, Memory, NoMemory, Own, Query, State
from verifiable_dp.core.rights import BudgetError
from verifiable_dp.core.units import Observed
from verifiable_dp.core.validate import BoolArray, FloatArray, Foreign, IntArray

ROWS = 32  # they stand in the file, which each update writes
_ROUNDING = 1e-9  # relative: what sums of floats may leave above the claim

Drawn = Sequence[tuple[Draw, FloatArray]]  # what a release asked for, and what it was answered


def metered(claim: PrivacyClaim | None) -> bool:
    """Whether costs add up to what is claimed: a pure promise about one reward, not of shuffled reports."""
    return (
        claim is not None
        and claim.delta == 0
        and not claim.curved
        and claim.observe != Observed.SHUFFLED
        and claim.relation.size == 1
    )


@dataclass(frozen=True)
class Meter:
    """The rows that are still followed, and what they have cost.

    Attributes
    ----------
    spent
        The most that any reward has cost so far.
    base
        What alignment costs a run whose rewards do not differ yet.
    rows
        Memory of the other runs; the first row is that of a run whose rewards do not differ. None before
        the first release.
    cost : (n,) float
        What each row has cost.
    """

    spent: float = 0.0
    base: float = 0.0
    rows: Memory | None = None
    cost: FloatArray = field(default_factory=lambda: np.zeros(1))

    def charged(
        self,
        algorithm: Foreign,
        state: State,
        memory: Memory,
        query: Query,
        answer: FloatArray,
        drawn: Drawn,
        released: FloatArray,
    ) -> Meter:
        """The meter after a release.

        Parameters
        ----------
        algorithm, state, memory, query, answer
            Of the release, arrays with one row; `memory` is that after it.
        drawn
            What it asked for.
        released
            What came of it, (1, m).

        Raises
        ------
        BudgetError
            If a reward costs more than the claim.
        """
        moves = _moves(algorithm, query, answer)
        before = self.rows if self.rows is not None else algorithm.private(np.zeros(1, np.int64))
        known = len(self.cost)
        index = np.concatenate([np.arange(known), np.zeros(len(moves), np.int64)])
        answers = np.repeat(answer, len(index), axis=0)
        answers[known:] += moves
        again = np.zeros(len(index), np.int64)
        other = _Other(drawn, len(index))
        rows, shown = algorithm.release(
            state.take(again), before.take(index), query.take(again), answers, other
        )
        # What is shown has to follow from what was drawn: then it is the same in every run.
        paid = np.where(_apart(np.concatenate([released, shown]))[1:], math.inf, other.costs())
        cost = self.cost[index] + paid
        limit, spent = float(algorithm.claim.epsilon), math.inf
        if np.isfinite(cost).all():
            spent = max(self.spent, self.base + _dearest(cost[known:] - cost[0], query), float(cost.max()))
        if spent > limit * (1 + _ROUNDING):
            raise BudgetError(
                f"session: a reward would cost {spent:.6g}, more than the {limit:g} that "
                f"{algorithm.name} promises; nothing was released, and the session is unchanged"
            )
        kept = _kept(rows, memory)
        return Meter(spent, float(cost[0]), rows.take(kept), cost[kept])

    def reported(self, cost: float, claim: PrivacyClaim, name: str) -> Meter:
        """The meter after a report, which holds one reward.

        Raises
        ------
        BudgetError
            If it costs more than the claim.
        """
        if not cost <= claim.epsilon * (1 + _ROUNDING):
            raise BudgetError(
                f"session: a report would cost {cost:.6g}, more than the {claim.epsilon:g} that {name} "
                "promises; the report was not accepted, and the session is unchanged"
            )
        return replace(self, spent=max(self.spent, cost))


def farthest(algorithm: Foreign, query: Query) -> FloatArray:
    """How far one reward can move a sum of each arm, (K,)."""
    ask = query.ask
    if ask is None:
        low, high = algorithm.bounds
        return np.full(query.active.shape[1], float(high) - float(low))
    reach = ask.spread()
    far = 2 * float(algorithm.contribution) if reach is None else reach[0]
    return np.asarray(np.broadcast_to(far, query.active.shape[1:]))


def _moves(algorithm: Foreign, query: Query, answer: FloatArray) -> FloatArray:
    """Changes of the answer (k, K[, m]): of each arm that was pulled, up and down, and each number asked."""
    far, found = farthest(algorithm, query), []
    for arm in np.flatnonzero(query.pulls()[0] > 0):
        for place in np.ndindex(answer.shape[2:]):
            for sign in (1.0, -1.0):
                move = np.zeros(answer.shape[1:])
                move[(arm, *place)] = sign * far[arm]
                found.append(move)
    return np.array(found) if found else np.zeros((0, *answer.shape[1:]))


def _dearest(costs: FloatArray, query: Query) -> float:
    """What the dearest reward costs: of several numbers asked, one may grow while another falls."""
    if not len(costs):
        return 0.0
    if query.ask is None or query.ask.size == 1:
        return float(costs.max())
    arms = int((query.pulls()[0] > 0).sum())
    each = costs.reshape(arms, query.ask.size, 2).max(axis=2)
    return float(np.sort(each, axis=1)[:, -2:].sum(axis=1).max())


def _kept(rows: Memory, memory: Memory) -> IntArray:
    """The first row, and those whose memory is not that of the first: at most `ROWS`, evenly spread."""
    if type(memory) is NoMemory:
        return np.zeros(1, np.int64)
    apart = np.flatnonzero(_differs(rows))
    if len(apart) > ROWS:
        apart = apart[np.linspace(0, len(apart) - 1, ROWS).round().astype(np.int64)]
    return np.concatenate([np.zeros(1, np.int64), apart])


def _differs(rows: Own) -> BoolArray:
    """Which rows are not the first, (n,) bool."""
    found = None
    for one in dataclasses.fields(rows):
        value = getattr(rows, one.name)
        if value is None:
            continue
        part = _differs(value) if isinstance(value, Batch) else _apart(np.asarray(value))
        found = part if found is None else found | part
    return np.zeros(0, bool) if found is None else found


def _apart(array: FloatArray) -> BoolArray:
    flat = array.reshape(len(array), -1)
    equal = (flat == flat[:1]) | ((flat != flat) & (flat[:1] != flat[:1]))
    return np.asarray(~equal.all(axis=1))


class _Other:
    """Answers the other runs what the run itself was answered, and adds up what that costs."""

    def __init__(self, drawn: Drawn, rows: int) -> None:
        self._drawn, self._next, self._cost = drawn, 0, np.zeros(rows)

    def costs(self) -> FloatArray:
        """Of each row; inf where a run left the one it was held against."""
        if self._next != len(self._drawn):
            self._cost[:] = math.inf
        return self._cost

    def __call__(self, draw: Draw) -> FloatArray:
        """The answer of the run itself, or its hidden noise moved as declared."""
        if self._next >= len(self._drawn):
            self._next += 1
            self._cost[:] = math.inf
            return np.where(draw.where, draw.value, np.nan)
        real, out = self._drawn[self._next]
        self._next += 1
        if real.value.shape[1:] != draw.value.shape[1:] or (real.hidden is None) != (draw.hidden is None):
            self._cost[:] = math.inf
            return np.where(draw.where, draw.value, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            self._leave(draw.where != real.where)
            self._leave(draw.where & ~np.isclose(draw.scale, real.scale, rtol=1e-9, atol=0))
            self._leave(draw.where & (draw.normal or draw.freedom > 0))
            return self._hidden(draw, real, out) if draw.hidden else self._released(draw, real, out)

    def _leave(self, wrong: BoolArray) -> None:
        self._cost[wrong.any(axis=1)] = math.inf

    def _pay(self, draw: Draw, moved: FloatArray) -> None:
        moved = np.where(draw.where, np.abs(moved), 0.0)
        paid = np.where(moved > 0, moved / draw.scale, 0.0)  # without noise it is infinite
        self._cost += paid.sum(axis=1)

    def _released(self, draw: Draw, real: Draw, out: FloatArray) -> FloatArray:
        self._pay(draw, real.value - draw.value)
        return np.repeat(out, len(draw.value), axis=0)

    def _hidden(self, draw: Draw, real: Draw, out: FloatArray) -> FloatArray:
        assert draw.hidden is not None
        assert real.hidden is not None
        wide = draw.value.shape
        came = real.hidden.outcome(out) if real.hidden.outcome else {}
        shown = {name: np.broadcast_to(value, wide) for name, value in came.items()}
        shift = np.nan_to_num(np.broadcast_to(draw.hidden.shift(shown), wide))
        self._pay(draw, shift)
        moved = np.where(draw.where, out + (draw.value - real.value) + shift, np.nan)
        if draw.hidden.outcome:
            self._leave(draw.where & (draw.hidden.outcome(moved)["output"] != shown["output"]))
        return moved
