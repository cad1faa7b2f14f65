"""Auditor of adaptive tree sums: the mechanism under DP Robust UCB, by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from verifiable_dp._validate import FloatArray
from verifiable_dp.algorithm import Memory, Query, State
from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.adaptive_tree import AdaptiveTreeSum
from verifiable_dp.auditing.auditor import Auditor, Mutant, Printed
from verifiable_dp.auditing.theorems import TRIALS
from verifiable_dp.auditing.wrapped import AlteredNoise, original, with_parameters
from verifiable_dp.auditors import _index as family
from verifiable_dp.auditors._shared import HALF_NOISE, NO_NOISE, noise_times
from verifiable_dp.auditors.tree_sum import GAMMA, Total, error_bound
from verifiable_dp.claims import RegretClaim, Source
from verifiable_dp.evidence import regret as evidence
from verifiable_dp.evidence.check import Check
from verifiable_dp.neighbours import StreamPair
from verifiable_dp.noise import Noise

INSTANCE: dict[str, Any] = {"epsilon": 1.0, "horizon": 64, "v": 1.0, "u": 1.0}


def error_limit(rule: AdaptiveTreeSum, gamma: float) -> float:
    """Largest error of any prefix sum, with probability 1 - gamma: that of a tree with bound 2 B_T."""
    return 2 * float(rule.mechanism.limit(rule.horizon)) * error_bound(rule.horizon, rule.epsilon, gamma)


def regret(algorithm: Any, budget: str, seed: int, workers: int) -> Iterator[Check]:
    """The error of all prefix sums together; the same at every budget but for the number of runs."""
    rule = original(algorithm)
    bound = error_limit(rule, GAMMA)
    error = family.largest_tree_error(algorithm, TRIALS[budget], seed)
    yield evidence.probability(
        f"lemma-2 over {rule.horizon} items",
        error > bound,
        probability=GAMMA,
        claim="lemma-2",
        horizon=rule.horizon,
        epsilon=rule.epsilon,
        bound=bound,
    )


def moved(algorithm: Any, item: int, times: float = 1.0) -> StreamPair:
    """Item number `item` moves from -B to B, or from that multiple of it."""
    limit = times * float(algorithm.mechanism.limit(item))
    stream = np.zeros(algorithm.horizon)
    stream[item - 1] = -limit
    return StreamPair(stream, item - 1, limit, 1, (-limit, limit))


def pairs(algorithm: Any) -> list[StreamPair]:
    """The costliest item, the first one, and one far outside the truncation, which must cost nothing."""
    worst = original(algorithm).mechanism.worst()
    return [moved(algorithm, worst), moved(algorithm, 1), moved(algorithm, 1, 20.0)]


class Untruncated(AdaptiveTreeSum):
    """Inserts items as they are."""

    def query(self, state: State) -> Query:
        """Asks for plain sums."""
        return replace(super().query(state), ask=None)


class Redrawn(AdaptiveTreeSum):
    """Releases the whole prefix sum each time, with the noise of one node."""

    def private(self, run: Any) -> Total:  # type: ignore[override]
        """Nothing yet."""
        return Total(np.zeros((len(run), 1)))

    def release(
        self, state: State, memory: Any, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Sum so far plus fresh noise."""
        total = memory.total + answer
        slot = (state.t + 1)[:, None]
        return Total(total), noise.laplace(total, self.mechanism.scales(slot), state.run, slot, query.active)


class SmallestLimit(AdaptiveTreeSum):
    """Adds to every node the noise that fits the first item."""

    def release(
        self, state: State, memory: Any, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """The completed node with Lap(2 B_1 L/epsilon)."""
        tree = replace(self.mechanism, factor=float(self.mechanism.limit(1)), power=0.0)
        return tree.insert(memory, answer, noise, state.run, query.active)


def _printed(algorithm: Any) -> AlteredNoise:
    printed = with_parameters(algorithm, variant="printed").mechanism
    return AlteredNoise(algorithm, printed.divisor / original(algorithm).mechanism.divisor)


_MUTANTS: Sequence[Mutant] = (
    HALF_NOISE,
    NO_NOISE,
    Mutant("budget log T", "a node gets epsilon / log T (natural), as printed", _printed),
    Mutant(
        "one draw for all nodes",
        "every node gets the same noise, so that differences of nodes are exact",
        lambda algorithm: AlteredNoise(algorithm, reslot=family.same_node),
    ),
    Mutant(
        "re-drawn",
        "the whole prefix sum is released each time, at the price of one node",
        lambda algorithm: Redrawn(**algorithm.parameters),
    ),
    Mutant(
        "no truncation",
        "items are inserted as they are",
        lambda algorithm: Untruncated(**algorithm.parameters),
    ),
    Mutant(
        "noise of the first item",
        "later items, which may be larger, get the noise that fits the first one",
        lambda algorithm: SmallestLimit(**algorithm.parameters),
    ),
    Mutant(
        "tenfold noise",
        "the noise is ten times what privacy needs",
        noise_times(10.0, "", "").make,
        "regret",
        "lemma-2 over 1024 items",
    ),
)

CLAIMS = (
    RegretClaim(
        "lemma-2",
        "With probability 1 - gamma no prefix sum is off by more than the formula.",
        "2 B_T L/epsilon max(sqrt(L), sqrt(l)) sqrt(8 l), L = floor(log2 T) + 1, l = log(2T/gamma)",
        Source(
            papers.TAO,
            "Lemma 2 (3)",
            "derived, for all t at once. Printed for one t: 2 B_t log^1.5 T log(1/delta)/epsilon, which at "
            "delta = .1 and t = T - 1 is exceeded with probability .17 for items in one range and T = 2^10",
        ),
        "probability",
        error_limit,
    ),
)

auditor = Auditor(
    algorithm=AdaptiveTreeSum,
    paper=papers.TAO,
    model="central",
    instance=INSTANCE,
    small={**INSTANCE, "horizon": 16},
    pairs=pairs,
    mutants=_MUTANTS,
    claims=CLAIMS,
    regret=regret,
    experiment={"epsilon": 1.0, "horizon": 1024, "v": 0.5, "u": 1.0},
    longest=1023,
    tightness=max(AdaptiveTreeSum(**INSTANCE).mechanism.cost(item) for item in range(1, 65)),
    printed=Printed("refuted"),
    worst_cost=lambda algorithm: algorithm.mechanism.cost(algorithm.mechanism.worst()),
)
