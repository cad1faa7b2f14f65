"""How many runs an audit of a user's code makes: those of its budget; fewer only where the cap binds."""

import copy
import dataclasses
import errno
import functools
import hashlib
import json
import math
import re
import stat
import time
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import verifiable_dp as vdp
from tests.user_code import accusations
from verifiable_dp import InputError, api
from verifiable_dp.auditing import (
    algorithms,
    bandits,
    execution_plan,
    identity,
    pipeline,
    plans,
    resume,
    subject,
)
from verifiable_dp.auditing.algorithms import AlgorithmCase, AlgorithmCaseState, _mutant_looks
from verifiable_dp.auditing.bandits import PlayCase, PlayCaseState
from verifiable_dp.auditing.contextual import ContextualCase
from verifiable_dp.auditing.mechanisms import ReleaseCase
from verifiable_dp.auditing.plans import AUDIT_BUDGETS, LEAST_RUNS, ROWS, Allowance, sizes_of
from verifiable_dp.auditing.regret import claims
from verifiable_dp.auditing.request import AuditRequest, Promise, Settings
from verifiable_dp.auditing.rounds_of_testing import Look, UserCaseState
from verifiable_dp.auditing.subject import subject_of
from verifiable_dp.core import engine, limits, remembered
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.neighbours import (
    ContextGame,
    ContextPair,
    GroupPair,
    StreamPair,
    TablePair,
    UserPair,
    pair_of,
)
from verifiable_dp.core.reactions import Reaction
from verifiable_dp.evidence.alignment.replay import replay
from verifiable_dp.evidence.blackbox import adversary, events, learning, scores, search, sequential
from verifiable_dp.evidence.blackbox.observations import Observation
from verifiable_dp.evidence.blackbox.test import Plan, Selected
from verifiable_dp.evidence.check import Check
from verifiable_dp.record.model import Counterexample, Record
from verifiable_dp.record.sealing import sealed, without_run
from verifiable_dp.record.verify import validate, verify
from verifiable_dp.record.words import found_on
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.errata import chosen, examine
from verifiable_dp.registry.wrapped import Prefix, original, with_parameters
from verifiable_dp.render import markdown, outcomes
from verifiable_dp.render.page import render, render_errata, render_index
from verifiable_dp.render.sarif import to_sarif
from verifiable_dp.report import Report
from verifiable_dp.targets import opened
from verifiable_dp.targets.opened import ABSENT
from verifiable_dp.targets.source import file_digest


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
    assert "time limit of 300 seconds" in slow.record["target"]["note"]
    assert not same(slow, reports[0])


def test_a_re_run_of_a_capped_audit_says_the_same(clock, monkeypatch):
    """A rerun has no cap: it takes the sizes, and that a cap has cut them, from the record."""
    monkeypatch.setattr(Clock, "perf_counter", lambda self: setattr(self, "now", self.now + 0.5) or self.now)
    record = audit(accusations.given, runs=1000).record
    assert "time limit of 300 seconds" in record["target"]["note"]
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
    with pytest.raises(InputError, match=r"one play takes 2 s, so 30 seconds allow only 15; .*--budget"):
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
    assert "makes up to 600, about 5 min in total" in line
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
    with pytest.raises(InputError, match="`runs` works only with your own code"):
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

    with pytest.raises(
        InputError, match=r"horizon: a table of rewards must have .* entries .*, got 2 x 1000000000"
    ):
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
        "`--dp-budget standard` makes {standard} runs at each point instead of {quick}, and `thorough` makes"
    )
    assert f"{words} {{thorough}}.".format(**claims.RUNS) in " ".join(page.split())


# Counterexamples found on another instance than the audited one say so, and run again from that.


NAME = "dp-linear"
AUDITOR = registry.auditor(NAME)
ELSEWHERE = ("instance", "epsilon", "rounds")
SAID = "which claims epsilon 20; the loss is 2 times that, so epsilon is at least 2 where 1 is claimed"


@pytest.fixture(scope="module")
def record():
    """As read from its file: a listing as printed, which the search refutes on a small instance."""
    algorithm = registry.make(NAME, **AUDITOR.printed_instance)
    return json.loads(vdp.audit(algorithm, budget=0.05).to_json())


def run_again(algorithm, found):
    """Cost and loss of the transcript of a counterexample on that algorithm."""
    done = replay(
        algorithm,
        pair_of(found["pair"]),
        seed=found["seed"],
        sign=found["sign"],
        turned=found["turned"],
        runs=found["run"] + 1,
    )
    return float(done.cost[found["run"]]), float(done.loss[found["run"]])


def named(record, check):
    (found,) = [found for found in record["counterexamples"] if found["check"] == check]
    return found


def without_places(record):
    """As written before counterexamples said where they were found."""
    older = copy.deepcopy(record)
    for found in [*older["counterexamples"], *(m["counterexample"] for m in older["mutants"])]:
        for key in ELSEWHERE:
            found.pop(key, None)
    return older


def resealed(record):
    return sealed({key: value for key, value in record.items() if key != "digest"})


def written(record, path):
    path.write_text(json.dumps(record), "utf-8")
    return path


# ---------------------------------------------------------------- from the record alone


def test_a_counterexample_of_the_search_runs_again_from_its_record(record):
    found = named(record, "alignment")
    assert found["instance"] != record["target"]["parameters"]
    assert found["epsilon"] == registry.make(NAME, **found["instance"]).claim.epsilon == 20
    assert run_again(registry.make(NAME, **found["instance"]), found) == pytest.approx(
        (found["cost"], found["loss"]), abs=1e-9
    )
    assert abs(found["loss"]) / found["epsilon"] == pytest.approx(2.0)
    # Another instance pays otherwise: the parameters are what determines the numbers.
    other = run_again(registry.make(NAME, **{**found["instance"], "epsilon": 10.0}), found)
    assert other == pytest.approx((found["cost"] / 2, found["loss"] / 2))


