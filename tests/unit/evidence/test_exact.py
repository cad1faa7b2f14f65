"""The exact law of actions: closed form for two arms, all mass accounted for, mutants refuted by it."""

import dataclasses
import functools
import itertools
import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy import integrate, stats
from scipy.stats import norm

import verifiable_dp as vdp
from verifiable_dp import InputError
from verifiable_dp.auditing import groups as widening
from verifiable_dp.core import claims
from verifiable_dp.core.adversaries import flatter
from verifiable_dp.core.claims import PrivacyClaim, Relation
from verifiable_dp.core.environments import Table
from verifiable_dp.core.neighbours import (
    GroupPair,
    InteractivePair,
    StreamPair,
    TablePair,
    UserPair,
    groups,
    pair_of,
    users,
)
from verifiable_dp.evidence.alignment import searching
from verifiable_dp.evidence.blackbox import curves, statistics
from verifiable_dp.evidence.blackbox.events import Event, Observation
from verifiable_dp.evidence.blackbox.machine import Machine, UnsupportedError
from verifiable_dp.evidence.blackbox.scores import ScoreColumn
from verifiable_dp.evidence.blackbox.test import Plan, Selected, Terms
from verifiable_dp.evidence.check import judged
from verifiable_dp.evidence.exact import law as exact
from verifiable_dp.evidence.exact import limits, race, worst
from verifiable_dp.evidence.exact.race import (
    MOST_ARMS,
    kept_sets,
    log_interval,
    survivors,
    survivors_in_general,
)
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.wrapped import AlteredNoise, Prefix
from verifiable_dp.render import plots

CASES = [
    ("dp-se", {"n_arms": 2}),
    ("dp-se", {"n_arms": 3}),
    ("dp-se", {"n_arms": 5, "horizon": 20_000}),
    ("dp-se-doubling", {}),
    ("dp-robust-se", {}),
]


def subject(name, changes):
    auditor = registry.auditor(name)
    algorithm = auditor.algorithm(**{**auditor.instance, **changes})
    return algorithm, auditor.pairs(algorithm)


def mutant(name):
    return next(m for m in registry.auditor("dp-se").mutants if m.name == name).make


def tail(x):
    """P(Z - Z' > x) for x >= 0."""
    return math.exp(-x) * (2 + x) / 4


@pytest.fixture
def two_arms():
    return subject("dp-se", {"n_arms": 2})


def test_two_arms_follow_the_closed_form(two_arms):
    """One epoch decides: arm 1 falls out where two draws differ by more than the margin less the gap."""
    algorithm, pairs = two_arms
    pair = pairs[2]
    known = exact.law(algorithm, pair)
    for table, log_p in zip(pair.worlds(), (known.log_p, known.log_q), strict=True):
        root = Machine(algorithm, Table(table)).nodes[0]
        gap = root.values[0] - root.values[1]
        x = (root.margin - gap) * algorithm.epsilon
        assert x >= 0
        first = known.paths.index((0b11, 0b01))
        assert log_p[first] == pytest.approx(math.log(tail(x)), abs=1e-11)
    assert known.epsilon_at(1e-3) == pytest.approx(abs(known.log_ratio[first]), rel=1e-9)


@pytest.mark.parametrize(("name", "changes"), CASES)
def test_all_mass_is_accounted_for_and_no_loss_exceeds_epsilon(name, changes):
    algorithm, pairs = subject(name, changes)
    losses = []
    for pair in pairs[:6]:
        known = exact.law(algorithm, pair)
        assert math.fsum(np.exp(known.log_p).tolist()) == pytest.approx(1, abs=1e-12)
        assert math.fsum(np.exp(known.log_q).tolist()) == pytest.approx(1, abs=1e-12)
        assert max(known.remainder) < 1e-28
        assert known.epsilon <= algorithm.claim.epsilon * (1 + 1e-10)
        losses.append(known.epsilon)
    assert max(losses) > 0.7 * algorithm.claim.epsilon


def test_events_and_divergences_are_consistent(two_arms):
    algorithm, pairs = two_arms
    known = exact.law(algorithm, pairs[0])
    assert known.epsilon_at(1e-30) >= known.epsilon_at(1e-6) >= known.epsilon_at(0.1)
    assert known.epsilon >= known.epsilon_at(1e-30) - 1e-12
    least, most = known.delta(0.5)
    assert 0 < least <= most <= least + 1e-28
    assert known.delta(known.epsilon + 1e-9)[0] == 0
    assert known.epsilon_of(least) == pytest.approx(0.5, rel=1e-6)
    assert known.delta(2.0)[0] == 0.0
    turned = TablePair(pairs[0].right, pairs[0].round, pairs[0].arm, pairs[0].left[0, 0])
    other = exact.law(algorithm, turned)
    np.testing.assert_allclose(other.log_p, known.log_q)
    assert other.delta(0.5) == known.delta(0.5)


def test_the_best_event_of_the_given_pair(two_arms):
    """At 3e8 runs a side it shows .91 of the exact epsilon."""
    algorithm, pairs = two_arms
    known = exact.law(algorithm, pairs[0])
    best = known.best_event(300_000_000)
    assert best.bound == pytest.approx(0.9017, abs=1e-4)
    assert best.bound / known.epsilon == pytest.approx(0.91, abs=0.005)
    # The event: arm 1 is removed in the first epoch.
    assert [known.paths[i] for i in np.flatnonzero(best.atoms)] == [(0b11, 0b01)]


def test_paths_in_words(two_arms):
    algorithm, pairs = two_arms
    known = exact.law(algorithm, pairs[0])
    words = [known.words(i) for i in range(len(known.paths))]
    assert "{0, 1} > {0}" in words
    assert "{0, 1} > {0, 1} > {0}" in words
    assert "{0, 1} > {1} > ..." in words  # so unlikely that it is not followed
    assert [word.endswith("> ...") for word in words] == known.prefix.tolist()


def test_what_is_not_followed_is_stated():
    algorithm, pairs = subject("dp-se", {"n_arms": 5, "horizon": 20_000})
    whole = exact.law(algorithm, pairs[0])
    short = exact.law(algorithm, pairs[0], most=1)
    assert short.nodes == 1
    assert max(short.remainder) > 0.99  # both arms are kept almost surely, and that was not followed
    assert math.fsum(np.exp(short.log_p).tolist()) == pytest.approx(1, abs=1e-12)
    assert short.epsilon <= whole.epsilon + 1e-12  # prefixes are events too
    coarse = exact.law(algorithm, pairs[0], cut=1e-3)
    assert coarse.nodes <= whole.nodes
    low, high = coarse.delta(0.5)
    assert low - 1e-15 <= whole.delta(0.5)[0] <= high
    assert exact.law(algorithm, pairs[0], cut=1e-60).leaves >= whole.leaves


def test_what_was_not_followed_is_added_to_the_upper_bound_on_delta():
    """Two paths of known law, and a prefix that is alike on both inputs but may hide anything."""
    p, q = np.array([0.6, 0.3, 0.1]), np.array([0.3, 0.5, 0.2])
    known = exact.ActionLaw(((1,), (2,), (3,)), np.log(p), np.log(q), np.array([False, False, True]), 2)
    assert known.remainder == pytest.approx((0.1, 0.2))
    # At epsilon 0: .3 of the first path one way, .2 and .1 of the others the other way.
    assert known.delta(0.0) == pytest.approx((0.3, 0.3 + 0.2))
    assert known.delta(math.log(2.0)) == pytest.approx((0.0, 0.2), abs=1e-12)


