"""Rung 2: the exact law of the actions on both inputs, where releases are only compared.

`machine` unfolds the algorithm on each input, `race` gives the law of one comparison, and the product along
a path is the probability of that sequence of actions. Paths are followed in the order of their probability;
those below a cut stay prefixes, events like the others, whose mass is stated as the remainder.
"""

from __future__ import annotations

import contextlib
import functools
import heapq
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.neighbours import AnyPair, InteractivePair
from verifiable_dp.core.validate import BoolArray, FloatArray, InputError, Json, JsonDict
from verifiable_dp.evidence.alignment.replay import at_least, exceeds, worlds
from verifiable_dp.evidence.alignment.searching import plain
from verifiable_dp.evidence.blackbox.machine import Machine, Node, UnsupportedError
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.exact import limits, race
from verifiable_dp.evidence.fields import (
    Count,
    Delta,
    Direction,
    Loss,
    Positive,
    Probability,
    Real,
    Recorded,
    Verdict,
    said,
)
from verifiable_dp.evidence.rounding import ROUNDED
from verifiable_dp.evidence.words import digits

CUT = 1e-30
MOST_NODES = 4000
_ROUNDING = 1e-12  # a delta below it is rounding

# ---------------------------------------------------------------- one node


class ExactPair(Recorded, frozen=True):
    """The distributions of the actions on two inputs, compared."""

    pair: str
    pair_number: Count
    epsilon: Annotated[Loss, said("Largest loss of an action sequence.")]
    epsilon_at_delta: Annotated[Loss, said("Least epsilon at the claimed delta.")]
    likely: Annotated[Loss, said("Largest log-ratio of an event of probability 1e-6 or more.")] = (
        msgspec.field(name="epsilon_at_1e-6")
    )
    delta: Annotated[Probability, said("Hockey-stick divergence at the claimed epsilon, at least.")]
    delta_upper: Probability
    remainder: Annotated[Probability, said("Probability of the paths that were not followed.")]
    leaves: Count
    direction: Direction
    path: Annotated[str, said("Active arms of each block of the costliest sequence.")]
    log_probabilities: tuple[Real, Real]


class ExactStatistics(Recorded, frozen=True):
    """The distributions of the actions on pairs of inputs, and the claim."""

    observe: Literal["actions"]
    epsilon: Positive
    delta: Delta
    pairs: Annotated[tuple[ExactPair, ...], Meta(min_length=1)]


class ExactResult(Recorded, frozen=True):
    """What follows, of the worst pair."""

    verdict: Verdict
    epsilon_lower: Loss
    delta_lower: Probability
    delta_upper: Probability
    remainder: Probability
    pair_number: Count
    path: str
    direction: Direction


EXACT = Kind(
    "exact",
    "privacy",
    "exact distribution of the actions on both inputs, by quadrature",
    short="the exact distribution",
    rank=50,
    counts=True,
    statistics=ExactStatistics,
    result=ExactResult,
)


@functools.lru_cache(maxsize=4096)
def _race(
    values: tuple[float, ...], scales: tuple[float, ...], margin: float, slots: tuple[int, ...]
) -> FloatArray:
    v, s = np.array(values), np.array(scales)
    if s.min() > 0 and margin > 0 and len(set(slots)) == len(slots):
        return race.survivors(v, s, margin)[0]
    return race.survivors_in_general(v, s, margin, np.array(slots))


def node_law(node: Node) -> dict[int, float]:
    """Log-probabilities of the bit sets of arms that are removed at a node; what is impossible is left out.

    Raises
    ------
    UnsupportedError
        If sums of several noisy reports are compared, or too many arms.
    """
    arms = np.flatnonzero(node.active)
    if (node.counts[arms] > 0).any():
        raise UnsupportedError(
            "algorithm: it compares sums of many reports, and the noise of such sums is not Laplace"
        )
    if len(arms) > race.MOST_ARMS:
        raise UnsupportedError(f"algorithm: at most {race.MOST_ARMS} arms can be compared, got {len(arms)}")
    if not (np.isfinite(node.margin) and node.margin >= 0):
        raise UnsupportedError(f"algorithm: its margin must be finite and at least 0, got {node.margin}")
    if not (np.isfinite(node.values[arms]).all() and (node.scales[arms] >= 0).all()):
        raise UnsupportedError("algorithm: it compares sums that are not finite, or its noise has no scale")
    columns = (tuple(column[arms].tolist()) for column in (node.values, node.scales))
    log_p = _race(*columns, node.margin, tuple(node.slots[arms].tolist()))
    removed = (~race.kept_sets(len(arms))) @ (np.int64(1) << arms)
    return {int(r): float(p) for r, p in zip(removed, log_p, strict=True) if p > -np.inf}