def test_those_of_mutants_run_again_from_the_record(record):
    makers = {mutant.name: mutant.make for mutant in AUDITOR.mutants}
    seen = 0
    for mutant in record["mutants"]:
        found = mutant["counterexample"]
        if not found or found["divergence"]:
            continue
        algorithm = registry.make(NAME, **found["instance"])
        again = run_again(makers[mutant["name"]](algorithm), found)
        assert again == pytest.approx((found["cost"], found["loss"]), abs=1e-9)
        if found["cost"] > 40:  # the unbroken one, as printed, costs twice its claim at most
            assert run_again(algorithm, found)[0] < found["cost"] * 0.9
            seen += 1
    assert seen >= 2


def test_what_was_found_on_the_audited_instance_names_no_other(record):
    box = named(record, "black box")
    assert not set(box) & set(ELSEWHERE)
    assert found_on(Counterexample.of(box), Record.of(record)) == ""
    found = named(record, "alignment")
    assert (
        found_on(
            Counterexample.of({**found, "instance": record["target"]["parameters"], "epsilon": 1.0}),
            Record.of(record),
        )
        == ""
    )


# ---------------------------------------------------------------- said everywhere


def test_every_rendering_says_where_it_was_found(record):
    shown = {
        "page": render(Record.of(record), drawn=False),
        "Markdown": markdown.to_markdown(Record.of(record)),
        "SARIF": to_sarif(Record.of(record)),
        "summary": Report(record).summary(),
        "tests": "\n".join(line for one in outcomes.outcomes(Record.of(record)) for line in one.details),
    }
    for face, words in shown.items():
        assert SAID in words, face
        assert "found on a small instance" in words, face
        assert "horizon = 400" in words, face
        assert "cost 40, loss -40" in words, face
    page = shown["page"]
    of_mutants = sum(bool(mutant["counterexample"]) for mutant in record["mutants"])
    assert page.count("found on a small instance") == 1 + of_mutants > 5
    # A loss without bound is not a multiple of the claim.
    assert "which claims epsilon 20</p>" in page


def test_older_records_are_read_and_shown_as_they_were(record, tmp_path):
    older = resealed(without_places(record))
    assert verify(written(older, tmp_path / "r.json")).checks > 2
    for shown in (
        render(Record.of(older), drawn=False),
        markdown.to_markdown(Record.of(older)),
        to_sarif(Record.of(older)),
    ):
        assert "small instance" not in shown
        assert "cost 40, loss -40" in shown


def test_the_schema_knows_the_instance_and_nothing_else(record):
    validate(record)
    found = named(record, "alignment")
    for key, value in {"epsilon": -1.0, "rounds": 0, "instanze": {}}.items():
        edited = copy.deepcopy(record)
        edited["counterexamples"][record["counterexamples"].index(found)][key] = value
        with pytest.raises(InputError, match="counterexamples"):
            validate(edited)
    both = {**named(record, "black box"), "delta_lower": 0.5}
    with pytest.raises(InputError, match="counterexamples"):
        validate({**record, "counterexamples": [both]})


# ---------------------------------------------------------------- the first rounds only


@pytest.fixture(scope="module")
def long():
    """A subject of which an audit plays the first 500 rounds."""
    algorithm = registry.make(NAME, **AUDITOR.printed_instance)
    return subject_of(algorithm, dataclasses.replace(AUDITOR, longest=500), Promise())


def test_a_transcript_of_the_first_rounds_says_how_many(long, record):
    assert isinstance(long.algorithm, Prefix)
    _, found = algorithms._align(long, 0, 0, long.instances)
    worst = json.loads(json.dumps(found.worst))
    assert worst["rounds"] == 500
    assert worst["instance"] == record["target"]["parameters"]
    again = Prefix(registry.make(NAME, **worst["instance"]), worst["rounds"])
    assert run_again(again, worst) == pytest.approx((worst["cost"], worst["loss"]), abs=1e-9)
    # As many rounds as decide nothing cost nothing.
    assert run_again(Prefix(again.inner, 1), worst)[0] < worst["cost"]
    assert (
        found_on(Counterexample.of(worst), Record.of(record))
        == "found on the first 500 rounds of the audited instance"
    )
    validate({**record, "counterexamples": [{"check": "alignment", **worst}]})


def test_so_does_what_the_other_checks_find(monkeypatch, record):
    auditor = dataclasses.replace(AUDITOR, longest=500)
    monkeypatch.setattr(registry, "find", lambda algorithm: auditor)
    algorithm = registry.make(NAME, **AUDITOR.printed_instance)
    cut = vdp.audit(algorithm, budget=0.05, mutants=False).record
    box = named(cut, "black box")
    horizon = algorithm.horizon
    left = {"id": "later-rounds", "values": {"played": 500, "horizon": horizon}, "settled_by": None}
    assert left in cut["not_covered"]
    assert box["rounds"] == 500 == sum(repeats for repeats, _ in box["pair"]["rows"])
    assert box["instance"] == cut["target"]["parameters"]
    assert named(cut, "alignment")["instance"]["horizon"] == 400
    assert "rounds" not in named(cut, "alignment")
    validate(cut)


# ---------------------------------------------------------------- reruns of older records


def test_a_rerun_by_a_later_version_compares_numbers_not_words(record, tmp_path):
    older = without_places(record)
    older["provenance"]["code"] = "0" * 64
    for found in older["counterexamples"]:
        found["pair"]["words"] = "round 1, arm 0: reward -1 against 1"
    path = written(resealed(older), tmp_path / "r.json")
    assert verify(path, rerun=lambda _: record).rerun
    (box,) = [check for check in older["checks"] if check["kind"] == "black_box"]
    changed = copy.deepcopy(record)
    for check in changed["checks"]:
        if check["kind"] == box["kind"]:
            check["statistics"]["k0"] += 1
    with pytest.raises(InputError, match="k0"):
        verify(path, rerun=lambda _: changed)


