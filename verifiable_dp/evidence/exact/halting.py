"""Rung 2 for rules that halt at their first positive comparison: the exact distribution of the halting time.

On a fixed input a rule of the sparse vector technique compares known gaps g_1, g_2, … plus noise with one
noisy threshold. Given the threshold's noise the comparisons are independent, so that

    P(halt at check k) = int f(rho) prod_{j<k} P(g_j + nu_j < rho) P(g_k + nu_k >= rho) d rho

is a one-dimensional integral, worked out in log space between the kinks of its integrand. What is released at
the halt with noise of its own adds |v - v'| / scale, a loss that its tails reach on either side. The gaps are
read off the algorithm's own definition.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import logsumexp

from verifiable_dp.core.algorithm import Algorithm, Data, Memory, Query, State
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.neighbours import AnyPair, InteractivePair
from verifiable_dp.core.noise import Draw, Hidden
from verifiable_dp.core.validate import BoolArray, FloatArray, Json
from verifiable_dp.evidence.alignment.replay import worlds
from verifiable_dp.evidence.alignment.searching import plain
from verifiable_dp.evidence.blackbox.machine import UnsupportedError
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.exact.law import check_of

_RUN = np.zeros(1, np.int64)
_SURE = 1e120  # hidden noise that decides every comparison
_TAIL = 40.0  # scales beyond the last kink
_POINTS = 12  # of Gauss and Legendre, a panel
# What is released: so many times the value plus so many scales, a place far from it, near it, or near zero.
_PLACES = ((1.0, 0.7), (1.0, -5.2), (0.0, 0.0123), (1.0, 9.0), (1.0, -1.3), (1.0, 2.9), (1.0, -14.0))
_TRIES = 3  # places that are tried at each check


@dataclass
class _Probe:
    """Decides every comparison, adds known numbers to releases or forces them, and writes it all down."""

    halts: bool
    place: tuple[float, float] = (1.0, 0.0)
    forced: list[FloatArray] | None = None
    thresholds: list[float] = field(default_factory=list)
    scales: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    values: list[tuple[FloatArray, FloatArray]] = field(default_factory=list)
    outputs: list[FloatArray] = field(default_factory=list)
    slots: list[int] = field(default_factory=list)

    def __call__(self, draw: Draw) -> FloatArray:
        value, scale, where = draw.value, draw.scale, draw.where
        if draw.count is not None:
            raise UnsupportedError("algorithm: it releases sums of many reports when it halts")
        if draw.hidden is not None:
            self.slots += draw.slot[where].tolist()
            return self._kept(draw.hidden, scale, where)
        if not where.any():
            return np.full(value.shape, np.nan)
        if self.forced is None:
            weight, draws = self.place
            out = np.where(where, weight * value + draws * np.where(scale > 0, scale, 1.0), np.nan)
            out = np.where(scale > 0, out, value)
        else:
            if len(self.outputs) >= len(self.forced) or self.forced[len(self.outputs)].shape != value.shape:
                raise UnsupportedError("algorithm: its releases differ between the inputs")
            out = self.forced[len(self.outputs)]
        self.outputs.append(out)
        self.slots += draw.slot[where].tolist()
        self.values.append((value[where], scale[where]))
        return out

    def _kept(self, hidden: Hidden, scale: FloatArray, where: BoolArray) -> FloatArray:
        """Noise of a threshold, of which nothing comes by itself, or of a comparison with it."""
        if hidden.outcome is None:
            self.thresholds += scale[where].tolist()
            return np.zeros(scale.shape)
        self.scales += scale[where].tolist()
        out = np.full(scale.shape, _SURE if self.halts else -_SURE)
        shown = hidden.outcome(out)
        if "gap" not in shown:
            raise UnsupportedError("algorithm: it does not state the gap of its comparisons")
        self.gaps += shown["gap"][where].tolist()
        return out


@dataclass(frozen=True)
class HaltingLaw:
    """Law of the halting time on a pair.

    Attributes
    ----------
    log_p, log_q : (checks + 1,) float
        Log probabilities of halting at each check, and last of not halting, on the left and right input.
    release : (checks + 1,) float
        Loss that what is released at the halt adds; infinite where an exact value leaks.
    """

    log_p: FloatArray
    log_q: FloatArray
    release: FloatArray

    @property
    def losses(self) -> FloatArray:
        """Largest loss in absolute value of each outcome, (checks + 1,); 0 where both are impossible."""
        both = np.isneginf(self.log_p) & np.isneginf(self.log_q)
        with np.errstate(invalid="ignore"):
            loss = np.abs(self.log_p - self.log_q) + self.release
        return np.where(both, 0.0, loss)

    @property
    def worst(self) -> int:
        """Number of the outcome with the largest loss."""
        return int(np.argmax(self.losses))

    @property
    def epsilon(self) -> float:
        """The largest loss."""
        return float(self.losses[self.worst])

    def delta(self, epsilon: float) -> float:
        """Hockey-stick divergence of the halting time alone, the larger of both directions."""
        p, q = np.exp(self.log_p), np.exp(self.log_q)
        rise = math.exp(epsilon)
        return float(max(np.maximum(p - rise * q, 0).sum(), np.maximum(q - rise * p, 0).sum()))


def _log_below(x: FloatArray, scale: FloatArray) -> FloatArray:
    """log P(nu < x) for Laplace noise; a step at 0 for scale 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = x / scale
        below = math.log(0.5) + np.minimum(ratio, 0.0)
        above = np.log1p(-0.5 * np.exp(-np.maximum(ratio, 0.0)))
    smooth = np.where(x < 0, below, above)
    return np.where(scale > 0, smooth, np.where(x > 0, 0.0, -np.inf))