def test_actions_of_which_one_input_has_none_make_epsilon_infinite(two_arms):
    algorithm, pairs = two_arms
    table = Table(pairs[0].left)
    shorter = Machine(Prefix(algorithm, 900), table)  # the run ends in the second epoch
    known = exact.law_of(Machine(algorithm, table), shorter)
    assert known.epsilon == math.inf
    assert known.delta(10.0)[0] > 0.99
    assert math.fsum(np.exp(known.log_q).tolist()) == pytest.approx(1, abs=1e-12)


# ---------------------------------------------------------------- checks


@pytest.mark.parametrize(("name", "changes"), CASES)
def test_the_correct_algorithm_is_not_refuted(name, changes):
    algorithm, pairs = subject(name, changes)
    check = exact.check(algorithm, pairs[:4], algorithm.claim)
    assert check.verdict == "not_refuted"
    assert check.kind == "exact"
    again = json.loads(json.dumps(check.as_dict(), allow_nan=False))
    assert judged("exact", again["statistics"]) == again["result"]
    assert 0.7 < check.result["epsilon_lower"] / algorithm.claim.epsilon <= 1 + 1e-9


@pytest.mark.parametrize(
    "name", ["half noise", "one draw for all arms", "raw comparison", "sums with the noise of means"]
)
def test_mutants_are_refuted(two_arms, name):
    algorithm, pairs = two_arms
    check = exact.check(mutant(name)(algorithm), pairs, algorithm.claim)
    assert check.verdict == "refuted"
    if name == "half noise":
        assert check.result["epsilon_lower"] == pytest.approx(2, abs=0.02)
    counterexample = json.loads(json.dumps(exact.counterexample(check, pairs), allow_nan=False))
    assert set(counterexample) == {"check", "pair", "event", "delta_lower", "epsilon_lower"}
    assert counterexample["delta_lower"] >= 0


def test_an_exact_comparison_has_infinite_epsilon(two_arms):
    algorithm, pairs = two_arms
    check = exact.check(mutant("raw comparison")(algorithm), pairs, algorithm.claim)
    assert check.result["epsilon_lower"] == "inf"
    assert check.result["delta_lower"] == 1.0


def test_one_percent_less_noise_is_refuted_and_one_percent_more_is_not():
    """Where three arms lie at the threshold the actions spend all of epsilon."""
    algorithm, pairs = subject("dp-se", {"n_arms": 3})
    less = exact.check(AlteredNoise(algorithm, 1 / 1.01), pairs, algorithm.claim)
    assert less.verdict == "refuted"
    assert less.result["epsilon_lower"] == pytest.approx(1.01, abs=1e-6)
    assert exact.check(AlteredNoise(algorithm, 1.01), pairs, algorithm.claim).verdict == "not_refuted"


def test_a_claim_with_delta_is_judged_by_the_hockey_stick(two_arms):
    algorithm, pairs = two_arms
    delta = exact.law(algorithm, pairs[4]).delta(0.5)[0]
    assert delta > 0.01
    for factor, verdict in ((1.01, "not_refuted"), (0.99, "refuted")):
        check = exact.check(algorithm, [pairs[4]], PrivacyClaim(0.5, delta * factor, observe="actions"))
        assert check.verdict == verdict
        assert check.result["delta_lower"] == pytest.approx(delta)
    assert check.result["epsilon_lower"] > 0.5  # at the refuted delta


def test_what_has_no_such_law_gives_no_check(two_arms):
    algorithm, pairs = two_arms
    assert exact.check(*subject("ldp-robust-se", {}), PrivacyClaim(1.0)) is None
    assert exact.check(*subject("dp-ucb", {}), PrivacyClaim(1.0)) is None
    pair = InteractivePair(flatter((0.0, 1.0), 0), 3)
    assert exact.check(algorithm, [pair], algorithm.claim) is None
    assert (
        exact.check(algorithm, [pair, pairs[0]], algorithm.claim).statistics["pairs"][0]["pair_number"] == 1
    )


def test_a_draw_that_comes_again_is_refused(two_arms):
    algorithm, pairs = two_arms
    with pytest.raises(UnsupportedError, match="two comparisons"):
        exact.law(mutant("one draw for all epochs")(algorithm), pairs[0])


def test_sums_of_reports_and_negative_margins_are_refused(two_arms):
    algorithm, pairs = two_arms
    node = Machine(algorithm, Table(pairs[0].left)).nodes[0]
    for changes in (
        {"counts": node.counts + 3},
        {"margin": -1.0},
        {"margin": np.nan},
        {"values": node.values + np.inf},
        {"scales": -node.scales},
    ):
        with pytest.raises(UnsupportedError):
            exact.node_law(dataclasses.replace(node, **changes))


def test_a_check_that_does_not_refute_has_no_counterexample(two_arms):
    algorithm, pairs = two_arms
    with pytest.raises(InputError, match="refutes"):
        exact.counterexample(exact.check(algorithm, pairs[:1], algorithm.claim), pairs)


# The search for the worst tables: its gradient; it beats the given pairs, and chance does not beat it.


RUNS = 300_000_000


def bound(algorithm, pair, runs=RUNS):
    return exact.law(algorithm, pair).best_event(runs).bound


@pytest.mark.parametrize("n_arms", [2, 3, 5])
def test_gradient_of_the_bound_agrees_with_central_differences(n_arms):
    algorithm, _ = subject("dp-se", {"n_arms": n_arms})
    decision = worst.decisions(algorithm)[0]
    values = decision.high.min() - np.linspace(3, decision.margin - 5, n_arms)[::-1]
    here, there = decision.laws(values)
    best = limits.best_event(here[0], there[0], RUNS)
    _, gradient = worst.bound_at(decision, values, best.atoms, best.flipped, RUNS)
    for arm in range(n_arms):
        step = np.zeros(n_arms)
        step[arm] = 1e-4
        up, down = (
            worst.bound_at(decision, values + h, best.atoms, best.flipped, RUNS)[0] for h in (step, -step)
        )
        assert gradient[arm] == pytest.approx((up - down) / 2e-4, abs=1e-6)
    assert np.abs(gradient).max() > 1e-4  # otherwise nothing was compared


@pytest.mark.parametrize("n_arms", [2, 3])
def test_a_decision_builds_tables_with_the_sums_it_was_asked_for(n_arms):
    algorithm, _ = subject("dp-se", {"n_arms": n_arms})
    decision = worst.decisions(algorithm)[0]
    values = np.linspace(40.25, 123.5, n_arms)
    pair = decision.pair(values)
    assert (pair.left != pair.right).sum() == 1
    for world, table in enumerate(pair.worlds()):
        node = Machine(algorithm, Table(table)).nodes[0]
        expected = values + world * decision.change * (np.arange(n_arms) == 0)
        np.testing.assert_allclose(node.values, expected, rtol=1e-12)
        assert node.margin == decision.margin


