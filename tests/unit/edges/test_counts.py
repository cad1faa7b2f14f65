"""Edges of the tests of counts: p-values, limits, and what is detectable.

Tails and limits come from `scipy.stats`. Searches are tried on functions whose crossing is known.
"""

import math
from unittest import mock

import pytest
from scipy import special, stats

from verifiable_dp.evidence.blackbox import statistics as exact

HALF = math.log(3)  # a claim under which 3 of 4 hits come from world 1


@pytest.mark.parametrize("x", [0.0, 1e-300, 1.0, 2.5, 40.0, 800.0])
def test_the_share_of_hits_under_a_claim(x):
    """e^x / (1 + e^x), and what is left of 1, without overflow."""
    assert exact.sigmoid(x) == pytest.approx(1 / (1 + math.exp(-x)), rel=1e-15)
    assert exact.sigmoid(-x) == pytest.approx(math.exp(-x) / (1 + math.exp(-x)), rel=1e-15)
    assert exact.sigmoid(-1e3) == 0.0


@pytest.mark.parametrize(
    ("hits", "runs", "tail"),
    [
        (-1, 4, 1.0),
        (0, 4, 1.0),
        (1, 4, 1 - 0.75**4),
        (2, 4, stats.binom.sf(1, 4, 0.25)),
        (4, 4, 0.25**4),
        (5, 4, 0.0),
        (6, 4, 0.0),
        (1, 1, 0.25),
    ],
)
def test_so_many_hits_or_more(hits, runs, tail):
    assert exact.at_least(hits, runs, 0.25) == pytest.approx(tail, rel=1e-12)


@pytest.mark.parametrize("hits", [0, 1, 2, 9, 10])
def test_clopper_and_pearson(hits):
    lower = stats.beta.ppf(0.05, hits, 11 - hits) if hits else 0.0
    upper = stats.beta.ppf(0.95, hits + 1, 10 - hits) if hits < 10 else 1.0
    assert exact.clopper_pearson_lower(hits, 10, 0.05) == pytest.approx(lower, rel=1e-12)
    assert exact.clopper_pearson_upper(hits, 10, 0.05) == pytest.approx(upper, rel=1e-12)


@pytest.mark.parametrize(
    ("k1", "k0", "p_value"), [(4, 0, 0.75**4), (3, 1, stats.binom.sf(2, 4, 0.75)), (0, 4, 1.0), (0, 0, 1.0)]
)
def test_the_p_value_of_a_ratio(k1, k0, p_value):
    assert exact.ratio_p_value(k1, k0, HALF) == pytest.approx(p_value, rel=1e-12)


@pytest.mark.parametrize(
    ("k1", "k0", "lower"),
    [
        (0, 4, -math.inf),
        (0, 0, -math.inf),
        (1, 0, math.log(0.05 / 0.95)),  # share^1 = .05
        (2, 0, math.log(math.sqrt(0.05) / (1 - math.sqrt(0.05)))),
        (1, 1, math.log((1 - math.sqrt(0.95)) / math.sqrt(0.95))),
        (30, 5, None),
        (10**17, 0, math.log(1e17 / -math.log(0.05))),  # the share is 1 to the last bit
        (10**17, 1, math.log(1e17 / stats.gamma.ppf(0.95, 2))),
    ],
)
def test_the_lower_limit_of_a_ratio(k1, k0, lower):
    """The share s of hits from world 1 has the limit at which the tail is .05; the ratio is s / (1 - s)."""
    if lower is None:
        share = stats.beta.ppf(0.05, k1, k0 + 1)
        lower = math.log(share / (1 - share))
    assert exact.ratio_lower(k1, k0, 0.05) == pytest.approx(lower, rel=1e-9)


# ---------------------------------------------------------------- searches, on functions that are known


def crossing(at, unit=1.0):
    """A p-value that is Phi((x - at) / unit): it reaches a level at `at` + unit times the quantile."""
    return lambda x: stats.norm.cdf((x - at) / unit)


@pytest.mark.parametrize("unit", [0.1, 1.0, 7.0])
@pytest.mark.parametrize(("hits", "level"), [(200, 0.05 / 1.05), (1000, 0.05 / 1.05), (1001, 0.05)])
def test_where_a_p_value_passes_its_level(unit, hits, level):
    """A twentieth of the level is kept with few hits; the limit is rounded down by 1e-5 units at most."""
    wanted = 3.0 + unit * stats.norm.ppf(level)
    found = exact._limit(crossing(3.0, unit), -20.0, 3.0, unit, 0.05, hits=hits)
    assert wanted - exact.SEARCHED * unit <= found <= wanted


