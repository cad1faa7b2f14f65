"""Edges of the sequential test: wealth, its limits, its judge, and what it would have detected.

A bet's payoffs are those of `bet_for`, which `tests/unit/evidence/test_sequential.py` holds against theory;
what is made of them is computed here term by term.
"""

import math
from unittest import mock

import numpy as np
import pytest

from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.blackbox import bets, sequential
from verifiable_dp.evidence.blackbox.bets import Candidate
from verifiable_dp.evidence.blackbox.test import Plan
from verifiable_dp.evidence.check import judged

LOOKS = ((30, 50, 5, 50), (70, 100, 10, 100), (71, 150, 40, 150))  # the last look loses what the second won


def candidate(weight=0.75, counts=LOOKS, shares=(0.7, 0.1)):
    return Candidate(weight, shares, 500, counts)


def e_values(row, epsilon, shares=(0.7, 0.1), delta=0.0):
    """The average of the products that all alternatives pay, at a look."""
    ps, qs, log_weights = bets.alternatives(shares, 500)
    k1, n1, k0, n0 = row
    total = 0.0
    for p, q, log_weight in zip(ps, qs, log_weights, strict=True):
        both, missed, other, idle = (
            float(x) for x in bets.bet_for(np.array(p), np.array(q), epsilon, delta).log_payoffs()
        )
        total += math.exp(log_weight + k1 * both + (n1 - k1) * missed + k0 * other + (n0 - k0) * idle)
    return total


ONE = [e_values(row, 1.0) for row in LOOKS]


def test_the_wealth_of_a_round_is_what_is_bet_and_the_cash():
    wealth = bets.round_wealth([candidate()], np.array([1.0]), 0.0, np.array([0.5]))[:, 0]
    assert wealth == pytest.approx([0.5 + math.log(0.75 * e + 0.25) for e in ONE])


def test_two_candidates_share_a_round():
    other = [e_values(row, 1.0, (0.5, 0.2)) for row in LOOKS]
    both = [candidate(0.5), candidate(0.25, shares=(0.5, 0.2))]
    wealth = bets.round_wealth(both, np.array([1.0]), 0.0, np.zeros(1))[:, 0]
    assert wealth == pytest.approx(
        [math.log(0.5 * a + 0.25 * b + 0.25) for a, b in zip(ONE, other, strict=True)]
    )


@pytest.mark.parametrize("excess", [0.0, 1e-17])
def test_a_round_without_cash(excess):
    wealth = bets.round_wealth([candidate(1.0 + excess)], np.array([1.0]), 0.0, np.zeros(1))[:, 0]
    assert wealth == pytest.approx([math.log(e) for e in ONE])


def test_a_round_with_next_to_no_cash():
    """Half a unit in the last place is kept aside: what is bet can lose all but that."""
    lost = [candidate(1 - 2**-53, counts=((0, 4000, 4000, 4000),))]
    wealth = float(bets.round_wealth(lost, np.array([1.0]), 0.0, np.zeros(1))[0, 0])
    assert wealth == pytest.approx(math.log(2**-53))


def test_each_round_bets_what_the_last_one_has_left():
    rounds = [[candidate()], [candidate(counts=LOOKS[:2])], [candidate()]]
    wealth = bets.log_wealth(rounds, [1.0], 0.0)[:, 0]
    first = [math.log(0.75 * e + 0.25) for e in ONE]
    second = [first[-1] + x for x in first[:2]]
    assert wealth == pytest.approx([*first, *second, *(second[-1] + x for x in first)])


def test_wealth_against_many_claims():
    wealth = bets.log_wealth([[candidate()]], [0.5, 1.0, 2.0], 0.0)
    wanted = [[math.log(0.75 * e_values(row, claim) + 0.25) for claim in (0.5, 1.0, 2.0)] for row in LOOKS]
    assert wealth == pytest.approx(np.array(wanted))


# ---------------------------------------------------------------- limits


def ladder_limits(level, rounds):
    """The limits by the definition: claim after claim, while the wealth against the next is 1 / level."""
    ladder = bets._claims()
    wealth = bets.log_wealth(rounds, ladder, 0.0)
    limits, steps = [], 0
    for look in range(len(wealth)):
        while steps < len(ladder) and wealth[look, steps] >= math.log(1 / level):
            steps += 1
        limits.append(ladder[steps - 1] if steps else 0.0)
    return limits


@pytest.mark.parametrize("level", [1e-3, 0.05, 0.9, 1e-300])
def test_limits_climb_and_never_fall(level):
    found = bets.lower_limits([[candidate()], [candidate(counts=LOOKS[:1])]], 0.0, level)
    assert list(found) == ladder_limits(level, [[candidate()], [candidate(counts=LOOKS[:1])]])
    assert list(found) == sorted(found)