def test_later_comparisons_of_fewer_arms_are_reached():
    algorithm, _ = subject("dp-se", {"n_arms": 5, "horizon": 20_000})
    sizes = [len(decision.arms) for decision in worst.decisions(algorithm)]
    assert sizes[0] == 5
    assert sizes[-2:] == [3, 2]
    for decision in worst.decisions(algorithm):
        low, high = (np.array(side) for side in zip(*decision.box, strict=True))
        pair = decision.pair(high - np.arange(len(high)))
        known = exact.law(algorithm, pair)
        reached = [path for path in known.paths if (1 << len(decision.arms)) - 1 in path]
        assert reached
        assert known.epsilon > 0.5  # so the changed entry lies in the block that decides
        assert (low < high).all()


@pytest.mark.parametrize(
    ("name", "changes", "at_least"),
    [
        pytest.param("dp-se", {"n_arms": 2}, 0.9047, marks=pytest.mark.slow),
        ("dp-se", {"n_arms": 3}, 0.9958),
        pytest.param("dp-se", {"n_arms": 5}, 0.998, marks=pytest.mark.slow),
        ("dp-se-doubling", {}, 0.9047),
        ("dp-robust-se", {}, 0.9047),
    ],
)
def test_it_improves_on_the_given_pairs(name, changes, at_least):
    algorithm, given = subject(name, changes)
    found = worst.search(algorithm, algorithm.claim, RUNS)
    best = max(item.value for item in found if item.objective == "bound")
    assert best >= at_least * algorithm.claim.epsilon
    assert best > max(bound(algorithm, pair) for pair in given) + 1e-3
    for item in found:
        known = exact.law(algorithm, item.pair)
        again = known.best_event(RUNS).bound if item.objective == "bound" else known.epsilon_at(worst.FLOOR)
        assert again == item.value
    ratio = max(item.value for item in found if item.objective == "ratio")
    assert ratio >= max(exact.law(algorithm, pair).epsilon_at(worst.FLOOR) for pair in given) - 1e-9


@pytest.mark.parametrize("n_arms", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_random_sums_do_not_beat_it(n_arms):
    algorithm, _ = subject("dp-se", {"n_arms": n_arms})
    runs = 10**6
    best = max(
        item.value for item in worst.search(algorithm, algorithm.claim, runs) if item.objective == "bound"
    )
    decision = worst.decisions(algorithm)[0]
    generator = np.random.Generator(np.random.Philox(3))
    highest = 0.0
    for _ in range(200):
        # Sums of which some lie about a margin below others: where anything is decided.
        level = generator.integers(0, 3, n_arms) * decision.margin
        values = 300 - level + generator.uniform(-2, 20, n_arms)
        laws = [
            race.survivors(values + decision.change * world * (np.arange(n_arms) == 0), np.ones(n_arms), m)[0]
            for world, m in ((0, decision.margin), (1, decision.margin))
        ]
        highest = max(highest, limits.best_event(*laws, runs).bound)
    assert best - 0.1 < highest <= best + 1e-4


@pytest.mark.parametrize(("more", "kept"), [(-1e-9, 0), (1e-9, 0), (1e-3, 1)])
def test_of_equally_good_climbs_the_first_is_kept(more, kept):
    """Which of two alike ends higher by a rounding would differ from machine to machine."""
    starts = [np.array([2.0, 1.0]), np.array([1.0, 2.0])]
    climbing = SimpleNamespace(laws=lambda values: ((values, None), (values, None)))

    def choose(here, there):
        return 0.5 + more * (here[0] < here[1]), np.ones(2, bool), False

    value, sums = worst._search(climbing, starts, choose, lambda values, event, flipped: values)
    assert value == choose(starts[kept], None)[0]
    np.testing.assert_array_equal(sums, starts[kept])


def test_it_always_finds_the_same():
    algorithm, _ = subject("dp-se", {"n_arms": 3})
    first, second = (worst.worst_pairs(algorithm, algorithm.claim, 10**6) for _ in range(2))
    assert len(first) == len(second) == 2
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.left, two.left)
        assert (one.round, one.arm, one.value) == (two.round, two.arm, two.value)
    assert bound(algorithm, first[0], 10**6) > bound(algorithm, first[1], 10**6)  # the strongest first


@pytest.mark.parametrize("name", ["dp-ucb", "ldp-robust-se", "dp-nas", "dp-linear", "dp-robust-elimination"])
def test_algorithms_of_another_form_are_refused(name):
    algorithm, _ = subject(name, {})
    with pytest.raises(UnsupportedError):
        worst.worst_pairs(algorithm, algorithm.claim, 1000)


def test_runs_must_be_a_positive_number():
    algorithm, _ = subject("dp-se", {})
    with pytest.raises(InputError, match="runs"):
        worst.search(algorithm, algorithm.claim, 0)


# The law of one comparison: closed forms for two arms, brute force for three, symmetries, the gradient.


def log_tail(x):
    """log P(Z - Z' > x) of standard Laplace draws: e^-x (2 + x)/4 above 0."""
    return math.log(2 + x) - x - math.log(4) if x >= 0 else math.log1p(-math.exp(x) * (2 - x) / 4)


def log_tail_of(x, s, r):
    """log P(s Z - r Z' > x), x >= 0, by the density's partial fractions; s != r."""
    big, small = max(s, r), min(s, r)
    ratio = (small / big) ** 2 * math.exp(-x / small + x / big)
    return -x / big + math.log1p(-ratio) - math.log(2) - math.log1p(-((small / big) ** 2))


@pytest.mark.parametrize("gap", [0.0, 1.0, 30.0, -20.0, 100.0])
@pytest.mark.parametrize("margin", [1e-3, 1.0, 40.0, 500.0, 600.0])
def test_two_arms_with_equal_noise_follow_the_closed_form(gap, margin):
    log_p, _ = survivors(np.array([gap, 0.0]), np.ones(2), margin)
    # Logarithms to 1e-12: probabilities to 1e-12 of themselves, down to e^-600.
    assert log_p[0b01] == pytest.approx(log_tail(margin - gap), abs=1e-12, rel=1e-13)
    assert log_p[0b10] == pytest.approx(log_tail(margin + gap), abs=1e-12, rel=1e-13)


@pytest.mark.parametrize("x", [0.5, 20.0, 500.0, 690.0])
@pytest.mark.parametrize("scales", [(1.0, 2.0), (3.0, 0.1), (1.0, 1.01)])
def test_two_arms_with_unequal_noise_follow_the_closed_form(x, scales):
    log_p, _ = survivors(np.zeros(2), np.array(scales), x)
    assert log_p[0b01] == pytest.approx(log_tail_of(x, *scales), rel=1e-11, abs=1e-11)
    assert log_p[0b01] == pytest.approx(log_p[0b10], rel=1e-12)


def brute_force(values, scales, margin):
    """Probabilities of three arms by adaptive quadrature of the densities themselves."""
    laws = [stats.laplace(v, s) for v, s in zip(values, scales, strict=True)]
    out = np.zeros(8)
    ends = np.sort(np.concatenate([values, values + margin]))
    for number, kept in enumerate(kept_sets(3)):
        for w in np.flatnonzero(kept):

            def density(x, w=w, kept=kept):
                product = laws[w].pdf(x)
                for a in range(3):
                    if a != w:
                        below = laws[a].cdf(x - margin)
                        product *= laws[a].cdf(x) - below if kept[a] else below
                return product

            cuts = [ends[0] - 60 * max(scales), *ends, ends[-1] + 60 * max(scales)]
            out[number] += sum(
                integrate.quad(density, a, b, epsabs=1e-14, epsrel=1e-12, limit=200)[0]
                for a, b in itertools.pairwise(cuts)
                if b > a
            )
    return out