def test_one_by_the_same_version_compares_all(record, tmp_path):
    edited = copy.deepcopy(record)
    named(edited, "alignment")["pair"]["words"] = "round 1, arm 0: reward -1 against 1"
    path = written(resealed(edited), tmp_path / "r.json")
    with pytest.raises(InputError, match=r"counterexamples.*words"):
        verify(path, rerun=lambda _: record)
    for key in ("instance", "epsilon"):
        edited = copy.deepcopy(record)
        del named(edited, "alignment")[key]
        path = written(resealed(edited), tmp_path / "r.json")
        with pytest.raises(InputError, match=rf"counterexamples.*{key} is missing"):
            verify(path, rerun=lambda _: record)


# ---------------------------------------------------------------- names


def test_a_listing_as_printed_is_named_apart(record):
    right = json.loads(json.dumps(record))
    right["target"]["role"] = "promise"
    assert "<h1><bdi>dp-linear as printed</bdi></h1>" in render(Record.of(record), drawn=False)
    assert "<title>dp-linear as printed: audit record</title>" in render(Record.of(record), drawn=False)
    assert markdown.to_markdown(Record.of(record)).startswith("# dp-linear as printed: audit record\n")
    assert "dp-linear as printed: The claim of epsilon 1 is refuted: epsilon is at least 2. " in to_sarif(
        Record.of(record)
    )
    assert "<h1><bdi>dp-linear</bdi></h1>" in render(Record.of(right), drawn=False)
    assert markdown.to_markdown(Record.of(right)).startswith("# dp-linear: audit record\n")


def test_so_is_its_row_on_the_page_over_many(record):
    right = json.loads(json.dumps(record))
    right["target"]["role"] = "promise"
    page = render_index([Record.of(record), Record.of(right)], ["printed.html", "right.html"])
    assert '<a href="printed.html"><bdi>dp-linear as printed</bdi></a>' in page
    assert '<a href="right.html"><bdi>dp-linear</bdi></a>' in page


@pytest.mark.slow
def test_that_of_an_erratum_runs_again_from_its_row():
    [erratum] = chosen(["tree-mechanism"])
    row = json.loads(json.dumps(examine(erratum)))
    found = row["counterexample"]
    runs_again(erratum, found)
    assert found_on(Counterexample.of(found), None).startswith(
        "found on a small instance with this fault alone (epsilon = 1.0, horizon = 16, "
    )
    page = re.sub("<[^>]*>", "", render_errata({"errata": [row]}))
    assert "variant = corrected, log = natural), which claims epsilon 1\n" in page


def runs_again(erratum, found):
    """The numbers of a counterexample are those of its pair with the fault, and only with it."""
    cost, loss = run_again(erratum.find.on(found["instance"]), found)
    assert (cost, loss) == pytest.approx((found["cost"], found["loss"]), abs=1e-9)
    right = with_parameters(original(erratum.find.right), **found["instance"])
    assert run_again(right, found)[0] <= found["epsilon"] * (1 + 1e-9) < found["cost"]
    rounds = sum(times for times, _ in found["pair"]["rows"])
    assert rounds == right.horizon


SAVED = json.loads((Path(__file__).parents[3] / "reports" / "errata.json").read_text("utf-8"))["errata"]
RERUN = [row for row in SAVED if "pair" in row["counterexample"]]


@pytest.mark.parametrize("row", RERUN, ids=[row["name"] for row in RERUN])
def test_those_of_saved_errata_run_again_from_their_rows(row):
    runs_again(*chosen([row["name"]]), row["counterexample"])


def test_some_of_them_do():
    assert {row["name"] for row in RERUN} >= {"tree-mechanism", "local-noise", "central-sensitivity"}


# Checkpoints: results as data, files that are torn or foreign, and audits that are broken off anywhere.


# ---------------------------------------------------------------- results as data

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
NESTED = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text().filter(lambda key: not key.startswith("!")), inner, max_size=3)
    ),
    max_leaves=12,
)


def through(value):
    """As a file gives it back."""
    return resume.unpacked(resume.packed(value))


@given(NESTED)
def test_plain_values_come_back_with_their_types(value):
    back = through(value)
    assert back == value
    assert repr(back) == repr(value)


@pytest.mark.parametrize(
    "array",
    [
        np.array([0.1, -0.0, np.nan, np.inf, 5e-324]),
        np.arange(6, dtype=np.int32).reshape(2, 3),
        np.zeros((0, 2)),
        np.array([True, False]),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    ],
)
def test_arrays_come_back_to_the_last_bit(array):
    back = through({"x": array})["x"]
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == np.ascontiguousarray(array).tobytes()
    back[...] = 0  # may be written to, as the original


def test_numbers_of_numpy_become_plain_ones():
    assert type(through(np.int64(3))) is int
    assert type(through(np.float64(0.5))) is float


@pytest.mark.parametrize(
    "pair",
    [
        TablePair(np.zeros((3, 2)), 1, 0, 1.0),
        StreamPair(np.zeros(3), 1, 1.0, 2, (0.0, 1.0)),
        GroupPair(np.zeros((3, 2)), [(0, 0, 1.0), (1, 1, 1.0)]),
        UserPair(np.zeros((3, 2)), np.array([0, 1, 0]), 0, np.ones((2, 2))),
    ],
)
def test_pairs(pair):
    back = through([pair])[0]
    assert type(back) is type(pair)
    assert back.as_dict() == pair.as_dict()


USERS = ContextPair(Contexts(2, (1,)), np.ones((3, 1)), np.zeros((3, 2)), 1, reward=[1.0, 0.0])


@pytest.mark.parametrize("pair", [USERS, ContextGame(USERS, Reaction("aim", True))])
@pytest.mark.parametrize("model", ["joint", "central"])
def test_pairs_of_users_keep_who_sees_the_own_action(pair, model):
    """It is not in their record: without it, what follows after a pause would be of another model."""
    pair = pair.under(model)
    back = through([pair])[0]
    assert type(back) is type(pair)
    assert back.as_dict() == pair.as_dict()
    assert back.joint == (model == "joint")


