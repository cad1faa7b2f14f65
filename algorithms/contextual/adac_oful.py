"""AdaC-OFUL: rarely switching LinUCB with private rewards, under zCDP (after Azize & Basu 2024)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.contextual._regression import MOST_REWARD, Confident, Regressed, Regression
from verifiable_dp.core import validate
from verifiable_dp.core.algorithm import Batch, Memory, Query
from verifiable_dp.core.claims import STATED_DELTA, Basis, PrivacyClaim, Source
from verifiable_dp.core.contextual import matrix, outer
from verifiable_dp.core.mechanisms import Gaussian
from verifiable_dp.core.mechanisms.tree import SLOT_BITS
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class OfPublic(Confident):
    """Like `Confident`, for users whose contexts are public: answer with the entries of x x' and then r x."""

    @property
    def size(self) -> int:
        """d (d + 1)/2 + d entries."""
        d = int(self.estimate.shape[1])
        return d * (d + 3) // 2

    def items(self, context: FloatArray, reward: FloatArray) -> FloatArray:
        """See `Rule.items`."""
        x = self.clip(context)
        return np.hstack([outer(x), x * np.clip(reward, 0.0, MOST_REWARD)[:, None]])


@dataclass(frozen=True)
class Episode(Regressed):
    """Public state: the regression is that of the last release.

    Attributes
    ----------
    sums : (n, d) float
        Released sums of r x.
    gram : (n, d, d) float
        Sum of x x' so far.
    releases : (n,) int
        How many.
    due : (n,) bool
        Whether the next round ends the episode.
    log_det : (n,) float
        log det V at the last release.
    """

    gram: FloatArray
    releases: IntArray
    due: BoolArray
    log_det: FloatArray


@dataclass(frozen=True)
class Rewards(Batch):
    """Private side: the sum (n, d) of r x in the episode."""

    sums: FloatArray