@pytest.mark.parametrize(
    ("values", "scales", "margin"),
    [
        ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 1.0),
        ((0.0, -2.0, -3.5), (1.0, 1.0, 1.0), 2.0),
        ((1.0, 5.0, -4.0), (1.0, 3.0, 0.5), 4.0),
    ],
)
def test_three_arms_agree_with_brute_force(values, scales, margin):
    log_p, _ = survivors(np.array(values), np.array(scales), margin)
    np.testing.assert_allclose(
        np.exp(log_p), brute_force(np.array(values), np.array(scales), margin), rtol=1e-9, atol=1e-13
    )


def test_one_arm_always_survives():
    np.testing.assert_allclose(survivors(np.array([3.0]), np.ones(1), 2.0)[0], [-np.inf, 0.0], atol=1e-14)


def test_intervals_are_exact_in_both_tails():
    cases = [(-700.0, -699.0), (699.0, 700.0), (-1.0, 2.0), (0.0, 1e-12), (-1e-9, 1e-9), (400.0, np.inf)]
    for low, high in cases:
        mirrored = float(log_interval(-high, -low))
        assert float(log_interval(low, high)) == pytest.approx(mirrored, rel=1e-14)
    assert math.exp(log_interval(-1.0, 2.0)) == pytest.approx(1 - (math.exp(-1) + math.exp(-2)) / 2)
    assert float(log_interval(399.0, 400.0)) == pytest.approx(-399 + math.log((1 - math.exp(-1)) / 2))
    assert float(log_interval(-np.inf, np.inf)) == 0.0
    assert float(log_interval(2.0, 1.0)) == float(log_interval(1.0, 1.0)) == -np.inf


NUMBERS = st.floats(-80, 80)
SCALES = st.floats(0.05, 20)
ARMS = st.integers(2, 5).flatmap(
    lambda m: st.tuples(
        st.lists(NUMBERS, min_size=m, max_size=m),
        st.lists(SCALES, min_size=m, max_size=m),
        st.floats(0.01, 100),
    )
)
QUICK = settings(max_examples=40, deadline=None, derandomize=True)


@QUICK
@given(ARMS)
def test_probabilities_sum_to_one_and_gradients_to_zero(case):
    values, scales, margin = np.array(case[0]), np.array(case[1]), case[2]
    log_p, gradient = survivors(values, scales, margin)
    assert log_p[0] == -np.inf
    assert abs(math.fsum(np.exp(log_p).tolist()) - 1) < 1e-12
    # Moving all arms alike changes nothing, and probabilities always sum to 1.
    np.testing.assert_allclose((gradient @ np.ones(len(values))), 0, atol=1e-9 / scales.min())
    np.testing.assert_allclose(np.exp(log_p) @ gradient, 0, atol=1e-10 / scales.min())
    assert (np.abs(gradient) <= (1 + 1e-9) / scales).all()  # a Laplace draw's score is at most 1/scale


@QUICK
@given(ARMS, st.randoms(use_true_random=False), st.floats(-50, 50), st.floats(0.1, 10))
def test_arms_units_and_the_origin_do_not_matter(case, random, shift, unit):
    values, scales, margin = np.array(case[0]), np.array(case[1]), case[2]
    order = list(range(len(values)))
    random.shuffle(order)
    log_p, _ = survivors(values, scales, margin)
    moved, _ = survivors((values[order] + shift) * unit, scales[order] * unit, margin * unit)
    sets = kept_sets(len(values))
    match = sets[:, order] @ (1 << np.arange(len(values)))
    np.testing.assert_allclose(moved[match][1:], log_p[1:], rtol=1e-10, atol=1e-10)


@QUICK
@given(ARMS)
def test_both_ways_of_working_it_out_agree(case):
    values, scales, margin = np.array(case[0]), np.array(case[1]), case[2]
    np.testing.assert_allclose(
        survivors_in_general(values, scales, margin)[1:],
        survivors(values, scales, margin)[0][1:],
        rtol=1e-11,
        atol=1e-11,
    )


@QUICK
@given(ARMS)
def test_gradient_agrees_with_central_differences(case):
    values, scales, margin = np.array(case[0]), np.array(case[1]), case[2]
    _, gradient = survivors(values, scales, margin)
    assert len(values) > 1
    for arm in range(len(values)):
        step = np.zeros(len(values))
        step[arm] = 1e-3 * min(scales.min(), margin)
        one, two = (
            (survivors(values + h, scales, margin)[0][1:] - survivors(values - h, scales, margin)[0][1:])
            / (2 * h[arm])
            for h in (step, 2 * step)
        )
        numeric = (4 * one - two) / 3  # Richardson
        np.testing.assert_allclose(gradient[1:, arm], numeric, atol=2e-7 / scales.min())


def test_missing_noise_is_decided_by_comparison():
    law = survivors_in_general(np.array([0.0, -1.0, -3.0]), np.zeros(3), 2.0)
    np.testing.assert_array_equal(np.exp(law), np.eye(8)[0b011])
    # Just at the margin an arm stays, and of equal arms none falls out.
    law = survivors_in_general(np.array([0.0, 0.0, -2.0]), np.zeros(3), 2.0)
    np.testing.assert_array_equal(np.exp(law), np.eye(8)[0b111])


def test_one_noisy_arm_among_exact_ones_follows_the_laplace_law():
    # Exact arms at 0 and -3; the noisy one decides: it is above 2, or within 2 of 0, or below.
    law = survivors_in_general(np.array([0.0, -3.0, 0.0]), np.array([0.0, 0.0, 1.5]), 2.0)
    noise = stats.laplace(0, 1.5)
    assert math.exp(law[0b100]) == pytest.approx(noise.sf(2), rel=1e-12)
    assert math.exp(law[0b101]) == pytest.approx(noise.cdf(2) - noise.cdf(-2), rel=1e-12)
    assert math.exp(law[0b001]) == pytest.approx(noise.cdf(-2), rel=1e-12)
    assert np.isneginf(law[[0b010, 0b011, 0b110, 0b111]]).all()


def test_a_shared_draw_cancels():
    shared = survivors_in_general(np.array([0.0, -1.0, -3.0]), np.ones(3), 2.0, np.zeros(3, int))
    np.testing.assert_allclose(np.exp(shared), np.eye(8)[0b011], atol=1e-12)
    # Two arms share a draw, the third has its own: a race of the larger of the two with the third.
    pair = survivors_in_general(np.array([1.0, 0.5, 0.0]), np.ones(3), 3.0, np.array([7, 7, 8]))
    two, _ = survivors(np.array([1.0, 0.0]), np.ones(2), 3.0)
    assert pair[0b011] == pytest.approx(two[0b01], rel=1e-12)
    alone = [pair[0b100], pair[0b101], pair[0b111]]  # the third alone, with the larger, with both
    assert np.logaddexp.reduce(alone[1:]) == pytest.approx(two[0b11], rel=1e-10)
    assert np.isneginf(pair[[0b001, 0b010, 0b110]]).all()


