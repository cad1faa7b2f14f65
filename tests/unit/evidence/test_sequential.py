"""Sequential tests: bets are fair, numbers hold at any size, records are judged again from their counts."""

import itertools
import json
import math
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner
from joblib import parallel_config
from scipy.optimize import minimize_scalar
from scipy.special import rel_entr

import verifiable_dp as vdp
from tests import formats
from verifiable_dp import api, cli
from verifiable_dp.auditing.plans import pinned_plan
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.blackbox import bets, sequential
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.blackbox.bets import Candidate, alternatives, bet_for
from verifiable_dp.evidence.blackbox.test import Plan, Terms
from verifiable_dp.evidence.check import judged
from verifiable_dp.record.sealing import digest
from verifiable_dp.record.verify import verify
from verifiable_dp.targets.releases import DataPair, ReleaseSampler

CLAIMS = [(epsilon, 0.0) for epsilon in (1e-9, 0.01, 0.1, 1.0, 5.0, 20.0, 30.0)]
CLAIMS += [(0.5, 0.1), (1.0, 1e-6), (5.0, 0.3), (0.01, 0.9)]
NEAR_ONE = 1 - np.array([1e-7, 3e-8, 1e-12, 1e-15, 2**-53])
EDGES = np.array([1e-17, 1e-12, 1e-6, 0.01, 0.3, 0.6668, 0.7, 0.95, 0.9723, 0.99, *NEAR_ONE])


def divergence(p, q, p0, q0):
    """Of one run whose world is tossed."""
    return 0.5 * sum(rel_entr(a, b) + rel_entr(1 - a, 1 - b) for a, b in ((p, p0), (q, q0)))


# ---------------------------------------------------------------- bets


@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS)
def test_no_claim_that_holds_can_lose_by_any_bet(epsilon, delta):
    """In exact arithmetic: no negative payoff, and expectation at most 1 at every corner of the claim."""
    p, q = (grid.ravel() for grid in np.meshgrid(EDGES, EDGES))
    bet = bet_for(p, q, epsilon, delta)
    growth, d = Fraction(float(np.exp(epsilon))), Fraction(delta)
    corners = [(Fraction(0), Fraction(0)), (d, Fraction(0)), (Fraction(1), (1 - d) / growth)]
    assert len(bet.coin) == len(EDGES) ** 2
    for c, stake in zip(map(Fraction, bet.coin), map(Fraction, bet.hit), strict=True):
        both, missed = 1 + c + stake * (1 - d), 1 + c - stake * d
        other, idle = 1 - c - stake * growth, 1 - c
        assert stake >= 0
        assert min(both, missed, other, idle) > 0
        for x, y in corners:
            assert (x * both + (1 - x) * missed + y * other + (1 - y) * idle) / 2 <= 1


@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS)
def test_payoffs_are_those_of_the_stakes(epsilon, delta):
    p, q = (grid.ravel() for grid in np.meshgrid(EDGES, EDGES))
    bet = bet_for(p, q, epsilon, delta)
    growth = Fraction(float(np.exp(epsilon)))
    assert [len(side) for side in bet.log_payoffs()] == [len(EDGES) ** 2] * 4
    for i, payoffs in enumerate(zip(*bet.log_payoffs(), strict=True)):
        c, stake, d = Fraction(bet.coin[i]), Fraction(bet.hit[i]), Fraction(delta)
        exact = (1 + c + stake * (1 - d), 1 + c - stake * d, 1 - c - stake * growth, 1 - c)
        for found, value in zip(payoffs, exact, strict=True):
            # A payoff near 0 is a difference of numbers near 1.
            assert math.isclose(math.exp(found), float(value), rel_tol=1e-9, abs_tol=1e-15)


@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS)
def test_payoffs_are_finite_at_any_probabilities(epsilon, delta):
    """A stake or a coin beyond its bound pays 0 or less: 20 000 alternatives at the edges."""
    rng = np.random.default_rng(7)
    tiny = 10 ** rng.uniform(-17, 0, (2, 20_000))
    p, q = np.where(rng.random(tiny.shape) < 0.5, tiny, np.minimum(1 - tiny, 1 - 2**-53))
    q = np.minimum(q * math.exp(-epsilon), p)
    broken = p > math.exp(epsilon) * q + delta
    assert broken.sum() > 2000
    bet = bet_for(p[broken], q[broken], epsilon, delta)
    assert np.isfinite(bet.log_payoffs()).all()
    assert (bet.hit >= 0).all()
    assert np.isfinite([bets.growth_rate(1.0, x, epsilon, delta) for x in EDGES]).all()