def _observed(shift: float) -> Observation:
    rng = np.random.default_rng(int(10 * shift))
    first, second = rng.laplace(shift, 1, 4000), rng.laplace(0, 1, 4000)
    first[:100] = np.nan
    return Observation(
        4000,
        {"prefix of 1": rng.integers(0, 3, 4000), "prefix of 2": rng.integers(0, 9, 4000)},
        {"output 1": first, "output 2": second},
        actions=rng.integers(0, 2 + int(shift), (4000, 5)),
        change=(1, 0, 3),
    )


def test_every_kind_of_score_scores_the_same():
    """All score classes are registered: one that is forgotten would end an audit with a checkpoint."""
    left, right = _observed(0.0), _observed(1.0)
    features = learning.features(left)
    made = [
        scores.Likelihood(),
        scores.ScoreColumn(features[0], -1),
        learning.learn_codes("prefix of 2", left, right),
        scores.Departure(("prefix of 1", "prefix of 2"), np.array([1, 4]), np.array([0.5, 0.0, -0.5])),
        learning.learn_bins(left, right, columns=features, group="prefix of 1"),
        learning.learn_logistic(left, right, columns=features),
        learning.learn_boosted(left, right, columns=features, group="prefix of 1"),
        learning.learn_rounds(left, right),
        learning.learn_met(left, right, recipe=learning.learn_rounds),
    ]
    classes = {
        thing for thing in vars(scores).values() if isinstance(thing, type) and hasattr(thing, "describe")
    }
    assert {type(score) for score in made} == classes - {scores.Feature, scores.Score}
    for score in made:
        event = events.Event(score, 0.25, True, 0.1, (0.5, 0.25), 4000)
        back = through(event)
        assert back.describe() == event.describe()
        assert np.array_equal(back.score(right), score(right), equal_nan=True)
        assert back.hits(right) == event.hits(right)


@pytest.mark.parametrize("value", [object(), {"x": {1, 2}}, np.array(["a"]), np.array([object()]), 1j, print])
def test_other_things_are_refused(value):
    with pytest.raises(TypeError, match="a checkpoint cannot contain"):
        resume.packed(value)


@pytest.mark.parametrize(
    "stored",
    [
        {"!Popen": {"args": ["true"]}},
        {"!os.system": {"command": "true"}},
        {"!array": ["O", [1], "AAAA"]},
        {"!array": ["<f8", [10], "AAAA"]},
        {"!pair": {"type": "interactive", "adversary": "os.system", "bounds": [0, 1]}},
        {"!Check": {"name": "c"}},
        {"!": 1},
    ],
)
def test_what_is_not_ours_makes_nothing(stored):
    with pytest.raises((ValueError, KeyError, TypeError)):
        resume.unpacked(json.dumps(stored))


# ---------------------------------------------------------------- files

OF = {"target": "x", "seed": 3}


class Cut(Exception):
    """Stands for a kill."""


def three(calls, fail_at=None):
    """Three steps, the second with a step and two tasks within it."""

    def step(name, value):
        def compute():
            calls.append(name)
            if name == fail_at:
                raise Cut
            return value

        return engine.kept(name, compute, 1)

    def outer():
        inner = step("inner", [1.5, math.nan])
        return [inner, sum(engine.ordered(_double, [1, 2], step="tasks"))]

    return [step("a", {"x": 1}), engine.kept("outer", outer), step("a", "again")]


def sealed_of_resume(line, key):
    """A line whose sum is right again, by whoever has the key."""
    text = line.rpartition(b',"sum":')[0]
    return text + resume._sealed(text, key)


WRITTEN = sealed_of_resume(b'{"step":"a","sum":"', b"key")


@pytest.mark.parametrize(
    ("line", "key", "read"),
    [
        (WRITTEN, b"key", True),
        (WRITTEN, b"other", False),
        (sealed_of_resume(WRITTEN, b""), b"", False),  # whoever has no key vouches for nothing
        (WRITTEN[:-1], b"key", False),
        (WRITTEN + b"\n", b"key", False),
        (WRITTEN.replace(b'"a"', b'"b"'), b"key", False),
        (b'{"step":"a"}\n', b"key", False),
        (b"\n", b"key", False),
        (resume._sealed(b"", b"key"), b"key", False),  # a right sum over nothing
        (sealed_of_resume(b'["a"],"sum":"', b"key"), b"key", False),
    ],
)
def test_a_step_is_taken_from_a_line_that_was_written_with_the_key(line, key, read):
    found = resume._row(line, key)
    assert (found or {}).get("step") == ("a" if read else None)
    assert (found is None) is not read


def _double(x):
    return 2 * x


def said():
    lines = []
    return lines, lines.append


def test_steps_are_kept_and_nested_ones_are_found_again(tmp_path):
    path, calls = tmp_path / "c", []
    with pytest.raises(Cut), resume.at(path, lambda: OF, print):
        three(calls, fail_at="inner")
    assert calls == ["a", "inner"]
    lines, say = said()
    with resume.at(path, lambda: OF, say):
        result = three(calls)
    assert calls == ["a", "inner", "inner", "a"]
    assert lines == ["checkpoint: continuing after 1 finished steps"]
    with resume.at(path, lambda: OF, print) as steps:
        assert repr(three(calls)) == repr(result)
        assert steps.found == 6  # a, inner, two tasks, outer, a
    assert len(calls) == 4
    assert engine.kept("outside", lambda: 7) == 7


def test_a_step_that_was_asked_for_something_else_is_made_again(tmp_path):
    with resume.at(tmp_path / "c", lambda: OF, print):
        assert engine.kept("n", lambda: 1, "ten runs") == 1
    with resume.at(tmp_path / "c", lambda: OF, print):
        assert engine.kept("n", lambda: 2, "twenty runs") == 2
    with resume.at(tmp_path / "c", lambda: OF, print):  # the last word counts
        assert engine.kept("n", lambda: 3, "twenty runs") == 2


