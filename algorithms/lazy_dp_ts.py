"""Lazy DP-TS: Thompson sampling on noisy means of doubling batches (Hu & Hegde 2022, Algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import betaincinv

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._episodes import Batches
from verifiable_dp.algorithms._posterior_blocks import played
from verifiable_dp.core import validate
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class LazyDPTS(Batches):
    r"""Draw from optimistic posteriors; an arm's batches have 1, 2, 4, ... rewards, and only the last counts.

    With O_a the size of the arm's last batch and :math:`\tilde\mu_a` its sum plus
    :math:`Lap(1/\varepsilon)` over O_a, round t plays the arm with the largest draw from
    :math:`Beta(\mu_a O_a + 1, (1 - \mu_a) O_a + 1)`, where :math:`\mu_a` is
    :math:`\tilde\mu_a + 3 \log t/(\varepsilon O_a)`, clipped to [0, 1].

    Regret: O(sum_a log T/min(epsilon, Delta_a)) (Theorem 4). For short T all means are clipped to 1.

    Parameters
    ----------
    n_arms
        K >= 2.
    epsilon
        Privacy budget of the whole run, event level.
    horizon
        T >= K; decisions do not depend on it.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Written from public notes on the paper; we did not have its listing and constants. Posteriors
    are sampled by their quantiles at public coins, each computed from a Laplace draw that does not depend on
    data.
    """

    n_arms: int
    epsilon: float
    horizon: int
    name: ClassVar[str] = "lazy-dp-ts"

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.positive("epsilon", self.epsilon)

    @property
    def claim(self) -> PrivacyClaim:
        """A reward enters one batch."""
        source = Source(papers.HU, "Theorem 3", "written from notes; we did not have the paper's listing")
        return PrivacyClaim(self.epsilon, observe="releases", source=source)

    @property
    def coins(self) -> int:
        """One for each posterior."""
        return self.n_arms

    def full(self, pulls: IntArray) -> BoolArray:
        """After 1, 3, 7, ... pulls."""
        return np.asarray(pulls & (pulls + 1) == 0)

    def size(self, pulls: IntArray) -> IntArray:
        """Half of the pulls and one."""
        return np.asarray((pulls + 1) // 2)

    def next_full(self, pulls: IntArray) -> IntArray:
        """Number of pulls at which the batch that is now open ends."""
        return np.asarray((np.int64(1) << np.frexp(pulls + 1.0)[1].astype(np.int64)) - 1)

    def last(self, state: Own) -> FloatArray:
        """O_a: the largest power of two that is at most half of the pulls and one, (n, K)."""
        return np.asarray(2.0 ** (np.frexp(np.maximum(state.pulls, 1) + 1.0)[1] - 2))

    def width(self, state: Own) -> FloatArray:
        """What is added to a noisy mean, (n, K)."""
        return np.asarray(3 * np.log(state.t + 1.0)[:, None] / (self.epsilon * self.last(state)))

    def index(self, state: Own) -> FloatArray:
        """Optimistic means, (n, K)."""
        return np.asarray(np.clip(state.estimate + self.width(state), 0.0, 1.0))

    def posterior(self, state: Own) -> tuple[FloatArray, FloatArray]:
        """Parameters of the Beta laws, each (n, K)."""
        mean, batch = self.index(state), self.last(state)
        return np.asarray(mean * batch + 1), np.asarray((1 - mean) * batch + 1)

    def samples(self, state: Own, released: FloatArray) -> FloatArray:
        """Draws from the posteriors, (n, K)."""
        return np.asarray(betaincinv(*self.posterior(state), self.chances(released)))

    def choice(self, state: Own, released: FloatArray) -> IntArray:
        """The arm with the largest draw."""
        best = self.samples(state, released).argmax(axis=1)
        return np.asarray(np.where(state.t < self.n_arms, state.t, best))

    def kernel(
        self, environment: TwoPoint, seed: int, run: IntArray, times: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Block play, see `_posterior_blocks`: the law of the definition; its cost grows with the regret."""
        found = []
        for number in run.tolist():
            noise = np.random.SeedSequence(seed, spawn_key=(0, number))
            rng = np.random.Generator(np.random.Philox(noise))
            found.append(played(self, environment.data(seed, (1, number)), rng, times))
        pulls, at = (np.array(column) for column in zip(*found, strict=True))
        return pulls, at, np.zeros((len(run), 0))