@pytest.mark.parametrize(
    ("values", "scales", "margin"),
    [
        (np.zeros(2), np.ones(3), 1.0),
        (np.zeros((2, 2)), np.ones((2, 2)), 1.0),
        (np.zeros(MOST_ARMS + 1), np.ones(MOST_ARMS + 1), 1.0),
        (np.array([0.0, np.nan]), np.ones(2), 1.0),
        (np.zeros(2), np.array([1.0, -1.0]), 1.0),
        (np.zeros(2), np.array([1.0, 0.0]), 1.0),
        (np.zeros(2), np.ones(2), 0.0),
        (np.zeros(2), np.ones(2), np.inf),
    ],
)
def test_other_input_is_refused(values, scales, margin):
    with pytest.raises(InputError):
        survivors(values, scales, margin)


# Divergences of two known laws against closed forms, and the best event against all others.


QUICK_OF_LIMITS = settings(max_examples=60, deadline=None, derandomize=True)
RUNS_OF_LIMITS = 2_000_000


def cells(mean, scale=1.0, step=1e-3, span=40.0):
    """Log-probabilities of the cells of a grid under a Laplace law; the grid has an edge at 0 and at 1."""
    edges = np.arange(round(-span / step), round((span + 1) / step) + 1) * step
    middle = (edges[1:] + edges[:-1]) / 2 - mean
    half = step / (2 * scale)
    return -np.abs(middle) / scale + math.log(math.sinh(half))


@pytest.fixture(scope="module")
def laplace():
    return cells(0.0), cells(1.0)


def test_laplace_divergence_has_its_closed_form(laplace):
    assert limits.max_divergence(*laplace) == pytest.approx(1.0, rel=1e-9)
    for epsilon in (0.0, 0.1, 0.5, 0.9):
        delta = 1 - math.exp((epsilon - 1) / 2)
        assert limits.hockey_stick(*laplace, epsilon) == pytest.approx(delta, rel=1e-6)
        assert limits.epsilon_of(*laplace, delta) == pytest.approx(epsilon, abs=1e-5)
    assert limits.hockey_stick(*laplace, 1 + 1e-9) == pytest.approx(0, abs=1e-12)


def test_tiny_probabilities_keep_their_ratios():
    p = np.array([-700.0, 0.0])
    q = np.array([-701.5, 0.0])
    assert limits.max_divergence(p, q) == 1.5
    assert limits.hockey_stick(p, q, 1.0) == pytest.approx(math.exp(-700) * -math.expm1(-0.5), rel=1e-12)


def test_what_one_law_lacks_makes_epsilon_infinite():
    p, q = np.log([0.5, 0.5]), np.array([-np.inf, 0.0])
    assert limits.max_divergence(p, q) == math.inf
    assert limits.hockey_stick(p, q, 5.0) == 0.5
    assert limits.epsilon_of(p, q, 0.4) == math.inf
    assert limits.epsilon_of(p, q, 0.5) == 0.0
    assert limits.epsilon_of(q, p, 0.3) == pytest.approx(math.log(0.7 / 0.5))
    both = np.array([-np.inf, 0.0])
    assert limits.max_divergence(both, both) == 0


LAWS = (
    st.integers(2, 8)
    .flatmap(lambda m: st.tuples(*(st.lists(st.integers(0, 20), min_size=m, max_size=m) for _ in range(2))))
    .filter(lambda laws: sum(laws[0]) and sum(laws[1]))
)


def logs(weights):
    with np.errstate(divide="ignore"):
        return np.log(np.array(weights) / sum(weights))


@QUICK_OF_LIMITS
@given(LAWS, st.floats(-1, 3))
def test_hockey_stick_is_the_largest_over_all_events(laws, epsilon):
    log_p, log_q = logs(laws[0]), logs(laws[1])
    p, q = np.exp(log_p), np.exp(log_q)
    most = max(
        p[list(event)].sum() - math.exp(epsilon) * q[list(event)].sum()
        for size in range(len(p) + 1)
        for event in itertools.combinations(range(len(p)), size)
    )
    assert limits.hockey_stick(log_p, log_q, epsilon) == pytest.approx(most, abs=1e-12)


@QUICK_OF_LIMITS
@given(LAWS, st.floats(0, 0.6))
def test_epsilon_of_inverts_the_hockey_stick(laws, delta):
    log_p, log_q = logs(laws[0]), logs(laws[1])
    epsilon = limits.epsilon_of(log_p, log_q, delta)
    if math.isinf(epsilon):
        assert limits.hockey_stick(log_p, log_q, 700.0) > delta
        return
    assert limits.hockey_stick(log_p, log_q, epsilon + 1e-9) <= delta + 1e-9
    if epsilon > 1e-6:
        assert limits.hockey_stick(log_p, log_q, epsilon - 1e-6) > delta - 1e-12


def test_bounds_are_those_of_the_statistics():
    for k1, k0 in [(0, 3), (5, 0), (10**8, 0), (10**8, 10**7), (1, 1), (200, 100)]:
        mine = limits.lower_bounds([k1], [k0], 0.05)[0]
        assert mine == pytest.approx(statistics.ratio_lower(k1, k0, 0.05), rel=1e-9)
    p, q, runs = 0.3, 0.2, 1000
    assert limits.median_bound(p, q, runs) == statistics.ratio_lower(300, 200, 0.05)
    assert limits.median_bound(p, q, runs, delta=0.01) == statistics.approximate_lower(
        300, runs, 200, runs, 0.01, 0.05
    )


@QUICK_OF_LIMITS
@given(LAWS, st.sampled_from([100, 10_000, 10**8]))
def test_no_threshold_is_better_than_the_best_events(laws, runs):
    log_p, log_q = logs(laws[0]), logs(laws[1])
    best = limits.best_event(log_p, log_q, runs)
    p, q = np.exp(log_p), np.exp(log_q)
    ratio = limits.log_ratio(log_p, log_q)
    assert best.bound == limits.median_bound(*((best.q, best.p) if best.flipped else (best.p, best.q)), runs)
    for threshold in ratio:
        for first, second, event in ((p, q, ratio >= threshold), (q, p, ratio <= threshold)):
            rival = limits.median_bound(min(first[event].sum(), 1), min(second[event].sum(), 1), runs)
            # A sum may round a count up or down.
            assert rival <= best.bound * (1 + 1e-3) + 0.02 * (runs == 100)


def test_with_delta_the_best_event_is_near_the_best_threshold(laplace):
    runs, delta = 100_000, 0.05
    best = limits.best_event(*laplace, runs, delta=delta)
    middle = (np.arange(len(laplace[0])) + 0.5) * 1e-3 - 40
    rivals = [
        limits.median_bound(stats.laplace(0).cdf(x), stats.laplace(1).cdf(x), runs, delta=delta)
        for x in np.linspace(-1, 1, 21)
    ]
    assert best.bound >= max(rivals) * (1 - 2e-3)
    assert best.atoms[middle < -1].all()
    # More than delta is certain of no event: log((1/2 - delta)/q) is less than epsilon.
    assert 0.8 < best.bound < limits.epsilon_of(*laplace, delta)


