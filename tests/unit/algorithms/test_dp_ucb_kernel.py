"""The compiled loop of DP-UCB against a plain one that compares all indices in every round.

Pull by pull it is the same draw for draw; in blocks it has the same law.
"""

import math

import numpy as np
import pytest
from numba import njit
from scipy import integrate, stats

from verifiable_dp.algorithms import _fresh_nodes, dp_ucb
from verifiable_dp.algorithms.dp_ucb import DPUCB
from verifiable_dp.auditors._settings import s1
from verifiable_dp.core import philox
from verifiable_dp.core.environments import TwoPoint, bernoulli
from verifiable_dp.core.mechanisms.tree import SLOT_BITS
from verifiable_dp.core.noise import key_of

LEVEL = 1e-8
ONE_BY_ONE = 1 << 62
KEYS = key_of(7, (1,)), key_of(7, (0,))
TABLE, ENOUGH = _fresh_nodes.tables(24)


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
    sizes = tree.scale, tree.levels, algorithm.width
    pulls, longest = plain(*keys, np.uint64(3), algorithm.horizon, *rule, *sizes)
    times = np.array([1, 1000, algorithm.horizon])
    keys = key_of(seed, (1,)), key_of(seed, (0,))
    blocks = TABLE, ENOUGH, ONE_BY_ONE, ONE_BY_ONE
    ours, at = dp_ucb._kernel(keys, np.array([3]), algorithm.horizon, rule, sizes, times, blocks)
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
        assert longest > 64  # a leader's pulls follow on one another without a comparison


def test_other_noise_is_told_apart():
    pulls, _, ours = both(DPUCB(5, 1.0, 200_000, "per-arm"), s1("C2"), 0, noise_seed=1)
    assert ours.tolist() != pulls.tolist()


@pytest.mark.parametrize("chance", [0.0, 1e-300, 2.0**-54, 2.0**-53, 0.25, 1 / 3, 0.75, 1 - 2.0**-53, 1.0])
def test_words_below_a_chance_are_those_whose_uniforms_are(chance):
    limit = int(philox.below(chance))
    near = {limit + step for step in (-(1 << 12), -(1 << 11), -1, 0, 1, 1 << 11)} | {0, (1 << 64) - 1}
    words = [word for word in near if 0 <= word < 1 << 64]
    assert {0, limit, (1 << 64) - 1} <= set(words)
    for word in words:
        bits = np.uint64(word)
        assert (bits < np.uint64(limit)) == (philox.to_unit(bits) < chance)


def test_zero_bits_are_counted_from_both_ends():
    @njit
    def count(word):
        return philox.leading_zeros(word), philox.trailing_zeros(word)

    for word in (1, 2, 3, 12, 1 << 63, (1 << 64) - 1, 0x00F0_0000_0000_0000):
        assert count(np.uint64(word)) == (64 - word.bit_length(), (word & -word).bit_length() - 1)


# ---------------------------------------------------------------- the noise of nodes that are not drawn


def deepest(level, number, seed=0):
    """How far the noise of 2^level sums falls at most, fresh nodes being drawn one by one; (number,)."""
    rng, prefix = np.random.default_rng(seed), [np.zeros(number)]
    for n in range(1, 1 << level):
        prefix.append(prefix[n & (n - 1)] + rng.laplace(size=number))
    return -np.min(prefix, axis=0)


@pytest.mark.parametrize("level", [1, 2, 3, 5])
def test_the_chance_of_a_fall_is_that_of_nodes_drawn_one_by_one(level):
    found = deepest(level, 40_000)
    depths = np.array([0.01, 0.5, 1.3, 2.7, 4.1, 6.3])
    hits = (found[:, None] > depths).sum(axis=0)

    def least(shift):
        chances = [_fresh_nodes.fall(TABLE, level, y + shift) for y in depths]
        return min(stats.binomtest(int(n), len(found), p).pvalue for n, p in zip(hits, chances, strict=True))

    assert least(0.0) > LEVEL
    assert least(0.1) < LEVEL  # a tenth of a scale deeper


