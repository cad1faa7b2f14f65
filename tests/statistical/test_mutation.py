"""The mutation suite on some algorithms, the exact law of halting times, and a small null suite."""

import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from verifiable_dp import cli
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.environments import Table
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.alignment import searching
from verifiable_dp.evidence.blackbox.machine import UnsupportedError
from verifiable_dp.evidence.exact import halting
from verifiable_dp.record.sealing import digest, text
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.wrapped import AlteredNoise
from verifiable_dp.render import mutation as document
from verifiable_dp.selfcheck import mutation, nulls

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import null_suite

FAST = ("tree-sum", "ldp-robust-se", "shuffled-linear")


@pytest.fixture(scope="module")
def table():
    rows, seconds = [], {}
    for name in FAST:
        found, spent = mutation.run([name])
        rows += found
        seconds |= spent
    return document.document(rows, seconds, budget="quick", seed=0, started=0.0, cpu_seconds=1.0)


def test_the_suite_is_large_and_its_names_distinct():
    cases = mutation.suite()
    assert len(cases) >= 500
    assert len({case.name for case in cases}) == len(cases)
    assert sum(case.origin == mutation.OWN for case in cases) >= 6 * 14
    assert {case.algorithm for case in cases} >= {"dp-se", "dp-ucb", "dp-nas", "shuffled-linear"}


def test_clear_mutants_are_killed(table):
    summary = table["summary"]
    assert summary["clear"] >= 60
    assert summary["clear_missed"] == []
    assert set(summary["rung"]) >= {"alignment", "shuffle"}


def test_no_loss_exceeds_its_closed_form(table):
    known = [row for row in table["mutants"] if row["closed_form"] is not None]
    assert len(known) > 10
    for row in known:
        assert float(row["at_least"]) <= float(row["closed_form"]) * (1 + 1e-9), row["name"]


def test_correct_algorithms_are_no_mutants():
    """The negative control: a fault that changes nothing is not refuted, at any rung."""
    for name in ("tree-sum", "dp-exponential-nas"):
        harmless = mutation.Mutant("nothing", "nothing", lambda algorithm: AlteredNoise(algorithm, 1.0))
        row = mutation.examine(mutation.MutationCase(name, harmless, mutation.OWN))
        assert row["outcome"] == "undecided", row
        assert len(row["checks"]) >= 2


def test_mutants_of_bandits_with_contexts_are_in_the_table_too():
    """Negative control: a fault that changes nothing."""
    cases = mutation.suite(["dp-lin-ucb", "dp-lin-ucb-wishart"])
    assert {case.origin for case in cases} == {mutation.OWN}
    assert len(cases) == 21
    rows = [mutation.examine(case) for case in cases if case.algorithm == "dp-lin-ucb"]
    assert {row["outcome"] for row in rows} == {"killed"}
    harmless = mutation.Mutant("nothing", "nothing", lambda algorithm: AlteredNoise(algorithm, 1.0))
    row = mutation.examine(mutation.MutationCase("dp-lin-ucb", harmless, mutation.OWN))
    assert row["outcome"] == "undecided"
    assert row["checks"][0]["statistics"]["examined"] > 0


def test_a_case_is_the_same_whenever_it_is_run():
    case = next(case for case in mutation.suite(["tree-sum"]) if case.mutant.name == "clipped noise x8")
    assert mutation.examine(case) == mutation.examine(case)


def test_the_largest_cost_of_what_was_examined_is_no_upper_bound():
    """A mutant that one search missed was said to be within the claim, with a true epsilon of at most .82."""
    checks = [{"kind": "alignment", "statistics": {"examined": 30, "max_cost": 0.8243}, "result": {}}]
    checks[0]["result"] = {"verdict": "not_refuted", "epsilon_lower": 0.8243}
    row = {"checks": checks, "epsilon": 1.0, "closed_form": None}
    found = mutation.concluded(row)
    assert (found["outcome"], found["true_epsilon"], found["at_most"]) == ("undecided", None, "inf")
    known = mutation.concluded({**row, "closed_form": 0.9})  # control: a closed form is one
    assert (known["outcome"], known["at_most"]) == ("within_the_claim", 0.9)


def test_a_closed_form_needs_the_loss_of_the_right_algorithm():
    """That of dp-robust-ucb is at most .7056, and no transcript of the auditor's costs more than .6747."""
    assert mutation._correct("dp-robust-ucb")[1] == 0.0
    assert mutation._correct("adaptive-tree")[1] == pytest.approx(0.77116187)  # control
    cases = {case.mutant.name: case for case in mutation.suite(["dp-robust-ucb"])}
    assert mutation.examine(cases["scale x0.75"])["outcome"] == "undecided"


