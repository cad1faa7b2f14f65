"""The exact law of actions: closed form for two arms, all mass accounted for, mutants refuted by it."""

import dataclasses
import json
import math

import numpy as np
import pytest

from verifiable_dp import InputError
from verifiable_dp.core.adversaries import flatter
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.environments import Table
from verifiable_dp.core.neighbours import InteractivePair, TablePair
from verifiable_dp.evidence.blackbox.machine import Machine, UnsupportedError
from verifiable_dp.evidence.check import judged
from verifiable_dp.evidence.exact import law as exact
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.wrapped import AlteredNoise, Prefix

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
    "name", ["half noise", "one draw for all arms", "raw comparison", "noise of means on sums"]
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