def test_a_file_torn_at_any_byte_gives_what_is_whole(tmp_path):
    path = tmp_path / "c"
    with resume.at(path, lambda: OF, print):
        whole = three([])
    content = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(content) if byte == ord("\n")]
    for size in range(0, len(content) + 1, 7):
        path.write_bytes(content[:size])
        with resume.at(path, lambda: OF, print) as steps:
            assert steps.found == max(sum(end <= size for end in ends) - 1, 0)
            assert repr(three([])) == repr(whole)
        with resume.at(path, lambda: OF, print) as steps:
            assert steps.found == len(ends) - 1  # what came after half a line is there, too
    path.write_bytes(content)


def test_a_changed_line_and_all_after_it_are_dropped(tmp_path):
    """Negative control of the sums: the same edit with a right sum is believed."""
    path = tmp_path / "c"
    with resume.at(path, lambda: OF, print) as steps:
        three([])
    lines = path.read_bytes().splitlines(keepends=True)
    edited = lines[1].replace(b'{"x":1}', b'{"x":2}')
    assert edited != lines[1]
    path.write_bytes(b"".join([lines[0], edited, *lines[2:]]))
    with resume.at(path, lambda: OF, print) as steps:
        assert steps.found == 0
        assert three([])[0] == {"x": 1}
    path.write_bytes(b"".join([lines[0], sealed_of_resume(edited, steps._key), *lines[2:]]))
    with resume.at(path, lambda: OF, print):
        assert three([])[0] == {"x": 2}
    endless = re.sub(rb'"cpu":[^,]*', b'"cpu":1' + b"0" * 400, lines[1])  # no float holds it
    path.write_bytes(b"".join([lines[0], sealed_of_resume(endless, steps._key)]))
    with resume.at(path, lambda: OF, print) as steps:
        assert steps.found == 0


@pytest.mark.parametrize("content", [b"my thesis\n", b'{"format":"other"}\n', b"\x00" * 100, b"[" * 100_000])
def test_a_file_that_is_no_checkpoint_is_left_alone(tmp_path, content):
    path = tmp_path / "c"
    path.write_bytes(content)
    with pytest.raises(vdp.InputError, match="is not a checkpoint, so we left it unchanged"):
        resume.Checkpoint(path, OF, print)
    assert path.read_bytes() == content


@pytest.mark.parametrize("key", ["none", "guessed", "of another run"])
def test_what_others_write_into_it_is_made_again(key, tmp_path):
    """An edited line with a sum that anyone can compute turned refuted into not refuted."""
    path = tmp_path / "c"
    with resume.at(path, lambda: OF, print):
        three([])
    lines = path.read_bytes().splitlines(keepends=True)
    text = lines[1].replace(b'{"x":1}', b'{"x":2}').rpartition(b',"sum":')[0]
    plain = f',"sum":"{hashlib.sha256(text).hexdigest()[:32]}"}}\n'.encode()
    ends = {"none": plain, "guessed": resume._sealed(text, b"0" * 32)}
    with resume.at(tmp_path / "other", lambda: OF, print) as steps:
        ends["of another run"] = resume._sealed(text, steps._key)
    path.write_bytes(b"".join([lines[0], text + ends[key], *lines[2:]]))
    with resume.at(path, lambda: OF, print) as steps:
        assert steps.found == 0
        assert three([])[0] == {"x": 1}
    resume.forget(path)
    assert not path.exists()
    assert remembered.recall(path) == b""


@pytest.mark.parametrize("way", ["key beside it", "moved", "readable key", "no key"])
def test_a_checkpoint_that_nothing_here_vouches_for_is_refused(way, tmp_path):
    """Broken variant: the key is taken from beside the file, with which it came (mode 0600 or not).

    Control: the file at its place goes on. A run of many begins such a file anew.
    """
    path, other = tmp_path / "c", tmp_path / "d"
    with resume.at(path, lambda: OF, print):
        three([])
    key, content = remembered.recall(path), path.read_bytes()
    with resume.at(path, lambda: OF, print) as steps:
        assert steps.found == 6
    place = remembered._place_of(path)
    assert [stat.S_IMODE(one.stat().st_mode) for one in (place, place.parent)] == [0o600, 0o700]
    if way in ("readable key", "no key"):
        place.chmod(0o644) if way == "readable key" else place.unlink()
        other = path
    other.write_bytes(content)
    other.with_name(f"{other.name}.key").write_bytes(key)
    other.with_name(f"{other.name}.key").chmod(0o600)
    with pytest.raises(resume.OtherAuditError, match=r"not written by you on this machine.*; remove it"):
        resume.Checkpoint(other, OF, print)
    assert other.read_bytes() == content

    def make(where):
        with resume.at(where, lambda: OF, print) as steps:
            return steps.found

    assert resume.attempt(make, other) == 0


def test_lines_of_one_audit_are_not_anothers(tmp_path):
    """Also where the key stayed beside the file."""
    path = tmp_path / "c"
    with resume.at(path, lambda: OF, print):
        three([])
    lines = path.read_bytes().splitlines(keepends=True)
    path.unlink()
    other = {**OF, "seed": 4}
    with resume.at(path, lambda: other, print):
        pass
    path.write_bytes(path.read_bytes() + b"".join(lines[1:]))
    with resume.at(path, lambda: other, print) as steps:
        assert steps.found == 0


def test_a_record_says_that_its_audit_was_resumed(tmp_path):
    path = tmp_path / "c"
    asked = {"budget": 0.02, "mutants": False, "checkpoint": path}
    first = vdp.audit("tree-sum", **asked)
    assert "resumed" not in first.record["provenance"]
    again = vdp.audit("tree-sum", **asked)
    assert again.record["provenance"]["resumed"]["steps"] > 0
    assert "note: the audit was resumed" in again.summary()
    assert first.record["checks"] == again.record["checks"]


