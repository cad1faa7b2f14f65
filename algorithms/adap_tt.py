"""AdaP-TT: the best arm, found by leader and challenger (Azize, Jourdan, Al Marjani & Basu 2023)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._episodes import Batches, TurnState
from verifiable_dp.core import philox, validate
from verifiable_dp.core.algorithm import Query
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.kernels import kernel, njit
from verifiable_dp.core.mechanisms.tree import SLOT_BITS
from verifiable_dp.core.noise import key_of
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class FoundState(TurnState):
    """Public state of a search for the best arm.

    Attributes
    ----------
    found : (n,) int
        The arm that was found, -1 before.
    stopped : (n,) int
        Rounds after which it was found, 0 before.
    """

    found: IntArray
    stopped: IntArray


@dataclass(frozen=True)
class AdaPTT(Batches):
    r"""Toss a coin to play a leader or its challenger, until one arm is sure to be the best.

    An arm's batches end when its pulls have doubled; with n_a the size of the last one, its estimate is the
    mean of that batch alone with :math:`Lap(1/(\varepsilon n_a))`. After t rounds the leader is the arm with
    the largest :math:`\tilde\mu_a + \sqrt{\log t/(2 n_a)} + \log t/(\varepsilon n_a)`, its challenger the arm
    with the smallest :math:`(\tilde\mu_{lead} - \tilde\mu_a + \log(1 + t)^{-1/4})/\sqrt{1/N_{lead} + 1/N_a}`,
    where N_a is its number of pulls.

    It stops when the largest estimate exceeds every other one by the radii of both, which hold with
    probability 1 - beta together,

    .. math:: \sqrt{\frac{\log x_a}{2 n_a}} + \frac{\log x_a}{\varepsilon n_a},
              \quad x_a = 3 K k_a (k_a + 1)/\beta,

    k_a the number of the arm's batches. The arm that was found plays to the end.

    Parameters
    ----------
    n_arms
        K >= 2.
    epsilon
        Privacy budget of the whole run, event level.
    horizon
        T >= K; a run that has not stopped ends here.
    beta
        Failure probability in (0, 1); the paper's delta.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Sampling is as in the authors' published program. We did not have the paper's stopping
    threshold; this one is ours, by Hoeffding's inequality, the tail of Laplace noise and a union over arms
    and batches.
    """

    n_arms: int
    epsilon: float
    horizon: int
    beta: float = 0.1
    name: ClassVar[str] = "adap-tt"

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.positive("epsilon", self.epsilon)
        validate.probability("beta", self.beta)

    @property
    def claim(self) -> PrivacyClaim:
        """A reward enters one batch."""
        source = Source(
            papers.AZIZE_BAI, "epsilon-global DP of AdaP-TT", "we do not know the number of the theorem"
        )
        return PrivacyClaim(self.epsilon, observe="releases", source=source)

    @property
    def coins(self) -> int:
        """Leader or challenger."""
        return 1

    def full(self, pulls: IntArray) -> BoolArray:
        """After 1, 2, 4, ... pulls."""
        return np.asarray(pulls & (pulls - 1) == 0)

    def size(self, pulls: IntArray) -> IntArray:
        """Pulls since the arm had half as many."""
        return np.asarray(np.maximum(pulls // 2, 1))

    def batches(self, state: FoundState) -> IntArray:
        """k_a, (n, K)."""
        return np.asarray(np.frexp(np.maximum(state.pulls, 1).astype(np.float64))[1])

    def last(self, state: FoundState) -> FloatArray:
        """n_a, (n, K)."""
        return np.asarray(np.maximum(2.0 ** (self.batches(state) - 2), 1.0))

    def index(self, state: FoundState) -> FloatArray:
        """Upper confidence bounds, by which the leader is chosen."""
        log, n = np.log(np.maximum(state.t, 1))[:, None], self.last(state)
        return np.asarray(state.estimate + np.sqrt(log / (2 * n)) + log / (self.epsilon * n))

    def radius(self, state: FoundState) -> FloatArray:
        """How far an estimate may lie from its arm's mean, (n, K)."""
        k, n = self.batches(state), self.last(state)
        log = np.log(3 * self.n_arms * k * (k + 1) / self.beta)
        return np.asarray(np.sqrt(log / (2 * n)) + log / (self.epsilon * n))

    def choice(self, state: FoundState, released: FloatArray) -> IntArray:
        """Leader or challenger."""
        rows, pulls = np.arange(len(state.run)), np.maximum(state.pulls, 1)
        lead = self.index(state).argmax(axis=1)
        ahead = state.estimate[rows, lead][:, None] - state.estimate + np.log(1.0 + state.t)[:, None] ** -0.25
        cost = ahead / np.sqrt(1 / pulls[rows, lead][:, None] + 1 / pulls)
        cost[rows, lead] = np.inf
        arm = np.where(self.chances(released)[:, 0] < 0.5, lead, cost.argmin(axis=1))
        return np.asarray(np.where(state.t < self.n_arms, state.t, arm))

    def start(self, run: IntArray) -> FoundState:
        """Nothing is pulled or found yet."""
        base, zero = super().start(run), np.zeros(len(run), np.int64)
        return FoundState(base.run, base.t, base.pulls, base.estimate, base.active, zero - 1, zero)

    def decide(self, state: FoundState, query: Query, released: FloatArray) -> FoundState:
        """Decide like `Turns`, and stop where one arm is sure to be the best."""
        after: FoundState = super().decide(state, query, released)
        rows, best = np.arange(len(after.run)), after.estimate.argmax(axis=1)
        bound = after.estimate + self.radius(after)
        low = 2 * after.estimate[rows, best] - bound[rows, best]
        bound[rows, best] = -np.inf
        sure = (after.found < 0) & (after.t >= self.n_arms) & (low > bound.max(axis=1))
        found = np.where(sure, best, after.found)
        played = np.where((found >= 0)[:, None], found[:, None] == np.arange(self.n_arms), after.active)
        stopped = np.where(sure, after.t, after.stopped)
        return replace(after, active=played, found=found, stopped=stopped)

    def output(self, state: FoundState) -> FloatArray:
        """Columns: rounds until the arm was found, and the arm; NaN if none was."""
        found = state.found >= 0
        return np.column_stack([np.where(found, state.stopped, np.nan), np.where(found, state.found, np.nan)])

    def kernel(
        self, environment: TwoPoint, seed: int, run: IntArray, times: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Compiled loop: the same pulls as the definition, draw for draw; one block once an arm is found."""
        played: tuple[IntArray, IntArray, FloatArray] = _kernel(
            (key_of(seed, (1,)), key_of(seed, (0,))),
            run,
            (self.horizon, self.n_arms, self.epsilon, self.beta),
            (environment.probabilities, environment.low, environment.high),
            times,
        )
        return played


@njit(inline="always")
def _ahead(arm, mean, radius):  # type: ignore[no-untyped-def]
    """Whether the estimate of an arm exceeds every other one by the radii of both."""
    low = 2 * mean[arm] - (mean[arm] + radius[arm])
    most = -math.inf
    for a in range(len(mean)):
        if a != arm:
            most = max(most, mean[a] + radius[a])
    return low > most


@njit(inline="always")
def _next(t, leads, pulls, mean, last, epsilon):  # type: ignore[no-untyped-def]
    """The leader, or its challenger."""
    log, lead, best = math.log(t), 0, -math.inf
    for a in range(len(pulls)):
        value = mean[a] + math.sqrt(log / (2 * last[a])) + log / (epsilon * last[a])
        if value > best:
            lead, best = a, value
    if leads:
        return lead
    arm, least, more = 0, math.inf, math.log(1.0 + t) ** -0.25
    for a in range(len(pulls)):
        if a != lead:
            cost = (mean[lead] - mean[a] + more) / math.sqrt(1 / pulls[lead] + 1 / pulls[a])
            if cost < least:
                arm, least = a, cost
    return arm


@kernel
def _kernel(keys, runs, rule, rewards, times):  # type: ignore[no-untyped-def]
    horizon, k, epsilon, beta = rule
    chance, low, high = rewards
    key, noise = keys
    total = np.zeros((len(runs), k), np.int64)
    at = np.zeros((len(runs), len(times), k), np.int64)
    output = np.full((len(runs), 2), np.nan)
    for i in range(len(runs)):
        pulls, batches, last = np.zeros(k, np.int64), np.zeros(k, np.int64), np.ones(k)
        mean, radius, held = np.zeros(k), np.zeros(k), np.zeros(k)
        arm, t, mark, run, found = 0, 0, 0, np.uint64(runs[i]), False
        while t < horizon:
            steps = 1
            if found:
                steps = (times[mark] if mark < len(times) else horizon) - t
            else:
                slot = (np.uint64(arm) << np.uint64(SLOT_BITS)) | np.uint64(pulls[arm])
                bits = philox.word(key[0], key[1], run, philox.REWARD, slot)
                held[arm] += high if philox.to_unit(bits) < chance[arm] else low
            pulls[arm] += steps
            t += steps
            while mark < len(times) and times[mark] == t:
                at[i, mark] = pulls
                mark += 1
            if found:
                continue
            slot = (t - 1) * (k + 1)
            if pulls[arm] == 1 << batches[arm]:
                batches[arm] += 1
                last[arm] = max(pulls[arm] // 2, 1)
                bits = philox.word(noise[0], noise[1], run, philox.NOISE, np.uint64(slot + arm))
                mean[arm] = (held[arm] + philox.to_laplace(bits) / epsilon) / last[arm]
                held[arm] = 0.0
                log = math.log(3 * k * batches[arm] * (batches[arm] + 1) / beta)
                radius[arm] = math.sqrt(log / (2 * last[arm])) + log / (epsilon * last[arm])
                best = np.argmax(mean)
                found = t >= k and _ahead(best, mean, radius)
                if found:
                    arm, output[i, 0], output[i, 1] = int(best), t, best
                    continue
            bits = philox.word(noise[0], noise[1], run, philox.NOISE, np.uint64(slot + k))
            arm = t if t < k else _next(t, bits & np.uint64(1) == 0, pulls, mean, last, epsilon)
        total[i] = pulls
    return total, at, output
