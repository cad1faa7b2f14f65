"""How many runs an audit of a user's code makes: those of its budget; fewer only where the cap binds."""

import dataclasses
import json
import math
import time
from pathlib import Path

import numpy as np
import pytest

import verifiable_dp as vdp
from tests.user_code import accusations
from verifiable_dp import InputError, api
from verifiable_dp.auditing import bandits, execution_plan, plans, subject
from verifiable_dp.auditing.algorithms import AlgorithmCase, _mutant_looks
from verifiable_dp.auditing.plans import AUDIT_BUDGETS, LEAST_RUNS, ROWS, Allowance, sizes_of
from verifiable_dp.auditing.regret import claims
from verifiable_dp.auditing.request import AuditRequest, Settings
from verifiable_dp.core import limits
from verifiable_dp.evidence.blackbox import search, sequential
from verifiable_dp.registry import entries as registry


class Counted:
    """A bandit that counts how often it is played, and seems to take some seconds each time."""

    def __init__(self, clock=None, seconds=0.0):
        self.calls, self.clock, self.seconds = 0, clock, seconds

    def __call__(self, rewards, rng):
        self.calls += 1
        if self.clock is not None:
            self.clock.now += self.seconds
        return accusations.given(rewards, rng)


class Clock:
    """Stands still unless it is moved; in place of the module `time`."""

    now = 0.0

    def monotonic(self):
        return self.now

    perf_counter = monotonic


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    for module in (plans, execution_plan):
        monkeypatch.setattr(module, "time", found)
    return found


def audit(function, **options):
    # In this process, where plays are counted.
    options |= {"n_arms": 2, "horizon": accusations.HORIZON, "in_process": True}
    return vdp.audit(function, epsilon=1.0, **options)


def same(left, right):
    """Whether two records hold the same evidence."""
    return all(left.record[key] == right.record[key] for key in ("checks", "power", "plan", "verdict"))


def test_the_speed_of_the_machine_decides_nothing(clock):
    """Control: with so slow a machine that the cap binds, the record says so and sizes differ."""
    reports = [audit(Counted(clock, s), runs=1000) for s in (1e-6, 1e-3)]
    assert same(*reports)
    assert "capped" not in reports[0].record["plan"]
    slow = audit(Counted(clock, 0.5), runs=1000)
    assert slow.record["plan"]["capped"] is True
    assert slow.record["plan"]["sizes"]["runs"] < 1000
    assert "cap of 300 seconds" in slow.record["target"]["note"]
    assert not same(slow, reports[0])


def test_a_re_run_of_a_capped_audit_says_the_same(clock, monkeypatch):
    """A re-run has no cap: it takes the sizes, and that a cap has cut them, from the record."""
    monkeypatch.setattr(Clock, "perf_counter", lambda self: setattr(self, "now", self.now + 0.5) or self.now)
    record = audit(accusations.given, runs=1000).record
    assert "cap of 300 seconds" in record["target"]["note"]
    monkeypatch.undo()
    again = api.rerun(record, in_process=True)
    assert again["target"]["note"] == record["target"]["note"]
    assert (again["plan"], again["checks"]) == (record["plan"], record["checks"])


def test_a_re_run_takes_the_worst_neighbours_from_the_record(monkeypatch):
    """Where floats round differently, a search may end at others. Control: without the record's, it does."""
    target = registry.make("dp-se", **registry.auditor("dp-se").instance)
    asked = AuditRequest(target, "dp-se", settings=Settings("smoke"))
    case = AlgorithmCase.of(asked)
    plan = json.loads(json.dumps({**case.plan.as_dict(), **case.noted()}))
    monkeypatch.setattr(subject, "worst_pairs", lambda *_: [])

    def neighbours(pinned):
        again = AlgorithmCase.of(dataclasses.replace(asked, pinned=pinned))
        return [pair.as_dict() for pair in again.subject.pairs]

    assert neighbours(plan) == [pair.as_dict() for pair in case.subject.pairs]
    found = plan.pop("searched")
    assert neighbours(plan) == [pair.as_dict() for pair in case.subject.pairs][: -len(found)]


