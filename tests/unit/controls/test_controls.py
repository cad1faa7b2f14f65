"""Controls: their truths by closed forms and other computations, their releases, and the selftest's forms."""

import itertools
import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import integrate

from tests.asking import audited
from tests.records import read_all
from verifiable_dp.cli import main
from verifiable_dp.controls import catalogue, controls, laws, plan_of, record, selftest, table
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.blackbox.test import Plan
from verifiable_dp.evidence.exact import limits
from verifiable_dp.record import conclude
from verifiable_dp.targets.releases import DataPair, ReleaseSampler

ALL = {control.name: control for control in controls()}
ONES, MIXED = [1.0] * 10, [2.0] * 5 + [0.0] * 5
RUNS, LEVEL = 10**6, 0.05


# ---------------------------------------------------------------- the list


def test_every_control_that_is_asked_for_is_there():
    assert set(ALL) >= {
        *("laplace", "laplace-half", "histogram", "histogram-half", "histogram-claim"),
        *("noisy-max-laplace", "noisy-max-exponential"),
        *("noisy-max-laplace-value", "noisy-max-exponential-value"),
        *(f"sparse-vector-{i}" for i in range(1, 7)),
        *("randomised-response", "randomised-response-bold"),
        *("truncated-geometric", "truncated-geometric-half"),
        *("prm", "prm-half", "tree", "tree-depth", "tree-half"),
    }


def test_names_differ_and_truths_lie_on_both_sides_of_the_claims():
    assert len(controls()) == len(ALL)
    assert {c.expected for c in ALL.values()} == {"refuted", "not_refuted"}
    for control in ALL.values():
        assert (control.truth > control.claimed * (1 + 1e-9)) == (control.expected == "refuted")


def test_what_controls_claim_and_which_are_right():
    assert {c.name: c.claimed for c in ALL.values() if c.claimed != 1.0} == {"histogram-claim": 0.5}
    assert {c.name for c in ALL.values() if c.expected == "not_refuted"} == {
        *("laplace", "histogram", "noisy-max-laplace", "noisy-max-exponential", "sparse-vector-1"),
        *("sparse-vector-2", "randomised-response", "truncated-geometric", "prm", "tree"),
    }


@pytest.mark.parametrize("name", ALL)
def test_both_laws_hold_all_the_mass(name):
    law = ALL[name].laws
    for side in (law.log_p, law.log_q):
        assert math.fsum(np.exp(side).tolist()) == pytest.approx(1.0, abs=1e-11)


# ---------------------------------------------------------------- truths


@pytest.mark.parametrize(
    ("name", "truth"),
    [
        ("laplace", 1.0),
        ("laplace-half", 2.0),
        ("histogram", 1.0),
        ("histogram-half", 2.0),
        ("histogram-claim", 2.0),
        ("noisy-max-exponential", 1.0),  # the winner has to be one scale ahead: memoryless
        ("noisy-max-laplace-value", 2.5),  # five answers below 1, e^.5 each
        ("noisy-max-exponential-value", math.inf),
        ("sparse-vector-3", 3.0),  # the sixth place at 1: five thresholds and the value, e^.5 each
        ("sparse-vector-5", math.inf),
        ("randomised-response", 1.0),
        ("randomised-response-bold", math.log(0.85 / 0.15)),
        ("truncated-geometric", 1.0),
        ("truncated-geometric-half", 2.0),
        ("prm", 1.0),
        ("prm-half", 2.0),
        ("tree", 1.0),
        ("tree-depth", 4 / 3),
        ("tree-half", 2.0),
    ],
)
def test_truths_that_have_a_closed_form(name, truth):
    assert ALL[name].truth == pytest.approx(truth, rel=1e-9)


def test_masses_that_only_one_input_can_give():
    # All five noisy answers below 2, which is 0 under the other input; a threshold in (0, 1].
    assert ALL["noisy-max-exponential-value"].mass_apart == pytest.approx((1 - math.exp(-0.5)) ** 5)
    assert ALL["sparse-vector-5"].mass_apart == pytest.approx((1 - math.exp(-0.5)) / 2)
    assert all(c.mass_apart == 0 for c in ALL.values() if math.isfinite(c.truth))


