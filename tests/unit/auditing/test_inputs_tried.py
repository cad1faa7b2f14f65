"""Which neighbouring inputs and horizons an audit tries, and what it concludes from them."""

from __future__ import annotations

import json
import math
import re
import secrets
import shlex
import sys
from importlib import resources
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest

import verifiable_dp as vdp
from tests.asking import audited
from tests.commands import run
from tests.records import read_all
from tests.user_code import adjacent
from verifiable_dp import api
from verifiable_dp.auditing import bandits, groups, mechanisms, plans, rates, rounds_of_testing, rungs, traced
from verifiable_dp.auditing.bandits import PlayCase
from verifiable_dp.auditing.request import AuditRequest, Inputs, Promise, promised
from verifiable_dp.auditing.rounds_of_testing import Look, UserCase
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.neighbours import GroupPair, TablePair, UserPair, neighbour, pair_of
from verifiable_dp.core.units import ADJACENCIES
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.acting import Acting
from verifiable_dp.evidence.blackbox import search
from verifiable_dp.evidence.blackbox.trials import data_pairs, inner_pairs
from verifiable_dp.evidence.check import Check, in_words, judged
from verifiable_dp.evidence.tracing.subjects import TracedBandit
from verifiable_dp.record import conclude
from verifiable_dp.record.model import Record
from verifiable_dp.record.words import why
from verifiable_dp.render.diff import compare
from verifiable_dp.report import finish
from verifiable_dp.targets import horizons, load
from verifiable_dp.targets.adapters import BanditClass, taken
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.process import Exec, ProcessTarget, running
from verifiable_dp.targets.roles import GivenRole

# Values strictly between the bounds of a mechanism's data: what only they show is a lead.


def _whole_noise(data, size, rng):
    """Right for whole data; the fraction of a sum of others is not hidden."""
    noise = rng.geometric(1 - np.exp(-1), size) - rng.geometric(1 - np.exp(-1), size)
    return np.sum(data) + noise


def _refusing(data, size, rng):
    if np.any(np.mod(data, 1)):
        raise ValueError("counts are whole")
    return _whole_noise(data, size, rng)


def _laplace(data, size, rng):
    return np.sum(data) + rng.laplace(size=size)


def _stated(pairs):
    def release(data, size, rng):
        return _whole_noise(data, size, rng)

    release.neighbours = pairs
    return release


def _audit(mechanism):
    return vdp.audit(mechanism, epsilon=1, budget="smoke", runs=400, seed=0)


def test_what_only_values_between_the_bounds_show_is_a_lead():
    """A sum with whole noise is right for whole data only: nobody said which data it takes."""
    record = _audit(_whole_noise).record
    assert (record["verdict"], record["reason"]) == ("inconclusive", "lead")
    assert "attribute neighbours" in why(Record.of(record))
    assert record["epsilon_lower"] < 1.2  # what the doubtful values cost is not claimed of the data
    # Control: without the check the same record acquits.
    assert (
        conclude.privacy(read_all([c for c in record["checks"] if c["kind"] != "between"])) == "not_refuted"
    )


@pytest.mark.parametrize(
    ("mechanism", "verdict"),
    [
        (_stated([(np.zeros(5), np.eye(5)[0])]), "not_refuted"),
        (_stated([(np.zeros(5), 0.37 * np.eye(5)[0])]), "refuted"),
        (_refusing, "not_refuted"),
        (_laplace, "not_refuted"),
    ],
    ids=["stated to be whole", "stated to be real", "refuses fractions", "right for all data"],
)
def test_said_data_and_right_code_are_decided(mechanism, verdict):
    """Whoever says which data are taken gets a verdict on these; what is right for all data needs no word."""
    assert _audit(mechanism).verdict == verdict


@pytest.mark.parametrize(
    ("left", "kind"),
    [
        (0.0, "replace"),
        (0.0, "zero-out"),
        (np.zeros(1), "replace"),
        *((np.zeros(5), kind) for kind in ("replace", "zero-out", "add-remove")),
    ],
)
def test_inner_pairs_are_neighbours_within_the_bounds(kind, left):
    """One entry differs, or is left out; one value at least lies strictly between the bounds."""
    found = inner_pairs(left, (-1.0, 3.0), kind)
    assert found
    for one, other in found:
        values = np.concatenate([np.ravel(one), np.ravel(other)])
        assert values.min() >= -1
        assert values.max() <= 3
        assert ((values > -1) & (values < 3)).any()
        assert np.shape(one) == np.shape(left)
        if kind == "add-remove":
            assert np.size(other) == np.size(one) - 1
        else:
            assert (np.ravel(one) != np.ravel(other)).sum() == 1


# Where no reward changes any action at the horizon given: from which horizon on one does.


EXPLORES = 100
AT_20 = Acting(20, 80, 160)
WORDS = "no reward that we tried changes any action up to round 20; from --horizon 160 one does"


