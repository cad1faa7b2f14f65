"""Lazy DP-TS played in blocks: rounds in which the leader surely has the largest draw are skipped.

Between two releases the draw of an arm is the quantile, at a fresh uniform, of a law that only grows with t.
For any c the leader plays if its draw is at least c and no other arm's exceeds c. In a window of rounds this
may fail only if the leader's uniform is one that gives less than c in the first round, or another arm's one
that gives more than c in the last round. The chances of these K events are the same in every round, so the
number of rounds until one of them happens is geometric. We draw only then, given that one has happened.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import betaincc, betainccinv, betaincinv

from verifiable_dp.algorithms._episodes import EDGE, TurnState
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.query import Data, Query
from verifiable_dp.core.validate import FloatArray, IntArray

Posterior = Callable[[IntArray], tuple[FloatArray, FloatArray]]
_LEVELS = np.geomspace(1e-1, 1e-14, 27)  # chances of the leader's draw to lie below c: the best c is taken
_MOST = 4096  # rounds whose draws are made at once
_FEW = 8  # that are drawn without asking whether fewer would do
_WIDEST, _HALVINGS = 1 << 50, 16  # rounds of a window


class Sampling(Protocol):
    """The algorithm to play, which draws from posteriors of the last batches."""

    @property
    def n_arms(self) -> int:
        """Number of arms."""

    @property
    def horizon(self) -> int:
        """Number of rounds."""

    @property
    def mechanism(self) -> Laplace:
        """Mechanism for the sum of a batch."""

    def size(self, pulls: IntArray) -> IntArray:
        """Rewards of the batch that is full after so many pulls."""

    def next_full(self, pulls: IntArray) -> IntArray:
        """After how many pulls the open batch ends."""

    def posterior(self, state: TurnState) -> tuple[FloatArray, FloatArray]:
        """Parameters of the Beta laws, each (n, K)."""


@dataclass(frozen=True)
class _Block:
    """Rounds that the leader plays, but for those at `places`, in which `arms` are played.

    The last round fills a batch of the arm `full`, or of none if that is -1.
    """

    lead: int
    arms: IntArray
    places: IntArray
    length: int
    full: int

    def pulled(self, rounds: int, pulls: IntArray) -> IntArray:
        """`pulls` (K,) after so many of its rounds."""
        others = self.arms[: np.searchsorted(self.places, rounds)]
        counted = pulls + np.bincount(others, minlength=len(pulls))
        counted[self.lead] += rounds - len(others)
        return counted


_NONE = np.zeros(0, np.int64)


def played(
    rule: Sampling, data: Data, rng: np.random.Generator, times: IntArray
) -> tuple[IntArray, IntArray]:
    """Pulls of one run at the horizon, (K,), and after `times`, (C, K), in the law of the definition."""
    k, t = rule.n_arms, 0
    pulls, estimate, at = np.zeros(k, np.int64), np.zeros(k), np.zeros((len(times), k), np.int64)
    while t < rule.horizon:
        block = _Block(t, _NONE, _NONE, 1, t) if t < k else _block(rule, rng, t, pulls, estimate)
        for mark in np.flatnonzero((times > t) & (times <= t + block.length)).tolist():
            at[mark] = block.pulled(int(times[mark]) - t, pulls)
        pulls = block.pulled(block.length, pulls)
        t += block.length
        if block.full >= 0:
            estimate[block.full] = _mean(rule, data, rng, block.full, pulls)
    return pulls, at


def _mean(rule: Sampling, data: Data, rng: np.random.Generator, arm: int, pulls: IntArray) -> float:
    """Noisy mean of the batch that an arm has filled; nothing was decided by its rewards before."""
    size = rule.size(pulls)[arm]
    here = np.arange(len(pulls)) == arm
    query = Query(np.zeros(1, np.int64), np.full(1, size), here[None], np.ones(1, bool))
    total = float(data.answer(query, np.zeros(1, np.int64))[0, arm])
    return (total + rng.laplace(scale=rule.mechanism.scale)) / float(size)


def _block(rule: Sampling, rng: np.random.Generator, t: int, pulls: IntArray, estimate: FloatArray) -> _Block:
    """The rounds from t on, up to the next release at most."""
    need = rule.next_full(pulls) - pulls
    width = min(rule.horizon - t, t // 2 + 1, int((need - 1).sum()) + 1, _WIDEST)
    posterior = functools.partial(_posterior, rule, pulls, estimate)
    lead, zones, width = _zones(posterior, t, width)
    places, ends = _places(rng, zones, width)
    arms = _draws(rng, lead, zones, *posterior(t + places))
    places, arms = places[arms != lead], arms[arms != lead]
    full = -1
    before = int(np.searchsorted(places - np.arange(len(places)), need[lead]))
    if need[lead] + before <= ends:
        ends, full = int(need[lead]) + before, lead
    for arm in range(rule.n_arms):
        own = places[arms == arm]
        if len(own) >= need[arm] and own[need[arm] - 1] < ends:
            ends, full = int(own[need[arm] - 1]) + 1, arm
    return _Block(lead, arms, places, ends, full)


def _posterior(
    rule: Sampling, pulls: IntArray, estimate: FloatArray, t: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Parameters of the draws in rounds t (n,), each (n, K)."""
    shape = (len(t), len(pulls))
    state = TurnState(
        t, t, np.broadcast_to(pulls, shape), np.broadcast_to(estimate, shape), np.zeros(shape, bool)
    )
    return rule.posterior(state)