@pytest.mark.parametrize("epsilon", [0.0, 1e-12, 1e-9])
def test_the_projection_is_a_number_where_its_square_rounds_below_zero(epsilon):
    """p and q within 1e-7 of 1: the discriminant is about the square of their distances."""
    p, q = 1 - np.geomspace(1e-15, 1e-9, 100)[:, None], 1 - np.geomspace(1e-15, 1e-7, 101)
    middle = 1 + p + math.exp(epsilon) * (1 + q)
    assert (middle**2 - 8 * math.exp(epsilon) * (p + q) < 0).any()
    q0 = bets.projection(p, q, epsilon, 0.0)
    assert (abs(q0 - 1) < 1e-6).all()
    candidate = Candidate(1.0, (1.0, 1 - 3e-8), 10**8, ((10**6,) * 4,))
    found = candidate.log_e([epsilon], 0.0)
    assert np.isfinite(found).all()
    assert (found <= 1e-9).all()


def test_who_keeps_the_claim_does_not_bet():
    bet = bet_for(np.array([0.2, 0.5, 0.3]), np.array([0.1, 0.4, 0.3]), 1.0, 0.0)
    assert not bet.coin.any()
    assert not bet.hit.any()
    assert bets.growth_rate(0.2, 0.1, 1.0) == 0.0


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.05), (0.9, 0.3), (1e-4, 1e-6), (0.999, 0.2), (0.7, 1e-9)])
@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.05])
def test_growth_is_the_divergence_from_the_claim(p, q, delta):
    """No bet grows faster than the least divergence from a pair of probabilities that keeps the claim."""
    epsilon = 0.5
    if p <= math.exp(epsilon) * q + delta:
        return

    def beside(log_q0):
        q0 = math.exp(log_q0)
        return divergence(p, q, min(math.exp(epsilon) * q0 + delta, 1 - 1e-15), q0)

    edges = math.log(q), math.log((p - delta) / math.exp(epsilon))
    least = minimize_scalar(beside, bounds=edges, method="bounded", options={"xatol": 1e-12}).fun
    assert bets.growth_rate(p, q, epsilon, delta) == pytest.approx(least, rel=1e-6)


def test_rare_events_grow_as_their_hits_alone_say():
    """Among hits the world is a coin of bias at most 1 / (1 + e^-eps): all there is to rare ones."""
    p, q, epsilon = 3e-7, 2e-8, 1.5
    theta, null = p / (p + q), 1 / (1 + math.exp(-epsilon))
    conditional = (p + q) / 2 * float(rel_entr(theta, null) + rel_entr(1 - theta, 1 - null))
    assert bets.growth_rate(p, q, epsilon) == pytest.approx(conditional, rel=1e-5)
    # Where they are frequent the misses speak as well: half as fast again.
    p, q = 0.42, 0.065
    theta = p / (p + q)
    conditional = (p + q) / 2 * float(rel_entr(theta, 0.7311) + rel_entr(1 - theta, 1 - 0.7311))
    assert bets.growth_rate(p, q, 1.0) > 1.2 * conditional


