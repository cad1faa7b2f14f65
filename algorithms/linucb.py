"""LinUCB for a finite set of actions, without privacy (OFUL of Abbasi-Yadkori, Pál & Szepesvári 2011)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms._linear import Actions, as_actions
from verifiable_dp.core import philox, validate
from verifiable_dp.core.algorithm import Algorithm, Memory, Query, State
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.kernels import kernel, njit
from verifiable_dp.core.mechanisms import Exact
from verifiable_dp.core.mechanisms.tree import SLOT_BITS
from verifiable_dp.core.noise import Noise, key_of
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, IntArray


@dataclass(frozen=True)
class LinUCBState(State):
    """Public state of a ridge regression.

    Attributes
    ----------
    moment : (n, d) float
        Sum of rewards times actions.
    inverse : (n, d, d) float
        Inverse of V = ridge I + sum of a a'.
    norms : (n, K) float
        a' V^-1 a of each action.
    log_ratio : (n,) float
        log(det V / det(ridge I)).
    """

    moment: FloatArray
    inverse: FloatArray
    norms: FloatArray
    log_ratio: FloatArray


# The arithmetic of one run: the definition maps it over runs, the kernel over rounds.


@njit(inline="always")
def _radius(log_ratio, log_beta, ridge):  # type: ignore[no-untyped-def]
    return math.sqrt(log_ratio - 2 * log_beta) + math.sqrt(ridge)


@njit(inline="always")
def _values(actions, moment, inverse, norms, radius, theta, out):  # type: ignore[no-untyped-def]
    """<a, theta> + radius |a|_(V^-1) for each action, into `out` (K,); the estimate into `theta` (d,)."""
    d = actions.shape[1]
    for i in range(d):
        theta[i] = 0.0
        for j in range(d):
            theta[i] += inverse[i, j] * moment[j]
    for a in range(actions.shape[0]):
        mean = 0.0
        for i in range(d):
            mean += actions[a, i] * theta[i]
        out[a] = mean + radius * math.sqrt(max(norms[a], 0.0))


@njit(inline="always")
def _learn(actions, arm, inverse, norms, column):  # type: ignore[no-untyped-def]
    """Add a a' to V, its inverse and norms by Sherman & Morrison; return the growth of log det V.

    `column` (d,) is scratch.
    """
    k, d = actions.shape
    norm = 0.0
    for i in range(d):
        column[i] = 0.0
        for j in range(d):
            column[i] += inverse[i, j] * actions[arm, j]
        norm += actions[arm, i] * column[i]
    for i in range(d):
        for j in range(d):
            inverse[i, j] -= column[i] * column[j] / (1 + norm)
    for a in range(k):
        along = 0.0
        for i in range(d):
            along += actions[a, i] * column[i]
        norms[a] -= along * along / (1 + norm)
    return math.log1p(norm)


@kernel
def _values_of_all(actions, moment, inverse, norms, radius):  # type: ignore[no-untyped-def]
    out, theta = np.empty(norms.shape), np.empty(actions.shape[1])
    for row in range(len(radius)):
        _values(actions, moment[row], inverse[row], norms[row], radius[row], theta, out[row])
    return out


@kernel
def _radius_of_all(log_ratio, log_beta, ridge):  # type: ignore[no-untyped-def]
    out = np.empty(len(log_ratio))
    for row in range(len(out)):
        out[row] = _radius(log_ratio[row], log_beta, ridge)
    return out


@kernel
def _learn_all(actions, arms, inverse, norms):  # type: ignore[no-untyped-def]
    grown, column = np.empty(len(arms)), np.empty(actions.shape[1])
    for row in range(len(arms)):
        grown[row] = _learn(actions, arms[row], inverse[row], norms[row], column)
    return grown


def _norms_of_start(actions: FloatArray, ridge: float) -> FloatArray:
    """|a|^2 / ridge, (K,)."""
    return np.asarray((actions * actions).sum(axis=1) / ridge)


@dataclass(frozen=True)
class LinUCB(Algorithm):
    r"""Play the action of the largest upper confidence bound of a ridge regression.

    With :math:`V = \lambda I + \sum a_s a_s^T` and :math:`\hat\theta = V^{-1} \sum r_s a_s`, the index is

    .. math:: \langle a, \hat\theta \rangle + \|a\|_{V^{-1}} \Bigl(\sqrt{2 \log\frac{1}{\beta}
              + \log\frac{\det V}{\det \lambda I}} + \sqrt\lambda\Bigr);

    noise is 1-sub-Gaussian, which rewards in [-1, 1] satisfy, and |theta| <= 1. Ties go to the first action.

    Regret: with probability 1 - beta at most :math:`\rho_T \sqrt{8 T d \log(1 + T/(\lambda d))}`, with
    :math:`\rho_T = \sqrt{2\log(1/\beta) + d \log(1 + T/(\lambda d))} + \sqrt\lambda` (Theorem 3 of
    Abbasi-Yadkori et al.).

    The bound is empty if it exceeds T times the largest gap (for d = 2, if T is below a few thousand). It
    makes no privacy promise: every action is a function of raw rewards.

    Parameters
    ----------
    actions
        K >= 2 vectors of norm at most 1.
    horizon
        T >= 2.
    ridge
        lambda > 0.
    beta
        Failure probability in (0, 1); 1/T if None.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    actions: Actions
    horizon: int
    ridge: float = 1.0
    beta: float | None = None
    name: ClassVar[str] = "linucb"

    def __post_init__(self) -> None:
        object.__setattr__(self, "actions", as_actions(self.actions))
        validate.integer("horizon", self.horizon, least=2)
        validate.positive("ridge", self.ridge)
        validate.beta(self)

    @property
    def n_arms(self) -> int:  # type: ignore[override]
        """K, the number of actions."""
        return len(self.actions)

    @property
    def dimension(self) -> int:
        """d."""
        return len(self.actions[0])

    @property
    def bounds(self) -> tuple[float, float]:
        """Rewards lie in [-1, 1]."""
        return (-1.0, 1.0)

    @property
    def _log_beta(self) -> float:
        return math.log(float(self.beta or 1 / self.horizon))

    def start(self, run: IntArray) -> LinUCBState:
        """Nothing played: V = lambda I."""
        n, d = len(run), self.dimension
        inverse = np.repeat(np.eye(d)[None] / self.ridge, n, axis=0)
        norms = np.repeat(_norms_of_start(np.array(self.actions), self.ridge)[None], n, axis=0)
        return LinUCBState(run, np.zeros(n, np.int64), np.zeros((n, d)), inverse, norms, np.zeros(n))

    def radius(self, state: LinUCBState) -> FloatArray:
        """Radius of the confidence ellipsoid in the norm of V, (n,)."""
        return np.asarray(_radius_of_all(state.log_ratio, self._log_beta, float(self.ridge)))

    def index(self, state: LinUCBState) -> FloatArray:
        """Upper confidence bounds, (n, K)."""
        actions = np.array(self.actions)
        radius = self.radius(state)
        return np.asarray(_values_of_all(actions, state.moment, state.inverse, state.norms, radius))

    def query(self, state: LinUCBState) -> Query:
        """One round."""
        arm = self.index(state).argmax(axis=1)
        rounds = (state.t < self.horizon).astype(np.int64)
        return Query(state.t, rounds, arm[:, None] == np.arange(self.n_arms), np.ones(len(arm), bool))

    def release(
        self, state: LinUCBState, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """The reward, without noise."""
        slot = state.t[:, None] * self.n_arms + np.arange(self.n_arms)
        return memory, Exact().release(answer, noise, state.run, slot, query.active)

    def decide(self, state: LinUCBState, query: Query, released: FloatArray) -> LinUCBState:
        """Regress on the new reward."""
        arm, actions = query.active.argmax(axis=1), np.array(self.actions)
        inverse, norms = state.inverse.copy(), state.norms.copy()
        grown = _learn_all(actions, arm, inverse, norms)
        reward = released[np.arange(len(arm)), arm]
        return replace(
            state,
            t=state.t + 1,
            moment=state.moment + reward[:, None] * actions[arm],
            inverse=inverse,
            norms=norms,
            log_ratio=state.log_ratio + grown,
        )

    def kernel(
        self, environment: TwoPoint, seed: int, run: IntArray, times: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Compiled loop: the same pulls as the definition, draw for draw."""
        actions = np.array(self.actions)
        pulls, at = _kernel(
            key_of(seed, (1,)),
            run,
            self.horizon,
            (actions, _norms_of_start(actions, self.ridge), float(self.ridge), self._log_beta),
            (environment.probabilities, environment.low, environment.high),
            times,
        )
        return pulls, at, np.zeros((len(run), 0))


@kernel
def _kernel(key, runs, horizon, regression, rewards, times):  # type: ignore[no-untyped-def]
    actions, first, ridge, log_beta = regression
    chance, low, high = rewards
    k, d = actions.shape
    total = np.zeros((len(runs), k), np.int64)
    at = np.zeros((len(runs), len(times), k), np.int64)
    value, column, theta = np.empty(k), np.empty(d), np.empty(d)
    for i in range(len(runs)):
        pulls, moment, inverse = np.zeros(k, np.int64), np.zeros(d), np.eye(d) / ridge
        words, norms = np.zeros((k, 4), np.uint64), first.copy()
        log_ratio, mark = 0.0, 0
        for t in range(horizon):
            _values(actions, moment, inverse, norms, _radius(log_ratio, log_beta, ridge), theta, value)
            arm = 0
            for a in range(1, k):
                if value[a] > value[arm]:
                    arm = a
            n = pulls[arm]
            which = n & 3
            if which == 0:
                slot = (np.uint64(arm) << np.uint64(SLOT_BITS)) | np.uint64(n)
                w = philox.block(
                    key[0], key[1], slot >> np.uint64(2), np.uint64(runs[i]), philox.REWARD, np.uint64(0)
                )
                words[arm, 0], words[arm, 1], words[arm, 2], words[arm, 3] = w
            reward = high if philox.to_unit(words[arm, which]) < chance[arm] else low
            for j in range(d):
                moment[j] += reward * actions[arm, j]
            log_ratio += _learn(actions, arm, inverse, norms, column)
            pulls[arm] = n + 1
            while mark < len(times) and times[mark] == t + 1:
                at[i, mark] = pulls
                mark += 1
        total[i] = pulls
    return total, at