def _log_at_least(x: FloatArray, scale: FloatArray) -> FloatArray:
    """log P(nu >= x)."""
    smooth = _log_below(-x, np.where(scale > 0, scale, 1.0))
    return np.where(scale > 0, smooth, np.where(x > 0, -np.inf, 0.0))


def halting_law(gaps: FloatArray, scales: FloatArray, threshold: float) -> FloatArray:
    """Log probabilities of halting at each check, and last of not halting, (checks + 1,).

    Parameters
    ----------
    gaps, scales : (checks,) float
        Query minus threshold, and scale of its noise; 0 for none.
    threshold
        Scale of the threshold's noise; 0 for none.
    """
    if threshold > 0:
        nodes, weights = _nodes(gaps, scales, threshold)
        log_weight = np.log(weights) - np.abs(nodes) / threshold - math.log(2 * threshold)
    else:
        nodes, log_weight = np.zeros(1), np.zeros(1)
    x = nodes[:, None] - gaps
    on = np.cumsum(np.hstack([np.zeros((len(nodes), 1)), _log_below(x, scales)]), axis=1)
    at = np.hstack([_log_at_least(x, scales), np.zeros((len(nodes), 1))])
    with np.errstate(divide="ignore"):
        return np.asarray(logsumexp(log_weight[:, None] + on + at, axis=0))