def test_the_best_event_of_a_laplace_release(laplace):
    best = limits.best_event(*laplace, RUNS_OF_LIMITS)
    edge = np.flatnonzero(best.atoms)
    assert (np.diff(edge) == 1).all()  # a half-line
    # {x <= 0}: p = 1/2, q = e^-1/2; nothing beyond it has a larger ratio.
    assert best.p == pytest.approx(0.5, abs=5e-3)
    assert best.bound == pytest.approx(limits.median_bound(0.5, 0.5 * math.exp(-1), RUNS_OF_LIMITS), abs=1e-4)
    assert 0.996 < best.bound < 1


def test_median_counts_are_medians():
    p = np.array([0.0, 1e-6, 3e-7, 0.3, 1.0])
    np.testing.assert_array_equal(
        limits.median_counts(p, RUNS_OF_LIMITS), stats.binom(2 * RUNS_OF_LIMITS, p / 2).median()
    )
    np.testing.assert_array_equal(
        limits.median_counts(p, RUNS_OF_LIMITS, 0.1), stats.binom(RUNS_OF_LIMITS, p).median()
    )


def test_a_rare_event_is_left_alone_where_runs_are_few():
    p = np.log([1e-6, 0.3, 1 - 0.3 - 1e-6])
    q = np.log([1e-9, 0.2, 1 - 0.2 - 1e-9])
    assert limits.best_event(p, q, 1000).atoms.tolist() == [True, True, False]
    assert limits.best_event(p, q, 10**9).atoms.tolist() == [True, False, False]
    assert limits.best_event(q, p, 1000).flipped  # the other direction is found as well


def test_equal_laws_show_nothing():
    p = np.log(np.full(4, 0.25))
    assert limits.best_event(p, p, 1000).bound == 0
    assert limits.max_divergence(p, p) == limits.epsilon_of(p, p, 0.0) == 0


@pytest.mark.parametrize(
    ("log_p", "log_q"),
    [
        ([], []),
        ([0.0], [0.0, 0.0]),
        ([[0.0]], [[0.0]]),
        ([np.nan, 0.0], [0.0, -1.0]),
        (np.log([0.9, 0.9]), np.log([0.5, 0.5])),
    ],
)
def test_what_is_no_law_is_refused(log_p, log_q):
    with pytest.raises(InputError):
        limits.best_event(log_p, log_q, 10)


@pytest.mark.parametrize(("runs", "level", "delta"), [(0, 0.05, 0.0), (10, 1.0, 0.0), (10, 0.05, 1.0)])
def test_other_sizes_and_levels_are_refused(runs, level, delta):
    with pytest.raises(InputError):
        limits.best_event(np.log([0.5, 0.5]), np.log([0.4, 0.6]), runs, level, delta=delta)


# Hockey-stick curves, the claims they are held against, and neighbours that differ in several events.


def gaussian_delta(epsilon, shift=1.0):
    """The exact curve of normal noise, whose mean moves by `shift` standard deviations."""
    left = norm.cdf(shift / 2 - epsilon / shift)
    return left - math.exp(epsilon) * norm.cdf(-shift / 2 - epsilon / shift)


# ---------------------------------------------------------------- claims


@pytest.mark.parametrize("rho", [0.01, 0.5, 5.0])
def test_the_zcdp_conversion_lies_between_the_gaussian_and_the_older_one(rho):
    """The Gaussian mechanism is rho-zCDP, so its curve is a lower limit; Bun & Steinke's is an upper one."""
    for epsilon in np.linspace(0.0, 8 * math.sqrt(rho), 20).tolist():
        delta = claims.zcdp_delta(rho, epsilon)
        assert delta >= gaussian_delta(epsilon, math.sqrt(2 * rho))
        if epsilon > rho:
            assert delta <= math.exp(-((epsilon - rho) ** 2) / (4 * rho))
    for delta in (1e-2, 1e-5, 1e-12):
        epsilon = claims.zcdp_epsilon(rho, delta)
        assert claims.zcdp_delta(rho, epsilon) == pytest.approx(delta, rel=1e-6)
        assert epsilon <= rho + 2 * math.sqrt(rho * math.log(1 / delta))


def test_the_zcdp_conversion_is_the_infimum_over_orders():
    more = np.geomspace(1e-5, 1e5, 200_001)
    assert claims.zcdp_delta(1e6, 1.0) == 1.0  # the infimum is at the order that no search reaches
    for rho, epsilon in ((0.5, 1.0), (0.5, 6.0), (0.02, 0.0), (4.0, 20.0)):
        log = more * ((1 + more) * rho - epsilon) - np.log(more) + (1 + more) * np.log(more / (1 + more))
        assert claims.zcdp_delta(rho, epsilon) == pytest.approx(min(1.0, math.exp(log.min())), rel=1e-6)


def test_what_an_approximate_claim_implies_at_smaller_epsilons():
    """The curve of randomised response that tells all with probability delta, added up over its outputs."""
    claim = PrivacyClaim(1.2, 0.03)
    stay = math.exp(1.2) / (1 + math.exp(1.2))
    p, q = (
        np.array([0.03, 0.97 * stay, 0.97 * (1 - stay), 0.0]),
        np.array([0.0, 0.97 * (1 - stay), 0.97 * stay, 0.03]),
    )
    for epsilon in (0.0, 0.3, 1.0, 1.2, 3.0):
        truth = np.maximum(p - math.exp(epsilon) * q, 0.0).sum()
        assert claim.delta_at(epsilon) == pytest.approx(truth, rel=1e-12)


def test_group_privacy():
    assert claims.group(PrivacyClaim(0.5), 4).epsilon == 2.0
    found = claims.group(PrivacyClaim(1.0, 1e-5), 3)
    assert (found.epsilon, found.unit_in_words) == (3.0, "group: 3 rewards")
    assert found.neighbours_in_words == "equal length, up to 3 rewards differ"
    assert found.delta == pytest.approx(1e-5 * (1 + math.e + math.e**2))
    assert found.relation == Relation("group", 3)
    table = claims.group_table(PrivacyClaim(1.0, 1e-5), (1, 2, 5, 10, 20))
    assert [row["epsilon"] for row in table] == [1, 2, 5, 10, 20]
    assert table[0]["delta"] == 1e-5
    assert table[-1]["delta"] == 1.0
    rho = claims.group(PrivacyClaim.zcdp(0.1, 1e-5), 3)
    assert rho.rho == pytest.approx(0.9)
    assert rho.epsilon == pytest.approx(claims.zcdp_epsilon(0.9, 1e-5))


def test_group_privacy_of_randomised_response_is_what_the_claim_says():
    """Tables of k bits, each told truly: the exact curve at k epsilon is the stated delta at most."""
    epsilon, delta, size = 0.4, 0.01, 3
    stay = math.exp(epsilon) / (1 + math.exp(epsilon))
    p = np.array([delta, (1 - delta) * stay, (1 - delta) * (1 - stay), 0.0])
    left, right = p, p[::-1]
    for _ in range(size - 1):
        left, right = np.multiply.outer(left, p).ravel(), np.multiply.outer(right, p[::-1]).ravel()
    claim = claims.group(PrivacyClaim(epsilon, delta), size)
    truth = np.maximum(left - math.exp(claim.epsilon) * right, 0.0).sum()
    assert 0.5 * claim.delta < truth <= claim.delta


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PrivacyClaim(1.0, 0.0, rho=0.5), "delta"),
        (lambda: PrivacyClaim(0.5, 1e-5, rho=0.5), "epsilon must be at least"),
        (lambda: PrivacyClaim.zcdp(0.0, 1e-5), "rho"),
        (
            lambda: claims.group(PrivacyClaim(1.0, 1e-3), 12),
            "says nothing about 12 events, because their delta",
        ),
        (lambda: claims.group(claims.group(PrivacyClaim(1.0), 2), 2), "one event"),
        (lambda: claims.group(PrivacyClaim(1.0), 0), "group"),
        (lambda: Relation("event", 2), "group"),
    ],
)
def test_claims_that_make_no_sense(make, words):
    with pytest.raises(InputError, match=words):
        make()