@pytest.mark.parametrize("seconds", [0.02, 0.1])
def test_an_audit_takes_at_most_its_seconds_and_a_fifth(clock, seconds):
    """Time passes only in plays, so that it is counted exactly. Control: the budget's runs take longer."""
    budget = 500 * seconds
    target = Counted(clock, seconds)
    report = audit(target, budget=budget)
    assert report.record["plan"]["capped"] is True
    assert target.calls >= 0.7 * 500
    assert clock.now <= 1.2 * budget
    assert target.calls < sizes_of(budget).runs


def test_a_test_may_go_on_for_further_budgets_within_the_cap(clock):
    """Control: without a factor only what is left; where the cap binds it says so."""
    allowed = Allowance(1000, spent=900)
    assert allowed.beyond(2) == 2100
    assert allowed.beyond(0) == allowed.left == 100
    tight = Allowance(1000, each=0.5, seconds=60.0, spent=900, started=clock.now)
    assert (tight.beyond(0), tight.capped) == (100, False)
    assert (tight.beyond(2), tight.capped) == (120, True)


def test_too_small_a_cap_says_what_is_enough(clock):
    target = Counted(clock, 2.0)
    with pytest.raises(InputError, match=r"one play takes 2 s, so 30 seconds are enough for 15; .*--budget"):
        audit(target, budget=30)
    assert target.calls <= 2


def test_a_slow_first_call_is_not_taken_for_slow_code(clock):
    """Loading, compiling, a busy machine. Control: code that is as slow each time is refused."""

    class Loading(Counted):
        def __call__(self, rewards, rng):
            self.seconds = 1e-4 if self.calls else 10.0
            return super().__call__(rewards, rng)

    assert "capped" not in audit(Loading(clock, 10.0), runs=LEAST_RUNS).record["plan"]
    with pytest.raises(InputError, match="one play takes 10 s"):
        audit(Counted(clock, 10.0), runs=LEAST_RUNS)


def test_slow_code_is_told_of_before_it_runs(clock):
    said = []
    target = Counted(clock, 0.5)

    def progress(text):
        said.append((text, target.calls))

    audit(target, budget=300, progress=progress)
    line, calls = next(row for row in said if row[0].startswith("one play takes 0.5 s"))
    assert "makes up to 600 of them, about 5 min" in line
    assert calls <= 3


@pytest.mark.parametrize("runs", [400, 1000, pytest.param(4000, marks=pytest.mark.slow)])
def test_no_more_runs_are_made_than_allowed(runs):
    target = Counted()
    report = audit(target, runs=runs)
    assert report.record["plan"]["sizes"]["runs"] == runs
    assert target.calls <= 1.2 * runs


def test_the_search_ends_with_its_allowance():
    """Control: without one it plays on."""

    def play(table, runs):
        rng = np.random.default_rng(len(table) + runs)
        return np.array([accusations.given(table, rng) for _ in range(runs)])

    found = {}
    for most in (300, math.inf):
        finder = search.PairSearch(play, 2, accusations.HORIZON, (0.0, 1.0), 60, most=most)
        finder.tuned()
        found[most] = finder.played
    assert found[300] < 300 + 10 * 60 < found[math.inf]


def test_what_budgets_stand_for():
    runs = [sizes_of(name).runs for name in AUDIT_BUDGETS]
    assert runs == [4000, 80_000, 720_000, 4_800_000]
    assert sizes_of(10).runs == 40_000
    assert sizes_of("quick", 5000).runs == 5000
    allowed = Allowance.of(sizes_of("quick"), "play_many", 1e-9, 0.0)
    assert (allowed.runs, allowed.capped) == (80_000 * ROWS["play_many"], False)
    for runs in (0, LEAST_RUNS - 1, 2.5, True):
        with pytest.raises(InputError, match="runs must be"):
            sizes_of("quick", runs)
    with pytest.raises(InputError, match="smoke, quick, standard, thorough or a positive number of seconds"):
        sizes_of("huge")
    with pytest.raises(InputError, match="runs works only with your own code"):
        vdp.audit("dp-se", runs=1000)


