"""The sampler of production: what a live session draws with, looked at bit by bit.

An audit draws seeded, ideal noise. Here the first release of the audited instance is made with the source of
live sessions (`noise.Secure`), on neighbouring sums, and its outputs are held against each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata

import numpy as np
import numpy.typing as npt

from verifiable_dp.auditing import drafts
from verifiable_dp.auditing.algorithms import AlgorithmCase
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.meter import farthest
from verifiable_dp.core.noise import Secure
from verifiable_dp.core.query import Query
from verifiable_dp.core.validate import FloatArray, InputError, IntArray
from verifiable_dp.evidence.blackbox import numerics as bits
from verifiable_dp.evidence.blackbox.test import Terms
from verifiable_dp.evidence.check import Check
from verifiable_dp.targets.load import DataPair

_RUNS = bits.sizes(1 << 11, 1 << 13)  # each draw is made by itself
_SUMS = (0.0, 0.1)  # by reward; the second one has many bits


@dataclass(frozen=True)
class Production:
    """The first release of an algorithm with the noise of live sessions; a `numerics.Releases`.

    Parameters
    ----------
    algorithm
        With a promise.
    """

    algorithm: Algorithm
    shard: int = 1 << 12

    @property
    def query(self) -> Query:
        """The first block."""
        return self.algorithm.query(self.algorithm.start(np.zeros(1, np.int64)))

    def pairs(self) -> list[DataPair]:
        """Sums by arm that one reward makes differ."""
        query, far = self.query, farthest(self.algorithm, self.query)
        arm = int(np.flatnonzero(query.pulls()[0])[0])
        asked = query.ask.size if query.ask is not None else 1
        found = []
        for reward in _SUMS:
            left = np.full((self.algorithm.n_arms, asked), reward * float(query.rounds[0]))
            right = left.copy()
            right[arm, 0] += far[arm]
            found.append(DataPair(left.ravel(), right.ravel()))
        return found

    def values(self, data: npt.ArrayLike, path: tuple[int, ...], runs: IntArray) -> FloatArray:
        """What is released, (n, m); never the same again."""
        rule, one, many = self.algorithm, np.zeros(1, np.int64), np.zeros(len(runs), np.int64)
        query, shape = self.query, (self.algorithm.n_arms, -1)
        answer = np.repeat(np.asarray(data, np.float64).reshape(1, *shape), len(runs), axis=0)
        answer = answer[:, :, 0] if query.ask is None or query.ask.size == 1 else answer
        _, released = rule.release(
            rule.start(one).take(many), rule.private(one).take(many), query.take(many), answer, Secure()
        )
        return np.nan_to_num(np.asarray(released, np.float64).reshape(len(runs), -1))


def last_bits(case: AlgorithmCase) -> None:
    """The floats that a live session shows: their last bits may tell inputs apart."""
    settings, production = case.request.settings, Production(case.request.target)
    if not production.query.complete[0]:
        raise InputError("numerics: the instance releases nothing; give it a longer horizon")
    terms = Terms(case.claim, settings.seed, 1, settings.alpha, settings.confidence, 1)
    check, chosen = bits.check(production, production.pairs(), _RUNS, terms)
    sampler = f"OpenDP {metadata.version('opendp')}, as a live session draws with it"
    check = Check.of(check.name, check.kind, {**check.statistics, "sampler": sampler})
    case.checks.append(check)
    case.counterexamples += drafts.counterexamples([check], {}, chosen)
