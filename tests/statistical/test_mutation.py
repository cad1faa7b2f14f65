"""The mutation suite on some algorithms, the exact law of halting times, and a small null suite."""

import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from verifiable_dp.core.algorithm import play
from verifiable_dp.core.environments import Table
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.blackbox.machine import UnsupportedError
from verifiable_dp.evidence.exact import halting
from verifiable_dp.record.sealing import digest
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
    for row in table["mutants"]:
        if row["closed_form"] is not None:
            assert float(row["at_least"]) <= float(row["closed_form"]) * (1 + 1e-9), row["name"]


def test_correct_algorithms_are_no_mutants():
    """The negative control: a fault that changes nothing is not refuted, at any rung."""
    for name in ("tree-sum", "dp-exponential-nas"):
        harmless = mutation.Mutant("nothing", "nothing", lambda algorithm: AlteredNoise(algorithm, 1.0))
        row = mutation.examine(mutation.Case(name, harmless, mutation.OWN))
        assert row["outcome"] == "within_the_claim", row
        assert len(row["checks"]) >= 2


def test_mutants_of_bandits_with_contexts_are_in_the_table_too():
    """Negative control: a fault that changes nothing."""
    cases = mutation.suite(["dp-lin-ucb", "dp-lin-ucb-wishart"])
    assert {case.origin for case in cases} == {mutation.OWN}
    assert len(cases) == 21
    rows = [mutation.examine(case) for case in cases if case.algorithm == "dp-lin-ucb"]
    assert {row["outcome"] for row in rows} == {"killed"}
    harmless = mutation.Mutant("nothing", "nothing", lambda algorithm: AlteredNoise(algorithm, 1.0))
    row = mutation.examine(mutation.Case("dp-lin-ucb", harmless, mutation.OWN))
    assert row["outcome"] == "within_the_claim"
    assert row["checks"][0]["statistics"]["examined"] > 0


def test_a_case_is_the_same_whenever_it_is_run():
    case = next(case for case in mutation.suite(["tree-sum"]) if case.mutant.name == "clipped noise x8")
    assert mutation.examine(case) == mutation.examine(case)


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
    with pytest.raises(InputError, match="its digest holds, but mutants"):
        document.verify_mutants(written)


def test_long_names_stand_apart_from_the_outcome():
    row = {"name": "n" * 70, "outcome": "killed", "killed_by": "exact", "transcripts": 0, "runs": 0}
    assert document.line(row).split() == ["n" * 70, "killed", "exact", "law", "no", "samples"]


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