def test_delta_goes_to_zero_without_a_jump():
    p, q = np.array([0.4, 1e-3, 0.9]), np.array([0.05, 1e-5, 0.2])
    left, right = bet_for(p, q, 1.0, 0.0), bet_for(p, q, 1.0, 1e-12)
    np.testing.assert_allclose(left.hit, right.hit, rtol=1e-6)
    np.testing.assert_allclose(left.coin, right.coin, rtol=1e-6, atol=1e-12)


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize("scale", [1, 10**4, 10**8])
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_log_e_values_against_fifty_digits(scale, delta):
    """Up to 10^8 runs a side, where the e-value itself is far beyond any float."""
    getcontext().prec, getcontext().Emax = 60, 10**17
    counts = (60 * scale, 100 * scale, 8 * scale, 101 * scale)
    candidate = Candidate(1.0, (0.6, 0.08), 1000, (counts,))
    p, q, log_weight = alternatives(candidate.shares, candidate.held)
    bet = bet_for(p, q, 1.0, delta)
    growth, total, weights = Decimal(float(np.exp(1.0))), Decimal(0), Decimal(0)
    d = Decimal(delta)
    for c, stake, weight in zip(map(Decimal, bet.coin), map(Decimal, bet.hit), log_weight, strict=True):
        payoffs = (1 + c + stake * (1 - d), 1 + c - stake * d, 1 - c - stake * growth, 1 - c)
        k1, n1, k0, n0 = counts
        powers = zip(payoffs, (k1, n1 - k1, k0, n0 - k0), strict=True)
        total += (Decimal(float(weight)) + sum(n * x.ln() for x, n in powers)).exp()
        weights += Decimal(float(weight)).exp()
    assert float(weights) == pytest.approx(1.0, rel=1e-12)
    found = float(candidate.log_e([1.0], delta)[0, 0])
    assert found == pytest.approx(float(total.ln()), rel=1e-10, abs=1e-9)
    assert scale == 1 or found > 5 * scale


def test_an_event_that_never_happens_in_one_world():
    for shares in ((0.01, 0.0), (1.0, 0.0), (0.0, 0.0)):
        candidate = Candidate(0.75, shares, 500, ((400, 400, 0, 400), (10**8, 10**8, 0, 10**8)))
        found = candidate.log_e(np.linspace(0, 30, 40), 0.0)
        assert np.isfinite(found).all()
        assert np.isfinite(candidate.log_e(np.linspace(0, 30, 40), 0.2)).all()
    few = Candidate(1.0, (1.0, 0.0), 500, ((400, 400, 0, 400),)).log_e([2.0, 5.0, 9.0], 0.0)[0]
    # None in 400 runs speaks against a probability of e^-2, a little against e^-5, not against e^-9.
    assert few[0] > 20 > few[1] > 1 > few[2]


def test_a_round_cannot_lose_what_it_keeps_aside():
    bad = Candidate(1 - bets.CASH, (0.5, 0.01), 1000, ((0, 10**6, 10**6, 10**6),))
    path = bets.log_wealth([[bad], [bad]], [1.0], 0.0)[:, 0]
    np.testing.assert_allclose(path, [math.log(bets.CASH), 2 * math.log(bets.CASH)])


def test_the_e_value_of_several_events_is_their_average():
    good = Candidate(0.5, (0.5, 0.05), 1000, ((500, 1000, 50, 1000),))
    bad = Candidate(0.25, (0.3, 0.05), 1000, ((0, 1000, 300, 1000),))
    e = [math.exp(c.log_e([1.0], 0.0)[0, 0]) for c in (good, bad)]
    both = math.exp(bets.log_wealth([[good, bad]], [1.0], 0.0)[0, 0])
    assert both == pytest.approx(0.5 * e[0] + 0.25 * e[1] + 0.25, rel=1e-12)


# ---------------------------------------------------------------- confidence sequence


ROUNDS = [
    [Candidate(0.75, (0.45, 0.09), 300, ((120, 250, 20, 250), (215, 500, 41, 500)))],
    [
        Candidate(0.5, (0.42, 0.07), 2000, ((800, 2000, 140, 2000), (1690, 4000, 270, 4000))),
        Candidate(0.25, (0.2, 0.03), 2000, ((400, 2000, 61, 2000), (810, 4000, 119, 4000))),
    ],
]


@pytest.mark.parametrize("delta", [0.0, 0.02])
def test_limits_climb_the_ladder_one_claim_at_a_time(delta):
    limits = bets.lower_limits(ROUNDS, delta, 0.05)
    ladder = np.append(np.arange(0, 1, 0.002), np.exp(np.arange(0, math.log(30), 0.002)))
    assert (np.diff(ladder) > 0).all()
    values = bets.log_wealth(ROUNDS, ladder, delta)
    steps, expected = 0, []
    for row in values:
        while row[steps] >= -math.log(0.05):
            steps += 1
        expected.append(ladder[steps - 1] if steps else 0.0)
    np.testing.assert_array_equal(limits, expected)
    assert (np.diff(limits) >= 0).all()
    assert 1.3 < limits[-1] < math.log(1690 / 270)
    # A smaller error rate gives smaller limits.
    assert (bets.lower_limits(ROUNDS, delta, 1e-6) <= limits).all()