@pytest.mark.parametrize(
    ("shape", "calls"),
    [
        (lambda x: x - 0.5, 2),  # the line that is expected: its crossing, and a point below it
        (lambda x: 1.3 * x, 4),  # another line: two points tell it
        (lambda x: 0.01 * x, 4),
        (lambda x: 30 * x, 9),
        (lambda x: x**3 + 0.1 * x, 9),
        (lambda x: x + 0.3 * x**2 if x > -1 else 0.4 * x - 0.3, 9),
    ],
)
def test_a_search_along_a_curve(shape, calls):
    """The p-value is Phi of a curve: the limit is where that is the quantile. Each call is a whole
    p-value.
    """
    asked = []

    def p_value(x):
        asked.append(x)
        return float(special.ndtr(shape(x)))

    found = exact._limit(p_value, -20000.0, 0.5, 1.0, 0.05, hits=2000)
    assert stats.norm.ppf(0.05) - 2e-4 <= shape(found) <= stats.norm.ppf(0.05) + 1e-9
    assert len(asked) <= calls


def test_a_p_value_that_jumps():
    """From next to nothing to 1: the limit is where it does."""
    found = exact._limit(lambda x: 1e-50 if x < -2 else 1.0, -20.0, 0.5, 1.0, 0.05, hits=2000)
    assert -2 - exact.SEARCHED <= found <= -2


@pytest.mark.parametrize("low", [-20.0, 0.0])
def test_a_p_value_that_is_above_its_level_everywhere(low):
    assert exact._limit(crossing(low - 9), low, low + 1.0, 1.0, 0.05, hits=2000) == -math.inf
    assert exact._limit(crossing(low - 9), low, low + 1.0, 1.0, 0.05, hits=10) == -math.inf
    assert exact._limit(crossing(low + 1.2), low, low + 1.3, 1.0, 0.05, hits=2000) == -math.inf


@pytest.mark.parametrize("found", [0.05 / 1.05, 0.5])
def test_a_p_value_at_its_level_is_not_above_it(found):
    end = 3.0 + stats.norm.ppf(0.05 / 1.05)
    limit = exact._limit(
        lambda x: found if abs(x - end + 1) < 0.02 else stats.norm.cdf(x - 3.0),
        -20.0,
        3.0,
        1.0,
        0.05,
        hits=10,
    )
    assert limit == pytest.approx(end if found < 0.05 else end - 2 * (1 - 11 / 24), abs=2e-5)


@pytest.mark.parametrize(("look", "kept"), [(1, 0), (5, 4), (23, 22), (0, None)])
@pytest.mark.parametrize(("hits", "looks"), [(200, True), (201, False)])
def test_where_a_p_value_passes_its_level_before_it_falls_again(look, kept, hits, looks):
    """With few hits 24 places, the first two units back, are looked at: the last one below the level
    counts.
    """
    end = 3.0 + stats.norm.ppf(0.05 / 1.05)
    place = end - 2 * (1 - look / 24)

    def p_value(x):
        return 0.5 if abs(x - place) < 0.02 else stats.norm.cdf(x - 3.0)

    found = exact._limit(p_value, -20.0, 3.0, 1.0, 0.05, hits=hits)
    wanted = end if not looks else -math.inf if kept is None else end - 2 * (1 - kept / 24)
    assert found == pytest.approx(wanted, abs=2e-5)
    assert not looks or kept is None or p_value(found) <= 0.05


def test_looks_back_end_where_the_search_began():
    """Two units back would lie below `low`: there the p-value is looked at in place of them."""
    asked = []

    def p_value(x):
        asked.append(x)
        return stats.norm.cdf(x - 3.0)

    exact._limit(p_value, 1.0, 3.0, 1.0, 0.05, hits=10)
    assert min(asked) == 1.0


@pytest.mark.parametrize(
    ("refuted_below", "wanted"),
    [(0.0, -0.1), (-0.1, -0.1), (-0.11, -0.4), (-0.4, -0.4), (-1e6, -0.1 * 4**12), (-1e300, -math.inf)],
)
def test_a_point_below_that_the_test_refutes(refuted_below, wanted):
    """Steps of .1, .4, 1.6, … below 0, 20 of them."""
    found = exact._below(lambda x: -1.0 if x <= refuted_below + 1e-12 else 1.0, 0.0, 0.1)
    assert found == pytest.approx(wanted)
    assert exact._below(lambda x: 0.0, 0.0, 0.1) == -0.1  # at the level is refuted
    assert exact._below(lambda x: 0.0 if x <= -0.1 * 4**19 else 1.0, 0.0, 0.1) == pytest.approx(-0.1 * 4**19)
    assert exact._below(lambda x: 0.0 if x <= -0.1 * 4**20 else 1.0, 0.0, 0.1) == -math.inf


