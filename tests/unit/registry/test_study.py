"""Studies: cells that are found again, documents that follow from their numbers, runs that resume."""

import itertools
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from verifiable_dp.algorithms.contextual.lin_ucb_contextual import LinUCBContextual
from verifiable_dp.algorithms.dp_linear import DPLinear
from verifiable_dp.algorithms.dp_se import DPSE
from verifiable_dp.algorithms.ldp_linear import LDPLinear
from verifiable_dp.algorithms.nas import NAS
from verifiable_dp.algorithms.ucb1 import UCB1
from verifiable_dp.auditors import _linear, dp_linear
from verifiable_dp.auditors.studies import _s4_rates, bounded, s4
from verifiable_dp.campaign import reproduction
from verifiable_dp.core.claims import Source
from verifiable_dp.core.environments import bernoulli, two_point
from verifiable_dp.core.populations import Linear
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.regret.comparison import comparison as comparison_check
from verifiable_dp.evidence.regret.comparison import comparison as comparison_of_s4
from verifiable_dp.evidence.words import digits
from verifiable_dp.record.sealing import digest
from verifiable_dp.registry import study as studies
from verifiable_dp.registry.study import (
    Cell,
    Figure,
    Guide,
    Line,
    Panel,
    Statement,
    Study,
    StudyOutcome,
    StudyPlan,
)
from verifiable_dp.render import figures, page
from verifiable_dp.render import study as reporting

HERE = Path(__file__).parents[3]
PLACE = bernoulli([0.9, 0.1], "far apart")
SOURCE = Source("Nobody, Nowhere, 2026", "Theorem 0", "made up for a test")


def comparison(outcomes):
    mine, theirs = outcomes["se 1"].regret, outcomes["ucb"].regret
    return [comparison_check("one", mine, theirs, factor=0.001)]


def plan(scale=1.0):
    horizon = int(20_000 * scale)
    cells = {f"se {e:g}": Cell(DPSE(2, e, horizon), PLACE, 8, points=20) for e in (0.25, 0.5, 1.0, 2.0)}
    cells["ucb"] = Cell(UCB1(2, horizon), PLACE, 8, points=20)
    over = {0.25: "se 0.25", 0.5: "se 0.5", 1.0: "se 1", 2.0: "se 2"}
    figure = Figure(
        "figure-1",
        "Two <algorithms>.",
        (
            Panel("curves", (Line("DP-SE", ("se 1",)), Line("UCB1", ("ucb",)))),
            Panel(
                "over epsilon",
                (Line("DP-SE", tuple(over.values()), tuple(over)),),
                (Guide("slope", -1.0),),
                axis="epsilon",
            ),
        ),
        ("first",),
    )
    return StudyPlan(cells, [figure], [Statement("first", "It holds.", SOURCE, comparison)], ["Made <up>."])


TINY = Study("tiny", "a study", "Nobody, Nowhere, 2026", plan)


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(studies, "study", lambda name: TINY)


def stripped(path):
    whole = json.loads((path / "study.json").read_text("utf-8"))
    return {key: value for key, value in whole.items() if key not in ("provenance", "digest")}


@pytest.mark.usefixtures("tiny")
def test_one_and_two_workers_give_identical_tables(tmp_path):
    for workers in (1, 2):
        reproduction.reproduce("tiny", out=tmp_path / str(workers), workers=workers)
    one, two = (tmp_path / str(workers) / "tiny" for workers in (1, 2))
    assert stripped(one) == stripped(two)
    for name in ("tables/curves.csv", "tables/runs.csv", "figures/figure-1.svg", "figures/figure-1.png"):
        assert (one / name).read_bytes() == (two / name).read_bytes()