def test_two_noisy_answers_have_their_closed_form():
    b = 2.0

    def wins(gap):
        tail = math.exp(-abs(gap) / b) * (2 + abs(gap) / b) / 4
        return 1 - tail if gap >= 0 else tail

    found = laws.noisy_max([1.0, 0.0], [0.0, 1.0], laws.LaplaceLaw(b), b)
    assert np.exp(found.log_p[0]) == pytest.approx(wins(1.0), rel=1e-12)
    assert found.epsilon == pytest.approx(math.log(wins(1.0) / wins(-1.0)), rel=1e-12)


def test_equal_answers_win_equally_often():
    for noise in (laws.LaplaceLaw(2.0), laws.Exponential(2.0)):
        found = laws.noisy_max([1.0] * 5, [3.0] * 5, noise, 2.0)
        assert np.exp(found.log_p) == pytest.approx(np.full(5, 0.2), rel=1e-12)
        assert found.epsilon == pytest.approx(0.0, abs=1e-12)


def _cdf(x):
    return math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2


def _first_above(answers, threshold, rho, nu, places):
    """Another computation: adaptive quadrature, no logarithms."""
    marks = sorted({0.0, *(a - threshold for a in answers)})

    def chance(place):
        def density(x):
            below = [_cdf((threshold + x - a) / nu) for a in answers[:place]]
            above = [_cdf((a - threshold - x) / nu) for a in answers[place : place + 1]]
            return math.exp(-abs(x) / rho) / (2 * rho) * math.prod(below + above)

        ends = [-100.0, *marks, 100.0]
        return sum(integrate.quad(density, a, b, epsabs=1e-13)[0] for a, b in itertools.pairwise(ends))

    return [chance(place) for place in places]


@pytest.mark.parametrize(
    ("name", "threshold", "rho", "nu", "truth"),
    [
        ("sparse-vector-1", 0.5, 2.0, 4.0, 0.9304),
        ("sparse-vector-2", 1.0, 2.0, 4.0, 0.9110),
        ("sparse-vector-4", 1.0, 4.0, 4 / 3, 1.7418),
    ],
)
def test_sparse_vector_agrees_with_an_adaptive_quadrature(name, threshold, rho, nu, truth):
    law = ALL[name].laws
    places = [0, 4, 5, 9, 10]
    for side, answers in ((law.log_p, ONES), (law.log_q, MIXED)):
        expected = _first_above(answers, threshold, rho, nu, places)
        assert np.exp(side[places]) == pytest.approx(expected, rel=1e-8)
    assert ALL[name].truth == pytest.approx(truth, abs=5e-5)


def test_the_value_of_sparse_vector_3_sums_up_to_its_places():
    """Without the value the law is that of the same technique without it."""
    places = laws.first_above(ONES, MIXED, 1.0, 2.0, 2.0)
    values = ALL["sparse-vector-3"].laws
    for coarse, fine in ((places.log_p, values.log_p), (places.log_q, values.log_q)):
        cells = np.exp(fine[:-1]).reshape(10, -1).sum(axis=1)
        assert cells == pytest.approx(np.exp(coarse[:10]), rel=1e-9)
        assert fine[-1] == pytest.approx(coarse[-1], abs=1e-9)


def test_sparse_vector_6_agrees_with_an_adaptive_quadrature():
    def chance(ups, downs):
        """Five answers of 1 are above and five of 0 below, or the other way round."""

        def density(x):
            above, below = _cdf((ups - 1 - x) / 2), _cdf((1 + x - downs) / 2)
            return math.exp(-abs(x) / 2) / 4 * above**5 * below**5

        marks = [-100.0, -1.0, 0.0, 100.0]
        return sum(integrate.quad(density, a, b, epsabs=1e-14)[0] for a, b in itertools.pairwise(marks))

    truth = math.log(chance(1.0, 0.0) / chance(0.0, 1.0))
    assert ALL["sparse-vector-6"].truth == pytest.approx(truth, rel=1e-8)
    assert truth == pytest.approx(4.0308, abs=5e-5)


