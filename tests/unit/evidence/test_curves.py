"""Hockey-stick curves, the claims they are held against, and neighbours that differ in several events."""

import functools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy.stats import norm

import verifiable_dp as vdp
from verifiable_dp.auditing import groups as widening
from verifiable_dp.core import claims
from verifiable_dp.core.claims import PrivacyClaim, Relation
from verifiable_dp.core.neighbours import GroupPair, StreamPair, TablePair, UserPair, groups, pair_of, users
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.alignment import searching
from verifiable_dp.evidence.blackbox import curves
from verifiable_dp.evidence.blackbox.events import Event, Observation
from verifiable_dp.evidence.blackbox.scores import ScoreColumn
from verifiable_dp.evidence.blackbox.test import Plan, Selected, Terms
from verifiable_dp.evidence.check import judged
from verifiable_dp.registry import entries as registry
from verifiable_dp.render import plots


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
        (lambda: claims.group(PrivacyClaim(1.0, 1e-3), 12), "says nothing about 12: its delta"),
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
    with pytest.raises(InputError, match="more than the group"):
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
        ({"rho": 0.5, "epsilon": 1.0}, "rho must stand alone"),
        ({"rho": -1.0}, "rho must be"),
        ({"rho": 0.5, "delta": 0.0}, "delta must lie"),
        ({"rho": 0.5, "sequential": True}, "sequential"),
        ({"epsilon": 1.0, "curve": True, "sequential": True}, "sequential"),
        ({"epsilon": 1.0, "group": 2}, "group works only with bandits"),
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

    with pytest.raises(InputError, match="rho works only with a mechanism"):
        vdp.audit(play, rho=0.5, n_arms=2, horizon=10)
    with pytest.raises(InputError, match="rho works only with your own mechanism"):
        vdp.audit("dp-se", rho=0.5)
    with pytest.raises(InputError, match="shuffled"):
        vdp.audit("shuffled-linear", group=2, budget=0.1)
    with pytest.raises(InputError, match="curve"):
        vdp.audit("shuffled-linear", curve=True, budget=0.1)
