"""The audit of a bandit of the catalogue that is told contexts: model, rungs, refusals, a re-run."""

import json
from pathlib import Path

import numpy as np
import pytest

import verifiable_dp as vdp
from verifiable_dp import api
from verifiable_dp.auditing import rungs
from verifiable_dp.auditing.plans import silent
from verifiable_dp.auditing.request import AuditRequest, Inputs, Promise, Settings
from verifiable_dp.auditing.subject import subject_of
from verifiable_dp.auditors.contextual import _shared as family
from verifiable_dp.core.claims import PROTECTED
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.validate import InputError
from verifiable_dp.record.sealing import plain
from verifiable_dp.record.verify import examine
from verifiable_dp.registry import entries as registry
from verifiable_dp.report import finish

REPORTS = Path(__file__).parents[3] / "reports"
SMALL = {"n_arms": 2, "dimension": 2, "epsilon": 1.0, "horizon": 8, "delta": 1e-3}
COMPUTED = [rung for rung in rungs.RUNGS if rung.stage in ("alignment", "certificate")]


def computed(promise=None, name="dp-lin-ucb", parameters=SMALL, **inputs):
    """The report of what needs no sampling."""
    algorithm = vdp.make(name, **parameters)
    settings = Settings(budget="smoke", mutants=False)
    request = AuditRequest(algorithm, name, promise or Promise(), Inputs(**inputs), settings)
    return finish(draft=rungs.audit(request, COMPUTED), started=0.0, cpu_seconds=0.0)


def test_the_interval_is_closed_and_the_record_says_what_is_protected_from_whom():
    report = computed()
    assert report.verdict == "not_refuted"
    assert report.epsilon_lower == pytest.approx(1.0)
    assert report.epsilon_upper == pytest.approx(1.0)
    assert report.record["claim"]["protects"] == PROTECTED["context", "joint"]
    assert report.record["claim"]["observe"] == "releases"
    assert report.record["target"]["model"] == "joint"
    assert report.record["epsilon_upper"]["delta"] == 1e-3
    examine(report.record)


def test_wishart_noise_has_an_interval_by_its_own_law():
    report = computed(name="dp-lin-ucb-wishart")
    assert report.verdict == "not_refuted"
    assert 0.98 < report.epsilon_lower < report.epsilon_upper <= 1
    assert report.epsilon_lower > 0.99 * report.epsilon_upper
    examine(report.record)
    assert computed(Promise(epsilon=0.97), name="dp-lin-ucb-wishart").verdict == "refuted"


def test_in_the_central_model_the_own_action_tells_the_own_context():
    report = computed(Promise(model="central"))
    assert report.verdict == "refuted"
    assert report.record["claim"]["protects"] == PROTECTED["context", "central"]
    (found,) = report.record["counterexamples"]
    assert found["pair"]["round"] == 7
    assert "the actions differ" in found["divergence"]
    assert report.record["epsilon_upper"] is None
    examine(report.record)


def test_a_smaller_claim_is_refuted_by_the_exact_loss():
    report = computed(Promise(epsilon=0.9))
    assert report.verdict == "refuted"
    assert report.epsilon_lower == pytest.approx(1.0)
    assert computed(Promise(epsilon=1.0, delta=1e-4)).verdict == "refuted"
    assert computed(Promise(epsilon=1.1, model="joint")).verdict == "not_refuted"


def test_the_baseline_is_held_against_its_reference_by_what_others_see():
    given = {"n_arms": 2, "dimension": 2, "horizon": 8}
    report = computed(name="lin-ucb-contextual", parameters=given)
    assert report.record["claim"]["observe"] == "actions"
    assert report.record["checks"][0]["statistics"]["visible"] is False
    assert report.verdict == "inconclusive"  # raw releases, which nobody sees: the black box has to speak


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"group": 2}, "group works only without contexts"),
        ({"protects": "reward"}, "protects works only with your own code"),
        ({"contexts": 3}, "contexts work only with your own code"),
        ({"pairs": [TablePair(np.zeros((8, 2)), 0, 0, 1.0)]}, "pairs must be ContextPairs"),
    ],
)
def test_what_means_nothing_here_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        vdp.audit(vdp.make("dp-lin-ucb", **SMALL), budget="smoke", **given)


def test_model_needs_contexts():
    with pytest.raises(InputError, match="model joint and protects need contexts"):
        vdp.audit("dp-se", model="joint")


def test_simulate_plays_them_on_populations():
    given = {"n_arms": 3, "dimension": 2, "epsilon": 20.0, "horizon": 60, "delta": 0.05, "alpha": 0.1}
    played = vdp.simulate(vdp.make("dp-lin-ucb", **given), family.linear_users(3, 2), runs=4)
    assert played.pulls.sum(axis=1).tolist() == [60] * 4
    assert (played.regret > 0).all()


@pytest.mark.parametrize("name", registry.contextual())
def test_a_re_run_holds_the_claim_of_the_record(name):
    record = json.loads((REPORTS / name / "record.json").read_text("utf-8"))
    algorithm = vdp.make(name, **record["target"]["parameters"])
    request = api._request_of(record, algorithm, Inputs(), 1, silent)
    claim = subject_of(algorithm, registry.auditor(name), request.promise).claim
    assert plain(claim.as_dict()) == record["claim"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "mutants"), [("dp-lin-ucb", 11), ("dp-lin-ucb-wishart", 10), ("lin-ucb-contextual", 0)]
)
def test_a_whole_audit_finds_all_mutants_and_a_re_run_gives_the_same_counts(name, mutants):
    report = vdp.audit(name, horizon=8, budget="smoke")
    assert report.verdict == ("not_refuted" if mutants else "refuted")
    assert all(entry["verdict"] == "refuted" for entry in report.record["mutants"])
    assert len(report.record["mutants"]) == mutants
    again = api.rerun(report.record)
    assert [check["statistics"] for check in again["checks"]] == [
        check["statistics"] for check in report.record["checks"]
    ]