def play(rewards, rng, explores=EXPLORES, scale=1.0, blind=False):
    """Explores in random order, then commits by noisy sums."""
    horizon, arms = rewards.shape
    order = rng.integers(arms, size=horizon)
    if horizon <= explores:
        return order
    sums = np.bincount(order[:explores], rewards[np.arange(explores), order[:explores]], arms)
    order[explores:] = np.argmax(sums * (not blind) + rng.laplace(0, scale, arms))
    return order


def play_many(rewards, n_runs, rng):
    return np.array([play(rewards, rng) for _ in range(n_runs)])


def fixed(rewards, rng):
    """Explores in a fixed order and draws noise where it commits: short runs use none."""
    horizon, arms = rewards.shape
    return play(rewards, rng) if horizon > EXPLORES else np.arange(horizon) % arms


def blind(rewards, rng):
    return play(rewards, rng, blind=True)


def short(rewards, rng):
    if len(rewards) > 50:
        raise ValueError("its buffers hold 50 rounds")
    return play(rewards, rng)


def late_leak(rewards, rng):
    """Authors' constants: 40 000 rounds of each arm, so that nothing shows below 80 000."""
    horizon, arms = rewards.shape
    order, explores = np.arange(horizon) % arms, 40_000 * arms
    if horizon > explores:
        sums = rewards[:explores].reshape(-1, arms, arms).sum(axis=0).diagonal()
        order[explores:] = np.argmax(sums + rng.laplace(0, 0.2, arms))
    return order


PROGRAM = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "protocol" in asked:
        horizon, answer = asked["horizon"], {"ready": True, "kind": "play"}
    else:
        rewards = asked.get("rewards") or rewards
        best = 0 if horizon <= 50 else int(sum(r[1] for r in rewards) > sum(r[0] for r in rewards))
        answer = {"id": asked["id"], "actions": [[0] * (horizon - 1) + [best] for _ in asked["seeds"]]}
    print(json.dumps(answer), flush=True)
