"""The compiled loop of DP-UCB against a plain one that compares all indices in every round, draw for draw."""

import math

import numpy as np
import pytest
from numba import njit

from verifiable_dp.algorithms.dp_ucb import DPUCB
from verifiable_dp.auditors._instances import s1
from verifiable_dp.core import philox
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.mechanisms.tree import SLOT_BITS
from verifiable_dp.core.noise import key_of


@njit
def plain(reward_key, noise_key, run, horizon, chance, low, high, scale, levels, width):
    """Mishra & Thakurta's Algorithm 1 as it stands; a tree is the noise of its nodes by level."""
    k = len(chance)
    pulls, sums, estimate = np.zeros(k, np.int64), np.zeros(k), np.zeros(k)
    nodes = np.zeros((k, levels + 1))
    longest = streak = last = 0
    for t in range(horizon):
        arm = t
        if t >= k:
            best, log_t = -math.inf, math.log(t)
            for a in range(k):
                value = (estimate[a] + width) / pulls[a] + math.sqrt(2 * log_t / pulls[a])
                if value > best:
                    best, arm = value, a
        streak = streak + 1 if arm == last else 1
        longest, last = max(longest, streak), arm
        slot = (arm << SLOT_BITS) | pulls[arm]
        uniform = philox.to_unit(philox.word(reward_key[0], reward_key[1], run, philox.REWARD, slot))
        sums[arm] += high if uniform < chance[arm] else low
        pulls[arm] += 1
        level, n = 0, pulls[arm]
        while (n >> level) & 1 == 0:
            nodes[arm, level] = 0.0
            level += 1
        bits = philox.word(noise_key[0], noise_key[1], run, philox.NOISE, (arm << SLOT_BITS) | n)
        nodes[arm, level] = scale * philox.to_laplace(bits)
        noise = 0.0
        for node in nodes[arm][::-1]:
            noise += node
        estimate[arm] = sums[arm] + noise
    return pulls, longest


def both(algorithm, environment, seed, noise_seed=None):
    """Pulls (K,) of the plain loop, its longest run of one arm, and pulls of the kernel."""
    rule = (environment.probabilities, environment.low, environment.high)
    tree = algorithm.mechanism
    keys = key_of(seed, (1,)), key_of(seed if noise_seed is None else noise_seed, (0,))
    pulls, longest = plain(
        *keys, np.uint64(3), algorithm.horizon, *rule, tree.scale, tree.levels, algorithm.width
    )
    ours, at, _ = algorithm.kernel(environment, seed, np.array([3]), np.array([1, 1000, algorithm.horizon]))
    assert at[0].sum(axis=1).tolist() == [1, 1000, algorithm.horizon]
    return pulls, longest, ours[0]


@pytest.mark.parametrize(
    ("environment", "epsilon", "budget"),
    [
        (s1("C2"), 1.0, "per-arm"),
        (s1("C2"), 1e4, "split"),
        (s1("C1"), 0.25, "split"),
        (s1("C3", 20), 1.0, "per-arm"),
        (TwoPoint((0.1, -0.2, -0.25), -0.3, 0.7), 5.0, "per-arm"),
        (TwoPoint((0.0, 1.0), 0.0, 1.0), 0.1, "per-arm"),
    ],
)
def test_the_kernel_plays_what_the_plain_loop_plays(environment, epsilon, budget):
    algorithm = DPUCB(environment.n_arms, epsilon, 200_000, budget)
    for seed in range(3):
        pulls, longest, ours = both(algorithm, environment, seed)
        assert ours.tolist() == pulls.tolist()
        assert longest > 64  # long enough for pulls to be played together


def test_other_noise_is_told_apart():
    pulls, _, ours = both(DPUCB(5, 1.0, 200_000, "per-arm"), s1("C2"), 0, noise_seed=1)
    assert ours.tolist() != pulls.tolist()


@pytest.mark.parametrize("chance", [0.0, 1e-300, 2.0**-54, 2.0**-53, 0.25, 1 / 3, 0.75, 1 - 2.0**-53, 1.0])
def test_words_below_a_chance_are_those_whose_uniforms_are(chance):
    limit = int(philox.below(chance))
    near = {limit + step for step in (-(1 << 12), -(1 << 11), -1, 0, 1, 1 << 11)} | {0, (1 << 64) - 1}
    words = [word for word in near if 0 <= word < 1 << 64]
    for word in words:
        bits = np.uint64(word)
        assert (bits < np.uint64(limit)) == (philox.to_unit(bits) < chance)


def test_zero_bits_are_counted_from_both_ends():
    @njit
    def count(word):
        return philox.leading_zeros(word), philox.trailing_zeros(word)

    for word in (1, 2, 3, 12, 1 << 63, (1 << 64) - 1, 0x00F0_0000_0000_0000):
        assert count(np.uint64(word)) == (64 - word.bit_length(), (word & -word).bit_length() - 1)


def test_a_draw_is_below_log_2_times_its_leading_zeros_and_one():
    """What lets the kernel play pulls together without their logarithms; factor .6932 in the kernel."""
    rng = np.random.default_rng(0)
    for shift in range(64):
        for word in [1 << (63 - shift), *((int(w) | 1 << 63) >> shift for w in rng.integers(0, 1 << 63, 20))]:
            assert abs(philox.to_laplace(np.uint64(word))) < 1.3864 / 2 * (shift + 1)