def test_limits_and_e_values_agree():
    limit = bets.lower_limits(ROUNDS, 0.0, 0.05)[-1]
    values = bets.log_wealth(ROUNDS, [limit, limit + 0.01], 0.0)[-1]
    assert values[0] >= -math.log(0.05) > values[1]


# ---------------------------------------------------------------- sizes


@pytest.mark.parametrize("test", [100, 200, 4000, 123_457, 64_000_000])
def test_rounds_grow_and_stay_within_their_budget(test):
    plan = Plan(2000, test // 3, test, keep=1, finalists=3, sequential=True)
    rounds = sequential.rounds_of(plan)
    assert (rounds[-1].probe, rounds[-1].select, rounds[-1].test) == (2000, test // 3, test)
    assert sum(part.test for part in rounds) <= test * 8 / 7
    assert all(a.test < b.test and a.select <= b.select for a, b in itertools.pairwise(rounds))
    assert rounds[0].test == test or 500 <= rounds[0].test < 4000
    for part in rounds:
        looks = sequential.looks_of(part.test)
        assert looks == sorted(set(looks))
        assert looks[-1] == part.test
        assert looks[0] >= 1


def test_plans_go_through_records():
    plan = Plan(1, 2, 3, sequential=True)
    assert pinned_plan(plan.as_dict()) == plan
    assert pinned_plan(Plan(1, 2, 3).as_dict()) == Plan(1, 2, 3)
    assert "sequential" not in Plan(1, 2, 3).as_dict()


# ---------------------------------------------------------------- runs


def half(data, size, rng):
    return data + rng.laplace(0, 0.5, size)


def right(data, size, rng):
    return data + rng.laplace(0, 1.0, size)


PAIRS = [DataPair(0.0, 0.0), DataPair(0.0, 1.0), DataPair(0.0, 0.5)]


def conducted(function, plan, **options):
    sampler = ReleaseSampler(function, 7, shard=700)

    def select(part):
        return blackbox.select(sampler, PAIRS, part, delta=0.0, workers=1)

    return sequential.run(sampler, select, plan, Terms(PrivacyClaim(1.0), 7, **options))


PLAN = Plan(200, 2000, 5000, sequential=True)


def test_a_run_stops_when_it_may_and_never_reuses_a_sample():
    (check,), chosen, ranked = conducted(half, PLAN)
    assert check.verdict == "refuted"
    assert check.statistics["runs"] < 6000
    assert (chosen[0].number, ranked[0]) == (check.statistics["pair_number"], 1)
    assert check.result["largest_log_e_value"] >= math.log(1e6)
    (check,), _, _ = conducted(right, PLAN)
    assert check.verdict == "not_refuted"
    assert len(check.statistics["rounds"]) == len(sequential.rounds_of(PLAN)) == 2
    assert 0.6 < check.result["epsilon_lower"] <= 1.0
    # Every run of both worlds is counted once, whatever round it belongs to.
    runs = sum(
        e["counts"][-1][1] + e["counts"][-1][3] for r in check.statistics["rounds"] for e in r["candidates"]
    )
    assert runs == check.statistics["runs"] == 2 * (2 * 625 + 5000)


class _Recorder:
    """Notes which runs are asked for."""

    def __init__(self, inner):
        self.inner, self.asked = inner, []

    @property
    def shard(self):
        return self.inner.shard

    def sample(self, pair, world, stage, number, runs):
        if stage == blackbox.SEQUENTIAL:
            self.asked += [(number, world, run) for run in runs.tolist()]
        return self.inner.sample(pair, world, stage, number, runs)


def test_no_run_is_drawn_twice():
    recorder = _Recorder(ReleaseSampler(right, 3, shard=700))
    sequential.run(
        recorder,
        lambda part: blackbox.select(recorder, PAIRS, part, delta=0.0, workers=1),
        PLAN,
        Terms(PrivacyClaim(1.0), 3),
    )
    assert len(recorder.asked) == len(set(recorder.asked)) > 10_000


def test_workers_change_nothing():
    # Threads, since processes cannot import a function of a test.
    with parallel_config(backend="threading"):
        two, _, _ = conducted(right, Plan(100, 1000, 3000), workers=2)
    one, _, _ = conducted(right, Plan(100, 1000, 3000))
    assert one[0].as_dict() == two[0].as_dict()


def test_conduct_gives_the_test_that_is_asked_for():
    sampler = ReleaseSampler(half, 7)
    terms = Terms(PrivacyClaim(1.0), 7)

    def select(part):
        return blackbox.select(sampler, PAIRS, part, delta=0.0, workers=1)

    for plan, kind, name in (
        (Plan(100, 1000, 3000), "black_box", "black box"),
        (Plan(100, 1000, 3000, sequential=True), "sequential", "sequential test"),
    ):
        (check,), _, _ = sequential.conduct(sampler, select, plan, terms)
        assert (check.kind, check.name, check.verdict) == (kind, name, "refuted")
        (check,), _, _ = sequential.conduct(sampler, select, plan, terms, name="another")
        assert check.name == "another"


# ---------------------------------------------------------------- the judge


@pytest.fixture(scope="module")
def statistics():
    (check,), _, _ = conducted(half, Plan(200, 2000, 5000, sequential=True), alpha=1e-4)
    return json.loads(json.dumps(check.as_dict()["statistics"]))


def test_the_judge_needs_the_counts_only(statistics):
    result = judged("sequential", statistics)
    assert result["verdict"] == "refuted"
    assert result["p_value"] == pytest.approx(math.exp(-result["largest_log_e_value"]))
    for share in (2, 100):
        shared = judged("sequential", {**statistics, "tests": share})
        assert shared["p_value"] == pytest.approx(share * result["p_value"])
        rounds = [[Candidate.of(c) for c in row["candidates"]] for row in statistics["rounds"]]
        level = (1 - statistics["confidence"]) / share
        assert shared["epsilon_lower"] == bets.lower_limits(rounds, 0.0, level)[-1]
        assert 0 < shared["epsilon_lower"] < result["epsilon_lower"]
    assert (
        judged("sequential", {**statistics, "alpha": result["p_value"] * 0.999})["verdict"] == "not_refuted"
    )
    assert judged("sequential", {**statistics, "alpha": result["p_value"] * 1.001})["verdict"] == "refuted"


def test_the_judge_refuses_impossible_numbers(statistics):
    def with_entry(**changes):
        candidates = [{**statistics["rounds"][0]["candidates"][0], **changes}]
        return {**statistics, "rounds": [{"candidates": candidates}]}

    for changes in ({"counts": [[5, 4, 0, 4]]}, {"counts": [[-1, 4, 0, 4]]}, {"weight": 1.5}):
        with pytest.raises(InputError, match="record"):
            judged("sequential", with_entry(**changes))
    uneven = [statistics["rounds"][0]["candidates"][0], with_entry(counts=[[0, 1, 0, 1]] * 9)]
    with pytest.raises(InputError, match="looks"):
        judged(
            "sequential",
            {**statistics, "rounds": [{"candidates": [uneven[0], uneven[1]["rounds"][0]["candidates"][0]]}]},
        )


def test_power_grows_with_the_excess_and_the_sample():
    small, large = Plan(100, 1000, 2000), Plan(100, 10_000, 20_000)
    powers = [
        sequential.rejection_power(p, 0.1, plan, 1.0, 0.0, 1e-6, repeats=60)
        for plan in (small, large)
        for p in (0.27, 0.32, 0.45)
    ]
    assert powers[0] <= powers[1] <= 0.5 < 0.9 < powers[2]
    assert powers[3] == 0.0 < powers[4]
    assert powers[4] > powers[1]
    assert powers[5] == 1.0
    assert sequential.rejection_power(0.45, 0.1, small, 1.0, 0.05, 1e-6, repeats=60) < powers[2]
    assert sequential.rejection_power(0.45, 0.1, large, 1.0, 0.05, 1e-6, repeats=60) > 0.9


# ---------------------------------------------------------------- audits

MECHANISMS = """
def leaky(data, size, rng):
    return data + rng.laplace(0, 0.5, size)

def right(data, size, rng):
    return data + rng.laplace(0, 1.0, size)

def gauss(data, size, rng):
    return data + rng.normal(0, 1.0, size)
"""


@pytest.mark.parametrize(
    ("name", "options", "status"),
    [
        ("leaky", [], 1),
        ("right", [], 0),
        pytest.param("gauss", ["--delta", "0.01"], 1, marks=pytest.mark.slow),
        pytest.param("gauss", ["--delta", "0.3"], 0, marks=pytest.mark.slow),
    ],
)
def test_command_line(name, options, status, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MECHANISMS)
    arguments = ["audit", f"mine.py:{name}", "--epsilon", "1", "--sequential", "--budget", "smoke", *options]
    paths = ["--json", "r.json", "--html", "r.html", "--sarif", "r.sarif"]
    done = CliRunner().invoke(cli.main, [*arguments, *paths])
    assert done.exit_code == status, done.output
    assert "sequential test: " in done.output
    assert "Rung 4: sequential test" in (tmp_path / "r.html").read_text()
    # A refutation by draws of one call is made again, one draw a call.
    assert len(formats.sarif(tmp_path / "r.sarif")["runs"][0]["results"]) == 2 * status
    record = json.loads((tmp_path / "r.json").read_text())
    kinds = ["sequential", "black_box" if status else "upper_bound"]
    assert [check["kind"] for check in record["checks"]] == kinds
    assert record["plan"]["sequential"] is True
    assert verify(tmp_path / "r.json", rerun=api.rerun).checks == len(kinds)
    # Other counts are found out, even if the digest is made to fit.
    last = record["checks"][0]["statistics"]["rounds"][-1]["candidates"][0]["counts"][-1]
    last[0] = last[1] if status == 0 else 0
    (tmp_path / "r.json").write_text(json.dumps({**record, "digest": digest(record)}))
    with pytest.raises(InputError, match="its digest is valid, but checks"):
        verify(tmp_path / "r.json")


def test_bandits_of_users(tmp_path):
    def play_many(rewards, n_runs, rng):
        horizon, arms = rewards.shape
        noisy = rewards[:arms].diagonal() + rng.laplace(0, 0.2, (n_runs, arms))
        first = np.tile(np.arange(arms), (n_runs, 1))
        return np.hstack([first, np.repeat(noisy.argmax(axis=1)[:, None], horizon - arms, axis=1)])

    report = vdp.audit(play_many, epsilon=1.0, n_arms=2, horizon=4, sequential=True, budget="smoke")
    assert report.verdict == "refuted"
    [check] = [check for check in report.record["checks"] if check["kind"] == "sequential"]
    assert check["name"] == "sequential test, look 1"
    assert check["statistics"]["runs"] < 20_000


@pytest.mark.slow
def test_algorithms():
    algorithm = vdp.make("dp-se", n_arms=2, epsilon=1.0, horizon=2000, beta=0.5)
    report = vdp.audit(algorithm, sequential=True, budget=0.2, observe="actions", mutants=False)
    checks = {check["kind"]: check for check in report.record["checks"]}
    assert checks["sequential"]["result"]["looks"] > 10
    assert checks["sequential"]["result"]["epsilon_lower"] > 0.3
    assert "black box" not in [check["name"] for check in report.record["checks"]]
    assert report.verdict == "not_refuted"
    again = api.rerun(report.record)
    for key in ("checks", "power", "verdict", "epsilon_lower"):
        assert again[key] == report.record[key]


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("tree-sum", {"budget": 0.05, "mutants": False}),
        ("tests.user_code.bandits:laplace", {"epsilon": 1.0, "runs": 400}),
        ("tests.user_code.accusations:given", {"epsilon": 1.0, "runs": 400, "n_arms": 2, "horizon": 12}),
    ],
)
def test_a_re_run_is_sequential_where_the_audit_was(target, options):
    report = vdp.audit(target, sequential=True, **options)
    assert report.record["plan"]["sequential"]
    again = api.rerun(report.record)
    for key in ("checks", "plan", "power", "verdict"):
        assert again[key] == report.record[key]


@pytest.mark.slow
def test_mutants_of_algorithms():
    report = vdp.audit("tree-sum", sequential=True, budget=0.5, observe="releases")
    assert report.verdict == "not_refuted"
    assert {mutant["verdict"] for mutant in report.record["mutants"]} == {"refuted"}


def test_what_is_not_sampled_has_no_sequential_audit():
    with pytest.raises(InputError, match="sequential must be False"):
        vdp.audit("shuffled-linear", sequential=True)