def _nodes(gaps: FloatArray, scales: FloatArray, threshold: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of Gauss and Legendre on panels between the kinks of the integrand, (m,) each."""
    widest = max(threshold, float(scales.max(initial=0.0)))
    narrow = min([threshold, *scales[scales > 0].tolist()])
    kinks = np.unique(np.append(gaps, 0.0))
    kinks = np.concatenate([[kinks[0] - _TAIL * widest], kinks, [kinks[-1] + _TAIL * widest]])
    # Between kinks the integrand is a sum of exponentials that start at either end: panels grow from there.
    grown = 2 * narrow * (2.0 ** np.arange(1, 40) - 1)
    parts = []
    for low, high in itertools.pairwise(kinks):
        inside = grown[grown < (high - low) / 2]
        parts += [[low], low + inside, np.sort(high - inside)]
    edges = np.concatenate([*parts, kinks[-1:]])
    points, weights = np.polynomial.legendre.leggauss(_POINTS)
    half = np.diff(edges) / 2
    nodes = (edges[:-1] + half)[:, None] + half[:, None] * points
    return nodes.ravel(), (half[:, None] * weights).ravel()


@dataclass
class _Side:
    """One input, and what its rule was seen to do."""

    data: Data
    memory: Memory
    gaps: list[float] = field(default_factory=list)
    scales: list[float] = field(default_factory=list)
    thresholds: list[float] = field(default_factory=list)
    slots: list[int] = field(default_factory=list)


def law(algorithm: Algorithm, pair: AnyPair) -> HaltingLaw:
    """The law on both inputs of a pair.

    Raises
    ------
    UnsupportedError
        If the algorithm compares nothing with a hidden threshold, draws several, releases before it halts or
        goes on afterwards.
    """
    if isinstance(pair, InteractivePair):
        raise UnsupportedError("pair: an interactive pair has no fixed input")
    sides = [_Side(data, algorithm.private(_RUN)) for data in worlds(pair, algorithm.n_arms, 1)]
    state: State = algorithm.start(_RUN)
    release: list[float] = []
    leaks = 0.0  # infinite once the path itself depends on the input
    while True:
        query = algorithm.query(state)
        if query.rounds[0] <= 0:
            break
        answers = [side.data.answer(query, _RUN) for side in sides]
        going = [_Probe(False) for _ in sides]
        done = [
            algorithm.release(state, side.memory, query, answer, probe)
            for side, answer, probe in zip(sides, answers, going, strict=True)
        ]
        if any(probe.outputs for probe in going):
            raise UnsupportedError("algorithm: it releases values before it halts")
        if len(going[0].gaps) != len(going[1].gaps) or len(going[0].gaps) > 1:
            raise UnsupportedError("algorithm: it compares several values in a block")
        if not np.array_equal(done[0][1], done[1][1], equal_nan=True):
            leaks = math.inf
        if going[0].gaps:
            places = [_PLACES[(len(release) + i) % len(_PLACES)] for i in range(_TRIES)]
            release.append(leaks + _at_halt(algorithm, state, query, sides, answers, places))
        for side, probe, (memory, _) in zip(sides, going, done, strict=True):
            side.memory = memory
            side.gaps += probe.gaps
            side.scales += probe.scales
            side.thresholds += probe.thresholds
            side.slots += probe.slots
        state = algorithm.decide(state, query, done[0][1])
    if not release or any(len(side.thresholds) != 1 for side in sides):
        raise UnsupportedError("algorithm: it does not halt at the first positive comparison")
    logs = [halting_law(np.array(side.gaps), np.array(side.scales), side.thresholds[0]) for side in sides]
    return HaltingLaw(logs[0], logs[1], np.array([*release, leaks]))


def _at_halt(
    algorithm: Algorithm,
    state: State,
    query: Query,
    sides: Sequence[_Side],
    answers: Sequence[FloatArray],
    places: Sequence[tuple[float, float]],
) -> float:
    """Loss of what is released at a halt: the values that differ over their scales, or a leak."""
    loss = 0.0
    for place in places:
        here = _Probe(True, place)
        _, shown = algorithm.release(state, sides[0].memory, query, answers[0], here)
        used = [*sides[0].slots, *here.slots]
        if len(set(used)) < len(used):
            raise UnsupportedError("algorithm: it uses a draw twice, so its comparisons are not independent")
        there = _Probe(True, place, forced=here.outputs)
        _, also = algorithm.release(state, sides[1].memory, query, answers[1], there)
        if len(here.outputs) != len(there.outputs) or shown.shape != also.shape:
            return math.inf
        # Releases are forced, so that a difference can only come from the data.
        if not np.isclose(shown, also, rtol=1e-12, atol=0, equal_nan=True).all():
            return math.inf
        after = algorithm.query(algorithm.decide(state, query, shown))
        if after.rounds[0] > 0:
            raise UnsupportedError("algorithm: it continues after a positive comparison")
        loss = 0.0
        for (value, scale), (other, again) in zip(here.values, there.values, strict=True):
            if not np.array_equal(scale, again):
                return math.inf
            moved = np.abs(value - other)
            if ((scale == 0) & (moved > 0)).any():
                return math.inf
            loss += float((moved[scale > 0] / scale[scale > 0]).sum())
    return loss


def check(
    algorithm: Algorithm,
    pairs: Sequence[AnyPair],
    claim: PrivacyClaim,
    *,
    name: str = "exact distribution of the halting time",
) -> Check | None:
    """Exact epsilon of halting time and final release on each pair; None where no law can be worked out."""
    if claim.delta > 0:
        return None
    return check_of(
        name, pairs, claim, lambda number, pair: _described(number, pair, law(algorithm, pair), claim)
    )


def _described(number: int, pair: AnyPair, known: HaltingLaw, claim: PrivacyClaim) -> Json:
    """As `exact.describe`."""
    worst = known.worst
    p, q = float(known.log_p[worst]), float(known.log_q[worst])
    delta = known.delta(claim.epsilon)
    return {
        "pair": pair.describe(),
        "pair_number": number,
        "epsilon": plain(known.epsilon),
        "epsilon_at_delta": plain(known.epsilon),
        "delta": delta,
        "delta_upper": 1.0,
        "remainder": 0.0,
        "leaves": len(known.log_p),
        "direction": "world 0 over world 1" if p >= q else "world 1 over world 0",
        "path": "no halt" if worst == len(known.log_p) - 1 else f"halt at check {worst + 1}",
        "log_probabilities": [plain(p), plain(q)],
    }