def test_hostile_lines_are_no_steps(tmp_path):
    path = tmp_path / "c"
    with resume.at(path, lambda: OF, print):
        three([])
    good = path.read_bytes()
    for bad in (b"[" * 200_000 + b"\n", b'{"step":1}\n', b"null\n", b"\xff\xfe\n", b'{"sum":[]}\n'):
        path.write_bytes(good + bad)
        with resume.at(path, lambda: OF, print) as steps:
            assert steps.found == 6
        assert path.read_bytes() == good


def test_another_audit_is_refused_and_a_run_of_many_begins_anew(tmp_path):
    path = tmp_path / "c"
    with resume.at(path, lambda: OF, print):
        three([])
    with (
        pytest.raises(resume.OtherAuditError, match="belongs to another audit"),
        resume.at(path, lambda: {**OF, "seed": 4}, print),
    ):
        pass
    assert path.stat().st_size > 0

    def make(where):
        with resume.at(where, lambda: {**OF, "seed": 4}, print) as steps:
            return None if steps is None else steps.found

    assert resume.attempt(make, path) == 0
    path.write_bytes(b"not ours")
    assert resume.attempt(make, path) is None
    assert path.read_bytes() == b"not ours"


def test_only_one_audit_at_a_time(tmp_path):
    path = tmp_path / "c"
    with (
        resume.at(path, lambda: OF, print),
        pytest.raises(vdp.InputError, match="in use by another audit"),
    ):
        resume.Checkpoint(path, OF, print)
    resume.Checkpoint(path, OF, print).close()


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(vdp.InputError, match=r"checkpoint: .* cannot be written"):
        resume.Checkpoint(tmp_path / "no" / "c", OF, print)


def test_a_full_disk_ends_the_keeping_and_not_the_audit(tmp_path, monkeypatch):
    lines, say = said()
    path = tmp_path / "c"
    with resume.at(path, lambda: OF, say) as steps:
        assert engine.kept("a", lambda: 1) == 1

        class Full:
            def __init__(self, file):
                self._file = file

            def __getattr__(self, name):
                return getattr(self._file, name)

            def flush(self):
                raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(steps, "_file", Full(steps._file))
        assert [engine.kept("b", lambda: 2), engine.kept("b", lambda: 3)] == [2, 3]
        monkeypatch.undo()
    assert len(lines) == 1
    assert "No space left on device; the audit continues without it" in lines[0]
    with resume.at(path, lambda: OF, print) as steps:
        assert steps.found == 1


def test_a_result_of_someone_elses_class_is_made_again(tmp_path):
    for made in ("first", "second"):
        with resume.at(tmp_path / "c", lambda: OF, print) as steps:
            assert engine.kept("theirs", lambda made=made: {made}) == {made}
            assert steps.found == 0


def test_results_of_several_workers_are_the_same(tmp_path):
    with resume.at(tmp_path / "c", lambda: OF, print):
        assert engine.ordered(_double, list(range(20)), workers=2, step="t") == [2 * i for i in range(20)]
    with resume.at(tmp_path / "c", lambda: OF, print) as steps:
        assert steps.found == 20
        assert engine.ordered(None, list(range(20)), step="t") == [2 * i for i in range(20)]


# ---------------------------------------------------------------- identity


