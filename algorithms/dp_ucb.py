"""DP-UCB: one tree mechanism per arm (Mishra & Thakurta 2015, Algorithm 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import njit

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._index import TreeIndex, TreeState
from verifiable_dp.core import philox, validate
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.kernels import kernel
from verifiable_dp.core.mechanisms import Tree
from verifiable_dp.core.mechanisms.tree import SLOT_BITS
from verifiable_dp.core.noise import key_of
from verifiable_dp.core.validate import FloatArray, IntArray


def private_ucb(estimate: Any, pulls: Any, log_t: Any, width: Any) -> Any:
    """Noisy mean plus sqrt(2 log t / n_a) plus Gamma / n_a, with Gamma = `width`."""
    return (estimate + width) / pulls + np.sqrt(2 * log_t / pulls)


_private_ucb = njit(inline="always")(private_ucb)


@dataclass(frozen=True)
class DPUCB(TreeIndex):
    r"""UCB on noisy sums: each arm's rewards pass through a tree mechanism of T leaves.

    Index: :math:`\hat S_a/n_a + \sqrt{2\log t/n_a} + \Gamma/n_a`, after one pull of each arm, with
    :math:`\Gamma = K \log^2 T \log(KT\log T/\gamma)/\varepsilon`.

    Regret: O(K log^2 T log(KT log T / gamma) / epsilon + sum_a log T / Delta_a). For small T the width
    Gamma exceeds every n_a and arms are played in turn.

    Parameters
    ----------
    n_arms
        K >= 2.
    epsilon
        Privacy budget, event level.
    horizon
        T >= K.
    budget
        ``split``: each tree gets epsilon / K, as printed. ``per-arm``: each gets epsilon, which is
        enough because a reward enters one tree; Gamma then has no factor K.
    gamma
        Failure probability of the width, in (0, 1). The paper leaves it open; .1 is chosen here.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    The paper leaves the base of the tree's logarithm open. A node's noise is Lap((floor(log2 T) + 1) /
    budget), which is what the privacy proof needs; the logarithms of Gamma are natural.
    """

    n_arms: int
    epsilon: float
    horizon: int
    budget: str = "split"
    gamma: float = 0.1
    name: ClassVar[str] = "dp-ucb"

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.positive("epsilon", self.epsilon)
        validate.choice("budget", self.budget, ("split", "per-arm"))
        validate.probability("gamma", self.gamma)

    @property
    def claim(self) -> PrivacyClaim:
        """Theorem 1 of Mishra & Thakurta; the proof covers every noisy sum."""
        return PrivacyClaim(self.epsilon, observe="releases", source=Source(papers.MISHRA, "Theorem 1"))

    @property
    def mechanism(self) -> Tree:
        """Tree of one arm."""
        share = self.epsilon / self.n_arms if self.budget == "split" else self.epsilon
        return Tree(self.horizon, share)

    @property
    def width(self) -> float:
        """Gamma, in units of summed reward."""
        log_t = math.log(self.horizon)
        factor = self.n_arms if self.budget == "split" else 1
        inner = self.n_arms * self.horizon * log_t / self.gamma
        return factor * log_t**2 * math.log(inner) / self.epsilon

    def index(self, state: TreeState) -> FloatArray:
        """Private upper confidence bounds."""
        log_t = np.log(state.t.astype(np.float64))[:, None]
        return np.asarray(private_ucb(state.estimate, state.pulls, log_t, self.width))

    def kernel(
        self, environment: TwoPoint, seed: int, run: IntArray, times: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Compiled loop: the same pulls as the definition, draw for draw."""
        tree = self.mechanism
        pulls, at = _kernel(
            (key_of(seed, (1,)), key_of(seed, (0,))),
            run,
            self.horizon,
            (environment.probabilities, environment.low, environment.high),
            (tree.scale, tree.levels, self.width),
            times,
        )
        return pulls, at, np.zeros((len(run), 0))


@njit(inline="always")
def _lowest_bit(number):  # type: ignore[no-untyped-def]
    return philox.trailing_zeros(np.uint64(number))


@njit(inline="always")
def _rewards(key, base, number, run):  # type: ignore[no-untyped-def]
    return philox.block(key[0], key[1], base | np.uint64(number), run, philox.REWARD, np.uint64(0))


@njit(inline="always")
def _noise(key, base, number, run):  # type: ignore[no-untyped-def]
    return philox.block(key[0], key[1], base | np.uint64(number), run, philox.NOISE, np.uint64(0))


@njit(inline="always")
def _add_node(stacked, n, noise):  # type: ignore[no-untyped-def]
    """Add the node that pull n completes: the noise of the whole prefix sum, kept at the node's level."""
    rest = n & (n - 1)
    if rest:
        noise += stacked[_lowest_bit(rest)]
    stacked[_lowest_bit(n)] = noise
    return noise