@pytest.mark.parametrize(
    ("counts", "delta"),
    [((300, 1000, 40, 1000), 0.05), ((300, 1000, 0, 900), 0.05), ((1500, 3000, 40, 3000), 0.01)],
)
def test_the_lower_limit_with_delta_is_exact(counts, delta):
    """A ten-thousandth of a standard error above it the level, less the twentieth of few hits, is passed."""
    level = 0.05 / (1.05 if counts[0] <= 1000 else 1.0)
    lower = exact.approximate_lower(*counts, delta, 0.05)
    unit = exact.log_ratio_error(*counts, delta)
    assert exact.approximate_p_value(*counts, lower, delta) <= level
    assert exact.approximate_p_value(*counts, lower + 1e-4 * unit, delta) > level


@pytest.mark.parametrize(
    ("counts", "epsilon"),
    [
        ((300, 1000, 40, 1000), 0.5),
        ((1500, 3000, 40, 3000), 1.0),
        ((201, 1000, 0, 900), 0.5),
        ((300, 1000, 240, 1000), 0.0),
    ],
)
def test_the_lower_limit_of_delta_is_exact(counts, epsilon):
    level = 0.05 / (1.05 if counts[0] <= 1000 else 1.0)
    lower = exact.delta_lower(*counts, epsilon, 0.05)
    unit = exact.difference_error(*counts, epsilon)
    assert lower > 0
    assert exact.approximate_p_value(*counts, epsilon, lower) <= level
    assert exact.approximate_p_value(*counts, epsilon, lower + 1e-4 * unit) > level


@pytest.mark.parametrize(
    ("k1", "lower"),
    [(20, -math.inf), (19, -math.inf), (0, -math.inf)],  # delta n1 = 20: p > delta is not seen
)
def test_what_does_not_even_show_more_than_delta(k1, lower):
    assert exact.approximate_lower(k1, 200, 3, 200, 0.1, 0.05) == lower


@pytest.mark.parametrize(("k1", "k0"), [(20, 20), (20, 25), (0, 0), (21, 20)])
def test_what_shows_no_delta(k1, k0):
    assert exact.delta_lower(k1, 200, k0, 200, 0.0, 0.05) == 0.0


@pytest.mark.parametrize(
    ("counts", "delta", "error"),
    [
        # p - delta = .2, q = .05: sqrt(.3 .7/200 + (.2/.05)^2 .05 .95/100) / .2.
        ((60, 200, 5, 100), 0.1, math.sqrt(0.3 * 0.7 / 200 + 16 * 0.05 * 0.95 / 100) / 0.2),
        # Without hits half a one stands for the variance and a hundredth for the ratio.
        ((60, 200, 0, 100), 0.1, math.sqrt(0.3 * 0.7 / 200 + (0.2 / 1e-4) ** 2 * 0.5 * 99.5 / 100**3) / 0.2),
        # With hits in all runs half a miss stands for the variance.
        ((200, 200, 5, 100), 0.1, math.sqrt(0.5 / 200**2 + 18**2 * 0.05 * 0.95 / 100) / 0.9),
        ((60, 200, 100, 100), 0.1, math.sqrt(0.3 * 0.7 / 200 + 0.2**2 * 0.5 / 100**2) / 0.2),
        ((20, 200, 5, 100), 0.1, math.inf),
        ((19, 200, 5, 100), 0.1, math.inf),
        ((200, 400, 5, 100), 0.25, math.sqrt(0.25 / 400 + 25 * 0.05 * 0.95 / 100) / 0.25),
    ],
)
def test_the_error_of_a_log_ratio(counts, delta, error):
    assert exact.log_ratio_error(*counts, delta) == pytest.approx(error, rel=1e-12)


@pytest.mark.parametrize(
    ("counts", "error"),
    [
        ((60, 200, 5, 100), math.sqrt(0.3 * 0.7 / 200 + 9 * 0.05 * 0.95 / 100)),
        ((60, 200, 0, 100), math.sqrt(0.3 * 0.7 / 200 + 9 * 0.5 * 99.5 / 100**3)),
        ((0, 200, 5, 100), math.sqrt(9 * 0.05 * 0.95 / 100)),
    ],
)
def test_the_error_of_a_difference(counts, error):
    """Of p - 3 q."""
    assert exact.difference_error(*counts, HALF) == pytest.approx(error, rel=1e-12)


# ---------------------------------------------------------------- power