@pytest.mark.parametrize("seed", range(8))
def test_an_early_peek_is_killed_whatever_the_seed(seed):
    """Only adversaries with the challenge in the second of 16 rounds show it: a random search missed some."""
    case = next(c for c in mutation.suite(["dp-robust-ucb"]) if c.mutant.name == "early peek")
    subject, _ = mutation._correct("dp-robust-ucb")
    small = subject.mutated(case.mutant)
    found = searching.falsify(small.small, small.small_epsilon, seed=seed, examples=30, visible=True)
    assert found.loss == pytest.approx(1.0242640687)
    right = searching.falsify(subject.small, subject.small_epsilon, seed=seed, examples=30, visible=True)
    assert right.loss <= 1  # control: the algorithm without the fault


# ---------------------------------------------------------------- the committed table


COMMITTED = Path(__file__).parents[2] / "reports" / "mutants.json"


def again(rows):
    """Names of rows that were killed and are not when they are run again, as the table was."""
    table = json.loads(COMMITTED.read_text("utf-8"))
    cases = {case.name: case for case in mutation.suite(list({row["algorithm"] for row in rows}))}
    asked = {"budget": table["budget"], "seed": table["seed"]}
    return mutation.lost(rows, [mutation.examine(cases[row["name"]], **asked) for row in rows])


def killed():
    rows = json.loads(COMMITTED.read_text("utf-8"))["mutants"]
    return [row for row in rows if row["outcome"] == "killed"]


def test_kills_of_the_committed_table_stand():
    """The twelve with the least to spare, one of each rung and algorithm; the night runs all."""
    rows = killed()
    order = np.random.default_rng(0).permutation(len(rows))
    chosen = {(rows[i]["algorithm"], rows[i]["killed_by"]): rows[i] for i in order}
    closest = sorted(rows, key=lambda row: float(row["at_least"]) / row["epsilon"])[:12]
    sample = list({row["name"]: row for row in [*closest, *chosen.values()]}.values())
    assert len(sample) >= 30
    assert len({row["algorithm"] for row in sample}) == len({row["algorithm"] for row in rows}) >= 23
    assert again(sample) == []


@pytest.mark.slow
def test_all_kills_of_the_committed_table_stand():
    assert again(killed()) == []


def test_a_lost_kill_is_named_and_keeps_the_old_table(tmp_path, monkeypatch):
    """A table in which a mutant that keeps the promise is said to be killed; control: the table as it was."""
    rows, seconds = mutation.run(["tree-sum"])
    rows = [row for row in rows if row["mutant"] in ("half noise", "no noise", "scale x0.5", "normal noise")]
    made = document.document(rows, seconds, budget="quick", seed=0, started=0.0, cpu_seconds=1.0)
    monkeypatch.setattr(mutation, "run", lambda *_, **__: (rows, seconds))
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(text(made), "utf-8")
    run = ["mutants", "--only", "tree-sum", "--against", str(old), "--json", str(new)]
    done = CliRunner().invoke(cli.main, run)
    assert (done.exit_code, new.exists()) == (0, True)
    new.unlink()
    other = [{**row, "outcome": "undecided"} if row["mutant"] == "no noise" else row for row in rows]
    monkeypatch.setattr(mutation, "run", lambda *_, **__: (other, seconds))
    done = CliRunner().invoke(cli.main, run)
    assert (done.exit_code, new.exists()) == (3, False)
    assert f"lost: tree-sum: no noise (own) was caught in {old} , but is missed now" in done.stdout


def test_only_private_algorithms_have_mutants():
    with pytest.raises(InputError, match="makes no privacy promise"):
        mutation.suite(["ucb1"])


def test_the_document_is_judged_again(table, tmp_path):
    written, page = document.save(table, tmp_path)
    assert document.verify_mutants(written)["summary"] == table["summary"]
    assert "<script" not in page.read_text("utf-8")
    assert document.render(table) == page.read_text("utf-8")
    forged = json.loads(written.read_text("utf-8"))
    forged["mutants"][0]["outcome"] = "survived"
    written.write_text(json.dumps(forged), "utf-8")
    with pytest.raises(InputError, match="digest"):
        document.verify_mutants(written)
    forged["digest"] = digest(forged)
    written.write_text(json.dumps(forged), "utf-8")
    with pytest.raises(InputError, match="its digest is valid, but mutants"):
        document.verify_mutants(written)


def test_long_names_stand_apart_from_the_outcome():
    row = {"name": "n" * 70, "outcome": "killed", "killed_by": "exact", "transcripts": 0, "runs": 0}
    assert document.line(row).split() == ["n" * 70, "caught", "exact", "distribution", "no", "samples"]


# ---------------------------------------------------------------- halting times


def rule(name="dp-exponential-nas", **changes):
    auditor = registry.auditor(name)
    algorithm = auditor.algorithm(**{**auditor.instance, **auditor.small, **changes})
    return algorithm, auditor.pairs(algorithm)