def test_the_chance_of_a_fall_has_its_closed_form_between_the_places_of_the_table():
    y = np.random.default_rng(0).uniform(0, 60, 400)
    lower, upper = 1 - np.exp(-y) / 2, 1 - np.exp(-y) * (5 / 8 + y / 4)  # of no fall: first half, second
    assert upper.min() > 0
    one, two = ([_fresh_nodes.fall(TABLE, level, at) for at in y] for level in (1, 2))
    assert one == pytest.approx(np.exp(-y) / 2, rel=1e-11)
    union = np.exp(-y) / 2 + lower * np.exp(-y) * (5 / 8 + y / 4)
    assert two == pytest.approx(union, rel=5e-9)
    assert [_fresh_nodes.fall(TABLE, level, at) for level in (0, 9) for at in (-1.0, 0.0)] == [1.0] * 4
    assert _fresh_nodes.fall(TABLE, 0, 1e-9) == _fresh_nodes.fall(TABLE, 24, 112.0) == 0.0


def test_the_envelope_of_the_middle_node_holds():
    """log Q is concave with a slope between -1 and 0, for every level that a tree may have."""
    table, enough = _fresh_nodes.tables(40)
    steps = np.diff(table[1:, : 100 * _fresh_nodes.PER_UNIT], axis=1)
    assert np.diff(steps, axis=1).max() < 1e-14
    assert -1 / _fresh_nodes.PER_UNIT - 1e-14 < steps.min() < steps.max() <= 0
    assert (np.diff(enough) > 0).all()
    for level, y in ((1, 0.3), (3, 2.0), (8, 0.001), (20, 25.0)):
        wide = [_fresh_nodes.fall(TABLE, level, y + h) for h in (-1e-4, 1e-4) if y > 1e-3]
        if wide:
            assert _fresh_nodes.slope(TABLE, level, y) == pytest.approx(
                math.log(wide[1] / wide[0]) / 2e-4, abs=1e-5
            )


@njit
def middles(level, y, key, number):
    out = np.empty(number)
    for i in range(number):
        out[i] = _fresh_nodes.middle(TABLE, level, y, key, np.uint64(i), np.uint64(3))
    return out


@pytest.mark.parametrize(("level", "y"), [(0, 1.0), (1, 0.4), (4, 3.0), (10, 11.0), (20, 1.0)])
def test_the_node_in_the_middle_is_drawn_given_that_the_noise_falls(level, y):
    drawn = middles(level, y, KEYS[1], 20_000)

    def p_value(y):
        z = np.linspace(min(-25.0, drawn.min()), max(y + 25.0, drawn.max()), 20_001)
        weight = np.exp(-np.abs(z - y)) * [_fresh_nodes.fall(TABLE, level, at) for at in z]
        below = np.concatenate([[0.0], integrate.cumulative_trapezoid(weight, z)])
        return stats.kstest(drawn, lambda at: np.interp(at, z, below / below[-1])).pvalue

    assert p_value(y) > LEVEL
    assert level == 0 or p_value(y + 0.3) < LEVEL  # at level 0 it forgets y


@njit
def crossings(level, start, drift, table, key, number):
    """Of each walk the first of 2^level items whose noise is below drift items - start, by blocks."""
    out = np.empty(number, np.int64)
    for i in range(number):
        at, known, room, prefix, run = 0, 0, 0.0, np.zeros(level + 2), np.uint64(i)
        noise, slot = 0.0, np.uint64(0)
        while at < 1 << level and noise > drift * at - start:
            slot += np.uint64(1)
            drop, size = math.nan, 0
            if known > 0:
                more = max(room, start + noise - drift * (at + (1 << known)))
                size, drop, known, room = _fresh_nodes.halve(table, known, room, more, key, slot, run)
                if size < 0:
                    continue
            else:
                size = level if at == 0 else philox.trailing_zeros(np.uint64(at))
                while size > 0 and start + noise - drift * (at + (1 << size)) <= 0.1:
                    size -= 1
                room = start + noise - drift * (at + (1 << size))
                if size > 0 and _fresh_nodes.falls(table, size, room, key, slot, run):
                    known = size
                    continue
            at += 1 << size
            if math.isnan(drop):
                drop = philox.to_laplace(philox.word(key[0], key[1], run, philox.NOISE, np.uint64(at)))
            rest = at & (at - 1)
            noise = drop + (prefix[philox.trailing_zeros(np.uint64(rest))] if rest else 0.0)
            prefix[philox.trailing_zeros(np.uint64(at))] = noise
        out[i] = at if noise <= drift * at - start else 1 << (level + 1)
    return out