def test_an_audit_is_known_by_target_code_and_options(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def release(data, size, rng):\n    return data + rng.laplace(0, 1, size)\n")
    name = f"{file}:release"

    def known(**asked):
        thing, called = api.resolve(name)
        return identity.of(thing, called, **{"seed": 0, **asked})

    first = known()
    assert known() == first
    assert known(seed=1) != first
    (tmp_path / "helper.py").write_text("x = 1\n")
    assert known() != first
    one, other = vdp.make("ucb1", n_arms=2, horizon=10), vdp.make("ucb1", n_arms=2, horizon=11)
    assert identity.of(one, "ucb1") != identity.of(other, "ucb1")


def test_code_that_is_not_known_by_its_name_is_refused(tmp_path):
    def local(data, size, rng):
        return data + rng.laplace(0, 1, size)

    for target in (local, lambda data, size, rng: rng.laplace(0, 1, size)):
        with pytest.raises(
            vdp.InputError, match=r"`checkpoint` works only with .* whose code we cannot identify"
        ):
            vdp.audit(target, epsilon=1, budget=1, checkpoint=tmp_path / "c")
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- the state of a case

PAIR, PLAN = TablePair(np.zeros((3, 2)), 1, 0, 1.0), Plan(24, 100, 200)
COUNTED = {"k1": 9, "n1": 50, "k0": 1, "n0": 50, "epsilon": 1.0, "delta": 0.0}
CHECK = Check.of("a look", "black_box", {**COUNTED, "alpha": 1e-6, "confidence": 0.95, "tests": 1})
CHOSEN = Selected(0, PAIR, events.Event(scores.Likelihood(), 0.25, True, 0.1, (0.5, 0.25), 4000))
LOOK = Look([CHECK], CHOSEN, [PAIR], ("it varies",), 1, 2, True, 3)
ANY = {"plan": PLAN, "checks": [CHECK], "counterexamples": [{"p_value": 0.5}], "power": {}, "mutants": [{}]}
OF_USER = {
    "varied": True,
    "last": LOOK,
    "lead": LOOK,
    "near": LOOK,
    "black_boxes": 2,
    "no_power": "none",
    "unbounded": "why",
    "used": (7, True),
    "measured": {"first": 7},
    "narrow": True,
}
STATES = [
    AlgorithmCaseState(
        **ANY,
        game=adversary.AdversarySizes(1, 2, 3, 4, 5, 6),
        worst={"cost": 1.0},
        chosen=CHOSEN,
        best=[PAIR],
        spoken=["a game"],
        part=4,
    ),
    UserCaseState(**ANY, **OF_USER),
    PlayCaseState(
        **ANY, **OF_USER, pairs=[PAIR], dear=[[0, 1]], tried={"pairs": 3}, unplayed="ahead", game=PLAN
    ),
]


@pytest.mark.parametrize("state", STATES, ids=lambda state: type(state).__name__)
def test_the_state_of_a_case_comes_back(state):
    """With every field filled: one that no file can hold would have each rung run again."""
    assert all(getattr(state, one.name) not in (one.default, None) for one in fields(state))
    back = through(state)
    assert type(back) is type(state)
    assert resume.packed(back) == resume.packed(state)
    assert {name: type(value) for name, value in vars(back).items()} == {
        name: type(value) for name, value in vars(state).items()
    }


def test_every_kind_of_case_has_one_of_these_states():
    kinds = {case.state_kind() for case in (AlgorithmCase, ContextualCase, PlayCase, ReleaseCase)}
    assert kinds == {type(state) for state in STATES}


@pytest.mark.parametrize(
    ("name", "kept"), [("worst", True), ("plan", True), ("subject", False), ("claim", False), ("more", False)]
)
def test_a_rung_changes_nothing_but_the_state(name, kept):
    """What else it changed would be forgotten where an audit goes on after it."""
    case = AlgorithmCase.of(AuditRequest(registry.make("tree-sum", epsilon=1.0, horizon=8), "tree-sum"))
    before = case.state()

    def run(case):
        setattr(case, name, getattr(case, name, None))

    climb = functools.partial(pipeline.climb, case, [pipeline.Rung("", lambda case: True, run)])
    if kept:
        assert climb()["checks"] == []
        assert case.state() == before
    else:
        with pytest.raises(
            AttributeError, match=f"{name} can be set only once; a field that a rung changes belongs in a"
        ):
            climb()


# ---------------------------------------------------------------- audits that are broken off

MECHANISM = """
import numpy as np

def release(data, size, rng):
    return np.sum(data) + rng.laplace(0, 1, size)

def play_many(rewards, n_runs, rng):
    half = len(rewards) // 2
    arms = np.tile(np.arange(len(rewards)) % 2, (n_runs, 1))
    sums = rewards[:half].sum(axis=0) + rng.laplace(0, 1, (n_runs, 2))
    arms[:, half:] = sums.argmax(axis=1)[:, None]
    return arms

def play(rewards, rng):
    return play_many(rewards, 1, rng)[0]
"""


def core(record):
    """What of a record does not name the run."""
    return without_run(record)


def broken_off(monkeypatch, path, audit, after):
    """Run an audit that is cut after so many steps; None if it ended before."""
    left = iter(range(after))

    def keep(self, step, asked, result, own=resume.Checkpoint.keep):
        if next(left, None) is None:
            raise Cut
        own(self, step, asked, result)

    with monkeypatch.context() as patch:
        patch.setattr(resume.Checkpoint, "keep", keep)
        try:
            return audit(checkpoint=path)
        except Cut:
            return None


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("tree-sum", {}),
        pytest.param("dp-se", {"curve": True, "mutants": False}, marks=pytest.mark.slow),
        pytest.param("dp-se", {"group": 2, "mutants": False, "sequential": True}, marks=pytest.mark.slow),
    ],
)
def test_an_algorithm_broken_off_anywhere_gives_the_same_record(tmp_path, monkeypatch, name, options):
    """Negative control: a finished rung that is changed in the file changes the record."""
    path = tmp_path / "c"

    def audit(**more):
        return vdp.audit(name, budget=0.05, seed=5, **options, **more)

    whole = audit()
    attempts = 0
    while (report := broken_off(monkeypatch, path, audit, 9)) is None:
        attempts += 1
        assert attempts < 40
    assert attempts >= 2
    assert json.dumps(core(report.record)) == json.dumps(core(whole.record))
    verify(report.save(tmp_path / "out")[0])

    lines = path.read_bytes().splitlines(keepends=True)
    row = json.loads(lines[-1])
    counted = [check["!Check"]["statistics"] for check in row["value"]["!AlgorithmCaseState"]["checks"]]
    found, key = next((found, key) for found in counted for key in ("k1", "runs") if key in found)
    found[key] += 1
    keys, real = [], resume._sealed
    with monkeypatch.context() as patch:
        patch.setattr(resume, "_sealed", lambda text, key: keys.append(key) or real(text, key))
        audit(checkpoint=path)
    lines[-1] = sealed_of_resume(resume.packed(row), keys[-1])
    path.write_bytes(b"".join(lines))
    assert json.dumps(core(audit(checkpoint=path).record)) != json.dumps(core(whole.record))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("release", {}),
        pytest.param("release", {"numerics": True}, marks=pytest.mark.slow),
        pytest.param("release", {"rho": 0.5, "epsilon": None}, marks=pytest.mark.slow),
        pytest.param("play_many", {"n_arms": 2, "horizon": 12}, marks=pytest.mark.slow),
        pytest.param("play_many", {"n_arms": 2, "horizon": 12, "sequential": True}, marks=pytest.mark.slow),
        pytest.param("play", {"n_arms": 2, "horizon": 12}, marks=pytest.mark.slow),
    ],
)
def test_a_users_code_broken_off_gives_what_its_plan_gives(tmp_path, monkeypatch, name, options):
    """Sizes are measured in time, once; the record of all attempts is that of one run with these sizes."""
    (tmp_path / "mine.py").write_text(MECHANISM)
    path, target = tmp_path / "c", f"{tmp_path / 'mine.py'}:{name}"

    def audit(**more):
        given = {"epsilon": 1.0, "budget": 0.2, "seed": 2, "in_process": True}
        return vdp.audit(target, **{**given, **options, **more})

    attempts = 0
    while (report := broken_off(monkeypatch, path, audit, 8 if name.startswith("play") else 4)) is None:
        attempts += 1
        assert attempts < 60
    assert attempts >= 1
    again = api.rerun(report.record)
    assert again["checks"] == report.record["checks"]
    assert again["power"] == report.record["power"]
    assert again["counterexamples"] == report.record["counterexamples"]