@pytest.mark.usefixtures("tiny")
def test_a_finished_cell_is_not_simulated_again(tmp_path, monkeypatch):
    before = reproduction.reproduce("tiny", out=tmp_path)
    monkeypatch.setattr(studies, "play", lambda *task: pytest.fail(f"{task[0]} was simulated again"))
    assert reproduction.reproduce("tiny", out=tmp_path)["statements"] == before["statements"]


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("content", [pytest.param(b"", marks=pytest.mark.slow), b"PK\x03\x04"])
def test_a_damaged_cell_is_simulated_again(content, tmp_path):
    before = reproduction.reproduce("tiny", out=tmp_path)
    for path in (tmp_path / "tiny" / "cells").iterdir():
        path.write_bytes(content)
    assert reproduction.reproduce("tiny", out=tmp_path)["statements"] == before["statements"]


USERS = Linear((0.4, 0.5), 2, "intercept", (0.0, 1.0), "some users")


def test_a_cell_with_users_counts_what_the_best_arm_of_each_would_have_paid_more():
    """Control: uniform play misses as much as is known of it; users of another form are refused."""
    rule = LinUCBContextual(2, 2, 300)
    found = studies.play("users", Cell(rule, USERS, 40), 0)
    again = studies.play("users", Cell(rule, USERS, 40), 0)
    np.testing.assert_array_equal(found.regret, again.regret)
    assert found.pulls.sum(axis=1).tolist() == [300] * 40
    assert found.regrets.shape == (40, 1)
    uniform = USERS.uniform_regret(300)
    assert found.regret.mean() < uniform / 5
    blind = studies.play("users", Cell(Blind(2, 2, 300), USERS, 40), 0)
    assert blind.regret.mean() == pytest.approx(uniform, rel=0.15)
    with pytest.raises(InputError, match="lin-ucb-contextual cannot play for some users"):
        studies.play("users", Cell(LinUCBContextual(2, 3, 300), USERS, 2), 0)
    with pytest.raises(InputError, match="ucb1 cannot play for some users"):
        studies.play("users", Cell(UCB1(2, 300), USERS, 2), 0)
    with pytest.raises(InputError, match="some users: the best arm depends on the user"):
        _ = Cell(rule, USERS, 2).gaps


class Blind(LinUCBContextual):
    """Always plays the first arm, which is as good as any on average."""

    def rule(self, state):
        asked = super().rule(state)
        return replace(asked, estimate=0 * asked.estimate, radius=0 * asked.radius)


def test_a_stopping_rule_costs_its_samples():
    """Control: of a bandit, regret is what the arms miss."""
    rule = NAS(0.9, 0.9, 1000)
    cell = Cell(rule, two_point(0.5, 1.0), 20, points=3)
    found = studies.play("nas", cell, 0)
    assert cell.measured == studies.SAMPLES
    assert found.regret.tolist() == found.pulls[:, 0].tolist()
    assert found.regret.min() > 1
    assert found.regret.max() < 1000
    assert found.regrets[:, -1].tolist() == found.regret.tolist()
    assert (found.regrets <= found.times).all()
    assert Cell(UCB1(2, 20), PLACE, 2).measured == studies.REGRET


def test_what_a_cell_measures_is_in_the_document_unless_it_is_regret():
    cells = {"nas": Cell(NAS(0.9, 0.9, 500), two_point(0.5, 1.0), 4), "ucb": Cell(UCB1(2, 20), PLACE, 4)}
    outcomes = {name: studies.play(name, cell, 0) for name, cell in cells.items()}
    panels = (
        Panel("samples", (Line("nas", ("nas",), (1.0,)),), axis="epsilon", measured=studies.SAMPLES),
        Panel("regret", (Line("ucb", ("ucb",), (1.0,)),), axis="epsilon"),
    )
    whole = StudyPlan(cells, [Figure("both", "Both.", panels)], [])
    found = reporting.document(TINY, whole, outcomes, scale=1.0, seed=0, started=0.0, cpu_seconds=0.0)
    assert {name: cell.get("measured") for name, cell in found["cells"].items()} == {
        "nas": studies.SAMPLES,
        "ucb": None,
    }
    assert reporting.verify_study(found)["cells"] == found["cells"]
    (figure,) = found["figures"]
    assert [panel.get("measured") for panel in figure["panels"]] == [studies.SAMPLES, None]
    shown = figures.svg(figure)
    assert shown.count(studies.SAMPLES) == shown.count(studies.REGRET) == 1
    assert f"{digits(outcomes['nas'].regret.mean())} samples" in re.sub(
        r"<[^>]*>", "", page.render_study(found)
    )


