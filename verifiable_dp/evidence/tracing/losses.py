"""A score from latent noise: what traced runs give away, by the arm that each round plays.

The loss of a traced run is the log ratio of all that it drew. Its mean over the runs that play alike
estimates what their actions give away. It is a sum over releases, and each is averaged over the runs that
play one arm in the next round alone: what the others add to the variance cancels.

References
----------
Brehmer, Louppe, Pavez & Cranmer (2020), Mining gold from implicit models to improve likelihood-free
inference.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.validate import FloatArray, IntArray
from verifiable_dp.evidence.blackbox.scores import MetScore, Rounds
from verifiable_dp.evidence.tracing.subjects import TracedBandit
from verifiable_dp.evidence.tracing.trace import Traced

_MOST = 8.0  # of a release's loss: one that tells the worlds apart by itself would hide the others


def learn_losses(subject: TracedBandit, pair: TablePair, runs: int, seed: int) -> MetScore | None:
    """Learn from `runs` traced runs of either world; None where one of them has no finite loss."""
    actions, losses = [], []
    there = TablePair(pair.worlds()[1], pair.round, pair.arm, pair.left[pair.round, pair.arm], pair.bounds)
    for world, way in enumerate((pair, there)):
        for run in range(runs):
            traced = subject.trace(way, seed + 2 * run + world)
            if not _told(traced):
                return None
            played = np.asarray(traced.here.output, np.int64)
            if played[pair.round] == pair.arm:
                actions.append(played)
                losses.append((1 - 2 * world) * by_round(traced, subject.horizon))
    if not actions:
        return None
    return MetScore(_means(np.stack(actions), np.stack(losses), subject.n_arms, 2 * runs))


def _told(traced: Traced) -> bool:
    """Whether all that a run gives away is known, and finite."""
    loss = traced.loss
    return not traced.here.failure and loss.same_output and not traced.flipped and math.isfinite(loss.total)


def by_round(traced: Traced, horizon: int) -> FloatArray:
    """What a run gives away right before each round, (T,): after it read the rewards of the one before."""
    found = np.zeros(horizon)
    each = np.clip(traced.loss.each[:, 0], -_MOST, _MOST)
    rows = [(-1, 0), *traced.here.ledger.rows, (horizon, len(each))]
    for (row, start), (_, end) in itertools.pairwise(rows):
        found[min(row + 1, horizon - 1)] += each[start:end].sum()
    return found


def _means(actions: IntArray, losses: FloatArray, n_arms: int, runs: int) -> Rounds:
    """Mean loss of each round by the arm played in it; of few runs it is moved towards that of all."""
    slopes = np.zeros((actions.shape[1], n_arms))
    for when, (arms, paid) in enumerate(zip(actions.T, losses.T, strict=True)):
        for arm in range(n_arms):
            slopes[when, arm] = (paid[arms == arm].sum() + paid.mean()) / ((arms == arm).sum() + 1)
    return Rounds(np.round(slopes, 9), f"losses of {runs} traced runs")