def refused(*given, **named):
    raise AssertionError("it was finished")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("tree-sum", {"budget": 0.05}),
        ("release", {"budget": 0.1, "epsilon": 1.0, "numerics": True, "in_process": True}),
        pytest.param("dp-se", {"budget": 0.05, "mutants": False}, marks=pytest.mark.slow),  # it plays a game
        pytest.param(
            "play",
            {"budget": 0.2, "epsilon": 1.0, "n_arms": 2, "horizon": 12, "in_process": True},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_is_finished_is_not_run_again(tmp_path, monkeypatch, name, options):
    (tmp_path / "mine.py").write_text(MECHANISM)
    path, target = tmp_path / "c", name if "-" in name else f"{tmp_path / 'mine.py'}:{name}"
    whole = vdp.audit(target, seed=5, checkpoint=path, **options)
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "_after", refused)
        report = vdp.audit(target, seed=5, checkpoint=path, **options)
    assert core(report.record) == core(whole.record)
    lines = path.read_bytes().splitlines(keepends=True)
    assert report.record["provenance"]["cpu_seconds"] >= json.loads(lines[-1])["cpu"] > 0
    path.write_bytes(b"".join(lines[:-1]))  # killed in the last rung: it builds on what the others found
    assert core(vdp.audit(target, seed=5, checkpoint=path, **options).record) == core(whole.record)
    path.write_bytes(b"".join(lines[:1]))
    monkeypatch.setattr(pipeline, "_after", refused)
    with pytest.raises(AssertionError, match="it was finished"):
        vdp.audit(target, seed=5, checkpoint=path, **options)


def test_that_the_cap_has_cut_the_runs_is_not_forgotten(tmp_path, monkeypatch):
    monkeypatch.setattr(execution_plan, "_seconds", lambda *_: 0.1)
    for cap, capped in ((300.0, True), (1e6, False)):
        for _ in range(2):
            with resume.at(tmp_path / str(cap), lambda: OF, print):
                budget = replace(sizes_of("quick"), seconds=cap)
                allowed = execution_plan._allowance(
                    budget, "play", execution_plan.StageSizes(None), refused, print
                )
                assert allowed.capped == capped


def test_steps_that_were_made_of_other_files_are_not_taken(tmp_path, monkeypatch):
    """All that the code has read counts, and what it asked for in vain; before any step is taken.

    So do the environment variables that it has asked for.
    """
    code, path = tmp_path / "code", tmp_path / "c"
    code.mkdir()
    (code / "a").write_text("1")
    monkeypatch.delenv("DP_ABSENT", raising=False)
    known = {"a": file_digest(code / "a"), "b": ABSENT, "./$X": opened.WITHHELD, "././a": opened.RELATIVE}
    known["./$DP_ABSENT"] = ABSENT

    def kept(root, read):
        with resume.at(path, lambda: OF, print, str(root), read) as steps:
            read |= known  # as code does meanwhile
            engine.kept("x", lambda: 1)
            return steps.found

    assert kept(code, {}) == 0
    read = {}
    with resume.at(path, lambda: OF, print, str(code), read) as steps:
        assert (steps.found, read) == (1, known)  # the record names it, too
    for change in (
        lambda: (code / "a").write_text("2"),
        lambda: (code / "b").write_text(""),
        lambda: (code / "a").unlink(),
    ):
        change()
        with pytest.raises(resume.OtherAuditError, match=r"its code read '[ab]', which has changed"):
            kept(code, {})
        (code / "a").write_text("1")
        (code / "b").unlink(missing_ok=True)
    assert kept(code, {}) == 1
    with monkeypatch.context() as changes:
        changes.setenv("DP_ABSENT", "1")
        with pytest.raises(resume.OtherAuditError, match="variable DP_ABSENT, which has changed"):
            kept(code, {})
    with pytest.raises(resume.OtherAuditError, match="which has changed"):
        kept("", {})


COMPUTED = """
import importlib
NOISE = importlib.import_module("inside." + "laplace")
def release(data, rng):
    return NOISE.noisy(data.sum(), rng)
"""
NOISY = "def noisy(x, rng):\n    return x + rng.laplace(0, {scale})\n"


def test_a_checkpoint_knows_what_code_has_imported_by_a_computed_name(tmp_path, monkeypatch):
    """The steps of code with noise were taken for code without."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inside").mkdir()
    (tmp_path / "mine.py").write_text(COMPUTED)
    (tmp_path / "inside" / "laplace.py").write_text(NOISY.format(scale=1))

    def audited(said):
        asked = {"epsilon": 1.0, "runs": 400, "checkpoint": tmp_path / "c", "progress": said.append}
        return vdp.audit("mine.py:release", **asked)

    audited([])
    audited(said := [])
    assert any("continuing after" in line for line in said)
    (tmp_path / "inside" / "laplace.py").write_text(NOISY.format(scale=0))
    with pytest.raises(resume.OtherAuditError, match=r"its code read 'inside/laplace\.py', which"):
        audited([])


def test_rows_without_a_target_are_of_the_packages_that_are_there(monkeypatch):
    before = identity.of_rows(errata=1)
    assert identity.of_rows(errata=1) == before
    monkeypatch.setattr(identity, "packages", lambda: "sha256:" + "1" * 64)
    assert identity.of_rows(errata=1) != before


def test_a_checkpoint_is_of_the_packages_that_are_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def release(data, rng):\n    return data.sum() + rng.laplace(0, 1)\n")
    asked = {"epsilon": 1.0, "runs": 400, "checkpoint": tmp_path / "c"}
    vdp.audit("mine.py:release", **asked)
    vdp.audit("mine.py:release", **asked)
    monkeypatch.setattr(identity, "packages", lambda: "sha256:" + "1" * 64)
    with pytest.raises(resume.OtherAuditError, match="belongs to another audit"):
        vdp.audit("mine.py:release", **asked)