# ---------------------------------------------------------------- laws


@dataclass(frozen=True)
class ActionLaw:
    """Law of the action sequence on two inputs.

    Attributes
    ----------
    paths : tuple
        Codes of the active sets of the blocks, path by path; of a prefix, those played so far and the
        survivors of the last comparison.
    log_p, log_q : (m,) float
        Log-probability of each path on the left and on the right input; -inf where impossible.
    prefix : (m,) bool
        Whether a path was not followed to its end.
    nodes
        Comparisons that were worked out.
    """

    paths: tuple[tuple[int, ...], ...]
    log_p: FloatArray
    log_q: FloatArray
    prefix: BoolArray
    nodes: int

    @property
    def leaves(self) -> int:
        """Paths that were followed to their end."""
        return int((~self.prefix).sum())

    @property
    def remainder(self) -> tuple[float, float]:
        """Probability of the prefixes on the left and on the right input."""
        p, q = (math.fsum(np.exp(law[self.prefix]).tolist()) for law in (self.log_p, self.log_q))
        return p, q

    @property
    def log_ratio(self) -> FloatArray:
        """log(P / Q) of each path, (m,)."""
        return limits.log_ratio(self.log_p, self.log_q)

    @property
    def worst(self) -> int:
        """Number of the path with the largest privacy loss."""
        return int(np.argmax(np.abs(self.log_ratio)))

    @property
    def epsilon(self) -> float:
        """The largest privacy loss of a path: exact epsilon but for what prefixes may hide; may be inf."""
        return float(np.abs(self.log_ratio[self.worst]))

    def epsilon_at(self, floor: float) -> float:
        """The largest log-ratio of an event with probability at least `floor` in the world it speaks for."""
        best = 0.0
        for one, zero in ((self.log_p, self.log_q), (self.log_q, self.log_p)):
            order = np.argsort(-limits.log_ratio(one, zero), kind="stable")
            p, q = (np.logaddexp.accumulate(law[order]) for law in (one, zero))
            often = p >= math.log(floor)
            if often.any():
                best = max(best, float(np.max(p[often] - q[often])))
        return best

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Bounds on delta at `epsilon`, both directions: prefixes may add at most their mass."""
        both = ((self.log_p, self.log_q), (self.log_q, self.log_p))
        least = [limits.hockey_stick(*laws, epsilon) for laws in both]
        return max(least), max(d + r for d, r in zip(least, self.remainder, strict=True))

    def epsilon_of(self, delta: float) -> float:
        """The least epsilon at which delta suffices, both directions."""
        return max(
            limits.epsilon_of(self.log_p, self.log_q, delta), limits.epsilon_of(self.log_q, self.log_p, delta)
        )

    def best_event(self, runs: int, level: float = 0.05, *, delta: float = 0.0) -> limits.BestEvent:
        """The best that a test of `runs` runs a side can look at; see `limits.best_event`."""
        return limits.best_event(self.log_p, self.log_q, runs, level, delta=delta)

    def words(self, number: int) -> str:
        """A path as the arms of each of its blocks."""
        sets = [
            "{" + ", ".join(str(arm) for arm in range(code.bit_length()) if code >> arm & 1) + "}"
            for code in self.paths[number]
        ]
        return " > ".join([*sets, "..."] if self.prefix[number] else sets)


@dataclass(frozen=True)
class _Place:
    """The same path on both inputs: a node of each machine, None where the path is impossible."""

    left: int | None
    right: int | None
    log_p: float
    log_q: float
    slots: frozenset[int]


def law(algorithm: Algorithm, pair: AnyPair, *, cut: float = CUT, most: int = MOST_NODES) -> ActionLaw:
    """Law of the actions on both inputs of `pair`.

    Parameters
    ----------
    algorithm
        One whose releases are only compared (`Algorithm.margin`).
    pair
        Tables or streams.
    cut
        Paths less likely than this on both inputs are not followed.
    most
        Comparisons that are worked out at most, the likeliest paths first.

    Raises
    ------
    UnsupportedError
        If the algorithm is of another form, if the pair is interactive, or if a draw is used twice on a
        path, so that comparisons are not independent.
    """
    if isinstance(pair, InteractivePair):
        raise UnsupportedError(
            "pair: exact distributions are computed only for tables, not for interactive adversaries"
        )
    left, right = (Machine(algorithm, data) for data in worlds(pair, algorithm.n_arms, 1))
    return law_of(left, right, cut=cut, most=most)


def law_of(left: Machine, right: Machine, *, cut: float = CUT, most: int = MOST_NODES) -> ActionLaw:
    """As `law`, of machines that are there already."""
    found: dict[tuple[tuple[int, ...], int], tuple[float, float]] = {}

    def add(codes: tuple[int, ...], removed: int, log_p: float, log_q: float) -> None:
        before = found.get((codes, removed), (-np.inf, -np.inf))
        found[codes, removed] = (float(np.logaddexp(before[0], log_p)), float(np.logaddexp(before[1], log_q)))

    ties = itertools.count()
    heap: list[tuple[float, int, _Place]] = []

    def push(place: _Place) -> None:
        for part in _parted(left, right, place):
            node = _node(left, right, part)
            if node.leaf:
                add(node.codes, 0, part.log_p, part.log_q)
            else:
                heapq.heappush(heap, (-max(part.log_p, part.log_q), next(ties), part))

    push(_Place(0, 0, 0.0, 0.0, frozenset()))
    worked, log_cut = 0, math.log(cut)
    while heap:
        _, _, place = heapq.heappop(heap)
        node = _node(left, right, place)
        if worked >= most:
            add(node.codes, -1, place.log_p, place.log_q)
            continue
        worked += 1
        slots = _spent(node, place.slots)
        laws = [
            {} if number is None else node_law(machine.nodes[number])
            for machine, number in ((left, place.left), (right, place.right))
        ]
        for removed in sorted(laws[0].keys() | laws[1].keys()):
            log_p = place.log_p + laws[0].get(removed, -np.inf)
            log_q = place.log_q + laws[1].get(removed, -np.inf)
            if max(log_p, log_q) < log_cut:
                add(node.codes, 1 + removed, log_p, log_q)
                continue
            children = [
                None if number is None or logs == -np.inf else machine.child(number, removed)
                for machine, number, logs in ((left, place.left, log_p), (right, place.right, log_q))
            ]
            push(_Place(children[0], children[1], log_p, log_q, slots))
    keys = sorted(found)
    logs = np.array([found[key] for key in keys])
    return ActionLaw(
        tuple(_path(*key) for key in keys),
        np.minimum(logs[:, 0], 0.0),
        np.minimum(logs[:, 1], 0.0),
        np.array([removed != 0 for _, removed in keys]),
        worked,
    )


def _path(codes: tuple[int, ...], removed: int) -> tuple[int, ...]:
    """Codes of a path; where one ends with a removal that is not followed, with the survivors of it."""
    return (*codes, codes[-1] & ~(removed - 1)) if removed > 0 else codes


def _node(left: Machine, right: Machine, place: _Place) -> Node:
    """The node of the input on which the path is possible."""
    if place.left is not None:
        return left.nodes[place.left]
    assert place.right is not None, "paths that are impossible on both inputs are left out"
    return right.nodes[place.right]


def _parted(left: Machine, right: Machine, place: _Place) -> list[_Place]:
    """The place itself, or one for each input where these lead to different actions."""
    if place.left is None or place.right is None:
        return [place]
    here, there = left.nodes[place.left], right.nodes[place.right]
    if here.codes == there.codes and here.leaf == there.leaf:
        return [place]
    return [
        _Place(place.left, None, place.log_p, -np.inf, place.slots),
        _Place(None, place.right, -np.inf, place.log_q, place.slots),
    ]


def _spent(node: Node, before: frozenset[int]) -> frozenset[int]:
    """The draws used on the way; a draw that comes again is refused."""
    now = frozenset(node.slots[node.active & (np.nan_to_num(node.scales) > 0)].tolist())
    if now & before:
        raise UnsupportedError("algorithm: it uses a draw in two comparisons, so they are not independent")
    return before | now


# ---------------------------------------------------------------- the check


def describe(number: int, pair: AnyPair, known: ActionLaw, claim: PrivacyClaim) -> JsonDict:
    """What a record says of the law of one pair, in plain values."""
    worst = known.worst
    least, most = known.delta(claim.epsilon)
    p, q = known.log_p[worst], known.log_q[worst]
    return {
        "pair": pair.describe(),
        "pair_number": number,
        "epsilon": plain(known.epsilon),
        "epsilon_at_delta": plain(known.epsilon_of(claim.delta)) if claim.delta else plain(known.epsilon),
        "epsilon_at_1e-6": plain(known.epsilon_at(1e-6)),
        "delta": least,
        "delta_upper": min(most, 1.0),
        "remainder": max(known.remainder),
        "leaves": known.leaves,
        "direction": "world 0 over world 1" if p >= q else "world 1 over world 0",
        "path": known.words(worst),
        "log_probabilities": [plain(float(p)), plain(float(q))],
    }


def check(
    algorithm: Algorithm,
    pairs: Sequence[AnyPair],
    claim: PrivacyClaim,
    *,
    name: str = "exact law of actions",
) -> Check | None:
    """Exact epsilon, and delta at the claimed epsilon, of the actions on each pair; see `check_of`.

    Actions follow from the releases, so that a refutation counts whatever the adversary sees.
    """
    return check_of(
        name, pairs, claim, lambda number, pair: describe(number, pair, law(algorithm, pair), claim)
    )


def check_of(
    name: str, pairs: Sequence[AnyPair], claim: PrivacyClaim, described: Callable[[int, AnyPair], Json]
) -> Check | None:
    """What is said of each pair whose law can be worked out; None if that is said of none."""
    found = []
    for number, pair in enumerate(pairs):
        with contextlib.suppress(UnsupportedError):
            found.append(described(number, pair))
    about = {"observe": "actions", "epsilon": claim.epsilon, "delta": claim.delta}
    return Check.of(name, "exact", {**about, "pairs": found}) if found else None


def _scales(statistics: Json, result: Json) -> Json:
    """Scales of probabilities and of their logarithms, which are sums of numbers up to 1."""
    logs = dict.fromkeys(("epsilon", "epsilon_at_delta", "epsilon_at_1e-6", "log_probabilities"), 1.0)
    probabilities = dict.fromkeys(("delta", "delta_upper", "remainder"), ROUNDED)
    bounds = dict.fromkeys(("delta_lower", "delta_upper", "remainder"), ROUNDED)
    return {
        "statistics": {"pairs": [{**logs, **probabilities} for _ in statistics["pairs"]]},
        "result": {**bounds, "epsilon_lower": 1.0},
    }


@EXACT.judged_by(_scales)
def _judge(statistics: Json) -> JsonDict:
    """Refuted if a path's loss exceeds epsilon (delta = 0), or the hockey-stick divergence delta."""
    epsilon, delta = float(statistics["epsilon"]), float(statistics["delta"])
    pairs = statistics["pairs"]
    by = "epsilon" if delta == 0 else "epsilon_at_delta"
    worst = max(pairs, key=lambda pair: float(pair[by]))
    if delta == 0:
        refuted = exceeds(float(worst["epsilon"]), epsilon)
    else:
        worst = max(pairs, key=lambda pair: float(pair["delta"]))
        refuted = float(worst["delta"]) > delta + _ROUNDING
    return {
        "verdict": "refuted" if refuted else "not_refuted",
        "epsilon_lower": plain(at_least(max(float(pair[by]) for pair in pairs), epsilon)),
        "delta_lower": max(float(pair["delta"]) for pair in pairs),
        "delta_upper": max(float(pair["delta_upper"]) for pair in pairs),
        "remainder": max(float(pair["remainder"]) for pair in pairs),
        "pair_number": worst["pair_number"],
        "path": worst["path"],
        "direction": worst["direction"],
    }


@EXACT.worded_by
def _exact_in_words(numbers: Json, result: Json) -> str:
    found = f"exact epsilon of the actions {digits(result['epsilon_lower'])}"
    return f"{found} over {len(numbers['pairs'])} pairs of inputs, claimed {digits(numbers['epsilon'])}"


def counterexample(found: Check, pairs: Sequence[AnyPair]) -> JsonDict:
    """What refutes, in plain values; `pairs` are those of the check.

    Raises
    ------
    InputError
        If the check does not refute.
    """
    if found.verdict != "refuted":
        raise InputError(f"found must be a check that refutes, got {found.verdict}")
    result = found.result
    return {
        "check": found.name,
        "pair": pairs[int(result["pair_number"])].as_dict(),
        "event": f"actions {result['path']}, {result['direction']}",
        "delta_lower": plain(float(result["delta_lower"])),
        "epsilon_lower": result["epsilon_lower"],
    }