# ---------------------------------------------------------------- neighbours


def test_group_pairs():
    table = np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
    pair = GroupPair(table, [(2, 1, 1.0), (0, 0, 0.25)])
    assert pair.size == 2
    assert pair.right[0, 0] == 0.25
    assert pair.right[2, 1] == 1.0
    assert (pair.right != table).sum() == 2
    again = pair_of(json.loads(json.dumps(pair.as_dict())))
    assert (again.right == pair.right).all()
    chain = pair.steps()
    assert [step.size for step in chain] == [1, 1]
    assert (chain[-1].right == pair.right).all()
    assert pair.describe() == "group of 2: round 1, arm 0: 0 against 0.25; round 3, arm 1: 0 against 1"
    shown = "; ".join(f"round {i}, arm 0: 0 against 0.25" for i in (1, 2, 3))
    for size, more in ((3, ""), (4, "; 1 more entries"), (5, "; 2 more entries")):
        pair = GroupPair(np.zeros((5, 2)), [(i, 0, 0.25) for i in range(size)])
        assert pair.describe() == f"group of {size}: {shown}{more}"


def test_user_pairs():
    table = np.zeros((5, 2))
    pair = UserPair.of(table, {0: 7, 1: 8, 3: 7}, 7, np.array([[1.0, 0.0], [0.0, 0.5]]))
    assert pair.rounds.tolist() == [0, 3]
    assert (pair.right != table).sum() == 2
    again = pair_of(json.loads(json.dumps(pair.as_dict())))
    assert (again.right == pair.right).all()
    assert again.users.tolist() == pair.users.tolist()
    assert pair.steps()[-1].right.tolist() == pair.right.tolist()
    assert pair.describe() == "user 7: 2 of 2 rewards differ, rounds 1, 4"
    for rounds, shown in ((4, "1, 2, 3, 4"), (5, "1, 2, 3, 4, …")):
        pair = UserPair.of(table, dict.fromkeys(range(rounds), 7), 7, np.ones((rounds, 2)))
        assert pair.describe() == f"user 7: {rounds} of {rounds} rewards differ, rounds {shown}"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GroupPair(np.zeros((3, 2)), []), "changes"),
        (lambda: GroupPair(np.zeros((3, 2)), [(3, 0, 1.0)]), "round"),
        (lambda: GroupPair(np.zeros((3, 2)), [(0, 0, 0.0)]), "differ"),
        (lambda: GroupPair(np.zeros((3, 2)), [(0, 0, 2.0)]), "bounds"),
        (lambda: GroupPair(np.zeros((3, 2)), [(0, 0, 1.0), (0, 0, 0.5)]), "once"),
        (lambda: UserPair(np.zeros((3, 2)), np.zeros(2, int), 0, np.ones((2, 2))), "users"),
        (lambda: UserPair(np.zeros((3, 2)), np.arange(3), 5, np.ones((1, 2))), "user must"),
        (lambda: UserPair(np.zeros((3, 2)), np.arange(3), 1, np.ones((2, 2))), "shape"),
        (lambda: UserPair(np.zeros((3, 2)), np.arange(3), 1, np.zeros((1, 2))), "differ"),
        (lambda: pair_of({"type": "group", "rows": [[2, [0.0]]], "bounds": [0, 1]}), "record"),
    ],
)
def test_pairs_that_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_strategies_give_pairs_of_the_size_they_promise(data):
    size = data.draw(st.integers(1, 4))
    pair = data.draw(st.one_of(groups(n_arms=2, horizon=9, size=size), users(n_arms=2, horizon=9, size=size)))
    left, right = pair.worlds()
    assert 1 <= len(np.flatnonzero((left != right).any(axis=1))) <= size
    assert (pair_of(pair.as_dict()).right == right).all()


def test_a_pair_is_widened_where_its_arm_is_pulled():
    table = np.full((8, 2), 0.5)
    pair = TablePair(table, 3, 1, 1.0)
    arms = np.array([1, 0, 0, 1, 0, 1, 1, 0])
    wide = widening.widened(pair, 3, arms)
    assert [(t, arm) for t, arm, _ in wide.changes] == [(3, 1), (5, 1), (6, 1)]
    assert wide.right[[3, 5, 6], 1].tolist() == [1.0] * 3
    stream = widening.widened(StreamPair(np.zeros(4), 0, 1.0, 2), 2, np.zeros(4, int))
    assert stream.size == 2
    assert len(stream.changes) == 4
    with pytest.raises(InputError, match="but the group has size"):
        widening.widened(wide, 2, arms)


# ---------------------------------------------------------------- alignment


def small(name):
    auditor = registry.auditor(name)
    algorithm = auditor.algorithm(**{**auditor.instance, **auditor.small})
    return algorithm, list(auditor.pairs(algorithm))


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("name", ["dp-se", "dp-se-doubling", "ldp-robust-se", "dp-linear"])
def test_a_group_in_the_same_sums_costs_exactly_k_epsilon(name, size):
    algorithm, pairs = small(name)
    [wide, *_] = widening.of_algorithm(algorithm, pairs[:1], size, 0)
    found = searching.examine(algorithm, wide, seed=0, runs=2)
    assert found.cost == pytest.approx(size * algorithm.claim.epsilon, rel=1e-9)


@pytest.mark.parametrize("name", ["tree-sum", "dp-ucb"])
@pytest.mark.parametrize("size", [2, 3])
def test_in_a_tree_a_group_costs_the_sum_of_its_items(name, size):
    """Only the first item is in a node of every level: a group costs less than k epsilon, exactly so much."""
    algorithm, pairs = small(name)
    [wide, *_] = widening.of_algorithm(algorithm, pairs[:1], size, 0)
    cost = searching.examine(algorithm, wide, seed=0, runs=2).cost
    single = [searching.examine(algorithm, step, seed=0, runs=2).cost for step in wide.steps()]
    assert cost == pytest.approx(sum(single), rel=1e-9)
    assert algorithm.claim.epsilon < cost < size * algorithm.claim.epsilon
    assert max(single) == pytest.approx(algorithm.claim.epsilon)


def test_where_noise_is_hidden_a_group_costs_the_sum_along_a_chain():
    algorithm, pairs = small("dp-exponential-nas")
    [wide] = widening.of_algorithm(algorithm, pairs[:1], 2, 0)
    found = searching.examine(algorithm, wide, seed=0, runs=4)
    assert algorithm.claim.epsilon < found.cost <= 2 * algorithm.claim.epsilon * (1 + 1e-9)