@pytest.mark.parametrize(("level", "start", "drift"), [(4, 4.0, 0.0), (6, 9.0, 0.06), (9, 14.0, 0.012)])
def test_halved_blocks_cross_a_line_when_nodes_drawn_one_by_one_do(level, start, drift):
    items, number = 1 << level, 20_000
    rng, prefix = np.random.default_rng(1), np.zeros((items + 1, number))
    for n in range(1, items + 1):
        prefix[n] = prefix[n & (n - 1)] + rng.laplace(size=number)
    below = prefix <= drift * np.arange(items + 1)[:, None] - start
    direct = np.where(below.any(axis=0), below.argmax(axis=0), 2 * items)
    cuts = np.unique(np.quantile(direct, np.linspace(0, 1, 17)[1:]))

    def p_value(start, table=TABLE):
        found = crossings(level, start, drift, table, KEYS[1], 100_000)
        assert ((found > 0) & ((found <= items) | (found == 2 * items))).all()
        counts = [np.bincount(np.searchsorted(cuts, x), minlength=len(cuts)) for x in (direct, found)]
        return stats.chi2_contingency(np.stack(counts)[:, np.sum(counts, axis=0) > 0])[1]

    assert 0.1 < (direct > items).mean() < 0.9
    assert p_value(start) > LEVEL
    assert p_value(1.07 * start) < LEVEL
    assert p_value(start, TABLE - 0.3) < LEVEL  # falls have three quarters of their chance


