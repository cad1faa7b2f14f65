"""The stopping rules: sample until the mean is known up to a factor 1 ± alpha, then release it."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from verifiable_dp.core import philox, validate
from verifiable_dp.core.algorithm import Algorithm, Batch, Memory, Query, State
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.kernels import kernel
from verifiable_dp.core.mechanisms import AboveThreshold, Laplace
from verifiable_dp.core.noise import Draw, Noise, key_of
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray, Numbers

THRESHOLD_SLOT = 0
ESTIMATE_SLOT = 1
QUERY_SLOT = 2  # of check number 1; check k has slot k + 1


@dataclass(frozen=True)
class StoppingState(State):
    """Public state of a stopping rule.

    Attributes
    ----------
    check : (n,) int
        Number of the next check, from 1.
    halted : (n,) bool
        Whether the rule has halted.
    estimate : (n,) float
        The released mean, NaN before.
    """

    check: IntArray
    halted: BoolArray
    estimate: FloatArray


@dataclass(frozen=True)
class StoppingMemory(Batch):
    """Private side.

    Attributes
    ----------
    total : (n,) float
        Exact sum of the samples.
    threshold_noise : (n,) float
        B; zero where there is none.
    """

    total: FloatArray
    threshold_noise: FloatArray


class Stopping(Algorithm):
    """At checks k = 1, 2, … halt if |mean| reaches h_t (1 + 1/alpha) plus what covers the noise.

    Subclasses have the fields `alpha`, `beta`, `radius` (R), `horizon`, and `epsilon` if private. Output:
    halting time and estimate; NaN if the horizon came first.
    """

    alpha: float
    beta: float
    radius: float

    def _validate(self) -> None:
        validate.integer("horizon", self.horizon, least=1)
        validate.probability("alpha", self.alpha)
        validate.probability("beta", self.beta)
        validate.positive("radius", self.radius)

    @property
    def n_arms(self) -> int:  # type: ignore[override]
        """One stream."""
        return 1

    @property
    def bounds(self) -> tuple[float, float]:
        """[-R, R]."""
        return (-self.radius, self.radius)

    @property
    def exponential(self) -> bool:
        """Whether check k is made after 2^k samples rather than after k."""
        return False

    def scales(self) -> tuple[float, float, float]:
        """sigma_1, sigma_2, sigma_3: scales of the noise of threshold, queries and estimate."""
        return (0.0, 0.0, 0.0)

    def check_time(self, check: IntArray) -> IntArray:
        """Samples taken before each check."""
        return np.asarray(1 << check if self.exponential else check)

    @abstractmethod
    def threshold(self, t: Numbers, check: Numbers) -> Numbers:
        """t times the least |mean| that halts, without noise."""

    def start(self, run: IntArray) -> StoppingState:
        """No samples."""
        zero = np.zeros(len(run), np.int64)
        return StoppingState(run, zero, zero + 1, zero > 0, np.full(len(run), np.nan))

    def private(self, run: IntArray) -> StoppingMemory:
        """No samples; the threshold's noise is drawn at the first check."""
        return StoppingMemory(np.zeros(len(run)), np.full(len(run), np.nan))

    def query(self, state: StoppingState) -> Query:
        """Samples up to the next check."""
        wanted = self.check_time(state.check) - state.t
        left = np.where(state.halted, 0, self.horizon - state.t)
        return Query(state.t, np.minimum(wanted, left), np.ones((len(state.run), 1), bool), wanted <= left)

    def release(
        self, state: StoppingState, memory: StoppingMemory, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Columns: whether to halt (1 or 0, NaN without check), and the sum with its noise."""
        t = state.t + query.rounds
        total = memory.total + answer[:, 0]
        hidden = memory.threshold_noise
        if np.isnan(hidden).any():
            hidden = self.draw_threshold(noise, state.run)
        gap = np.abs(total) - self.threshold(t, state.check)
        above = self.compare(gap, hidden, noise, state.run, state.check, query.complete)
        where = (above > 0)[:, None]
        estimate = self.estimate(total[:, None], noise, state.run, where)
        return StoppingMemory(total, hidden), np.column_stack([above, estimate[:, 0]])

    def draw_threshold(self, noise: Noise, run: IntArray) -> FloatArray:
        """B."""
        slot = np.full(len(run), THRESHOLD_SLOT)
        return self.above_threshold.threshold_noise(noise, run, slot)

    def compare(
        self,
        gap: FloatArray,
        hidden: FloatArray,
        noise: Noise,
        run: IntArray,
        check: IntArray,
        where: BoolArray,
    ) -> FloatArray:
        """Whether |sum| + A >= threshold + B."""
        return self.above_threshold.answer(gap, hidden, noise, run, check + QUERY_SLOT - 1, where)

    def estimate(self, total: FloatArray, noise: Noise, run: IntArray, where: BoolArray) -> FloatArray:
        """Sum plus L."""
        slot = np.full((len(run), 1), ESTIMATE_SLOT)
        scale = np.full(total.shape, self.scales()[2])
        return noise(Draw(total, scale, run, slot, where))

    @property
    def above_threshold(self) -> AboveThreshold:
        """The sparse vector part: one sample moves |sum| by at most 2R."""
        sigma1, sigma2, _ = self.scales()
        return AboveThreshold(2 * self.radius, sigma1, sigma2)

    @property
    def laplace(self) -> Laplace:
        """The release of the sum at the end."""
        return Laplace(2 * self.radius, 2 * self.radius / self.scales()[2])

    def decide(self, state: StoppingState, query: Query, released: FloatArray) -> StoppingState:
        """Halt, or go on to the next check."""
        t = state.t + query.rounds
        halted = released[:, 0] > 0
        mean = np.where(halted, released[:, 1] / t, state.estimate)
        return replace(state, t=t, check=state.check + 1, halted=halted, estimate=mean)

    def output(self, state: StoppingState) -> FloatArray:
        """Columns: halting time (NaN if it did not halt) and estimate."""
        return np.column_stack([np.where(state.halted, state.t, np.nan), state.estimate])

    def kernel(
        self, environment: TwoPoint, seed: int, run: IntArray, times: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Compiled loop: the same halting times as the definition, draw for draw."""
        checks = np.arange(1, 2 + (int(math.log2(self.horizon)) if self.exponential else self.horizon))
        at = self.check_time(checks)
        limits = self.threshold(at.astype(np.float64), checks.astype(np.float64))
        pulls, output = _kernel(
            (key_of(seed, (1,)), key_of(seed, (0,))),
            run,
            self.horizon,
            (environment.probabilities[0], environment.low, environment.high),
            (at, np.asarray(limits, np.float64), np.array(self.scales())),
        )
        reached = np.minimum(pulls[:, None], times)
        return pulls[:, None], reached[:, :, None], output


@kernel
def _kernel(keys, runs, horizon, rewards, checks):  # type: ignore[no-untyped-def]
    reward_key, noise_key = keys
    chance, low, high = rewards
    at, limits, scales = checks
    pulls = np.zeros(len(runs), np.int64)
    output = np.full((len(runs), 2), np.nan)
    for i in range(len(runs)):
        run = np.uint64(runs[i])
        held = np.uint64(0xFFFFFFFFFFFFFFFF)
        w0 = w1 = w2 = w3 = np.uint64(0)
        hidden = scales[0] * philox.to_laplace(
            philox.word(noise_key[0], noise_key[1], run, philox.NOISE, np.uint64(THRESHOLD_SLOT))
        )
        hits, t = 0, 0
        for check in range(len(at)):
            end = min(at[check], horizon)
            while t < end:
                number = np.uint64(t) >> np.uint64(2)
                if number != held:
                    held = number
                    w0, w1, w2, w3 = philox.block(
                        reward_key[0], reward_key[1], number, run, philox.REWARD, np.uint64(0)
                    )
                which = t & 3
                bits = w0 if which == 0 else (w1 if which == 1 else (w2 if which == 2 else w3))
                hits += philox.to_unit(bits) < chance
                t += 1
            if at[check] > horizon:
                break
            total = low * (t - hits) + high * hits
            slot = np.uint64(check + QUERY_SLOT)
            drawn = philox.to_laplace(philox.word(noise_key[0], noise_key[1], run, philox.NOISE, slot))
            if abs(total) - limits[check] + scales[1] * drawn >= hidden:
                last = philox.to_laplace(
                    philox.word(noise_key[0], noise_key[1], run, philox.NOISE, np.uint64(ESTIMATE_SLOT))
                )
                output[i, 0] = t
                output[i, 1] = (total + scales[2] * last) / t
                break
        pulls[i] = t
    return pulls, output
