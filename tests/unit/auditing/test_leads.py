"""A lower bound above the claim that does not refute it: the rest of the budget goes on with that test."""

import math

import numpy as np
import pytest

from tests.asking import audited
from verifiable_dp import api
from verifiable_dp.auditing.looks import Look
from verifiable_dp.report import finish

RUNS = 500  # calls; a call that plays many runs stands for 40


def telling(odds):
    """Whether the first reward is high, told by randomised response that costs `odds`."""

    def play_many(rewards, n_runs, rng):
        arms = np.zeros((n_runs, len(rewards)), np.int64)
        truth = rng.random(n_runs) < math.exp(odds) / (1 + math.exp(odds))
        arms[:, 1:] = (truth == (rewards[0, 0] > 0.5))[:, None]
        return arms

    return play_many


leak = telling(1.22)


def draft(play_many, seed, **options):
    name = "tests.unit.auditing.test_leads:leak"
    shape = {"n_arms": 2, "horizon": 6, "runs": RUNS, "seed": seed}
    return audited(play_many, name=name, epsilon=1.0, **shape, **options)


def sizes(record):
    return {
        check["name"]: (check["statistics"]["n1"] + check["statistics"]["n0"], check["result"]["verdict"])
        for check in record["checks"]
        if check["kind"] == "black_box"
    }


def test_what_is_left_goes_on_with_a_test_whose_bound_lies_above_the_claim():
    record = finish(draft(leak, 4), started=0.0, cpu_seconds=0.0).record
    found = sizes(record)
    assert list(found) == [
        "black box, look 1",
        "black box, look 2 goes on",
        "black box, look 2 goes on, one run a call",
    ]
    assert found["black box, look 1"][1] == "not_refuted"
    assert found["black box, look 2 goes on"][1] == "refuted"
    assert found["black box, look 2 goes on"][0] > 8 * found["black box, look 1"][0]
    assert record["verdict"] == "refuted"
    # The level is shared by three tests; the third part by the two looks that it could have gone on with.
    shares = [check["statistics"]["tests"] for check in record["checks"] if check["kind"] == "black_box"]
    assert shares == [3, 6, 6]


@pytest.mark.slow
def test_without_it_the_same_audit_is_undecided(monkeypatch):
    monkeypatch.setattr(Look, "excess", 0.0)
    record = finish(draft(leak, 4), started=0.0, cpu_seconds=0.0).record
    assert (record["verdict"], record["reason"]) == ("inconclusive", "lead")


@pytest.mark.slow
def test_a_re_run_goes_on_in_the_same_way():
    record = finish(draft(leak, 4), started=0.0, cpu_seconds=0.0).record
    assert api.rerun(record)["checks"] == record["checks"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [4, 5])
def test_a_fluke_is_not_taken_for_a_leak(seed):
    found = sizes(draft(telling(1.0), seed, confidence=0.5))
    assert any("goes on" in name for name in found)
    assert {verdict for _, verdict in found.values()} == {"not_refuted"}
