"""Private and robust arm elimination (Wu et al. 2023): batches that double, truncation, a histogram."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._elimination import Elimination, EliminationState
from verifiable_dp.core import validate
from verifiable_dp.core.algorithm import Ask, Histogram, Memory, Query, Truncated
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import BoolArray, FloatArray, InputError, IntArray, Numbers

CONSTANT = 3.0  # of the printed rates, which have none; ours
BREAKDOWN = {"raw": 0.5, "central": 0.133}
_HISTOGRAM, _MEAN = 0, 1


def deviation(
    n: Numbers,
    limit: Numbers,
    *,
    k: float,
    epsilon: float,
    contamination: float,
    failure: float,
    offset: float | None = None,
) -> FloatArray:
    r"""Beta: a noisy mean of n truncated rewards errs by more only with probability `failure`.

    .. math:: \sqrt{2(v+\alpha M^2)l/n} + 2Ml/(3n) + 2M\log(2/\delta)/(n\varepsilon) + sM^{1-k} + \alpha(M+m)

    with l = log(4/delta): Bernstein's inequality on the mixture, the noise, what truncation cuts off, and
    what contamination adds. Raw moments: v = s = m = 1. Central moments with abs(J - mu) <= m: v = 1 + m^2
    and s = 2^(k-1) (1 + m^k). Derived; the paper's Theorem 6.1 gives the rate.

    Parameters
    ----------
    n, limit
        Number of rewards, and M; arrays that broadcast.
    offset
        m, the largest abs(J - mu); None for raw moments.
    """
    m = 1.0 if offset is None else offset
    v, s = (1.0, 1.0) if offset is None else (1 + m**2, 2 ** (k - 1) * (1 + m**k))
    log = math.log(4 / failure)
    sampling = np.sqrt(2 * (v + contamination * limit**2) * log / n) + 2 * limit * log / (3 * n)
    noise = 2 * limit * math.log(2 / failure) / (n * epsilon)
    return np.asarray(sampling + noise + s * limit ** (1 - k) + contamination * (limit + m))


def printed_rate(n: Numbers, *, k: float, epsilon: float, contamination: float, failure: float) -> FloatArray:
    """Beta as a rate (Theorem 6.1, Corollaries 6.6 and 6.8), times `CONSTANT`, which is ours."""
    log = math.log(1 / failure)
    rate = np.sqrt(log / n) + (log / (n * epsilon)) ** (1 - 1 / k)
    return np.asarray(CONSTANT * (rate + contamination ** (1 - 1 / k)))


@dataclass(frozen=True)
class RobustState(EliminationState):
    """Public state.

    Attributes
    ----------
    fold : (n,) int
        Whether the next block is for the histogram (0) or for the mean (1).
    centre : (n, K) float
        J by arm, the left end of the fullest bin; 0 for raw moments.
    """

    fold: IntArray
    centre: FloatArray


@dataclass(frozen=True)
class DPRobustElimination(Elimination):
    r"""Elimination by truncated means of the latest batch alone.

    Batch tau pulls every arm of S :math:`B = 2^\tau` times and removes an arm if its estimate lies more
    than :math:`2\beta` below the largest. With n = B the estimate for *raw* moments, E|X|^k <= 1, is

    .. math:: \tilde\mu = \frac1n \sum_i x_i 1\{|x_i| \le M\} + Lap(2M/(n\varepsilon)),
              \quad M = \min\{(n\varepsilon/\log(1/\delta))^{1/k}, \alpha^{-1/k}\}.

    For *central* moments, E|X - mu|^k <= 1 with mu in [-D, D], n = B/2: the first half of the batch fills
    bins [j, j + r) of a histogram, whose fractions get :math:`Lap(2/(n\varepsilon))`; J is the left end of
    the fullest; the second half gives J + the truncated mean of x - J, with the same noise as above. Each
    reward enters one half, so each release has the whole epsilon.

    The batch in which T is reached releases nothing. Arms take turns within a batch.

    *Corrected* (the default): beta holds for every n (see `deviation`), with delta = 1/(T K log2 T) for a
    union over all estimates. For raw moments no phase is forced. For central moments beta is infinite
    until n is large enough for a bin near the mean to be the fullest (`least`), bins cover [-D - r, D + r),
    and M is in units of the moment of X - J.
    *Printed*: delta = 1/T; batches shorter than the threshold (rates, constant 1) are forced exploration;
    beta is the rate times 3. These constants are ours; the paper has none. The paper plays one random arm
    for a forced batch; here the arms take turns, as its Remark 5.1 allows, and each is pulled as often as
    on average there. Printed bins cover at most [-D, D), so a mean at D may have no bin at all.

    Regret: sqrt(KT log T) + (K log T/epsilon)^(1-1/k) T^(1/k) + T alpha^(1-1/k), up to constants and
    terms of lower order (Theorems 6.2, 6.10 and 6.12).

    The bound does not apply if the moment is not within 1, more than a share alpha of the rewards is
    contaminated, or gaps are below 4 beta at n = T: then arms may be played alike. With contamination
    beta stays above alpha^(1-1/k): smaller gaps need not be told apart.

    Parameters
    ----------
    n_arms
        K >= 2.
    epsilon
        Privacy budget of the whole run, event level.
    horizon
        T >= K.
    k
        Order of the moment, at least 2.
    contamination
        alpha: an upper bound on the share of contaminated rewards, in [0, 1/2) for raw and [0, .133) for
        central moments.
    moments
        ``raw`` or ``central``.
    radius
        D >= 1; central moments only.
    variant
        ``corrected`` or ``printed``.
    failure
        delta, failure probability of one estimate, in (0, 1); as above if None.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Source: Wu et al. 2023, Algorithms 1, 2 and 3.
    """

    n_arms: int
    epsilon: float
    horizon: int
    k: float = 2.0
    contamination: float = 0.0
    moments: str = "raw"
    radius: float = 1.0
    variant: str = "corrected"
    failure: float | None = None
    name: ClassVar[str] = "dp-robust-elimination"

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.positive("epsilon", self.epsilon)
        validate.choice("moments", self.moments, ("raw", "central"))
        validate.choice("variant", self.variant, ("corrected", "printed"))
        if not validate.positive("k", self.k) >= 2:
            raise InputError(f"k must be at least 2, got {self.k!r}")
        self._check_contamination()
        if not validate.positive("radius", self.radius) >= 1:
            raise InputError(f"radius must be at least 1, got {self.radius!r}")
        if self.printed and self.central and self.radius < 2 * self.bin_width:
            raise InputError(
                f"radius must be at least 2 r = {2 * self.bin_width:.4g} as printed, got {self.radius!r}"
            )
        if self.failure is None:
            union = 1 if self.printed else self.n_arms * math.log2(self.horizon)
            object.__setattr__(self, "failure", 1 / (self.horizon * union))
        validate.probability("failure", self.failure)

    def _check_contamination(self) -> None:
        most, value = BREAKDOWN[self.moments], self.contamination
        if isinstance(value, bool | str) or value is None or not 0 <= value < most:
            raise InputError(
                f"contamination must lie in [0, {most}) for {self.moments} moments, got {value!r}"
            )

    @property
    def central(self) -> bool:
        """Whether central moments are bounded."""
        return self.moments == "central"

    @property
    def printed(self) -> bool:
        """Whether constants, bins and forced batches are as printed."""
        return self.variant == "printed"

    @property
    def bounds(self) -> tuple[float, float]:
        """The real line."""
        return (-np.inf, np.inf)

    @property
    def search_bounds(self) -> tuple[float, float]:
        """The truncation of the first batch, with either sign; for central moments -D and D."""
        limit = float(self.radius) if self.central else float(self.limit[1])
        return (-limit, limit)

    @property
    def contribution(self) -> float:
        """The largest M of a batch that can end by T, or 1 in a bin."""
        return float(self.limit[self.samples <= self.horizon].max(initial=1.0))

    @property
    def claim(self) -> PrivacyClaim:
        """Theorems 6.2, 6.10 and 6.12; the proof covers every release."""
        central = "Theorem 6.12" if self.contamination else "Theorem 6.10"
        statement = central if self.central else "Theorem 6.2"
        source = Source(papers.WU, statement, "the scales of the noise are partly reconstructed")
        return PrivacyClaim(self.epsilon, observe="releases", source=source)

    # ------------------------------------------------------------ parameters of the estimate

    @property
    def bin_width(self) -> float:
        """R: 10^(1/k) without contamination (Cor 6.6), ((1-alpha)/(.249-alpha))^(1/k) with it (Cor 6.8)."""
        alpha = self.contamination
        return float((10.0 if alpha == 0 else (1 - alpha) / (0.249 - alpha)) ** (1 / self.k))

    @functools.cached_property
    def edges(self) -> FloatArray:
        """Edges of the bins, (m + 1,); one edge for raw moments."""
        r = self.bin_width
        if not self.central:
            return np.zeros(1)
        if self.printed:
            return np.asarray(-self.radius + r * np.arange(math.floor(2 * self.radius / r + 1e-9) + 1.0))
        return np.asarray(-self.radius - r + r * np.arange(math.ceil(2 * self.radius / r) + 3.0))

    @property
    def n_bins(self) -> int:
        """m; 0 for raw moments."""
        return len(self.edges) - 1

    @property
    def offset(self) -> float | None:
        """Largest abs(J - mu) where the histogram succeeds: 2r, or 3r with contamination."""
        return (3 if self.contamination else 2) * self.bin_width if self.central else None

    @property
    def slack(self) -> float:
        """The least by which the fullest bin near the mean outweighs any bin beyond `offset`.

        Within r of the mean lie three bins with (1-alpha)(1-r^-k) of the rewards; beyond `offset` there
        are alpha + (1-alpha) r^-k, or with contamination alpha + (1-alpha) (2r)^-k. No law attains both, so
        this is crude: at 2r it would be .0013 with contamination, where the least is .1265 (Cor 6.8).
        """
        alpha, outside = self.contamination, self.bin_width**-self.k
        far = outside if alpha == 0 else outside / 2**self.k
        return float((1 - alpha) * (1 - outside) / 3 - alpha - (1 - alpha) * far)

    @property
    def least(self) -> float:
        """Least n for estimates that can be trusted: script-T of the paper.

        Corrected, central: every bin errs by less than a quarter of `slack` through sampling (Hoeffding)
        and by another quarter through noise, with probability 1 - delta/2. Printed: the rates.
        """
        delta, epsilon = float(self.failure or 0.5), self.epsilon
        if self.printed:
            robust = math.log(1 / delta) / self.contamination if self.contamination else 0.0
            return max(robust, math.log(self.radius / delta) / epsilon if self.central else 0.0)
        if not self.central:
            return 0.0
        bins, slack = math.log(4 * self.n_bins / delta), self.slack
        return max(8 * bins / slack**2, 8 * (bins - math.log(2)) / (epsilon * slack))

    @functools.cached_property
    def samples(self) -> FloatArray:
        """Number n of rewards behind an estimate, by batch, (batches,); entry 0 repeats entry 1."""
        batch = np.maximum(np.arange(4 + int(np.log2(self.horizon))), 1)
        return np.asarray(2.0 ** (batch - self.central))

    @functools.cached_property
    def limit(self) -> FloatArray:
        """M by batch, (batches,)."""
        unit = 1.0
        if self.offset is not None and not self.printed:
            unit = 2 ** (self.k - 1) * (1 + self.offset**self.k)
        most = self.samples * self.epsilon / math.log(1 / float(self.failure or 0.5))
        if self.contamination:
            most = np.minimum(most, 1 / self.contamination)
        return np.asarray((unit * most) ** (1 / self.k))

    @functools.cached_property
    def beta(self) -> FloatArray:
        """Beta by batch, (batches,); infinite where the histogram cannot be trusted yet."""
        delta = float(self.failure or 0.5)
        common = {"k": self.k, "epsilon": self.epsilon, "contamination": self.contamination}
        if self.printed:
            return printed_rate(self.samples, failure=delta, **common)
        if not self.central:
            return deviation(self.samples, self.limit, failure=delta, **common)
        beta = deviation(self.samples, self.limit, failure=delta / 2, offset=self.offset, **common)
        return np.where(self.samples >= self.least, beta, np.inf)

    @functools.cached_property
    def forced(self) -> BoolArray:
        """Batches of forced exploration, (batches,): those with B below script-T, as printed."""
        whole = self.samples * (2 if self.central else 1)
        return np.asarray(whole < self.least) & self.printed

    # ------------------------------------------------------------ moves

    def start(self, run: IntArray) -> RobustState:
        """All arms are active."""
        base = super().start(run)
        fold = np.full(len(run), _HISTOGRAM if self.central else _MEAN)
        return RobustState(run, base.t, base.epoch, base.active, fold, np.zeros((len(run), self.n_arms)))

    def pulls(self, size: Numbers, epoch: Numbers) -> FloatArray:
        """Pulls of each active arm in the coming block: B for raw moments, else B/2."""
        return np.asarray(self.samples[epoch])

    def gap(self, size: Numbers, epoch: Numbers) -> FloatArray:
        """2 beta."""
        return np.asarray(2 * self.beta[epoch])

    def plan(self, state: RobustState) -> tuple[IntArray, FloatArray]:
        """They do not depend on |S|."""
        return self.pulls(state.size, state.epoch).astype(np.int64), self.gap(state.size, state.epoch)

    def query(self, state: RobustState) -> Query:
        """One fold of a batch of all active arms, or a forced batch; a single arm plays to the end."""
        block = super().query(state)
        forced = self.forced[state.epoch] & (state.size > 1)
        batch = np.minimum(2**state.epoch, self.horizon - state.t)
        return replace(
            block,
            rounds=np.where(forced, batch, block.rounds),
            complete=block.complete & ~forced,
            ask=self.ask(state),
        )

    def counting(self, state: RobustState) -> bool:
        """Whether the block is for histograms; runs of a batch go through batches and folds together."""
        return bool(((state.fold == _HISTOGRAM) & ~self.forced[state.epoch]).any())

    def ask(self, state: RobustState) -> Ask:
        """Counts by bin, or sums truncated around J."""
        if self.counting(state):
            return Histogram(np.tile(self.edges, (len(state.run), 1)))
        return Truncated(np.tile(self.limit[state.epoch][:, None], (1, self.n_arms)), state.centre)

    def slots(self, state: RobustState) -> IntArray:
        """Number of the first draw of the batch; each batch has K (m + 1) draws, those of bins first."""
        return np.asarray(state.epoch * self.n_arms * (self.n_bins + 1))

    def release(
        self, state: RobustState, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Fractions of all bins (n, K m), or estimates (n, K)."""
        where = query.active & query.complete[:, None]
        if self.counting(state):
            return memory, self.fractions(state, answer, noise, where)
        return memory, self.estimates(state, answer, noise, where)

    def fractions(self, state: RobustState, counts: FloatArray, noise: Noise, where: BoolArray) -> FloatArray:
        """Step 1 of Algorithm 3: one reward moves two counts by 1, so Lap(2/(n epsilon))."""
        n = self.samples[state.epoch][:, None]
        value = counts.reshape(len(n), self.n_arms * self.n_bins) / n
        slot = self.slots(state)[:, None] + np.arange(value.shape[1])
        scale = np.broadcast_to(self.fraction_scale(state)[:, None], value.shape)
        return noise(Draw(value, scale, state.run, slot, np.repeat(where, self.n_bins, axis=1)))

    def estimates(self, state: RobustState, sums: FloatArray, noise: Noise, where: BoolArray) -> FloatArray:
        """Algorithm 2, and step 2 of Algorithm 3: one reward moves one sum by 2M, so Lap(2M/(n epsilon))."""
        value = state.centre + sums / self.samples[state.epoch][:, None]
        first = self.slots(state)[:, None] + self.n_arms * self.n_bins
        scale = np.broadcast_to(self.estimate_scale(state)[:, None], value.shape)
        # n is a power of two; adding the centre rounds, in either input by half a unit in the last place.
        limit = self.limit[state.epoch][:, None]
        excess = np.spacing(np.abs(state.centre) + limit) / (scale * self.epsilon)
        return noise(Draw(value, scale, state.run, first + np.arange(self.n_arms), where, excess=excess))

    def fraction_scale(self, state: RobustState) -> FloatArray:
        """Scale of the noise of a fraction, (n,)."""
        return np.asarray(2 / (self.samples[state.epoch] * self.epsilon))

    def estimate_scale(self, state: RobustState) -> FloatArray:
        """Scale of the noise of an estimate, (n,)."""
        return np.asarray(2 * self.limit[state.epoch] / (self.samples[state.epoch] * self.epsilon))

    def fullest(self, released: FloatArray) -> FloatArray:
        """Left ends of the fullest bins, (n, K)."""
        by_arm = released.reshape(len(released), self.n_arms, self.n_bins)
        return np.asarray(self.edges[np.nan_to_num(by_arm, nan=-np.inf).argmax(axis=2)])

    def margin(self, state: RobustState) -> FloatArray | None:
        """2 beta, of estimates; histograms are not compared."""
        return None if self.counting(state) else self.plan(state)[1]

    def decide(self, state: RobustState, query: Query, released: FloatArray) -> RobustState:
        """Keep J after a histogram; remove arms after estimates; go on to the next batch."""
        counting = self.counting(state)
        # The batch also moves on after forced exploration, and where the run has ended.
        first = _HISTOGRAM if self.central else _MEAN
        active = state.active if counting else super().decide(state, query, released).active
        return RobustState(
            state.run,
            state.t + query.rounds,
            state.epoch + (not counting),
            active,
            np.full_like(state.fold, _MEAN if counting else first),
            self.fullest(released) if counting else state.centre,
        )