@pytest.mark.parametrize(("excess", "limit"), [(0.0, 0.002), (-1e-9, 0.0), (math.nan, 0.0), (math.inf, None)])
def test_a_claim_is_passed_at_exactly_one_over_the_level(excess, limit):
    """Wealth against the first two claims of the ladder, 0 and .002, and none against the others."""
    ladder = bets._claims()

    def wealth(rounds, claims, delta):
        reached = -math.log(0.05) + excess
        return np.array([[reached if claim <= 0.002 or excess == math.inf else -1.0 for claim in claims]])

    with mock.patch.object(bets, "log_wealth", wealth):
        found = bets.lower_limits([[candidate(counts=LOOKS[:1])]], 0.0, 0.05)
    assert list(found) == [ladder[-1] if limit is None else limit]


# ---------------------------------------------------------------- the judge


def sequence(*rounds, **changes):
    numbers = {"epsilon": 1.0, "delta": 0.0, "alpha": 0.01, "confidence": 0.95, "tests": 1}
    rows = [{"candidates": [c.as_dict() for c in candidates]} for candidates in rounds or ([candidate()],)]
    return judged("sequential", {**numbers, "rounds": rows, "runs": 300, **changes})


HIGHEST = max(math.log(0.75 * e + 0.25) for e in ONE)


@pytest.mark.parametrize("tests", [1, 3])
@pytest.mark.parametrize(("side", "verdict"), [(1 + 1e-9, "refuted"), (1 - 1e-9, "not_refuted")])
def test_the_largest_wealth_decides(tests, side, verdict):
    found = sequence(alpha=tests * math.exp(-HIGHEST) * side, tests=tests)
    assert found["verdict"] == verdict
    assert ("detectable" in found) == (verdict == "not_refuted")


def test_numbers_of_a_sequence():
    found = sequence(tests=2, confidence=0.9)
    assert found["log_e_value"] == pytest.approx(math.log(0.75 * ONE[-1] + 0.25))
    assert found["largest_log_e_value"] == pytest.approx(HIGHEST)
    assert found["p_value"] == pytest.approx(2 * math.exp(-HIGHEST))
    assert found["epsilon_lower"] == ladder_limits(0.05, [[candidate()]])[-1]
    assert found["looks"] == 3
    assert sequence(tests=10**9)["p_value"] == 1.0


@pytest.mark.parametrize(("alpha", "verdict"), [(1.0, "refuted"), (0.999, "not_refuted")])
def test_a_sequence_that_shows_nothing(alpha, verdict):
    """The p-value is 1, and reaches level 1."""
    nothing = [candidate(counts=((5, 50, 5, 50),))]
    found = sequence(nothing, alpha=alpha, tests=10**6)
    assert (found["verdict"], found["p_value"]) == (verdict, 1.0)


@pytest.mark.parametrize(
    ("candidates", "taken"),
    [
        ([candidate(0.5), candidate(0.5)], True),
        ([candidate(0.5), candidate(0.5 + 1e-9)], False),
        ([candidate(0.3), candidate(0.3, counts=LOOKS[:2])], False),
        ([candidate(1.0)], True),
        ([candidate(1.02)], False),
    ],
)
def test_candidates_of_a_round(candidates, taken):
    if taken:
        assert sequence(candidates)["looks"] == 3
    else:
        with pytest.raises(InputError, match="same looks and weights that sum to at most 1"):
            sequence(candidates)


# ---------------------------------------------------------------- what would have been detected


def last_wealth(rounds, q, epsilon, delta):
    """The log wealth that the last round's best bet has with probability .95, the event being hit with q.

    Of n runs a bet has the log wealth n m - 1.6449 sqrt(n v), m and v being the mean and the variance of what
    one pays; an event has the weight of its candidate and of the likeliest alternative, and the rounds before
    may have left a quarter of the wealth each.
    """
    best = max(rounds[-1], key=lambda one: one.weight)
    k1, n1, _, n0 = best.counts[-1]
    p, runs = k1 / n1, n1 + n0
    kept = math.log(best.weight) + float(np.max(bets.LOG_WEIGHTS)) + (len(rounds) - 1) * math.log(0.25)
    bet = bets.bet_for(np.array(p), np.array(q), epsilon, delta)
    payoffs, shares = [float(x) for x in bet.log_payoffs()], np.array([p, 1 - p, q, 1 - q]) / 2
    mean = float(shares @ payoffs)
    spread = math.sqrt(float(shares @ np.square(payoffs)) - mean**2)
    return kept + runs * mean - 1.6448536269514722 * math.sqrt(runs) * spread


def least_detected(rounds, epsilon, delta, alpha):
    """The least factor, in steps of a thousandth, at which that reaches 1 / alpha."""
    best = max(rounds[-1], key=lambda one: one.weight)
    more = best.counts[-1][0] / best.counts[-1][1] - delta
    low, high = 1000, 30000
    while high - low > 1:
        middle = (low + high) // 2
        enough = last_wealth(rounds, more * math.exp(-middle / 1000 * epsilon), epsilon, delta) >= -math.log(
            alpha
        )
        low, high = (low, middle) if enough else (middle, high)
    return high / 1000