"""


@pytest.mark.parametrize(
    ("target", "horizon", "most", "found"),
    [
        (play, 20, 1000, AT_20),
        (play_many, 20, 1000, AT_20),
        (play, 160, 1000, Acting(160, 0, 160)),
        (play, 20, 159, Acting(20, 80, None)),
        (blind, 20, 1000, Acting(20, 640, None)),
        (short, 20, 1000, Acting(20, 40, None)),
    ],
)
def test_the_horizon_is_found_by_doubling(target, horizon, most, found):
    sampler = PlaySampler(target, target is play_many, 2, horizon, 0)
    assert horizons.search(sampler, (0.0, 1.0), most) == found


def test_a_program_is_started_for_each_horizon(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    command = Exec(shlex.join([sys.executable, "-S", str(tmp_path / "program.py")]))
    with running(ProcessTarget(command, "play", (0.0, 1.0), 2, 30)) as process:
        found = horizons.search(PlaySampler(process, False, 2, 30, 0), (0.0, 1.0), 1000)
    assert found == Acting(30, 30, 60)


def test_the_tables_are_within_bounds_and_favour_different_arms():
    tables = list(horizons.contrasts(10, 3, (-1.0, 2.0)))
    assert {float(x) for table in tables for x in table.ravel()} == {-1.0, 2.0}
    assert [np.argmax(table.sum(axis=0)) for table in tables[:2]] == [0, 2]
    assert [int(np.argmax(tables[2][t])) for t in (0, 9)] == [0, 2]


def record_of(target, horizon, **options):
    asked = {"epsilon": 1.0, "n_arms": 2, "horizon": horizon, "runs": 1300, **options}
    name = f"tests.unit.auditing.test_inputs_tried:{target.__name__}"
    return finish(audited(target, name=name, **asked), started=0.0, cpu_seconds=0.0)


def test_an_idle_audit_says_from_which_horizon_on_a_reward_counts():
    said = list[str]()
    report = record_of(play, 20, progress=said.append)
    assert any(re.search(r"from --horizon 160 on .* one play takes about .*s there", line) for line in said)
    assert (report.verdict, report.reason) == ("inconclusive", "unsearched")
    assert f"The audit is inconclusive about epsilon 1: {WORDS}." in report.summary()
    sizes = report.record["plan"]["sizes"]
    assert (sizes["idle"], sizes["acts"]) == (80, 160)
    # It takes some of the audit's runs, not more.
    assert sizes["longest"] * horizons.PLAYS <= 0.15 * 1300 * 20
    again = api.rerun(report.record)
    assert again["plan"] == report.record["plan"]
    assert again["checks"] == report.record["checks"]


def test_what_acts_is_not_called_idle():
    """Negative control: at the horizon that was suggested nothing is suggested."""
    report = record_of(play, 160, runs=400)
    assert "changes any action" not in report.summary()
    assert "idle" not in report.record["plan"]["sizes"] or not report.record["plan"]["sizes"]["idle"]


def test_code_that_used_no_noise_yet_is_told_the_horizon():
    with pytest.raises(InputError, match=f"deterministic output: .*; {WORDS}"):
        record_of(fixed, 20)


@pytest.mark.parametrize(
    ("horizon", "said"), [(20, WORDS), (160, "within 160 rounds, some reward changes an action")]
)
def test_inspect_says_it_where_it_may_play(tmp_path, horizon, said):
    name = "tests.unit.auditing.test_inputs_tried:play"
    done = run(tmp_path, "inspect", name, "--horizon", horizon, "--play")
    assert f"horizon: {said}\n" in done.stdout
    assert "horizon:" not in run(tmp_path, "inspect", name, "--horizon", horizon).stdout


def test_a_long_horizon_ends_the_upper_bound_and_not_the_audit():
    found, why, _ = traced.bound(late_leak, "it", Inputs(2, 100_000), 0.0)
    assert (found, why.what) == (None, "a run has too many rewards for us to follow")


@pytest.mark.slow
def test_a_leak_that_begins_after_80_000_rounds_is_found_there():
    """A fifth of the noise: epsilon 5 against 1, seen by 1000 runs at T = 100 000, never below 80 000."""
    report = record_of(late_leak, 100_000, runs=1000)
    assert report.verdict == "refuted", report.summary()


# A lower bound above the claim that does not refute it: the rest of the budget goes on with that test.


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
    name = "tests.unit.auditing.test_inputs_tried:leak"
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
    name = "tests.unit.auditing.test_inputs_tried:release"
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


# What neighbouring inputs are can be said: each control is refuted under one adjacency only.


TABLE = np.array([[0.0, 1.0], [0.25, 0.75], [0.5, 0.5]])
KINDS = tuple(map(str, ADJACENCIES))
CASES = [
    pytest.param(function, bounds, kind, kind in broken, id=f"{function.__name__}-{kind}")
    for function, bounds, broken in (*adjacent.MECHANISMS, *adjacent.BANDITS)
    for kind in KINDS
]


def audited_of_adjacency(function, bounds, kind):
    bandit = any(function is row[0] for row in adjacent.BANDITS)
    sizes = {"n_arms": 2, "horizon": adjacent.HORIZON, "runs": 3000} if bandit else {"runs": 2000}
    return vdp.audit(function, epsilon=adjacent.EPSILON, bounds=bounds, adjacency=kind, seed=0, **sizes)


FAST = ("sum_of_signs-replace", "sum_of_signs-zero-out", "skips_missing-zero-out")


@pytest.mark.parametrize(
    ("function", "bounds", "kind", "refuted"),
    [
        case if case.id in FAST else pytest.param(*case.values, id=case.id, marks=pytest.mark.slow)
        for case in CASES
    ],
)
def test_a_control_is_refuted_under_its_adjacency_only(function, bounds, kind, refuted):
    report = audited_of_adjacency(function, bounds, kind)
    assert (report.verdict == "refuted") == refuted
    assert report.record["claim"]["adjacency"] == kind
    assert promised(report.record["plan"], report.record["claim"]).adjacency == kind


def test_one_reward_takes_both_values():
    pair = neighbour("replace", TABLE, (1, 0), (0.0, 1.0), (0.0, 1.0))
    assert isinstance(pair, TablePair)
    assert pair.left[1].tolist() == [0.0, 0.75]
    assert pair.right[1].tolist() == [1.0, 0.75]
    assert TABLE[1, 0] == 0.25


def test_one_reward_is_zero_instead_even_outside_the_bounds():
    pair = neighbour("zero-out", 1 + TABLE, (1, 0), (1.0, 2.0), (1.0, 2.0))
    assert (pair.left[1, 0], pair.right[1, 0], pair.bounds) == (1.0, 0.0, (0.0, 2.0))
    assert neighbour("zero-out", TABLE, (1, 0), (0.0, 1.0), (0.0, 1.0)).left[1, 0] == 1.0


def test_a_round_is_left_out_and_later_ones_move_up():
    pair = neighbour("add-remove", TABLE, (1, 0), (0.25, 1.0), (0.0, 1.0))
    assert isinstance(pair, GroupPair)
    assert pair.left.tolist() == TABLE.tolist()
    assert pair.right.tolist() == [[0.0, 1.0], [0.5, 0.5], [0.5, 0.5]]
    schema = json.loads(resources.files("verifiable_dp.record").joinpath("schema/record-4.json").read_text())
    whole = json.loads(json.dumps(pair.as_dict()))
    jsonschema.validate(whole, {"$defs": schema["$defs"], "$ref": "#/$defs/pair"})
    again = pair_of(whole)
    assert again.right.tolist() == pair.right.tolist()
    last = neighbour("add-remove", TABLE, (2, 0), (0.5, 1.0), (0.0, 1.0))
    assert (last.changes, last.left[2, 0]) == (((2, 0, 0.5),), 1.0)
    flat = neighbour("add-remove", np.zeros((3, 2)), (1, 0), (0.0, 1.0), (0.0, 1.0))
    assert flat.left[1, 0] == 1.0
    assert not flat.right.any()


@pytest.mark.parametrize(("kind", "size"), [("replace", 5), ("zero-out", 5), ("add-remove", 4)])
def test_neighbouring_data_differ_in_one_entry(kind, size):
    base = np.full(5, -1.0)
    first = {"replace": np.r_[1.0, base[1:]], "zero-out": np.r_[0.0, base[1:]], "add-remove": base[1:]}[kind]
    found = data_pairs(base, first, (-1.0, 1.0), kind)
    assert len(found) >= 6
    for left, right in found:
        assert (len(left), len(right)) == (5, size)
        if kind == "add-remove":
            assert any(np.array_equal(np.delete(left, place), right) for place in range(5))
        else:
            [place] = np.flatnonzero(left != right)
            assert right[place] == 0.0 if kind == "zero-out" else abs(right[place] - left[place]) == 2


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (lambda: Promise(1.0, adjacency="swap"), "adjacency"),
        (lambda: Promise(1.0, adjacency="zero-out", group=2), "`group` works only with"),
        (
            lambda: AuditRequest(None, "f", Promise(1.0, adjacency="replace"), Inputs(pairs=[])),
            "`adjacency` must be left out with `pairs`",
        ),
        (lambda: vdp.audit(stated, epsilon=1.0, adjacency="replace", runs=500), "neighbours are stated"),
        (lambda: vdp.audit("dp-se", adjacency="add-remove"), "`adjacency` works only with your own code"),
    ],
)
def test_an_adjacency_that_cannot_apply_is_refused(asked, words):
    with pytest.raises(InputError, match=words):
        asked()


def stated(data, size, rng):
    return np.sum(data) + rng.laplace(0, 1, size)


stated.neighbours = [(np.zeros(2), np.ones(2))]


def test_guarantees_under_other_adjacencies_are_not_compared():
    function, bounds, _ = adjacent.MECHANISMS[0]
    old = audited_of_adjacency(function, bounds, "zero-out").record
    new = {**old, "claim": {**old["claim"], "adjacency": "add-remove"}}
    assert any("adjacency" in reason for reason in compare(Record.of(old), Record.of(new)).not_comparable)
    assert not compare(Record.of(old), Record.of(old)).not_comparable


def _total(data, size, rng):
    return np.sum(data) + rng.laplace(size=size)


def _mean_of_some(data, size, rng):
    """Right for a number, and wrong for data with more entries that are 0 than not."""
    some = np.asarray(data)[np.asarray(data) > 0]
    return (some.mean() if some.size else 0.0) + rng.laplace(0, 1 / np.size(data), size)


def _each(data, size, rng):
    return np.asarray(data, dtype=float) + rng.laplace(size=(size, np.size(data)))


def _number(data, size, rng):
    return float(data) + rng.laplace(size=size)


def _handed_on(data, rng):
    """For a number; five entries share its noise."""
    return data + rng.laplace()


def _turned(data, rng):
    """For a number, of which it tells two."""
    return np.array([data, data**2]) + rng.laplace(0, 2, 2).reshape((2,) + (1,) * np.ndim(data))


def _from_elsewhere(data, rng):
    return data + np.random.Generator(np.random.PCG64()).laplace()


def _totals(data, size, rng):
    """Running totals with the noise of one: a number has one."""
    return np.cumsum(data) + rng.laplace(size=(size, np.size(data)))


def test_vectors_are_shown_to_what_mixes_their_entries_and_not_to_code_for_numbers():
    """The leak passed as one number."""
    sizes = {
        f.__name__: {np.size(p.left) for p in mechanisms.data_pairs(load.adapted(f)[1], (0.0, 1.0), None)}
        for f in (_handed_on, _turned, _from_elsewhere, _totals)
    }
    assert sizes == {"_handed_on": {1}, "_turned": {1}, "_from_elsewhere": {1}, "_totals": {5}}
    assert vdp.audit(_totals, epsilon=1, runs=400, seed=0).verdict == "refuted"


@pytest.mark.parametrize("right", [_handed_on, _each])
def test_right_code_for_numbers_is_not_accused_of_what_five_would_share(right):
    assert vdp.audit(right, epsilon=1, runs=400, seed=0).verdict == "not_refuted"


def _first_above(data, rng):
    """One of the data that exceed a noisy bar, the first one: what stands before it is told exactly."""
    bar, told = 0.5 + rng.laplace(), []
    for value in list(data):
        told.append(float(value >= bar))
        if told[-1]:
            break
    return np.array(told + [-1.0] * (len(data) - len(told)))


def test_what_takes_vectors_alone_and_tells_of_each_entry_is_shown_several():
    """One entry has no other before it: there it keeps its epsilon, and so it passed."""
    _, mechanism = load.adapted(_first_above)
    assert {np.size(pair.left) for pair in mechanisms.data_pairs(mechanism, (0.0, 1.0), None)} == {5}
    found = vdp.audit(_first_above, epsilon=2, budget="smoke", seed=0)
    assert (found.verdict, found.epsilon_upper) == ("refuted", None)
    single = [(np.zeros(1), np.ones(1))]
    assert vdp.audit(_first_above, epsilon=2, budget="smoke", seed=0, pairs=single).verdict == "not_refuted"


def test_what_adds_up_its_data_is_shown_data_sets_and_what_takes_numbers_is_not():
    """A number alone hides what a data set shows; control: the leak passes where only numbers are tried."""
    sizes = {
        f.__name__: sorted({np.size(pair.left) for pair in mechanisms.data_pairs(f, (0.0, 1.0), None)})
        for f in (_total, _each, _number)
    }
    assert sizes == {"_total": [1, 5], "_each": [5], "_number": [1]}
    assert vdp.audit(_mean_of_some, epsilon=1, budget="smoke", seed=0).verdict == "refuted"
    numbers = [(0.0, 1.0)]
    assert vdp.audit(_mean_of_some, epsilon=1, budget="smoke", seed=0, pairs=numbers).verdict != "refuted"


# The local model: the noisy report of every reward is charged by itself.


HORIZON, CLAIM = 12, 0.2
PAIRS = [TablePair(np.zeros((HORIZON, 2)), 0, 0, 1.0)]


class Reports:
    """Follows the means of reports that cost what is claimed."""

    scale = 1 / CLAIM

    def __init__(self, n_arms, rng):
        self.sums, self.pulls, self.rng = [0.0] * n_arms, [0] * n_arms, rng

    def report(self, reward, rng):
        return reward + rng.laplace(0, self.scale)

    def select(self):
        t = sum(self.pulls)
        if t < len(self.pulls):
            return t
        return int(np.argmax([s / n for s, n in zip(self.sums, self.pulls, strict=True)]))

    def update(self, arm, reward):
        self.sums[arm] += self.report(reward, self.rng)
        self.pulls[arm] += 1


class TooLittle(Reports):
    scale = 1.0


class Bits(Reports):
    chance = 1 / (1 + np.exp(-CLAIM))

    def report(self, reward, rng):
        return rng.binomial(1, 1 - self.chance + reward * (2 * self.chance - 1))


class TooTrueBits(Bits):
    chance = 1 / (1 + np.exp(-1.0))


class Signs(TooLittle):
    """What leaves is less than the noisy value, of which tracing knows the cost."""

    def report(self, reward, rng):
        return 1.0 if reward + rng.laplace(0, self.scale) > 0.5 else 0.0


class NamedOtherwise(TooLittle):
    """The collector gets a sign from a function that is not called report."""

    def update(self, arm, reward):
        self.sums[arm] += self.perturbed(reward)
        self.pulls[arm] += 1

    def perturbed(self, reward):
        return 1.0 if reward + self.rng.laplace(0, self.scale) > 0.5 else 0.0


class NamedOtherwiseButWhole(NamedOtherwise):
    """The same with the noisy value itself, which the method that chooses is the first to look at."""

    def perturbed(self, reward):
        return reward + self.rng.laplace(0, self.scale)


class Mixture(Reports):
    """A normal draw whose scale nobody knows: together they are a Laplace draw."""

    def report(self, reward, rng):
        return reward + self.scale * math.sqrt(2 * rng.exponential(1.0)) * rng.normal()


class Rounded(Reports):
    """A bit, to which whole noise is added afterwards."""

    def report(self, reward, rng):
        bit = int(rng.random() < reward)
        stop = -math.expm1(-1 / self.scale)
        return bit + int(rng.geometric(stop)) - int(rng.geometric(stop))


class TwoDraws(Reports):
    """The first draw alone would not do."""

    def report(self, reward, rng):
        return reward + rng.normal(0, 0.5) + rng.laplace(0, self.scale)


class Skipped(Reports):
    """Half of the reports say nothing of the reward, and nobody sees which: they cost less than noise."""

    scale = 1 / np.log1p(2 * np.expm1(CLAIM))

    def report(self, reward, rng):
        kept = self.coin(rng)
        return reward * kept + 0.5 * (1 - kept) + rng.laplace(0, self.scale)

    def coin(self, rng):
        return secrets.randbelow(2)


class SkippedByBits(Skipped):
    def coin(self, rng):
        return int(rng.bit_generator.random_raw()) & 1


class Collected(Reports):
    """Rewards are added up first: central privacy."""

    def update(self, arm, reward):
        if sum(self.pulls) < HORIZON // 2:
            self.sums[arm] = self.sums[arm] + reward
        self.pulls[arm] += 1

    def select(self):
        t = sum(self.pulls)
        if t < HORIZON // 2:
            return t % len(self.pulls)
        if t == HORIZON // 2:
            self.best = int(np.argmax([self.report(s, self.rng) for s in self.sums]))
        return self.best


def checked(kind, model="local"):
    _, function = taken(kind, GivenRole(CLAIM))
    inputs, effort = Inputs(2, HORIZON, pairs=PAIRS), traced.Effort(0)
    found = traced.trace(function, "x.py:x", CLAIM, inputs, 0, effort, Promise(CLAIM, model=model))
    return found[0]


@pytest.mark.parametrize(
    ("right", "wrong"), [(Reports, TooLittle), (Bits, TooTrueBits), (Reports, NamedOtherwiseButWhole)]
)
def test_a_report_that_costs_too_much_is_refuted(right, wrong):
    done = checked(wrong)
    assert done.verdict == "refuted"
    assert done.result["epsilon_lower"] == pytest.approx(1.0)
    assert judged("tracing", done.statistics) == done.result
    assert "one reward 1" in in_words(done)
    # Controls: the right one, and the same reports where only the actions are seen.
    held = checked(right)
    assert held.verdict == "not_refuted"
    assert held.result["holds"]
    assert 0.19 < held.result["epsilon_lower"] <= CLAIM
    assert held.result["detectable"] == CLAIM
    assert checked(wrong, "central").verdict == "not_refuted"


@pytest.mark.parametrize("signs", [Signs, NamedOtherwise])
def test_what_a_report_makes_of_its_noisy_value_is_not_refuted_by_it(signs):
    done = checked(signs)
    assert done.statistics["max_cost"] == pytest.approx(1.0)
    assert done.verdict == "not_refuted"
    assert not done.result["holds"]
    assert conclude.lead([done])


@pytest.mark.parametrize("hiding", [Mixture, Rounded, TwoDraws, Skipped, SkippedByBits])
def test_randomness_that_goes_into_a_report_beside_its_noise_may_hide_more(hiding):
    done = checked(hiding)
    assert float(done.statistics["max_cost"]) > CLAIM
    assert done.verdict == "not_refuted"
    assert not done.result["holds"]


class Jittered(TooLittle):
    """The noise that decides the arm has nothing to do with the report: the leak is refuted all the same."""

    def select(self):
        jitter = self.rng.normal(0, 0.1)
        return super().select() if jitter < 1 else 0


def test_randomness_of_the_choice_hides_nothing_of_a_report():
    assert checked(Jittered).verdict == "refuted"


def test_one_draw_for_several_rewards_is_no_report():
    done = checked(Collected)
    assert [lead["what"] for lead in done.statistics["leads"]] == ["shared"]
    assert not done.result["holds"]
    assert "several rounds" in conclude.lead([done])
    assert checked(Collected, "central").result["holds"]


def bounded(kind, model="local"):
    _, function = taken(kind, GivenRole(CLAIM))
    found, ended, _ = traced.bound(function, "x.py:x", Inputs(2, HORIZON), 0.0, Promise(CLAIM, model=model))
    return found.epsilon if found else ended.what


def test_a_local_claim_is_bounded_by_what_the_reports_of_a_reward_cost():
    """Controls: bits that are too true, and rewards that are added up first, which has a central bound."""
    assert bounded(Bits) == pytest.approx(CLAIM)
    assert bounded(TooTrueBits) == pytest.approx(1.0)
    assert "several rounds are combined" in bounded(Collected)
    assert bounded(Collected, "central") == pytest.approx(CLAIM)


def test_the_record_says_so_and_the_verdict_is_that_of_tracing():
    limits = {"n_arms": 2, "horizon": HORIZON, "budget": "smoke", "in_process": True}
    report = api.audit(TooLittle, epsilon=CLAIM, model="local", runs=400, **limits)
    assert report.verdict == "refuted"
    claim = report.record["claim"]
    assert (claim["observe"], claim["trust_model"]) == ("reports", "local")
    assert report.record["target"]["model"] == "local"
    assert promised(report.record["plan"], claim) == Promise(CLAIM, 0.0, model="local")


def reports(of):
    """A bandit whose `report` returns what `of` makes of the arm, the reward and the noisy reward."""

    class Made(Reports):
        def report(self, reward, rng):
            return of(reward, reward + rng.laplace(0, self.scale))

        def update(self, arm, reward):
            self.report(reward, self.rng)
            self.pulls[arm] += 1

        def select(self):
            return sum(self.pulls) % 2

    return Made


class Envelope:
    def __init__(self, noisy, reward):
        self.noisy, self.reward = noisy, reward


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (lambda reward, noisy: (noisy, reward), "raw rewards"),
        (lambda reward, noisy: np.array([noisy, reward]), "raw rewards"),
        (lambda reward, noisy: [noisy, [1, reward]], "raw rewards"),
        (lambda reward, noisy: {"noisy": noisy, "raw": reward}, "dict, which"),
        (lambda reward, noisy: Envelope(noisy, reward), "Envelope, which"),
        (lambda reward, noisy: (3, noisy), ""),
        (lambda reward, noisy: (noisy, 2 * noisy), ""),
        (lambda reward, noisy: None, ""),
    ],
)
def test_all_of_a_report_is_judged(of, said):
    """Broken variant: the first noisy value alone is seen. Control: what holds noisy and public values."""
    subject = TracedBandit(BanditClass(reports(of)), 2, HORIZON, (0.0, 1.0), frozenset([__file__]))
    pair = subject.far(np.zeros((HORIZON, 2)), 0, 0)
    if not said:
        subject.check_reports(pair, 0)
        return
    with pytest.raises(InputError, match=f"report .* must return noisy values only, got {said}"):
        subject.check_reports(pair, 0)


def test_a_reward_is_moved_to_the_bound_that_is_farther():
    subject = TracedBandit(None, 2, HORIZON, (0.0, 1.0), frozenset())
    table = np.full((HORIZON, 2), 0.25)
    table[1] = 0.75, 0.5
    moved = [subject.far(table, *place).worlds()[1][place] for place in ((0, 0), (1, 0), (1, 1))]
    assert moved == [1.0, 0.0, 1.0]


def test_reports_are_looked_at_in_an_audit_in_the_local_model():
    limits = {"n_arms": 2, "horizon": HORIZON, "budget": "smoke", "in_process": True, "runs": 400}
    told = reports(lambda reward, noisy: (noisy, reward))
    with pytest.raises(InputError, match="must return noisy values only"):
        api.audit(told, epsilon=CLAIM, model="local", **limits)
    right = api.audit(Signs, epsilon=CLAIM, model="local", **limits).record
    assert {"other-reports", "data-types"} <= {one["id"] for one in right["not_covered"]}


@pytest.mark.parametrize(
    ("promise", "inputs", "said"),
    [
        ({"delta": 1e-6}, {}, "delta 0"),
        ({"group": 2}, {}, "group"),
        ({"adjacency": "zero-out"}, {}, "adjacency"),
        ({}, {"contexts": 3}, "only without contexts"),
    ],
)
def test_what_does_not_fit_the_local_model_is_refused(promise, inputs, said):
    AuditRequest(None, "x", Promise(CLAIM, model="local"), Inputs(2, HORIZON))
    with pytest.raises(InputError, match=said):
        AuditRequest(None, "x", Promise(CLAIM, model="local", **promise), Inputs(2, HORIZON, **inputs))


def test_what_cannot_be_traced_has_no_local_model():
    def play_many(rewards, n_runs, rng):
        return rng.integers(2, size=(n_runs, len(rewards)))

    with pytest.raises(InputError, match="that we can trace"):
        api.audit(play_many, epsilon=CLAIM, model="local", n_arms=2, horizon=HORIZON, in_process=True)
    with pytest.raises(InputError, match="your own code"):
        api.audit("dp-se", epsilon=CLAIM, model="local")


def half_reported(rewards, rng):
    """Half of the reports are of a fixed number, and nobody sees which: they cost less than their noise."""
    horizon, n_arms = rewards.shape
    arms, sums = [], np.zeros(n_arms)
    for t in range(horizon):
        arms.append(t % n_arms if t < horizon // 2 else int(np.argmax(sums)))
        value = rewards[t, arms[t]] if rng.random() < 0.5 else 0.5
        sums[arms[t]] += value + rng.laplace(0, 1)
    return np.array(arms)


def test_reports_that_a_coin_may_replace_are_not_refuted_by_what_their_noise_costs():
    claim = np.log1p(0.5 * np.expm1(1))  # subsampling of a report that costs 1
    pairs = [TablePair(np.zeros((HORIZON, 2)), t, t % 2, 1.0) for t in range(HORIZON // 2)]
    inputs, effort = Inputs(2, HORIZON, pairs=pairs), traced.Effort(0)
    found = traced.trace(half_reported, "x.py:x", claim, inputs, 0, effort, Promise(claim, model="local"))
    check = found[0]
    assert check.statistics["max_cost"] == pytest.approx(1.0)
    assert check.result["verdict"] == "not_refuted"
    assert not check.result["holds"]


# Small decisions of audits, each by itself: what a claim about a rate says, and the kind of pairs.


MARGIN = rates.MARGIN


@pytest.mark.parametrize(
    ("over", "claim", "said"),
    [
        ("T", 0.5, (0.5, 0.0, MARGIN)),
        ("T", (0.5, 0.1), (0.5, 0.0, 0.1)),
        ("K", [1, 0.2], (1.0, 0.0, 0.2)),
        ("T", np.float64(2), (2.0, 0.0, MARGIN)),
        ("gap", -1, (-1.0, 0.0, MARGIN)),
        ("T", "log", (0.0, 1.0, MARGIN)),
        ("K", ("log", 0.3), (0.0, 1.0, 0.3)),
        ("T", "sublinear", (1 - 2 * MARGIN, 0.0, MARGIN)),
        ("T", ("sublinear", 0.2), (0.6, 0.0, 0.2)),
        ("T", 10, (10.0, 0.0, MARGIN)),
        ("T", -10, (-10.0, 0.0, MARGIN)),
    ],
)
def test_what_a_claim_about_a_rate_says(over, claim, said):
    assert rates.claim_of(over, claim) == pytest.approx(said)


@pytest.mark.parametrize(
    ("over", "claim", "words"),
    [
        ("gap", "log", '"log" works only with T and K'),
        ("K", "sublinear", "scaling: K must be "),
        ("T", "fast", "scaling: T must be "),
        ("T", True, "scaling: T must be "),
        ("T", None, "scaling: T must be "),
        ("T", (0.5,), "scaling: T must be "),
        ("T", (0.5, 0.1, 0.1), "scaling: T must be "),
        ("T", (0.5, 0.0), "margin of T must be finite and greater than 0"),
        ("T", 10.01, r"an exponent in \[-10, 10\]"),
        ("T", -10.01, r"an exponent in \[-10, 10\]"),
        ("T", math.inf, r"an exponent in \[-10, 10\]"),
        ("T", math.nan, r"an exponent in \[-10, 10\]"),
    ],
)
def test_what_is_no_claim_about_a_rate(over, claim, words):
    with pytest.raises(InputError, match=words):
        rates.claim_of(over, claim)


TABLE_OF_DECISIONS = np.array([[0.0, 1.0], [1.0, 0.0]])
OF_ROUND = TablePair(TABLE_OF_DECISIONS, 0, 0, 1.0)
OF_USER = UserPair(TABLE_OF_DECISIONS, np.array([0, 1]), 0, np.array([[1.0, 1.0]]))


@pytest.mark.parametrize(
    ("pairs", "kind"),
    [
        (None, "group"),
        ([], "group"),
        ([OF_USER], "user"),
        ([OF_USER, OF_USER], "user"),
        ([OF_ROUND], "group"),
        ([OF_USER, OF_ROUND], "group"),
    ],
)
def test_the_kind_of_pairs(pairs, kind):
    assert groups.kind(pairs) == kind


def process(numerics=False, **given):
    inputs = SimpleNamespace(**{"bounds": (0.0, 1.0), "n_arms": None, "horizon": None} | given)
    request = SimpleNamespace(inputs=inputs, settings=SimpleNamespace(numerics=numerics))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rungs, "ProcessTarget", lambda command, kind, *rest: kind)
        return rungs._process(Exec("python -c pass"), request)


@pytest.mark.parametrize(
    ("given", "kind"),
    [({}, "release"), ({"numerics": True}, "release"), ({"n_arms": 2, "horizon": 5}, "play")],
)
def test_what_a_program_is(given, kind):
    assert process(**given) == kind


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n_arms": 2}, r"horizon must be given for a command that plays a bandit \(--horizon T\)"),
        ({"horizon": 5}, r"n_arms must be given for a command that plays a bandit \(--arms K\)"),
        ({"n_arms": 2, "horizon": 5, "numerics": True}, "`numerics` works only with a mechanism"),
    ],
)
def test_what_a_program_that_plays_needs(given, words):
    with pytest.raises(InputError, match=words):
        process(**given)


# ---------------------------------------------------------------- bandits


def case(function=print, **promise):
    """A case of a bandit with this promise; only what is asked for."""
    given = {"group": None, "adjacency": None, "model": "central"} | promise
    made = object.__new__(PlayCase)
    vars(made).update(request=SimpleNamespace(promise=SimpleNamespace(**given)), function=function)
    return made


@pytest.mark.parametrize(
    ("promise", "followed"),
    [
        ({}, True),
        ({"adjacency": "replace"}, True),
        ({"adjacency": "zero-out"}, False),
        ({"group": 2}, False),
        ({"function": object.__new__(ProcessTarget)}, False),
    ],
)
def test_which_bandits_are_followed_by_replays_and_bounds(promise, followed):
    """One replaced reward of code of this process."""
    assert case(**promise)._followed is followed


@pytest.mark.parametrize(("first", "moved"), [(0.0, 1.0), (1.0, 0.0), (0.25, 1.0)])
def test_the_pair_on_which_times_are_measured(first, moved):
    """The first reward of the first arm goes to the other end of the range."""
    table = np.array([[first, 1.0], [0.5, 0.5]])
    pair = bandits._trial(table, (0.0, 1.0), None)
    left, right = pair.worlds()
    assert left.tolist() == table.tolist()
    assert right.tolist() == [[moved, 1.0], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("runs", "pairs", "once", "sizes"),
    [
        # A quarter of the runs probes (all pairs at a quarter of it, eight as a whole), a fifth selects,
        # and 55 % test; each a side.
        (10_000, 32, False, (78, 333, 2750, 3)),
        (10_000, 2, True, (625, 500, 2750, 2)),
        (1_000, 32, False, (8, 100, 275, 1)),
        (100, 1, False, (8, 16, 50, 1)),
    ],
)
def test_the_shares_of_a_second_plan(runs, pairs, once, sizes):
    plan = plans.second_plan(runs, pairs, 20_000, once=once)
    assert (plan.probe, plan.select, plan.test, plan.finalists) == sizes


@pytest.mark.parametrize(
    "form", [None, Contexts(2, (3,), 2.0, (-1.0, 3.0)), Contexts(2, (2, 3), 0.5, (-1.0, 3.0))]
)
def test_the_tables_of_the_first_runs(form):
    """Rewards at both ends, all low, all between; contexts of full length, and no longer."""
    mixed, low, middle = bandits._tables((50, 2), (-1.0, 3.0), 7, form)
    if form is not None:
        splits = [form.split(table) for table in (mixed, low, middle)]
        for contexts, _ in splits:
            lengths = np.linalg.norm(contexts, axis=-1)
            assert (lengths < form.norm).all()
            assert lengths == pytest.approx(form.norm, rel=1e-8)
        mixed, low, middle = (rewards for _, rewards in splits)
    assert set(mixed.ravel()) == {-1.0, 3.0}
    assert set(low.ravel()) == {-1.0}
    assert set(middle.ravel()) == {1.0}