def test_cells_are_told_apart_by_everything_that_counts():
    cell = Cell(DPSE(2, 1.0, 1000), PLACE, 8)
    others = [
        ("a", cell, 0),
        ("b", cell, 0),
        ("a", cell, 1),
        ("a", replace(cell, runs=9), 0),
        ("a", replace(cell, points=9), 0),
        ("a", replace(cell, algorithm=DPSE(2, 1.0 + 1e-15, 1000)), 0),
        ("a", replace(cell, environment=bernoulli([0.9, 0.2], "far apart")), 0),
    ]
    prints = [studies.fingerprint(*other) for other in others]
    assert len(set(prints)) == len(prints)
    assert studies.fingerprint("a", Cell(DPSE(2, 1.0, 1000), PLACE, 8), 0) == prints[0]


def test_long_arrays_are_told_apart_by_their_content():
    long = np.zeros(5000)
    other = long.copy()
    other[2500] = 1e-300
    assert repr(long) == repr(other)
    assert studies.described(long) != studies.described(other)


def test_what_cannot_be_described_is_refused():
    with pytest.raises(InputError, match="cell: function cannot be described"):
        studies.described(lambda: 0)


@pytest.mark.usefixtures("tiny")
def test_a_study_is_verified_and_edits_are_found(tmp_path):
    reproduction.reproduce("tiny", out=tmp_path)
    path = tmp_path / "tiny" / "study.json"
    whole = reporting.verify_study(path)
    assert whole["statements"][0]["verdict"] == "consistent"
    edited = json.loads(path.read_text("utf-8"))
    edited["statements"][0]["checks"][0]["statistics"]["mean_b"] /= 1e6
    path.write_text(json.dumps(edited), "utf-8")
    with pytest.raises(InputError, match="digest"):
        reporting.verify_study(path)
    edited["digest"] = digest(edited)
    path.write_text(json.dumps(edited), "utf-8")
    with pytest.raises(InputError, match=r"study: its digest is valid, but statements"):
        reporting.verify_study(path)
    whole["figures"][0]["statements"] = ["another"]  # its page could not be drawn
    path.write_text(json.dumps({**whole, "digest": digest(whole)}), "utf-8")
    with pytest.raises(InputError, match=r"^study: the figures name an unknown statement"):
        reporting.verify_study(path)


def test_the_verdicts_of_long_names_stand_apart():
    rows = [
        {"name": "exponents-of-the-whole-of-figure-4", "verdict": "consistent", "words": "It holds."},
        {"name": "short", "verdict": "contradicted", "words": "It does not."},
    ]
    long, short = reporting.lines({"statements": rows})
    assert long.split() == ["exponents-of-the-whole-of-figure-4", "consistent", "It", "holds."]
    assert long.index("consistent") == short.index("contradicted")
    assert reporting.lines({"statements": []}) == []


@pytest.mark.usefixtures("tiny")
def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "tables").touch()
    with pytest.raises(InputError, match=r"out: .*tables' cannot be created: File exists"):
        reproduction.reproduce("tiny", out=tmp_path, cells=tmp_path / "cells")


@pytest.mark.usefixtures("tiny")
def test_the_page_is_whole_and_escaped(tmp_path):
    reproduction.reproduce("tiny", out=tmp_path)
    page = (tmp_path / "tiny" / "index.html").read_text("utf-8")
    assert "Two &lt;algorithms&gt;" in page
    assert "Made &lt;up&gt;" in page
    assert "<svg" not in page
    names = re.findall(r'<a href="([^"#]*html)', page)
    drawn = [(tmp_path / "tiny" / name).read_text("utf-8") for name in names]
    assert [shown.count("<svg") for shown in drawn] == [4]  # of two panels, for a desktop and for a phone
    for shown in (page, *drawn):
        assert len(shown) < 400_000
        assert "<script" not in shown
        assert "http" not in shown.replace("http://www.w3.org", "").replace("http-equiv", "")