def test_the_tree_of_one_value_is_the_laplace_mechanism():
    one, many = laws.laplace(1.0, 2.0), laws.laplace_many(1, 1.0, 2.0)
    assert many.epsilon == pytest.approx(one.epsilon)
    assert many.best_bound(RUNS, LEVEL) == pytest.approx(one.best_bound(RUNS, LEVEL), abs=1e-4)


# ---------------------------------------------------------------- the best event


@pytest.mark.parametrize(
    ("coarse", "fine"),
    [
        pytest.param(*(laws.laplace(1.0, 1.0, cells=n * laws.CELLS) for n in (1, 2)), marks=pytest.mark.slow),
        (laws.laplace(1.0, 0.5), laws.laplace(1.0, 0.5, cells=2 * laws.CELLS)),
        (laws.laplace_many(4, 1.0, 2.0), laws.laplace_many(4, 1.0, 2.0, cells=512)),
        *(
            (
                laws.largest([1.0] * 5, [2.0] * 5, noise, 2.0),
                laws.largest([1.0] * 5, [2.0] * 5, noise, 2.0, cells=2 * laws.CELLS),
            )
            for noise in (laws.LaplaceLaw(2.0), laws.Exponential(2.0))
        ),
        (
            laws.first_value_above(ONES, MIXED, 1.0, 2.0, 2.0),
            laws.first_value_above(ONES, MIXED, 1.0, 2.0, 2.0, step=laws.STEP / 2),
        ),
    ],
    ids=["laplace", "half", "tree", "maximum", "exponential maximum", "sparse vector 3"],
)
@pytest.mark.slow
def test_halving_the_cells_does_not_move_the_best_bound(coarse, fine):
    a, b = coarse.best_bound(RUNS, LEVEL), fine.best_bound(RUNS, LEVEL)
    assert a == pytest.approx(b, rel=5e-4)


@pytest.mark.parametrize("name", ALL)
def test_the_best_bound_stays_below_the_truth_and_above_that_of_any_single_atom(name):
    control = ALL[name]
    best = control.best_bound(RUNS, LEVEL)
    assert 0.85 * min(control.truth, 8.0) < best < control.truth
    law = control.laws
    at = np.argsort(-np.abs(limits.log_ratio(law.log_p, law.log_q)))[:3]
    for p, q in np.exp(np.stack([law.log_p[at], law.log_q[at]], axis=1)):
        assert limits.median_bound(max(p, q), min(p, q), RUNS, LEVEL) <= best + 1e-12


# ---------------------------------------------------------------- releases


def _draws(name, world=0, size=20_000):
    control = ALL[name]
    return np.asarray(control.release(control.pair[world], size, np.random.default_rng(4)))


@pytest.mark.parametrize("name", [f"sparse-vector-{i}" for i in (1, 2, 4)])
def test_sparse_vector_stops_at_the_first_positive(name):
    answers = _draws(name)
    assert answers.shape == (20_000, 10)
    first = np.where((answers == 1).any(axis=1), (answers == 1).argmax(axis=1), 10)
    place = np.arange(10)
    assert (answers[place < first[:, None]] == 0).all()
    assert (answers[place > first[:, None]] == -1).all()
    assert len(np.unique(first)) == 11


def test_sparse_vector_3_gives_the_noisy_value_of_the_first_positive():
    found = _draws("sparse-vector-3")
    none = (found[:, :10] == 0).all(axis=1)
    assert np.array_equal(np.isnan(found[:, 10]), none)
    assert 0 < none.mean() < 0.2


@pytest.mark.parametrize("name", ["sparse-vector-5", "sparse-vector-6"])
def test_sparse_vector_without_a_limit_answers_all(name):
    found = _draws(name)
    assert found.shape == (20_000, 10)
    assert set(np.unique(found)) == {0, 1}
    assert (found.sum(axis=1) > 1).any()