@pytest.mark.parametrize(("side", "found"), [(1 + 1e-6, True), (1 - 1e-6, False)])
@pytest.mark.parametrize("earlier", [0, 2])
def test_an_event_cannot_be_rarer_than_half_a_run_of_all(side, found, earlier):
    """Of 60 runs that is 1/122: what does not reach the level there never does."""
    rounds = [[candidate(counts=((20, 30, 0, 30),))]] * (1 + earlier)
    alpha = math.exp(-last_wealth(rounds, 1 / 122, 0.3, 0.0)) * side
    epsilon = bets.detectable(rounds, 0.3, 0.0, alpha)
    assert epsilon < math.inf if found else epsilon == math.inf


MANY = ((700, 1000, 100, 1000),)


@pytest.mark.parametrize(
    ("rounds", "delta"),
    [
        ([[candidate(counts=MANY)]], 0.0),
        ([[candidate(counts=MANY)]] * 3, 0.0),
        ([[candidate(counts=MANY)]], 0.1),
        ([[candidate(0.1, counts=((10, 1000, 1, 1000),)), candidate(0.5, counts=MANY)]], 0.0),
        ([[candidate(counts=((100, 1000, 100, 900),))]] * 2, 0.01),
        # The last look of the last round counts.
        ([[candidate(0.75, counts=((1, 9, 1, 9),))], [candidate(0.5, counts=((1, 9, 1, 9), *MANY))]], 0.0),
    ],
)
def test_what_a_sequence_detects(rounds, delta):
    found = bets.detectable(rounds, 0.3, delta, 1e-3)
    assert found == pytest.approx(0.3 * least_detected(rounds, 0.3, delta, 1e-3), abs=2e-3 * 0.3)


@pytest.mark.parametrize(
    ("counts", "delta"),
    [
        (((0, 1000, 0, 1000),), 0.0),
        (((100, 1000, 0, 1000),), 0.1),  # a share of delta itself shows nothing
        (((0, 0, 0, 1000),), 0.0),
        (((1, 10, 0, 10),), 0.0),
    ],
)
def test_what_no_sequence_detects(counts, delta):
    assert bets.detectable([[candidate(counts=counts)]], 0.3, delta, 1e-6) == math.inf


def test_what_is_detectable_has_the_level_of_one_of_the_tests():
    with mock.patch.object(sequential, "detectable", lambda *given: given[-1]):
        assert sequence(alpha=1e-300, tests=4)["detectable"] == 1e-300 / 4


@pytest.mark.parametrize(("earlier", "alpha"), [(0, 1e-3), (1, 1e-3), (3, 1e-2)])
def test_power_starts_with_what_the_rounds_before_have_left_at_least(earlier, alpha):
    """A quarter of each: power with rounds before is that of one round at a level so much smaller."""
    plan = Plan(100, 400, 300)

    def power(level, rounds):
        with mock.patch.object(sequential, "rounds_of", return_value=[plan] * rounds):
            return sequential.rejection_power(0.3, 0.1, plan, 0.5, 0.0, level, repeats=60)

    found = power(alpha, 1 + earlier)
    assert found == power(alpha * 0.25**earlier, 1)
    assert 0 < found < power(10 * alpha, 1) < 1


def test_power_of_a_single_round():
    """Nothing was lost before it: it keeps a quarter at least, and cannot make much of two runs."""
    plan = Plan(100, 400, 1)
    assert sequential.rejection_power(0.5, 0.1, plan, 0.5, 0.0, 4.0, repeats=50) == 1.0
    assert sequential.rejection_power(0.5, 0.1, plan, 0.5, 0.0, 1 / 3.9, repeats=50) == 0.0


@pytest.mark.parametrize(
    ("p", "q", "delta"), [(0.3, 0.3 / math.exp(0.5), 0.0), (0.2, 0.5, 0.0), (0.1, 0.0, 0.1), (0.0, 0.0, 0.0)]
)
def test_what_keeps_the_claim_has_no_power(p, q, delta):
    assert sequential.rejection_power(p, q, Plan(100, 400, 300), 0.5, delta, 1.0, repeats=10) == 0.0


@pytest.mark.parametrize(("select", "held"), [(400, 200), (401, 200), (3, 1), (1, 1), (0, 1)])
def test_power_spreads_the_alternatives_around_half_the_selection_runs(select, held):
    asked, spread = set(), bets.spread

    def noted(share, runs):
        asked.add(runs)
        return spread(share, runs)

    with mock.patch.object(sequential, "spread", noted):
        sequential.rejection_power(0.5, 0.1, Plan(100, select, 300), 0.5, 0.0, 1e-3, repeats=5)
    assert asked == {held}


@pytest.mark.parametrize(
    ("runs", "sizes"),
    [
        (1000, [177, 250, 354, 500, 707, 1000]),  # 1000 over powers of sqrt(2)
        (8, [1, 2, 3, 4, 6, 8]),
        (2, [1, 2]),
        (1, [1]),
    ],
)
def test_when_a_round_is_looked_at(runs, sizes):
    assert sequential.looks_of(runs) == sizes