@pytest.mark.parametrize(
    ("p", "q", "runs", "alpha"),
    [
        (0.6, 0.05, 100, 0.05),
        (0.6, 0.05, 100, 1e-6),
        (0.3, 0.1, 50, 0.2),
        (0.5, 0.0, 2, 0.6),
        (0.01, 0.01, 50, 0.8),
    ],
)
def test_the_power_of_a_ratio(p, q, runs, alpha):
    hits = round(runs * (p + q))
    least = next(k for k in range(hits + 2) if k > hits or stats.binom.sf(k - 1, hits, 0.75) <= alpha)
    wanted = stats.binom.sf(least - 1, hits, p / (p + q)) if least <= hits else 0.0
    assert exact.rejection_power(p, q, runs, HALF, alpha) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(("p", "q", "runs"), [(0.0, 0.5, 100), (-0.1, 0.5, 100), (0.001, 0.0, 100)])
def test_what_has_no_power(p, q, runs):
    assert exact.rejection_power(p, q, runs, HALF, 1.0) == 0.0


def test_at_a_level_that_all_hits_reach_power_is_exact():
    """One hit of one: under the claim it comes from world 1 with chance 3/4, the level itself included."""
    assert exact.rejection_power(0.5, 0.5, 1, HALF, 0.75) == pytest.approx(0.5)
    assert exact.rejection_power(0.5, 0.5, 1, HALF, 0.7499) == 0.0


@pytest.mark.parametrize(
    ("least", "found"),
    [(1.5, 1.5), (2.0, 2.0), (3.3, 3.3), (63.9, 63.9), (64.0, 64.0), (64.1, None), (100.0, None), (0.5, 1.0)],
)
def test_the_least_factor_that_is_caught(least, found):
    made = exact.least_factor(lambda factor: factor >= least, 1e-3)
    assert (made is None) == (found is None)
    if made is not None:
        assert found <= made <= found + 1e-3


def test_the_first_factors_that_are_tried_are_powers_of_two():
    asked = []
    exact.least_factor(lambda factor: bool(asked.append(factor)), 1e-3)
    assert asked == [2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
    asked.clear()
    exact.least_factor(lambda factor: asked.append(factor) or True, 0.25)
    assert asked == [2.0, 1.5, 1.25]  # 1 itself is the claim


@pytest.mark.parametrize(("k1", "n1", "n0"), [(400, 1000, 1000), (40, 900, 1101)])
def test_what_is_detectable(k1, n1, n0):
    """The power is .95 there, and less a thousandth of the claim below."""
    epsilon, alpha, p = 0.5, 1e-3, k1 / n1

    def power(true):
        return exact.rejection_power(p, p * math.exp(-true), (n1 + n0) // 2, epsilon, alpha)

    found = exact.detectable(k1, n1, n0, epsilon, 0.0, alpha)
    assert power(found) >= 0.95
    steps = [found - 1.01e-3 * epsilon * step for step in range(1, 3)]
    assert min(map(power, steps)) < 0.95


@pytest.mark.parametrize(("power", "wanted"), [(0.95, math.log(40)), (1.0, math.log(40)), (0.9499, math.inf)])
@pytest.mark.parametrize("k1", [410, 10])
def test_what_is_detectable_with_delta(power, wanted, k1):
    """Where the event is at most .01 as frequent on the other input the power is `power`, else nearly 0."""
    asked = []

    def stand_in(p, q, runs, *claim):
        asked.append((p, runs, *claim))
        return power if q <= 0.01 else 0.1

    with mock.patch.object(exact, "approximate_power", stand_in):
        found = exact.detectable(k1, 1000, 1003, 0.5, 0.01, 1e-3)
    wanted = wanted if k1 == 410 else math.inf  # a share that is not above delta shows nothing
    assert wanted <= found <= wanted + 0.5e-3
    assert set(asked) == ({(0.41, 1001, 0.5, 0.01, 1e-3)} if k1 == 410 else set())


@pytest.mark.parametrize(("power", "found"), [(0.95, math.log(4)), (0.9499, math.inf)])
def test_what_is_detectable_is_so_with_probability_95(power, found):
    with mock.patch.object(exact, "rejection_power", lambda p, q, *_: power if q <= 0.1 else 0.0):
        assert found <= exact.detectable(400, 1000, 1000, 0.5, 0.0, 1e-3) <= found + 0.5e-3


@pytest.mark.parametrize(
    ("k1", "delta"),
    [(0, 0.0), (100, 0.1), (99, 0.1), (1, 0.0)],  # p must be above delta, and hits many enough
)
def test_what_nothing_detects(k1, delta):
    assert exact.detectable(k1, 1000, 1000, 0.5, delta, 1e-6) == math.inf