def test_the_trees_nodes_are_those_of_the_librarys_mechanism():
    from verifiable_dp.core.mechanisms.tree import Tree
    from verifiable_dp.core.noise import Seeded

    control = ALL["tree"]
    data, tree = control.pair[1], Tree(8, 1.0)
    means = control.release(data, 400_000, np.random.default_rng(1)).mean(axis=0)
    memory, sums, once = tree.start(1, 1), [], np.ones((1, 1), bool)
    silent = Tree(8, 1e12)  # next to no noise
    for item in data.reshape(-1, 1, 1):
        memory, node = silent.insert(memory, item, Seeded(0, (0,)), np.zeros(1, np.int64), once)
        sums.append(float(node[0, 0]))
    assert means == pytest.approx(sums, abs=6 * math.sqrt(2) * tree.scale / math.sqrt(400_000))


def test_the_robust_mean_truncates():
    control = ALL["prm"]
    means = [control.release(data, 400_000, np.random.default_rng(1)).mean() for data in control.pair]
    kept = [data[np.abs(data) <= 2.0].sum() / 20 for data in control.pair]
    assert means == pytest.approx(kept, abs=6 * math.sqrt(2) * 0.2 / math.sqrt(400_000))
    assert kept[1] - kept[0] == pytest.approx(0.2)


# ---------------------------------------------------------------- what samplers make of them


@pytest.mark.parametrize("name", ["sparse-vector-1", "sparse-vector-6", "truncated-geometric"])
def test_outputs_that_recur_are_counted(name):
    control, runs = ALL[name], np.arange(30_000)
    sampler, pair = ReleaseSampler(control.release, 7), DataPair(*control.pair)
    assert sampler.draws_kept(pair, 1000) == 1000
    seen = sampler.sample(pair, 1, 2, 0, runs)
    rows, times = np.unique(sampler.values(control.pair[1], (2, 0, 1), runs), axis=0, return_counts=True)
    found = np.stack(list(seen.numeric.values()), axis=1)
    order = np.lexsort(found.T[::-1])
    assert np.array_equal(found[order], rows)
    assert np.array_equal(seen.weight[order], times)
    assert seen.runs == len(runs) == seen.weight.sum()


@pytest.mark.parametrize("name", ["laplace", "histogram", "sparse-vector-3"])
def test_outputs_that_do_not_recur_are_kept(name):
    sampler, pair = ReleaseSampler(ALL[name].release, 7), DataPair(*ALL[name].pair)
    assert sampler.draws_kept(pair, 1000) == (500 if name == "laplace" else 200)
    seen = sampler.sample(pair, 0, 2, 0, np.arange(10_000))
    assert seen.weight is None
    assert all(len(column) == 10_000 for column in seen.numeric.values())


def test_zeros_of_either_sign_are_one_output():
    """Arithmetic is ideal here: noise less exact data may come out as -0.0 on one input only."""
    sampler = ReleaseSampler(lambda data, size, rng: rng.choice([0.0, -0.0, 1.0], size), 7)
    seen = sampler.sample(DataPair(0.0, 1.0), 0, 2, 0, np.arange(10_000))
    assert sorted(seen.numeric["output 1"]) == [0.0, 1.0]


def test_an_audit_without_power_is_cheaper_and_says_less():
    options = {"name": "it", "epsilon": 1.0, "plan": Plan(24, 1000, 20_000)}
    pairs = [ALL["laplace"].pair]
    silent = audited(ALL["laplace"].release, pairs=pairs, power=False, **options)
    stated = audited(ALL["laplace"].release, pairs=pairs, **options)
    assert silent["checks"] == stated["checks"]
    assert silent["power"] is None
    assert stated["power"]["smallest_epsilon"] > 1
    assert (
        conclude.privacy(read_all(silent["checks"]))
        == conclude.privacy(read_all(stated["checks"]))
        == "not_refuted"
    )


# ---------------------------------------------------------------- selftest