def test_a_plan_with_unknown_cells_or_names_twice_is_refused():
    good = plan()
    figure = replace(good.figures[0], panels=(Panel("x", (Line("y", ("nothing",)),)),))
    with pytest.raises(InputError, match="unknown cell 'nothing'"):
        replace(good, figures=[figure])
    with pytest.raises(InputError, match="figures must have different names"):
        replace(good, figures=[*good.figures, *good.figures])


@pytest.mark.parametrize("scale", [0, -1, 1.5, float("nan")])
def test_a_scale_out_of_range_is_refused(scale, tmp_path):
    with pytest.raises(InputError, match="scale"):
        reproduction.reproduce("S1", out=tmp_path, scale=scale)


def test_an_unknown_study_is_named():
    with pytest.raises(InputError, match="unknown name 'S9'; known names are S1"):
        studies.study("S9")


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
from tests.unit.registry.test_study import plan
from verifiable_dp.campaign import reproduction
print("ready", flush=True)
outcomes = reproduction.simulate(plan(), 0, Path({store!r}))
print("done", flush=True)
"""


@pytest.mark.slow
def test_killed_at_random_times_nothing_is_lost(tmp_path):
    """SIGKILL between the first and the last cell; what is there is whole, and the end is the same."""
    whole = reproduction.simulate(plan(), 0)
    rng, finished = random.Random(0), 0
    code = KILLED.format(here=str(HERE), store=str(tmp_path))
    for _ in range(4):
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        time.sleep(rng.uniform(0.0, 0.25))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        found = [path for path in tmp_path.iterdir() if path.suffix == ".npz" and path.name[0] != "."]
        assert len(found) >= finished
        finished = len(found)
        keys = {studies.fingerprint(name, cell, 0): name for name, cell in plan().cells.items()}
        for path in found:
            outcome = reproduction._load(tmp_path, path.stem)
            np.testing.assert_array_equal(outcome.regrets, whole[keys[path.stem]].regrets)
    again = reproduction.simulate(plan(), 0, tmp_path)
    for name, part in itertools.product(whole, ("regret", "pulls", "regrets")):
        np.testing.assert_array_equal(getattr(again[name], part), getattr(whole[name], part))


# The study S4: what it plans, what its statements say of small runs and of wrong ones.


TINY_OF_S4 = 0.001


def made_up(plan):
    """Outcomes with regret 1, so that all checks can be computed without a run."""
    rng = np.random.default_rng(0)
    return {
        name: StudyOutcome(
            rng.uniform(0.99, 1.01, cell.runs), np.array([1]), np.ones((cell.runs, 1)), np.ones((1, 1)), None
        )
        for name, cell in plan.cells.items()
    }


def some(plan, chosen):
    """The plan's cells of which `chosen(name)` is true, played."""
    cells = {name: cell for name, cell in plan.cells.items() if chosen(name)}
    return reproduction.simulate(replace(plan, cells=cells, figures=[]), 0)


def verdicts(plan, name, outcomes):
    statement = next(row for row in plan.statements if row.name == name)
    return [check.verdict for check in statement.checks(outcomes)]


@pytest.fixture(scope="module")
def played():
    """All algorithms on the instances of ten actions, T = 10000."""
    plan = s4.plan(TINY_OF_S4)
    return plan, some(plan, lambda name: name.startswith("K=10 "))


def test_it_is_registered():
    assert studies.study("s4") is s4.STUDY


