"""LDP-UCB: UCB on rewards that every user reports with Laplace noise (Ren et al. 2020)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._episodes import Turns
from verifiable_dp.core import philox, validate
from verifiable_dp.core.algorithm import Query
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.kernels import kernel
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.mechanisms.tree import SLOT_BITS
from verifiable_dp.core.noise import key_of
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, IntArray


@dataclass(frozen=True)
class LDPUCB(Turns):
    r"""Every user reports the reward with :math:`Lap(1/\varepsilon)`; the index is for such reports.

    In round t an arm with at most :math:`4 \log(t + 1)` pulls is played, the first one, else the arm with the
    largest :math:`\hat\mu_a + \sqrt{2 \log t/n_a} + \sqrt{32 \log t/(\varepsilon^2 n_a)}`, where
    :math:`\hat\mu_a` is the mean of the arm's reports.

    Regret: O(sum_a log T/(epsilon^2 Delta_a)) for small epsilon. For short T all arms are played alike.

    Parameters
    ----------
    n_arms
        K >= 2.
    epsilon
        Privacy budget of one report.
    horizon
        T >= K; decisions do not depend on it.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    This is the variant with Laplace noise, as in the authors' published program; we did not have the paper's
    listing and the constants of its theorems. The variant with Bernoulli reports is not covered. A report can
    be any number, so no leader is sure of its lead, and there are no blocks as in UCB1. A round takes about
    60 ns, and `simulate` accepts at most 10^10 rounds.
    """

    n_arms: int
    epsilon: float
    horizon: int
    name: ClassVar[str] = "ldp-ucb"
    most_simulated: ClassVar[int | None] = 10**10

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.positive("epsilon", self.epsilon)

    @property
    def claim(self) -> PrivacyClaim:
        """Privacy of one report; the adversary sees every report."""
        source = Source(
            papers.REN, "LDP-UCB-L", "written from its authors' program; we did not have the paper's listing"
        )
        return PrivacyClaim(self.epsilon, observe="reports", source=source, trust_model="local")

    @property
    def mechanism(self) -> Laplace:
        """Mechanism for one reward in [0, 1]."""
        return Laplace(1.0, self.epsilon)

    def estimates(self, state: Own, query: Query, released: FloatArray) -> FloatArray:
        """Mean of the arm's reports."""
        step = (released - state.estimate) / (state.pulls + 1)
        return np.asarray(np.where(np.isnan(released), state.estimate, state.estimate + step))

    def index(self, state: Own) -> FloatArray:
        """Upper confidence bounds; infinite for arms with few pulls."""
        few = state.pulls <= 4 * np.log(state.t + 2.0)[:, None]
        return np.asarray(np.where(few, np.inf, state.estimate + self.width(state)))

    def width(self, state: Own) -> FloatArray:
        """How far a mean of reports may lie below its arm's, (n, K)."""
        log = np.log(state.t + 1.0)[:, None]
        reports = np.sqrt(32 * log / (self.epsilon**2 * state.pulls))
        return np.asarray(np.sqrt(2 * log / state.pulls) + reports)

    def kernel(
        self, environment: TwoPoint, seed: int, run: IntArray, times: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Compiled loop: the same pulls as the definition, draw for draw."""
        pulls, at = _kernel(
            (key_of(seed, (1,)), key_of(seed, (0,))),
            run,
            (self.horizon, self.n_arms, self.mechanism.scale, math.sqrt(32) / self.epsilon),
            (environment.probabilities, environment.low, environment.high),
            times,
        )
        return pulls, at, np.zeros((len(run), 0))


@kernel
def _kernel(keys, runs, rule, rewards, times):  # type: ignore[no-untyped-def]
    horizon, k, scale, spread = rule
    chance, low, high = rewards
    key, noise = keys
    total = np.zeros((len(runs), k), np.int64)
    at = np.zeros((len(runs), len(times), k), np.int64)
    for i in range(len(runs)):
        pulls, mean = np.zeros(k, np.int64), np.zeros(k)
        mark, run = 0, np.uint64(runs[i])
        for t in range(horizon):
            arm, best, log, few = t, -math.inf, math.log(t + 1.0), 4 * math.log(t + 2.0)
            for a in range(k if t >= k else 0):
                if pulls[a] <= few:
                    arm = a
                    break
                value = mean[a] + (math.sqrt(2 * log / pulls[a]) + spread * math.sqrt(log / pulls[a]))
                if value > best:
                    arm, best = a, value
            slot = (np.uint64(arm) << np.uint64(SLOT_BITS)) | np.uint64(pulls[arm])
            bits = philox.word(key[0], key[1], run, philox.REWARD, slot)
            report = high if philox.to_unit(bits) < chance[arm] else low
            bits = philox.word(noise[0], noise[1], run, philox.NOISE, np.uint64(t * k + arm))
            report += scale * philox.to_laplace(bits)
            mean[arm] += (report - mean[arm]) / (pulls[arm] + 1)
            pulls[arm] += 1
            while mark < len(times) and times[mark] == t + 1:
                at[i, mark] = pulls
                mark += 1
        total[i] = pulls
    return total, at