def test_a_re_run_takes_its_sizes_from_the_record_and_needs_no_clock(clock):
    report = vdp.audit(
        "tests/user_code/accusations.py:given",
        epsilon=1.0,
        n_arms=2,
        horizon=accusations.HORIZON,
        runs=LEAST_RUNS,
    )
    record = json.loads(report.to_json())
    again = vdp.api.rerun(record)
    assert again["checks"] == record["checks"]
    assert again["plan"] == record["plan"]


def test_where_exact_losses_and_a_certificate_decide_the_black_box_makes_a_quarter(monkeypatch):
    """Control: without the certificate it makes all of its runs. Mutants get all of them in both."""
    record, given = vdp.audit("tree-sum", budget=0.02, mutants=False).record, list[int]()
    again = api.rerun(record, in_process=True)
    assert (again["checks"], again["plan"]) == (record["checks"], record["plan"])
    of_mutants = sequential.conduct

    def conduct(sampler, select, plan, terms, **others):
        given.append(plan.test)
        return of_mutants(sampler, select, plan, terms, **others)

    monkeypatch.setattr(sequential, "conduct", conduct)
    case = AlgorithmCase.of(AuditRequest(registry.make("tree-sum", epsilon=1.0, horizon=8), "tree-sum"))
    case.plan, case.part = case.plan.__class__(probe=24, select=100, test=100), 4
    assert _mutant_looks(case, case.subject)[-1].verdict == "not_refuted"
    assert given == [100 * 4 // 8, 100 * 4]
    monkeypatch.setattr(AlgorithmCase, "certificate", lambda _: None)
    whole = vdp.audit("tree-sum", budget=0.02, mutants=False).record
    assert record["plan"]["part"] == 4
    assert "part" not in whole["plan"]
    assert whole["plan"]["test"] == 4 * record["plan"]["test"]


def test_a_table_that_memory_cannot_hold_is_refused():
    def play(rewards, rng):
        raise AssertionError("it was played")

    with pytest.raises(InputError, match="horizon: a table of rewards has 2 x 1000000000 entries"):
        vdp.audit(play, epsilon=1.0, n_arms=2, horizon=1_000_000_000)
    assert bandits.LARGEST < 1 << 23


# ---------------------------------------------------------------- a play that hangs


def test_a_play_that_hangs_is_ended_and_named():
    def hangs(rewards, rng):
        while True:
            try:
                time.sleep(0.01)
            except Exception:
                continue

    with pytest.raises(InputError, match=r"play did not return within 0\.2 seconds; .*--timeout SECONDS"):
        audit(hangs, runs=400, timeout=0.2)
    with pytest.raises(InputError, match="timeout must be"):
        audit(hangs, runs=400, timeout=0)


def test_a_limit_leaves_the_timer_of_others_as_it_was():
    import signal

    rang = []
    before = signal.signal(signal.SIGALRM, lambda *_: rang.append(True))
    try:
        signal.setitimer(signal.ITIMER_REAL, 3600)
        with limits.limited(1800), limits.limited(0.001):  # the inner one has no effect
            assert signal.getitimer(signal.ITIMER_REAL)[0] <= 1800
        assert 1800 < signal.getitimer(signal.ITIMER_REAL)[0] <= 3600
        signal.raise_signal(signal.SIGALRM)
        assert rang == [True]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_the_runs_of_a_check_of_regret_are_those_of_its_page():
    page = (Path(__file__).parents[3] / "docs" / "check-regret.md").read_text("utf-8")
    words = (
        "`--dp-budget standard` makes {standard} runs at every point instead of {quick}, and `thorough` makes"
    )
    assert f"{words} {{thorough}}.".format(**claims.RUNS) in page