def test_a_margin_keeps_the_lead_whatever_the_leader_is_paid():
    rng, lost, tried = np.random.default_rng(2), 0, 0
    for _ in range(600):
        pulls = (10 ** rng.uniform(0.5, 6, 4)).astype(np.int64)
        low, width = float(rng.choice([-2.0, 0.0])), float(rng.choice([0.0, 500.0]))
        sums, t = pulls * rng.uniform(low, 1, 4), int(pulls.sum())
        nothing = np.zeros(4), np.zeros((4, 30))
        arm, view = dp_ucb._leader((pulls, pulls.copy(), sums, *nothing), t, width)
        others = np.arange(4) != arm

        def index(j, less, base=(pulls, sums, t, arm, low, width)):
            pulls, sums, t, arm, low, width = base
            one = np.arange(4) == arm
            return dp_ucb.private_ucb(sums + one * (low * j - less), pulls + one * j, math.log(t + j), width)

        assert arm == index(0, 0.0).argmax()
        rounds = int(2 ** rng.uniform(0, 12))
        arms = pulls, pulls.copy(), sums, *nothing
        margin = dp_ucb._margin(arm, arms, view, low, t, rounds)
        if margin > 0:
            tried += 1
            steps = np.unique(np.linspace(0, rounds, 50).astype(np.int64))
            values = [index(j, margin) for j in steps]
            assert all(value[arm] >= value[others].max() for value in values)
            lost += any(v[arm] < v[others].max() for v in (index(j, 1.1 * margin + 1) for j in steps))
            # Pulls that are not paid yet count as the low reward.
            paid = np.where(others, pulls, pulls // 2)
            less = dp_ucb._margin(arm, (pulls, paid, sums, *nothing), view, low, t, rounds)
            assert less == pytest.approx(margin + low * (pulls - paid)[arm], rel=1e-9, abs=1e-6)
    assert tried > 200
    assert lost > tried / 2  # a margin that is a tenth larger would not do


# ---------------------------------------------------------------- blocks have the law of single pulls


def played(place, sizes, horizon, run, blocks, marks=()):
    """Pulls at the marks and the horizon, of shape (runs, marks + 1, K)."""
    rewards = (place.probabilities, place.low, place.high)
    times = np.array([*marks, horizon])
    return dp_ucb._kernel(KEYS, run, horizon, rewards, sizes, times, blocks)[1]


def p_values(place, sizes, horizon, runs, blocks, marks):
    """Of the best arm's pulls in blocks and one by one, at each mark."""
    found = played(place, sizes, horizon, np.arange(runs), blocks, marks)
    single = played(
        place, sizes, horizon, np.arange(runs, 2 * runs), (TABLE, ENOUGH, ONE_BY_ONE, ONE_BY_ONE), marks
    )
    assert (found.sum(axis=2) == [*marks, horizon]).all()
    best = int(np.argmax(place.means))
    for j in range(len(marks) + 1):
        counts = np.stack([np.bincount(x[:, j, best], minlength=horizon + 1) for x in (found, single)])
        cells = np.cumsum(counts.sum(axis=0)) // (2 * runs // 20 + 1)  # some twenty cells
        table = np.stack([np.bincount(cells, row, 21) for row in counts])
        yield stats.chi2_contingency(table[:, table.sum(axis=0) > 0])[1]


# A leader is ahead by its rewards, by as little as the noise of some nodes; blocks that often fail are tried.
OFTEN = ENOUGH / 4
SHORT = [
    (TwoPoint((8.0, 3.0), 0.0, 10.0), (25.0, 7, 0.0), 100, (30,)),
    (TwoPoint((9.0, 2.0, 4.0), -2.0, 10.0), (30.0, 8, 20.0), 150, (40,)),
]


@pytest.mark.parametrize(
    ("place", "sizes", "horizon", "marks"), SHORT, ids=["two arms", "three arms, below 0"]
)
def test_blocks_of_a_short_run_have_the_law_of_single_pulls(place, sizes, horizon, marks):
    case = place, sizes, horizon, 30_000
    assert min(p_values(*case, (TABLE, OFTEN, 1, 2), marks)) > LEVEL
    for less in (200.0, 0.7):  # the noise of a block takes the lead never, or half as often as it should
        assert min(p_values(*case, (TABLE - less, OFTEN, 1, 2), marks)) < LEVEL


def agree(horizon, runs):
    rule, place = DPUCB(3, 4.0, horizon, "per-arm"), bernoulli([0.6, 0.3, 0.3])
    sizes = rule.mechanism.scale, rule.mechanism.levels, rule.width
    found = [
        played(place, sizes, horizon, np.arange(runs) + shift, blocks)[:, 0, 0]
        for shift, blocks in (
            (0, (TABLE, ENOUGH, dp_ucb.FIRST, dp_ucb.BLOCK)),
            (runs, (TABLE, ENOUGH, ONE_BY_ONE, ONE_BY_ONE)),
        )
    ]
    assert stats.ks_2samp(*found).pvalue > LEVEL
    # Shifted by half a standard deviation they would not be taken for the same.
    assert stats.ks_2samp(found[0] + found[0].std() / 2, found[1]).pvalue < LEVEL


def test_blocks_and_single_pulls_agree():
    agree(60_000, 500)


@pytest.mark.slow
def test_blocks_and_single_pulls_agree_at_ten_million():
    agree(10**7, 600)


def test_a_long_run_needs_few_draws():
    """A thousand million rounds, which single pulls would take minutes for; marks are kept."""
    rule, place = DPUCB(2, 10.0, 10**9, "per-arm"), bernoulli([0.9, 0.1])
    times = np.array([10**3, 10**6, 10**9])
    pulls, at, _ = rule.kernel(place, 0, np.arange(2), times)
    assert (at.sum(axis=2) == times).all()
    worst = 4 * rule.width / 0.8  # twice what a width of Gamma costs, and as much again for the means
    assert ((rule.width / 0.8 < pulls[:, 1]) & (pulls[:, 1] < worst)).all()