def test_halting_law_of_two_checks_in_closed_form():
    """Without noise of the threshold the checks are independent; with a gap of 0 each halts half the time."""
    law = np.exp(halting.halting_law(np.zeros(2), np.ones(2), 0.0))
    np.testing.assert_allclose(law, [0.5, 0.25, 0.25], rtol=1e-12)
    # Equal scales and one check: the difference of two Laplace draws.
    b, gap = 1.5, 0.8
    law = np.exp(halting.halting_law(np.array([gap]), np.array([b]), b))
    below = 0.5 * math.exp(-gap / b) * (1 + gap / (2 * b))
    np.testing.assert_allclose(law, [1 - below, below], rtol=1e-10)
    # No noise of the queries: the threshold alone decides.
    law = np.exp(halting.halting_law(np.array([-1.0, 2.0]), np.zeros(2), 1.0))
    np.testing.assert_allclose(law, [0.5 / math.e, 1 - 0.5 * math.exp(-2) - 0.5 / math.e, 0.5 * math.exp(-2)])


@pytest.mark.parametrize(("factor", "fits"), [(1.0, True), (0.5, False)])
def test_halting_law_is_that_of_the_runs(factor, fits):
    """Chi-square against 40 000 runs, flake level 1e-7; runs with half the noise must not fit."""
    algorithm, pairs = rule()
    known = halting.law(algorithm, pairs[0])
    runs = 40_000
    left = Table(pairs[0].worlds()[0])
    done = play(AlteredNoise(algorithm, factor), left, Seeded(9), np.arange(runs), keep=())
    halted = np.nan_to_num(done.output[:, 0], nan=0.0)
    check = np.where(halted > 0, np.log2(np.maximum(halted, 1)), len(known.log_p)).astype(int)
    seen = np.bincount(check - 1, minlength=len(known.log_p))
    p = np.exp(known.log_p)
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    common = p * runs > 5
    statistic = float(((seen - runs * p)[common] ** 2 / (runs * p[common])).sum())
    assert (stats.chi2.sf(statistic, common.sum()) > 1e-7) == fits


def test_halting_rule_keeps_its_promise_and_a_third_of_the_noise_does_not():
    algorithm, pairs = rule()
    right = halting.check(algorithm, pairs, algorithm.claim)
    broken = halting.check(AlteredNoise(algorithm, 1 / 3), pairs, algorithm.claim)
    assert right.verdict == "not_refuted"
    assert broken.verdict == "refuted"
    assert 0 < float(right.result["epsilon_lower"]) <= algorithm.claim.epsilon


def test_halting_law_refuses_what_it_does_not_know():
    auditor = registry.auditor("tree-sum")
    algorithm = auditor.algorithm(**auditor.instance)
    assert halting.check(algorithm, auditor.pairs(algorithm), algorithm.claim) is None
    algorithm, pairs = rule()
    with pytest.raises(UnsupportedError, match="a draw twice"):
        halting.law(AlteredNoise(algorithm, reslot=lambda slot: 0 * slot), pairs[0])


# ---------------------------------------------------------------- null suite

FEW = ("dp-se, actions, epsilon 1", "tree-sum, releases, epsilon 1", "control laplace")
RESPONSE = "control randomised-response"


def chosen(*names):
    every = {target.name: target for target in null_suite.targets()}
    return [every[name] for name in names]


@pytest.mark.slow
def test_500_null_audits_keep_their_level():
    """At level 1e-3 more than 8 alarms in 500 audits have probability below 1e-7."""
    tallies = nulls.run(chosen(*FEW, RESPONSE), [80, 20, 150, 250])
    assert sum(t.audits for t in tallies) == 500
    assert sum(t.alarms for t in tallies) <= 8
    assert nulls.p_value(tallies) > 1e-7
    share, low, high = nulls.rate(tallies)
    assert low <= share <= high


@pytest.mark.slow
def test_a_claim_that_is_too_small_alarms_more_often():
    """The negative control: a tenth less than the true epsilon at this size, level .05; flake level 1e-7."""
    [target] = chosen(RESPONSE)
    tally = nulls.run([replace(target, epsilon=0.9 * target.epsilon)], [200], level=0.05)
    right = nulls.run([target], [200], level=0.05)
    assert nulls.p_value(tally, 0.05) < 1e-7
    assert nulls.p_value(right, 0.05) > 1e-7


def test_null_counts_do_not_depend_on_workers():
    [target] = chosen(RESPONSE)
    assert nulls.run([target], [60], level=0.2) == nulls.run([target], [60], level=0.2, workers=2)


def test_null_suites_refuse_bad_input():
    [target] = chosen(RESPONSE)
    with pytest.raises(InputError, match="distinct names"):
        nulls.run([target, target], [1, 1])
    with pytest.raises(InputError, match="level"):
        nulls.run([target], [1], level=0.0)


def test_the_null_suite_covers_boundaries_and_all_kinds():
    suite = null_suite.targets()
    assert sum(target.boundary for target in suite) >= 20
    assert {type(target.sampler(0)).__name__ for target in suite} == {
        "AlgorithmSampler",
        "PlaySampler",
        "ReleaseSampler",
    }
    assert sum(null_suite.counts(suite, 10_000)) >= 10_000