def test_the_search_of_the_small_instance_looks_at_groups():
    """Against epsilon itself a group of two is found at once; against twice that nothing is."""
    algorithm, _ = small("dp-se")
    epsilon = algorithm.claim.epsilon
    wrong = searching.falsify(algorithm, epsilon, seed=0, examples=60, visible=True, group=2)
    right = searching.falsify(algorithm, 2 * epsilon, seed=0, examples=60, visible=True, group=2)
    assert wrong.loss > epsilon * (1 + 1e-9)
    assert right.loss <= 2 * epsilon * (1 + 1e-9)


# ---------------------------------------------------------------- curves


class Normal:
    """Samples data + N(0, 1 / scale)."""

    shard = 1 << 16

    def __init__(self, scale=1.0):
        self.scale = scale

    def sample(self, pair, world, stage, number, runs):
        rng = np.random.default_rng([stage, number, world, int(runs[0])])
        return Observation(len(runs), {}, {"x": pair[world] + rng.normal(0, self.scale, len(runs))})


class Pair(tuple):
    def describe(self):
        return f"{self[0]} against {self[1]}"

    def as_dict(self):
        return {"type": "data", "left": self[0], "right": self[1], "words": self.describe()}


CHOSEN = Selected(0, Pair((0.0, 1.0)), Event(ScoreColumn("x", 1), 0.0, True, 0.0, (0.0, 0.0)))


@functools.cache
def measure(claim, scale=1.0, test=200_000, **options):
    terms = Terms(claim, alpha=1e-6, confidence=1 - 1e-6, **options)
    return curves.check(Normal(scale), CHOSEN, Plan(1, 100_000, test), terms)


def test_the_curve_of_normal_noise_is_bounded_from_below_and_closely():
    """All bounds hold together at 1 - 1e-6; at 200 000 runs they reach .9 of the truth where it is large."""
    check = measure(PrivacyClaim.zcdp(0.5, 1e-5))
    for row in check.result["points"]:
        if "epsilon" in row:
            truth = gaussian_delta(row["epsilon"])
            assert row["delta_lower"] <= truth
            if truth > 0.05:
                assert row["delta_lower"] >= 0.9 * truth
            assert row["delta_claimed"] == pytest.approx(claims.zcdp_delta(0.5, row["epsilon"]))
        else:
            assert gaussian_delta(float(row["epsilon_lower"])) >= row["delta"]
    assert check.verdict == "not_refuted"
    lowers = [row["delta_lower"] for row in check.result["points"] if "epsilon" in row]
    assert lowers == sorted(lowers, reverse=True)


def test_too_little_normal_noise_is_refuted_by_its_curve():
    """Negative control of the test above: two thirds of the noise, against rho and (epsilon, delta)."""
    assert measure(PrivacyClaim.zcdp(0.5, 1e-5), scale=1 / 1.5).verdict == "refuted"
    assert measure(PrivacyClaim(3.0, 0.01), scale=1 / 1.5).verdict == "refuted"
    assert measure(PrivacyClaim(3.0, 0.01), scale=1.0).verdict == "not_refuted"


def test_the_judge_needs_nothing_but_the_record():
    check = measure(PrivacyClaim.zcdp(0.5, 1e-5))
    record = json.loads(json.dumps(check.as_dict()))
    again = judged("curve", record["statistics"])
    assert json.loads(json.dumps(again)) == record["result"]
    # One point may refute, whatever the others say; and the points share the level.
    alone = {**record["statistics"], "points": record["statistics"]["points"][:1]}
    alone["points"] = [{**alone["points"][0], "epsilon": 1.0, "k1": 80_000, "k0": 0}]
    assert judged("curve", alone)["verdict"] == "refuted"
    calm = {**alone["points"][0], "k1": 0}
    above = math.ceil(200_000 * claims.zcdp_delta(0.5, 1.0)) + 500  # three standard errors above the claim
    near = {**alone["points"][0], "k1": above}
    one, many = (judged("curve", {**alone, "points": points}) for points in ([near], [near, *[calm] * 9]))
    assert 1e-4 < one["p_value"] < 1e-2
    assert many["p_value"] == pytest.approx(10 * one["p_value"], rel=1e-9)
    twice = judged("curve", {**alone, "points": [near], "tests": 2})
    assert twice["p_value"] == pytest.approx(2 * one["p_value"], rel=1e-9)
    assert twice["points"][0]["delta_lower"] < one["points"][0]["delta_lower"]
    assert judged("curve", {**alone, "points": [calm] * 10})["verdict"] == "not_refuted"


def test_results_do_not_depend_on_workers():
    claim = PrivacyClaim(1.0, 0.01)
    with parallel_config(backend="threading"):  # 150 000 runs are three shards
        one, two = (measure(claim, test=150_000, workers=n) for n in (1, 2))
    assert one.as_dict() == two.as_dict()


def test_a_counterexample_is_the_clearest_point():
    check = measure(PrivacyClaim.zcdp(0.5, 1e-5), scale=1 / 1.5)
    found = curves.counterexample(check, CHOSEN.pair)
    clearest = min(check.result["points"], key=lambda row: row["p_value"])
    at = check.result["points"].index(clearest)
    assert found["event"] == check.statistics["points"][at]["event"]
    assert found["p_value"] == check.result["p_value"] <= 1e-6


def test_a_plot_shows_counts_and_the_exact_law():
    claim = PrivacyClaim.zcdp(0.5, 1e-5)
    points = measure(claim).result["points"]
    law = np.vectorize(gaussian_delta)
    drawn = [plots.curve(claim, points), plots.curve(claim, law=law), plots.curve(claim, points, law)]
    assert all(text.startswith("<svg") for text in drawn)
    assert len(drawn[2]) > max(len(drawn[0]), len(drawn[1]))
    assert plots.curve(claim, points) == drawn[0]


# ---------------------------------------------------------------- demands that do not fit


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rho": 0.5, "epsilon": 1.0}, "rho must be given without epsilon"),
        ({"rho": -1.0}, "rho must be"),
        ({"rho": 0.5, "delta": 0.0}, "delta must lie"),
        ({"rho": 0.5, "sequential": True}, "sequential"),
        ({"epsilon": 1.0, "curve": True, "sequential": True}, "sequential"),
        ({"epsilon": 1.0, "group": 2}, "`group` works only with bandits"),
        ({"epsilon": 1.0, "group": 0}, "group must be"),
    ],
)
def test_options_that_make_no_sense_for_a_mechanism(options, words):
    def release(data, size, rng):
        return data + rng.laplace(size=size)

    with pytest.raises(InputError, match=words):
        vdp.audit(release, budget=0.1, **options)


def test_options_that_make_no_sense_for_bandits():
    def play(rewards, rng):
        return np.zeros(len(rewards), int)

    with pytest.raises(InputError, match="`rho` works only with a mechanism"):
        vdp.audit(play, rho=0.5, n_arms=2, horizon=10)
    with pytest.raises(InputError, match="`rho` works only with your own mechanism"):
        vdp.audit("dp-se", rho=0.5)
    with pytest.raises(InputError, match="shuffled"):
        vdp.audit("shuffled-linear", group=2, budget=0.1)
    with pytest.raises(InputError, match="curve"):
        vdp.audit("shuffled-linear", curve=True, budget=0.1)