@dataclass(frozen=True)
class AdaCOFUL(Regression):
    r"""LinUCB that releases rewards once det V has doubled, with normal noise; contexts are public.

    Users take the arm with the largest upper confidence bound of the last release. Let :math:`V = \lambda I
    + \sum x_s x_s^T`. In the round after det V has at least doubled since the last release, the sum of r x
    over the episode is released with normal noise of deviation :math:`\sigma = L/\sqrt{2\rho}` in each entry,
    and forgotten. Another reward moves this sum by at most L. After m releases, whose noisy sums add up, the
    radius is

    .. math:: \tfrac12 \sqrt{2 \log\frac2\alpha + \log\frac{\det V}{\det \lambda I}} + \sqrt\lambda
              + \sigma \sqrt{\frac m\lambda} \Bigl(\sqrt d + \sqrt{2 \log\frac{2 m (m+1)}\alpha}\Bigr):

    the sum of m draws in d entries is longer than :math:`\sigma \sqrt m (\sqrt d + s)` with probability
    :math:`e^{-s^2/2}` at most, and :math:`V \succeq \lambda I`. There are at most
    :math:`d \log_2(1 + T L^2/(d \lambda))` releases.

    Regret, ours: while the true parameter lies in the ellipsoids and with lambda >= L^2, a round costs at
    most 2 r |x| in the norm of the inverse at the last release, r the last radius. Until det V has doubled,
    that norm is at most sqrt 2 times that of :math:`V^{-1}`; the round after it costs at most 1, m in all. In
    the norm of :math:`V^{-1}`, :math:`|x|^2 \le \log_2(1 + |x|^2)`, so these squares sum to at most
    log2 det V/det(lambda I). Hence :math:`m + 2 \sqrt 2 r \sqrt{T d \log_2(1 + T L^2/(d\lambda))}` bounds
    the regret; the expected one is at most alpha T more. The bound is empty if T is smaller.

    Parameters
    ----------
    n_arms
        K >= 2.
    dimension
        d >= 1, of the context of an arm.
    rho
        Privacy budget of the whole run in zCDP, of the rewards of one user.
    horizon
        T >= K.
    delta
        The delta at which the epsilon of the promise is stated, in (0, 1).
    norm
        L > 0; longer contexts are clipped.
    ridge
        lambda > 0; None: the larger of L^2 and what the noise of the last release may be, which makes both
        of its terms in the radius equal.
    alpha
        Failure probability of the confidence bounds, in (0, 1); 1/T if None.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Written from the paper's abstract: the Gaussian mechanism on adaptive episodes, for linear
    contextual bandits. We chose that contexts are public, when episodes end, and all constants; we do not
    know the paper's choices. The radius without noise is Theorem 2 of Abbasi-Yadkori, Pál & Szepesvári
    (2011), and so is switching at a doubled determinant (their section 5.1), for rewards in [0, 1] and a true
    parameter of norm at most 1.
    """

    n_arms: int
    dimension: int
    rho: float
    horizon: int
    delta: float = STATED_DELTA
    norm: float = 1.0
    ridge: float | None = None  # type: ignore[assignment]
    alpha: float | None = None
    name: ClassVar[str] = "adac-oful"

    def __post_init__(self) -> None:
        self.check()
        validate.positive("rho", self.rho)
        validate.probability("delta", self.delta)
        least = max(self.norm**2, self.moved(self.most_releases(self.norm**2)))
        ridge = validate.positive("ridge", least if self.ridge is None else self.ridge)
        object.__setattr__(self, "ridge", ridge)

    @property
    def claim(self) -> PrivacyClaim:
        """Each reward enters one release of the Gaussian mechanism; everybody sees all actions."""
        note = "theorem's number unknown; we assume public contexts, and derived mu = sqrt(2 rho)"
        whole = PrivacyClaim.normal(self.rho, self.delta)
        return PrivacyClaim.of_users(
            whole.epsilon,
            self.delta,
            rho=self.rho,
            mu=whole.mu,
            model="central",
            protects="reward",
            observe="releases",
            source=Source(papers.AZIZE_ZCDP, "AdaC-OFUL", note, Basis.UNREAD),
        )

    @property
    def item_norm(self) -> float:
        """L: a reward in [0, 1] moves r x by no more."""
        return self.norm * MOST_REWARD

    @property
    def shift(self) -> float:
        """Lambda."""
        return float(self.ridge or 1)

    @property
    def mechanism(self) -> Gaussian:
        """Mechanism for the sum of r x in an episode."""
        return Gaussian(self.item_norm, self.rho)

    def most_releases(self, ridge: float) -> int:
        """d log2(1 + T L^2/(d lambda)), at least 1."""
        share = self.horizon * self.norm**2 / (self.dimension * ridge)
        return max(1, int(self.dimension * math.log2(1 + share)))

    def moved(self, releases: int) -> float:
        """Bound that the noise of m releases exceeds with probability at most alpha/(2 m (m + 1))."""
        chance = float(self.alpha or 1) / (2 * releases * (releases + 1))
        length = math.sqrt(self.dimension) + math.sqrt(-2 * math.log(chance))
        return self.mechanism.scale * math.sqrt(releases) * length

    def ellipsoid(self, log_det: FloatArray) -> FloatArray:
        """The part of rewards, with half of alpha."""
        return self.of_rewards(log_det, float(self.alpha or 1) / 2)

    def kept(self, sums: FloatArray, due: BoolArray) -> FloatArray:
        """What stays private after a round: a sum that was released is forgotten."""
        return np.where(due[:, None], 0.0, sums)

    def ends(self, state: Own, log_det: FloatArray) -> BoolArray:
        """Whether det V has doubled since the last release."""
        return np.asarray(log_det >= state.log_det + math.log(2))

    def start(self, run: IntArray) -> Episode:
        """Nothing learnt: V is the ridge."""
        n, d = len(run), self.dimension
        zero, log_det = np.zeros(n, np.int64), np.full(n, d * math.log(self.shift))
        inverse = np.repeat(np.eye(d)[None] / self.shift, n, axis=0)
        radius, empty = self.ellipsoid(log_det), np.zeros((n, d))
        never = np.zeros(n, bool)
        return Episode(run, zero, empty, empty, inverse, radius, np.zeros((n, d, d)), zero, never, log_det)

    def private(self, run: IntArray) -> Memory:
        """No rewards."""
        return Rewards(np.zeros((len(run), self.dimension)))

    def rule(self, state: Own) -> OfPublic:
        """The confidence bounds of the last release."""
        norm = np.full(len(state.run), float(self.norm))
        return OfPublic(state.estimate, state.inverse, state.radius, norm)

    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Release x x' exactly and, at the end of an episode, its sum of r x."""
        entries = answer.shape[1] - self.dimension
        sums = memory.sums + answer[:, entries:]
        private = np.arange(answer.shape[1]) >= entries
        draw = Draw(
            np.hstack([answer[:, :entries], sums]),
            np.broadcast_to(self.mechanism.scale * private, answer.shape),
            state.run,
            (np.arange(answer.shape[1], dtype=np.int64) << SLOT_BITS) | (state.t[:, None] + 1),
            ~private | state.due[:, None],
            normal=True,
        )
        return Rewards(self.kept(sums, state.due)), noise(draw)

    def decide(self, state: Own, query: Query, released: FloatArray) -> Episode:
        """Add up; repeat the regression where an episode has ended."""
        d = self.dimension
        gram = state.gram + matrix(released[:, :-d], d)
        sums = state.sums + np.where(state.due[:, None], released[:, -d:], 0.0)
        whole = gram + self.shift * np.eye(d)
        log_det = np.linalg.slogdet(whole)[1]
        after: Episode = replace(
            state,
            t=state.t + 1,
            gram=gram,
            sums=sums,
            releases=state.releases + state.due,
            due=~state.due & self.ends(state, log_det),
        )
        if not state.due.any():
            return after
        inverse = np.linalg.inv(whole)
        noise = np.array([self.moved(int(m)) if m else 0.0 for m in after.releases])
        radius = self.ellipsoid(log_det) + noise / math.sqrt(self.shift)
        one, two = state.due[:, None], state.due[:, None, None]
        fresh: Episode = replace(
            after,
            log_det=np.where(state.due, log_det, state.log_det),
            estimate=np.where(one, (inverse @ sums[:, :, None])[:, :, 0], state.estimate),
            inverse=np.where(two, inverse, state.inverse),
            radius=np.where(state.due, radius, state.radius),
        )
        return fresh
