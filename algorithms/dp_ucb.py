"""DP-UCB: one tree mechanism per arm (Mishra & Thakurta 2015, Algorithm 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._fresh_nodes import falls, halve, tables
from verifiable_dp.algorithms._index import TreeIndex, TreeState
from verifiable_dp.algorithms.ucb1 import BLOCK, draw_hits
from verifiable_dp.core import philox, validate
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.kernels import kernel, njit
from verifiable_dp.core.mechanisms import Tree
from verifiable_dp.core.mechanisms.tree import SLOT_BITS
from verifiable_dp.core.noise import key_of
from verifiable_dp.core.validate import FloatArray, IntArray, Numbers


def private_ucb(estimate: Numbers, pulls: Numbers, log_t: Numbers, width: Numbers) -> Numbers:
    """Noisy mean plus sqrt(2 log t / n_a) plus Gamma / n_a, with Gamma = `width`."""
    return (estimate + width) / pulls + np.sqrt(2 * log_t / pulls)


_private_ucb = njit(inline="always")(private_ucb)
FIRST = 256  # pulls of an arm before its first block


@dataclass(frozen=True)
class DPUCB(TreeIndex):
    r"""UCB on noisy sums: each arm's rewards pass through a tree mechanism of T leaves.

    Index: :math:`\hat S_a/n_a + \sqrt{2\log t/n_a} + \Gamma/n_a`, after one pull of each arm, with
    :math:`\Gamma = K \log^2 T \log(KT\log T/\gamma)/\varepsilon`.

    Regret: O(K^2 log^2 T log(KT log T / gamma) / epsilon + sum_a log T / Delta_a) with the budget split among
    the trees, as printed; with the budget per arm, K replaces K^2. For small T the width Gamma
    exceeds every n_a and arms are played in turn.

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
        Failure probability of the width, in (0, 1). The paper does not state it; we chose .1.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    The paper does not state the base of the tree's logarithm. A node's noise is Lap((floor(log2 T) + 1) /
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
        """Compiled loop: the law of the definition; draw for draw the same until an arm has `FIRST` pulls.

        From then on, consecutive pulls that surely keep the leader ahead form one block. Only the sum of its
        rewards matters, and that no node within it loses the lead. A run of T = 5e7 has about 10^4 changes of
        the leader, and takes a few dozen draws for each.
        """
        tree = self.mechanism
        pulls, at = _kernel(
            (key_of(seed, (1,)), key_of(seed, (0,))),
            run,
            self.horizon,
            (environment.probabilities, environment.low, environment.high),
            (tree.scale, tree.levels, self.width),
            times,
            (*tables(tree.levels), FIRST, BLOCK),
        )
        return pulls, at, np.zeros((len(run), 0))


@njit(inline="always")
def _lowest_bit(number):  # type: ignore[no-untyped-def]
    return philox.trailing_zeros(np.uint64(number))


@njit(inline="always")
def _add_node(stacked, n, noise):  # type: ignore[no-untyped-def]
    """Add the node that pull n completes: the noise of the whole prefix sum, kept at the node's level."""
    rest = n & (n - 1)
    if rest:
        noise += stacked[_lowest_bit(rest)]
    stacked[_lowest_bit(n)] = noise
    return noise


@njit
def _leader(arms, t, width):  # type: ignore[no-untyped-def]
    """The arm with the largest index, and what bounds its lead from here on.

    That is the round, the largest index of the others, by how much this grows a round at most, as log t does,
    and the part of the leader's index, times its pulls, that only grows.
    """
    pulls, _, sums, noise, _ = arms
    if t < len(pulls):
        return t, (float(t), math.inf, 0.0, 0.0)
    arm, best, cap, log_t, fewest = 0, -math.inf, -math.inf, math.log(float(t)), pulls[0]
    for a in range(len(pulls)):
        value = _private_ucb(sums[a] + noise[a], pulls[a], log_t, width)
        if value > best:
            arm, best, cap = a, value, best
        else:
            cap = max(cap, value)
        fewest = min(fewest, pulls[a])
    rise = math.sqrt(0.5 / (log_t * fewest)) / t
    return arm, (float(t), cap, rise, width + math.sqrt(2 * log_t * pulls[arm]))


@njit(inline="always")
def _margin(arm, arms, view, low, t, rounds):  # type: ignore[no-untyped-def]
    """How far the leader's noise may fall within these rounds, at least, before another arm may lead.

    Every reward that is not drawn yet counts as the low one. The bound on the others' indices is linear in t,
    so that the margin is concave, and its two ends decide.
    """
    pulls, paid, sums, noise, _ = arms
    since, cap, rise, bonus = view
    n, now = pulls[arm], cap + rise * (t - since)
    have, then = sums[arm] + noise[arm] + low * (n - paid[arm]) + bonus, now + rise * rounds
    least = min(have - now * n, have + low * rounds - then * (n + rounds))
    return least - 1e-12 * (abs(have) + abs(then) * (n + rounds))  # for rounding


@njit
def _pay(arm, arms, key, run, rewards, least):  # type: ignore[no-untyped-def]
    """Draw the rewards of an arm's last pulls, which nothing has depended on."""
    pulls, paid, sums, _, _ = arms
    chance, low, high = rewards
    steps = pulls[arm] - paid[arm]
    hits = draw_hits(key, run, arm, paid[arm], steps, chance[arm], least)
    sums[arm] += low * (steps - hits) + high * hits
    paid[arm] = pulls[arm]


@njit(inline="always")
def _draw(key, run, arm, n):  # type: ignore[no-untyped-def]
    """Standard noise of the node that an arm's pull n completes, as the definition draws it."""
    base = np.uint64(arm) << np.uint64(SLOT_BITS)
    return philox.to_laplace(philox.word(key[0], key[1], run, philox.NOISE, base | np.uint64(n)))


@njit(inline="always")
def _size(arm, arms, view, rule, t, stop, blocks):  # type: ignore[no-untyped-def]
    """Level of the largest block that will do, how far its noise may fall, and the level that would fit."""
    low, scale = rule
    _, enough, first, _ = blocks
    n = arms[0][arm]
    if n < first:
        return 0, 0.0, 0
    fits = min(_lowest_bit(n), 63 - philox.leading_zeros(np.uint64(stop - t)))
    for level in range(fits, 0, -1):
        room = _margin(arm, arms, view, low, t, 1 << level) / scale
        if room >= enough[level]:
            return level, room, fits
    return 0, 0.0, fits


@kernel
def _kernel(keys, runs, horizon, rewards, tree, times, blocks):  # type: ignore[no-untyped-def]
    """An arm leads on while nothing that it may be paid, and no noise, can take its lead.

    A block of its pulls is decided by one draw. If this says that the noise of the next 2^known pulls falls
    by `room` scales or more, they are halved.
    """
    reward_key, noise_key = keys
    low, (scale, levels, width), (table, _, _, least) = rewards[1], tree, blocks
    k, patience = len(rewards[0]), max(32.0, scale)
    total = np.zeros((len(runs), k), np.int64)
    at = np.zeros((len(runs), len(times), k), np.int64)
    for i in range(len(runs)):
        run, number = np.uint64(runs[i]), np.uint64(0)
        pulls, paid, sums, noise = np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k), np.zeros(k)
        # stacked[a, l]: noise of the nodes of arm a at level l and above that make up its prefix sum
        stacked = np.zeros((k, levels + 1))
        arms = pulls, paid, sums, noise, stacked
        t, mark, arm, known, room, view = 0, 0, 0, 0, 0.0, (-1.0, math.inf, 0.0, 0.0)
        while t < horizon:
            stop = horizon if mark == len(times) else min(horizon, times[mark])
            level, fits = known, known
            if known == 0:
                level, room, fits = _size(arm, arms, view, (low, scale), t, stop, blocks)
            stale = t > view[0] and _margin(arm, arms, view, low, t, 0) <= 0
            if stale or (level < fits and t - view[0] >= patience):
                _pay(arm, arms, reward_key, run, rewards, least)
                best, view = _leader(arms, t, width)
                known = known if best == arm else 0
                arm = best
                continue
            drop = math.nan
            number += np.uint64(1)
            if known > 0:
                more = max(room, _margin(arm, arms, view, low, t, 1 << known) / scale)
                level, drop, known, room = halve(table, known, room, more, noise_key, number, run)
                if level < 0:
                    continue
            elif level > 0 and falls(table, level, room, noise_key, number, run):
                known = level
                continue
            pulls[arm] += 1 << level
            t += 1 << level
            n = pulls[arm]
            if math.isnan(drop):
                drop = _draw(noise_key, run, arm, n)
            noise[arm] = _add_node(stacked[arm], n, scale * drop)
            while mark < len(times) and times[mark] == t:
                at[i, mark] = pulls
                mark += 1
        total[i] = pulls
    return total, at
