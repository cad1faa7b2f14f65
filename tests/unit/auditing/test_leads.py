"""A lower bound above the claim that does not refute it: the rest of the budget goes on with that test."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tests.asking import audited
from verifiable_dp import api
from verifiable_dp.auditing import rounds_of_testing
from verifiable_dp.auditing.bandits import PlayCase
from verifiable_dp.auditing.rounds_of_testing import Look, UserCase
from verifiable_dp.evidence.blackbox import search
from verifiable_dp.evidence.check import Check
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
        "black box, look 2 goes on, one run per call",
    ]
    assert found["black box, look 1"][1] == "not_refuted"
    assert found["black box, look 2 goes on"][1] == "refuted"
    assert found["black box, look 2 goes on"][0] > 8 * found["black box, look 1"][0]
    assert record["verdict"] == "refuted"
    # The level is shared by three tests; the third part by the two looks that it could have gone on with,
    # in two steps each.
    shares = [check["statistics"]["tests"] for check in record["checks"] if check["kind"] == "black_box"]
    assert shares == [3, 12, 12]


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
@pytest.mark.parametrize("seed", [1, 5])
def test_a_fluke_is_not_taken_for_a_leak(seed):
    found = sizes(draft(telling(1.0), seed, confidence=0.5))
    assert any("goes on" in name for name in found)
    assert {verdict for _, verdict in found.values()} == {"not_refuted"}


def with_scale(scale):
    """A mechanism that adds Laplace noise of this scale to a number."""

    def release(data, rng):
        return data + rng.laplace(0, scale)

    return release


def of_mechanism(scale, seed):
    name = "tests.unit.auditing.test_leads:release"
    found = audited(with_scale(scale), name=name, epsilon=0.5, budget="smoke", seed=seed)
    return finish(found, started=0.0, cpu_seconds=0.0).record


@pytest.mark.parametrize(
    ("scale", "seed", "verdict"), [(2.0, 30, "not_refuted"), (2.0, 37, "not_refuted"), (1.7, 0, "refuted")]
)
def test_the_test_of_a_mechanism_goes_on_too(scale, seed, verdict, monkeypatch):
    """A fluke is settled, a small leak refuted. Control: without it both are undecided."""
    record = of_mechanism(scale, seed)
    assert next(iter(sizes(record))) == "black box goes on"
    assert record["verdict"] == verdict
    monkeypatch.setattr(Look, "excess", 0.0)
    record = of_mechanism(scale, seed)
    assert (record["verdict"], record["reason"]) == ("inconclusive", "lead")


# ---------------------------------------------------------------- which test goes on


def a_look(k1, k0, number, runs=2000):
    numbers = {"k1": k1, "n1": runs, "k0": k0, "n0": runs, "epsilon": 1.0, "delta": 0.0}
    levels = {"alpha": 1e-6, "confidence": 0.95, "tests": 3}
    check = Check.of(f"look {number}", "black_box", {**numbers, **levels})
    return Look([check], None, [], number=number)


def gone_on(suspected, *counts):
    case = SimpleNamespace(
        last=None,
        lead=None,
        near=None,
        black_boxes=0,
        found=lambda *_: None,
        suspected=suspected,
        hoped=80_000,
    )
    case.hope = lambda look: UserCase.hope(case, look)
    for number, (k1, k0, *runs) in enumerate(counts):
        UserCase.take(case, a_look(k1, k0, number, *runs))
    chosen = PlayCase.promising.fget(case)
    return None if chosen is None else chosen.number


@pytest.mark.parametrize(
    ("counts", "suspected", "plain"),
    [
        ([(90, 30), (60, 30)], 0, None),  # the first one's estimate lies above 1, neither bound does
        ([(60, 12), (90, 30), (40, 30)], 0, None),  # of two the one whose bound is nearest
        ([(300, 30), (90, 30)], 0, 0),  # a bound above the claim goes on anyway
        ([(60, 30), (30, 30)], None, None),
        # Few counts that speak of 1.8 are worth more runs than many that speak of 1.06 and lie nearer to 1.
        ([(30, 5), (650, 225, 5500)], 0, None),
        ([(5500, 2019, 80_000)], None, None),  # an estimate of 1.002 from so many runs is hopeless
    ],
)
def test_the_test_that_goes_on_is_the_likeliest_to_refute(counts, suspected, plain):
    """An estimate above the claim is enough where tracing leads. Control: without, only a bound is."""
    assert gone_on(True, *counts) == suspected
    assert gone_on(False, *counts) == plain


@pytest.mark.parametrize(
    ("counts", "enough"),
    [((300, 30), 20_000), ((90, 30), 160_000)],
    ids=["a clear refutation needs few runs more", "a doubtful one takes all"],
)
def test_a_test_goes_on_by_no_more_runs_than_help(counts, enough):
    """A chance that hardly grows is not worth more runs; a sequential test has no counts that tell."""
    assert rounds_of_testing.enough(a_look(*counts, 0), 160_000) == enough
    unknown = SimpleNamespace(counted=False, chance=lambda runs: 1.0)
    assert rounds_of_testing.enough(unknown, 160_000) == 160_000


def frozen(rewards, rng):
    """Gumbel keys made once for totals that grow: a leader that changes tells of the reward in between."""
    keys, totals, actions = rng.gumbel(0, 2, 3), np.zeros(3), []
    while len(actions) < 36:
        for arm in range(3):
            totals[arm] += rewards[len(actions), arm]
            actions.append(arm)
        actions += [int(np.argmax(totals + keys))] * 3
    return actions


@pytest.mark.slow
@pytest.mark.parametrize(("places", "verdict"), [(48, "refuted"), (1, "inconclusive")])
def test_noise_that_is_drawn_once_is_refuted_by_a_late_reward(places, verdict, monkeypatch):
    """Control: a search that changes first rewards of constant tables only does not find it."""
    monkeypatch.setattr(search, "_MOST_ROUNDS", places)
    report = api.audit(frozen, epsilon=1.0, n_arms=3, horizon=36, budget="quick", seed=0)
    assert report.verdict == verdict