def test_budgets_are_numbers_of_draws():
    assert plan_of("quick").test == 1_000_000
    assert plan_of(2.0).test == 1_000_000
    assert plan_of("standard").test > plan_of("quick").test
    for budget in ("huge", 0, -1.0, math.nan, None):
        with pytest.raises(InputError, match="budget"):
            plan_of(budget)
    with pytest.raises(InputError, match="seed"):
        selftest(seed=-1)
    with pytest.raises(InputError, match="only"):
        selftest(only=["unknown"])


SOME = ("laplace", "laplace-half", "sparse-vector-5")


@pytest.fixture(scope="module")
def outcomes():
    return selftest(budget=0.1, seed=3, only=SOME)


@pytest.mark.slow
def test_a_selftest_can_be_repeated(outcomes):
    def counts(found):
        return [{k: v for k, v in o.as_dict().items() if k != "cpu_seconds"} for o in found]

    assert counts(selftest(budget=0.1, seed=3, only=SOME)) == counts(outcomes)
    assert counts(selftest(budget=0.1, seed=4, only=SOME)) != counts(outcomes)


def test_outcomes_say_what_is_right(outcomes):
    right, half, vector = outcomes
    assert [o.verdict for o in outcomes] == ["not_refuted", "refuted", "refuted"]
    assert all(o.right and not o.false_alarm and not o.missed for o in outcomes)
    assert right.samples == 100_000
    assert vector.as_dict()["truth"] == "inf"
    assert half.efficiency == half.bound / half.best


def test_a_wrong_truth_is_told(outcomes):
    from dataclasses import replace

    right, half, _ = outcomes
    accused, missed = replace(half, control=right.control), replace(right, control=half.control)
    assert (accused.false_alarm, accused.missed, accused.right) == (True, False, False)
    assert (missed.false_alarm, missed.missed, missed.right) == (False, True, False)
    lines = list(table([accused, missed]))
    assert sum("WRONG" in line for line in lines) == 2
    assert "false alarms: 1; missed: 1" in lines[-1]
    assert not record([accused], budget="quick", seed=0, started=0.0)["passed"]


def test_the_command_prints_truth_best_bound_and_writes_all(tmp_path):
    path = tmp_path / "truth.json"
    options = ["selftest", "--budget", "0.05", "--only", "laplace-half", "--json", str(path)]
    done = CliRunner().invoke(main, options)
    assert done.exit_code == 0, done.output
    header, line, last = done.stdout.splitlines()
    assert header.split()[:5] == ["control", "claim", "truth", "best", "bound"]
    assert line.split()[:3] == ["laplace-half", "1", "2.0000"]
    assert line.split()[-1] == "refuted"
    assert last.startswith("false alarms: 0; missed: 0")
    whole = json.loads(path.read_text())
    assert (whole["passed"], whole["plan"]["test"]) == (True, 25_000)
    (row,) = whole["controls"]
    assert row["check"]["statistics"]["n0"] + row["check"]["statistics"]["n1"] == row["samples"] == 50_000
    assert row["epsilon_lower"] == row["check"]["result"]["epsilon_lower"]


def test_every_control_has_a_test_with_counts_whatever_else_is_found(tmp_path):
    """Of a tree an upper bound is proved after its black box, too: evidence without draws."""
    path = tmp_path / "truth.json"
    options = ["selftest", "--budget", "0.02", "--only", "tree", "--json", str(path)]
    done = CliRunner().invoke(main, options)
    assert done.exit_code == 0, done.output
    (row,) = json.loads(path.read_text())["controls"]
    assert row["check"]["kind"] == "black_box"
    assert row["samples"] == 20_000


@pytest.mark.parametrize("data", [0, 1])
def test_a_response_keeps_its_bit_as_often_as_it_says(data):
    """Broken variant: what is not kept is -data."""
    said = catalogue._response(0.75)(data, 4000, np.random.default_rng(5))
    assert {*said.tolist()} == {0, 1}
    assert (said == data).mean() == pytest.approx(0.75, abs=0.04)  # six standard errors