@pytest.mark.parametrize(
    ("scale", "horizon", "instances", "runs"), [(1.0, 10**6, 10, 30), (0.01, 10**4, 2, 6)]
)
def test_the_plan_at_full_size_and_below(scale, horizon, instances, runs):
    plan = s4.plan(scale)
    paper = [cell for name, cell in plan.cells.items() if name.startswith("K=10 ")]
    # Twelve epsilons, three models, two variants, and two algorithms without privacy.
    assert len(paper) == instances * (12 * 3 * 2 + 2)
    assert {cell.algorithm.horizon for cell in paper} == {horizon}
    assert {cell.runs for cell in plan.cells.values()} == {runs}
    assert {cell.environment.n_arms for name, cell in plan.cells.items() if name.startswith("K=1000 ")} == {
        1000
    }
    assert [figure.name for figure in plan.figures] == [
        "figure-2",
        "figure-3a",
        "figure-3b",
        "figure-4",
        "rates",
    ]
    named = {name for figure in plan.figures for name in figure.statements}
    assert named == {statement.name for statement in plan.statements}


def test_all_algorithms_play_the_same_instances_on_the_unit_circle():
    plan = s4.plan(1.0)
    group = s4.Instances("K=10", 10, 10)
    for number, (actions, place) in enumerate(group.drawn):
        np.testing.assert_allclose(np.linalg.norm(actions, axis=1), 1, atol=1e-5)
        cells = [cell for name, cell in plan.cells.items() if name.startswith(f"K=10 {number + 1} ")]
        assert {cell.algorithm.actions for cell in cells} == {actions}
        assert {cell.environment for cell in cells} == {place}
        # Means <a, theta> of a theta of length 1.
        theta = np.linalg.lstsq(np.array(actions), np.array(place.means), rcond=None)[0]
        assert np.linalg.norm(theta) == pytest.approx(1, abs=1e-5)
    assert s4.Instances("K=10", 2, 10).drawn == group.drawn[:2]


def test_a_line_over_several_instances_is_the_mean_of_their_means():
    plan = s4.plan(TINY_OF_S4)
    outcomes = made_up(plan)
    group = s4.Instances("K=10", 2, 10)
    line = reporting.drawn(group.line("central", {e: s4._what("central", e) for e in s4.EPSILONS}), outcomes)
    assert line["xs"].tolist() == list(s4.EPSILONS)
    sample = group.sample(outcomes, s4._what("central", 0.1))
    assert line["means"][0] == pytest.approx(sample.mean(), rel=1e-12)
    # Two independent samples of 6: sqrt(v1/6 + v2/6)/2 times t of 5 degrees of freedom.
    spread = [outcomes[name].regret.var(ddof=1) / 6 for name in group.names(s4._what("central", 0.1))]
    assert line["highs"][0] - line["means"][0] == pytest.approx(
        2.570582 * math.sqrt(sum(spread)) / 2, rel=1e-5
    )


def test_what_the_paper_says_holds_at_small_size_as_well(played):
    plan, outcomes = played
    for name in ("theorem-1", "theorem-2", "theorem-3"):
        assert set(verdicts(plan, name, outcomes)) <= {"consistent", "vacuous"}
    assert "contradicted" not in verdicts(plan, "rates-differ", outcomes)


def test_a_noisy_algorithm_in_the_place_of_the_central_one_is_contradicted(played):
    plan, outcomes = played
    swapped = {
        name: outcomes[name.replace("central", "local")] if "central" in name else outcome
        for name, outcome in outcomes.items()
    }
    before = verdicts(plan, "central-almost-free", outcomes)
    after = verdicts(plan, "central-almost-free", swapped)
    assert "contradicted" not in before
    assert "contradicted" in after


def test_an_algorithm_that_removes_nothing_breaks_theorem_1():
    group = s4.Instances("K=10", 1, 10)
    (actions, place) = group.drawn[0]
    algorithm = DPLinear(actions, 10.0, 10**6)
    (timid,) = (mutant for mutant in dp_linear.MUTANTS if mutant.name == "timid")
    for played, verdict in ((algorithm, "consistent"), (timid.make(algorithm), "contradicted")):
        runs = {"one": studies.play("one", Cell(played, place, 6, 2), 0)}
        cells = {"one": Cell(algorithm, place, 6, 2)}
        (check,) = bounded(_linear.regret_bound, cells, {"on one instance": "one"}, runs)
        assert check.verdict == verdict