def _zones(posterior: Posterior, t: int, widest: int) -> tuple[int, FloatArray, int]:
    """The leader in round t, the chances (K,) of the events without which it plays, and for how many rounds.

    A window is halved until its chances are at most about twice those of its first round.
    """
    a, b = posterior(np.full(1, t))
    lead = int((a[0] / (a[0] + b[0])).argmax())
    c = betaincinv(a[0, lead], b[0, lead], _LEVELS)
    zones = betaincc(a[0][:, None], b[0][:, None], c)
    zones[lead] = _LEVELS
    chances = _any(zones.T)
    best = int(chances.argmin())
    widths = np.unique(np.maximum(widest >> np.arange(_HALVINGS), 1))
    zones = betaincc(*posterior(t + widths - 1), c[best])
    zones[:, lead] = _LEVELS[best]
    found = _any(zones)
    narrow = np.flatnonzero((found <= 2 * chances[best]) | (found * widths <= _FEW))
    j = narrow[-1] if len(narrow) else 0
    return lead, zones[j], int(widths[j])


def _any(zones: FloatArray) -> FloatArray:
    """Chance that at least one of independent events (n, K) happens, (n,)."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(np.log1p(-zones).sum(axis=1)))


def _places(rng: np.random.Generator, zones: FloatArray, width: int) -> tuple[IntArray, int]:
    """Rounds of a window in which at least one event happens, and up to where they are known."""
    chance = float(_any(zones[None])[0])
    number = min(int(2 * chance * width) + _FEW, _MOST)
    places = np.minimum(rng.geometric(chance, number), width + 1).cumsum() - 1
    return places[places < width], min(int(places[-1]) + 1, width)


def _draws(rng: np.random.Generator, lead: int, zones: FloatArray, a: FloatArray, b: FloatArray) -> IntArray:
    """Arms (n,) of the largest draws from Beta(a, b), (n, K), given that in each row an event happens."""
    u, arm = rng.random(a.shape), np.arange(len(zones))
    chances = zones * np.cumprod(np.r_[1.0, 1 - zones[:-1]])
    first = np.searchsorted(chances.cumsum() / chances.sum(), rng.random(len(a)))[:, None]
    u = np.where(arm < first, zones + (1 - zones) * u, np.where(arm == first, zones * u, u))
    u = np.clip(u, EDGE, 1 - EDGE)
    drawn = np.exp(np.where(arm == lead, np.log(u), np.log1p(-u)) / a)  # where b is 1, its mean being clipped
    for own, quantile in ((arm == lead, betaincinv), (arm != lead, betainccinv)):
        row, column = np.nonzero((b > 1) & own)
        drawn[row, column] = quantile(a[row, column], b[row, column], u[row, column])
    return np.asarray(drawn.argmax(axis=1))
