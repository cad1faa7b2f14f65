"""Rung 1: randomness alignment. The exact privacy loss of transcripts, and a bound on what they can cost.

A run is recorded on one input and replayed on its neighbour with the same releases. What the noise has to
move, in units of its scale, is the cost. hypothesis searches inputs and noise for a cost above epsilon and
shrinks what it finds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from verifiable_dp.core.algorithm import Algorithm, Data, play
from verifiable_dp.core.contextual import Sent, UserTable
from verifiable_dp.core.environments import Interactive, Table
from verifiable_dp.core.neighbours import AnyPair, ContextGame, ContextPair, InteractivePair, Pair
from verifiable_dp.core.noise import Draw, Noise, Seeded
from verifiable_dp.core.tapes import Divergence, Recorder, Replayer, Tape
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray
from verifiable_dp.evidence.alignment.twin import alike

TOLERANCE = 1e-9
_LOST = 1e-12  # the share of a computed loss that the rounding of its sums may have added
_FAR = 10.0  # scales


def exceeds(paid: float, epsilon: float) -> bool:
    """Whether a loss, or a cost, is above `epsilon` by more than rounding explains."""
    return bool(paid > epsilon * (1 + TOLERANCE))


def at_least(loss: float, epsilon: float) -> float:
    """The lower bound on epsilon that a computed loss shows: rounded down; above a claim if it exceeds it.

    Losses are rounded to the nearest float, so that the largest of many lies above a supremum that is
    attained.
    """
    below = loss * (1 - _LOST)
    return below if exceeds(loss, epsilon) else min(below, epsilon)


def worlds(pair: AnyPair, n_arms: int, runs: int, first: int = 0) -> tuple[Data, Data]:
    """What answers the queries of runs number `first` .. `first + runs - 1` in either world of a pair."""
    if isinstance(pair, InteractivePair):
        return Interactive(pair, 0, n_arms, runs, first), Interactive(pair, 1, n_arms, runs, first)
    left, right = pair.worlds()
    unseen = pair.round if isinstance(pair, ContextPair) and pair.joint else -1
    if isinstance(pair, ContextGame):
        here, there = (Sent(pair.form, pair.guests(w, runs), unseen, first) for w in (0, 1))
        return here, there
    if isinstance(pair, ContextPair):
        return UserTable(pair.form, left, unseen), UserTable(pair.form, right, unseen)
    return Table(left), Table(right)


def one_sided(inner: Noise, sign: int) -> Noise:
    """A source whose visible noise is all up (sign 1) or all down (sign -1); 0 leaves it as it is.

    With one sign, a change that moves every release the same way costs its full amount: the transcripts
    of the worst case. They have positive density like any other.
    """

    def source(draw: Draw) -> FloatArray:
        out = inner(draw)
        if sign == 0 or draw.hidden is not None or draw.count is not None:
            return out
        # Beyond the change itself, so that the whole change is paid, and where a law with other tails shows.
        span = np.abs(out - draw.value) + 2.0 * (draw.scale > 0) + _FAR * draw.scale
        return np.asarray(draw.value + sign * span)

    return source


@dataclass(frozen=True)
class Replay:
    """A batch of transcripts, recorded on one input and forced on its neighbour.

    Attributes
    ----------
    cost, loss, square : (n,) float
        See `noise.Replayer`.
    matrices : list of tuple
        See there.
    diverged : dict
        Why a run left the recorded path, by run.
    tape : Tape
        What was recorded.
    """

    cost: FloatArray
    loss: FloatArray
    diverged: Mapping[int, Divergence]
    tape: Tape
    square: FloatArray = field(default_factory=lambda: np.zeros(0))
    matrices: Sequence[tuple[IntArray, FloatArray, int]] = ()


def replay(
    algorithm: Algorithm,
    pair: AnyPair,
    *,
    seed: int = 0,
    sign: int = 0,
    runs: int = 1,
    turned: bool = False,
) -> Replay:
    """Record `runs` runs on the left input and force them on the right one.

    Parameters
    ----------
    algorithm
        Any algorithm whose noise comes through the door of `noise`.
    pair
        Neighbouring inputs.
    seed, sign
        Of the noise; see `one_sided`.
    turned
        Record on the right input instead.
    """
    data = worlds(pair, algorithm.n_arms, runs)
    first, second = (data[1], data[0]) if turned else data
    run = np.arange(runs)
    recorder = Recorder(one_sided(Seeded(seed), sign))
    there = play(algorithm, first, recorder, run)
    tape = recorder.tape()
    replayer = Replayer(tape, runs)
    here = play(algorithm, second, replayer, run)
    replayer.finish()
    same = alike(there.actions, here.actions, -1)
    published = alike(there.released, here.released, np.nan)
    for wrong, why in (
        (_undrawn(there.released, tape), Divergence.UNDRAWN),
        (~same, Divergence.ACTIONS),
        (~published, Divergence.PUBLISHED),
    ):
        for index in np.flatnonzero(wrong & np.isfinite(replayer.cost)).tolist():
            replayer.diverged[index] = why
            replayer.cost[index] = replayer.loss[index] = replayer.square[index] = np.inf
    done = Replay(replayer.cost, replayer.loss, replayer.diverged, tape, replayer.square, replayer.matrices)
    if isinstance(pair, Pair) and pair.size > 1 and len(tape.hidden.address):
        return _chained(algorithm, pair.steps(), done, seed=seed, sign=sign, turned=turned)
    return done


def _chained(
    algorithm: Algorithm, steps: Sequence[AnyPair], whole: Replay, *, seed: int, sign: int, turned: bool
) -> Replay:
    """A replay between inputs that differ in several events, its cost taken one event at a time if finite.

    A mechanism that hides its noise declares how to shift it for one event. Proofs for single events add up
    along a chain of neighbours, while a shift for one of them need not carry over all of them at once.
    """
    runs = len(whole.cost)
    parts = [replay(algorithm, step, seed=seed, sign=sign, runs=runs, turned=turned) for step in steps]
    cost = np.sum([part.cost for part in parts], axis=0)
    better = np.isfinite(cost) & ~np.isfinite(whole.cost)
    return replace(
        whole,
        cost=np.where(better, cost, whole.cost),
        loss=np.where(better, np.sum([part.loss for part in parts], axis=0), whole.loss),
        square=np.where(better, np.sum([np.sqrt(part.square) for part in parts], axis=0) ** 2, whole.square),
        diverged={run: why for run, why in whole.diverged.items() if not better[run]},
    )


def _undrawn(released: FloatArray, tape: Tape) -> BoolArray:
    """Runs that published something but are not on the tape: they used the draws of another run."""
    drew = np.zeros(len(released), bool)
    for entries in (tape.releases, tape.hidden):
        drew[entries.address[:, 0]] = True
    return np.asarray(np.isfinite(released).any(axis=1) & ~drew)


# ---------------------------------------------------------------- likelihoods of many transcripts