def test_the_core_set_pays_where_epsilon_is_small_and_not_where_it_is_large():
    group = s4.Instances("K=1000", 1, 1000)
    cells = {}
    for epsilon in (0.1, 5.0):
        for core in (True, False):
            cells |= group.cells(
                s4._core(core, epsilon), lambda a, e=epsilon, c=core: DPLinear(a, e, 10**7, core=c), 12
            )
    outcomes = {name: studies.play(name, cell, 0) for name, cell in cells.items()}
    pays = s4.SHEET.row("statements", "core-set-pays-below-.5")["compare"]["factor"]
    found = [
        comparison_of_s4(
            "a", *(group.sample(outcomes, s4._core(core, e)) for core in (True, False)), factor=pays
        ).verdict
        for e in (0.1, 5.0)
    ]
    assert found == ["consistent", "contradicted"]


@pytest.mark.slow
def test_rates_over_d_are_told_from_others():
    plan = s4.plan(TINY_OF_S4)
    rates = [rate for rate in _s4_rates.laws(6) if rate.name.startswith("over-d-")]
    assert len(rates) == 2
    for rate in rates:
        outcomes = some(plan, lambda name, cells=rate.plan: name in cells)
        assert verdicts(plan, f"rate-{rate.name}", outcomes)[0] == "consistent"
        # What Theorem 2 prints has another factor of sqrt(d).
        grown = {
            name: replace(point, regret=point.regret * math.sqrt(rate.names[name]))
            for name, point in outcomes.items()
        }
        assert "contradicted" in verdicts(plan, f"rate-{rate.name}", grown)


def test_rates_are_fitted_where_the_gaps_that_are_left_follow_gamma():
    dense, place = _s4_rates.circle(_s4_rates.MANY, 0.3)
    least = np.sort(place.gaps)[1]
    laws = [_s4_rates.KINDS[kind](dense, 1.0, t) for kind in _s4_rates.OVER_T for t in _s4_rates.OVER_T[kind]]
    laws += [LDPLinear(dense, e, _s4_rates.LOCAL_T) for e in _s4_rates.LOCAL_EPSILONS]
    assert len(laws) == 90
    for algorithm in laws:
        last = algorithm.last_batch
        before, after = (algorithm.width(batch, _s4_rates.MANY, 3) for batch in (last - 1, last))
        assert before <= 0.05  # as the words `even` of its sheet say
        assert after >= 10 * least


def test_in_the_rate_over_epsilon_each_value_meets_the_same_place_of_its_batch():
    assert len(_s4_rates.LARGEST) == 2
    for kind in _s4_rates.LARGEST:
        rate = next(rate for rate in _s4_rates.laws(6) if rate.name == f"over-epsilon-{kind}")
        cells, growth = rate.cells, next(iter(rate.plan.values())).algorithm.size(1)
        for before, after in pairwise(cells):
            assert before / after == pytest.approx(growth, rel=1e-12)


@pytest.mark.slow
def test_the_private_terms_have_a_factor_for_batches_and_one_for_their_width():
    """log^2 T of Theorem 1 and log^1.5 T of Theorem 3; regret that grows like log T is told apart."""
    plan = s4.plan(TINY_OF_S4)
    rates = [rate for rate in _s4_rates.laws(6) if rate.name.startswith("over-batches-")]
    assert len(rates) == 2
    for rate in rates:
        outcomes = some(plan, lambda name, cells=rate.plan: name in cells)
        assert rate.slope(outcomes, rate.exponent).verdict == "consistent"
        slower = {
            name: replace(
                point,
                regret=point.regret / rate.names[name] * math.log(rate.plan[name].algorithm.horizon),
            )
            for name, point in outcomes.items()
        }
        assert rate.slope(slower, rate.exponent).verdict != "consistent"