@njit(inline="always")
def _leader(estimate, pulls, t, width):  # type: ignore[no-untyped-def]
    """The arm of the largest index, for how many rounds it may lead, and the level that shows it does.

    It stays the leader if estimate + width > level * pulls throughout these rounds.
    """
    k = len(pulls)
    arm, window, safe = t, 1, math.inf
    if t >= k:
        log_t = math.log(float(t))
        best = -math.inf
        for a in range(k):
            value = _private_ucb(estimate[a], pulls[a], log_t, width)
            if value > best:
                best, arm = value, a
        window = max(1, min(pulls[arm] >> 6, 1024))
        later = math.log(float(t + window))
        cap = -math.inf
        for a in range(k):
            if a != arm:
                cap = max(cap, _private_ucb(estimate[a], pulls[a], later, width))
        safe = cap + 1e-12 - math.sqrt(2 * log_t / (pulls[arm] + window))
    return arm, window, safe


@kernel
def _kernel(keys, runs, horizon, rewards, tree, times):  # type: ignore[no-untyped-def]
    """Leader runs: while the leader surely stays ahead of the others' best index, none is compared.

    Nodes of levels 0 and 1 die within the four pulls of a block of noise: a leader that is far enough ahead
    for any noise of that size plays these pulls at once, and their draws are bounded instead of computed.
    """
    reward_key, noise_key = keys
    chance, low, high = rewards
    scale, levels, width = tree
    k = len(chance)
    limit = np.array([philox.below(c) for c in chance])
    total = np.zeros((len(runs), k), np.int64)
    at = np.zeros((len(runs), len(times), k), np.int64)
    for i in range(len(runs)):
        run = np.uint64(runs[i])
        pulls = np.zeros(k, np.int64)
        sums = np.zeros(k)
        # stacked[a, l]: noise of the nodes of arm a at level l and above that make up its prefix sum
        stacked = np.zeros((k, levels + 1))
        estimate = np.zeros(k)
        t, mark = 0, 0
        while t < horizon:
            arm, window, safe = _leader(estimate, pulls, t, width)
            stop = min(t + window, horizon)
            if mark < len(times):
                stop = min(stop, times[mark])
            n = pulls[arm]
            total_arm = sums[arm]
            base = np.uint64(arm) << np.uint64(SLOT_BITS - 2)
            r0 = r1 = r2 = r3 = v0 = v1 = v2 = v3 = np.uint64(0)
            reward_block = noise_block = -1
            fall = 3 * max(safe - low, 0.0)  # how much of the lead three rewards can cost
            ahead = True
            while t < stop and ahead:
                if n & 3 == 0 and n > 0 and t + 4 <= stop:
                    if n >> 2 != noise_block:
                        noise_block = n >> 2
                        v0, v1, v2, v3 = _noise(noise_key, base, noise_block, run)
                    lead = total_arm + stacked[arm, _lowest_bit(n)] + width - safe * n
                    # A draw is below log 2 times (leading zeros + 1); two of them are in a prefix sum.
                    most = 1.3864 * scale * (philox.leading_zeros(min(v1, v2, v3) | np.uint64(1)) + 1)
                    if lead > fall + most:
                        r0, r1, r2, r3 = _rewards(reward_key, base, noise_block, run)
                        noise_block += 1
                        v0, v1, v2, v3 = _noise(noise_key, base, noise_block, run)
                        total_arm += high if r0 < limit[arm] else low
                        total_arm += high if r1 < limit[arm] else low
                        total_arm += high if r2 < limit[arm] else low
                        total_arm += high if r3 < limit[arm] else low
                        n += 4
                        t += 4
                        noise = _add_node(stacked[arm], n, scale * philox.to_laplace(v0))
                        ahead = total_arm + noise + width > safe * n
                        continue
                if n >> 2 != reward_block:
                    reward_block = n >> 2
                    r0, r1, r2, r3 = _rewards(reward_key, base, reward_block, run)
                which = n & 3
                bits = r0 if which == 0 else (r1 if which == 1 else (r2 if which == 2 else r3))
                total_arm += high if bits < limit[arm] else low
                n += 1
                t += 1
                if n >> 2 != noise_block:
                    noise_block = n >> 2
                    v0, v1, v2, v3 = _noise(noise_key, base, noise_block, run)
                which = n & 3
                bits = v0 if which == 0 else (v1 if which == 1 else (v2 if which == 2 else v3))
                noise = _add_node(stacked[arm], n, scale * philox.to_laplace(bits))
                ahead = total_arm + noise + width > safe * n
            pulls[arm] = n
            sums[arm] = total_arm
            estimate[arm] = total_arm + stacked[arm, _lowest_bit(n)]
            while mark < len(times) and times[mark] == t:
                at[i, mark] = pulls
                mark += 1
        total[i] = pulls
    return total, at
