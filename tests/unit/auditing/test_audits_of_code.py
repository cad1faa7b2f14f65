"""How an audit of users' code goes: its stages, what is handed over, and what it concludes."""

import asyncio
import contextlib
import dataclasses
import inspect
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import verifiable_dp as vdp
from tests.asking import audited
from tests.commands import refused, run
from tests.records import read_all, reviewed
from tests.user_code import handed as code
from tests.user_code import seldom, unsettled
from verifiable_dp import api
from verifiable_dp.api import audit
from verifiable_dp.auditing import answers, conducted, design, ladder, power, production, traced
from verifiable_dp.auditing.conducted import Conducted
from verifiable_dp.auditing.request import AuditRequest, Inputs, Promise
from verifiable_dp.auditing.rounds_of_testing import UserCase
from verifiable_dp.core import engine
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.blackbox.events import Event
from verifiable_dp.evidence.blackbox.scores import Likelihood
from verifiable_dp.evidence.blackbox.statistics import least_factor
from verifiable_dp.evidence.blackbox.test import Plan, Selected
from verifiable_dp.evidence.symbolic import bounded_programs, paths
from verifiable_dp.record import conclude, power_words, words
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import plain
from verifiable_dp.record.verify import validate, verify
from verifiable_dp.registry import entries
from verifiable_dp.render import audited as rows_audited
from verifiable_dp.render import page, summary_card
from verifiable_dp.report import finish
from verifiable_dp.targets.adapters import BanditClass, epsilon_of, made_for
from verifiable_dp.targets.cage import Caged
from verifiable_dp.targets.heard import Heard
from verifiable_dp.targets.inspection import inspect_target
from verifiable_dp.targets.releases import DataPair
from verifiable_dp.targets.roles import GivenRole

# A draft that answers another question than was asked is refused, whoever made it.


def release(data, size, rng):
    return data + rng.laplace(0, 1, size)


def play(rewards, rng):
    return (rng.random(len(rewards)) < 0.5).astype(int)


@pytest.fixture(scope="module")
def answered():
    """Records of a mechanism and of a bandit, each with what was asked."""
    asked = {"epsilon": 0.5, "seed": 7, "runs": 400}
    bandit = {"delta": 1e-6, "n_arms": 2, "horizon": 6, "group": 2, "detect": 3}
    records = {
        "release": vdp.audit(release, **asked).record,
        "play": vdp.audit(play, **asked, **bandit).record,
    }
    return {name: (record, record["provenance"]["request"]) for name, record in records.items()}


OTHERS = [
    ("release", "claim", {"epsilon": 1.0}, "claim's epsilon is 0.5 instead of 1.0"),
    ("release", "claim", {"delta": 0.9}, "claim's delta is 0.0 instead of 0.9"),
    ("release", "claim", {"adjacency": "zero-out"}, "claim's unit"),
    ("release", "", {"seed": 0}, "seed is 7 instead of 0"),
    ("release", "plan", {"budget": "smoke"}, "budget is 'quick' instead of 'smoke'"),
    ("release", "plan", {"runs": 500}, "runs"),
    ("release", "level", {"alpha": 1e-9}, "alpha is 1e-06 instead of 1e-09"),
    ("release", "level", {"confidence": 0.5}, "confidence is 0.95 instead of 0.5"),
    ("release", "plan", {"detect": 9.0}, "detect is 2.0 instead of 9.0"),
    ("release", "plan", {"sequential": True}, "sequential is False instead of True"),
    ("release", "plan", {"numerics": True}, "numerics is False instead of True"),
    ("release", "plan", {"timeout": 9.0}, "timeout is 60.0 instead of 9.0"),
    ("release", "inputs", {"bounds": [0.0, 0.01]}, "bounds is [0.0, 1.0] instead of [0.0, 0.01]"),
    ("release", "inputs", {"pairs": [[0.0, 0.0]]}, "pairs is False instead of True"),
    ("release", "target", {"name": "b.py:release"}, "target is 'release' instead of 'b.py:release'"),
    ("release", "target", {"parameters": {"scale": 2}}, "parameters is {} instead of {'scale': 2}"),
    ("play", "inputs", {"horizon": 3}, "horizon is 6 instead of 3"),
    ("play", "inputs", {"n_arms": 3}, "n_arms is 2 instead of 3"),
    ("play", "claim", {"group": 3}, "group is 2 instead of 3"),
    ("play", "plan", {"curve": True}, "curve is False instead of True"),
    ("play", "plan", {"detect": 2.0}, "detect is 3.0 instead of 2.0"),
]


@pytest.mark.parametrize(("name", "part", "change", "said"), OTHERS)
def test_an_answer_to_another_question_is_refused(name, part, change, said, answered):
    """Control: the question that was asked is answered."""
    record, asked = answered[name]
    answers.of_request(record, asked)
    asked = {**asked, **change} if not part else {**asked, part: {**asked[part], **change}}
    with pytest.raises(InputError) as caught:
        answers.of_request(record, asked)
    assert str(caught.value).startswith("target: its process answered a different question: ")
    assert said in str(caught.value)


# What a request holds and a record says nowhere else, so that only its copy of the request can be compared:
# who asked when, packages (a record names some, with their versions), whether neighbours of the code's own
# were accepted, broken variants (of a user's code there are none), and what has no meaning without contexts.
# Declarations may be added later: `origin.declared` compares what they void. What is required has no answer.
ONLY_THERE = {
    *("schema_version", "made", "nonce", "digest", "packages", "declarations", "require"),
    *("plan.own_neighbours", "plan.mutants", "claim.protects", "inputs.context_norm", "claim.model"),
}


def leaves(value, place=()):
    """Values of a request, by their places; the parts that it has always, and what may be in them."""
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from leaves(part, (*place, key))
    else:
        yield place, value


def changed(value):
    """Another value of this type."""
    if value == "object":
        return "catalogue"
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, dict):
        return {"other": 1}
    if isinstance(value, list):
        return [*map(changed, value)]
    return (
        value / 2 if isinstance(value, float) else value + 1 if isinstance(value, int) else f"0{value[1:]}1"
    )


@pytest.mark.parametrize("name", ["release", "play"])
def test_every_field_of_a_request_is_compared_or_said_to_be_in_it_alone(name, answered):
    """A new field fails here until it is one of the two."""
    record, asked = answered[name]
    unseen = set()
    for place, value in leaves(asked):
        other = json.loads(json.dumps(asked))
        part = other
        for key in place[:-1]:
            part = part[key]
        part[place[-1]] = changed(value)
        try:
            answers.of_request(record, other)
        except InputError:
            continue
        unseen.add(".".join(place))
    # Of the files, a record holds that which is named.
    others = {f"target.files.{path}" for path in asked["target"]["files"] if path != Path(__file__).name}
    assert unseen <= ONLY_THERE | others
    assert {"packages", "plan.own_neighbours"} <= unseen  # control: not everything is refused


def test_a_parameter_that_the_code_does_not_have_is_no_question(tmp_path):
    (tmp_path / "a.py").write_text("def play(rewards, rng):\n    return [0] * len(rewards)\n", "utf-8")
    asked = ("--epsilon", 1, "--runs", 400, "--arms", 2, "--horizon", 6, "--set", "rng=1")
    assert "play has no parameter rng" in refused(tmp_path, "audit", "a.py:play", *asked)


REGRET = """
import dataclasses
import inspect
from verifiable_dp.auditing import regret

check = regret.check_claims

def other(subject, claims, **more):
    return check(SUBJECT, CLAIMS, **MORE)

regret.check_claims = other

def play(rewards, rng):
    return (rng.random(len(rewards)) < 0.5).astype(int)
"""


@pytest.mark.parametrize(
    ("subject", "claims", "more", "said"),
    [
        (
            "dataclasses.replace(subject, name='b.py:play')",
            "claims",
            "more",
            "target is 'b.py:play' instead of",
        ),
        ("subject", "dataclasses.replace(claims, runs=2)", "more", "runs is 2 instead of 9"),
        ("subject", "dataclasses.replace(claims, beta=0.5)", "more", "beta is 0.5 instead of None"),
        ("subject", "dataclasses.replace(claims, factor=0.5)", "more", "factor is 0.5 instead of 1.0"),
        ("subject", "claims", "{**more, 'seed': 0}", "seed is 0 instead of 7"),
        ("subject", "claims", "more", ""),
    ],
)
def test_so_is_one_about_other_regret(subject, claims, more, said, tmp_path):
    text = REGRET.replace("SUBJECT", subject).replace("CLAIMS", claims).replace("MORE", more)
    (tmp_path / "a.py").write_text(text, "utf-8")
    given = ("--bound", 50, "--arms", 2, "--horizon", 20, "--runs", 9, "--seed", 7)
    if said:
        assert said in refused(tmp_path, "regret", "a.py:play", *given)
    else:
        assert run(tmp_path, "regret", "a.py:play", *given).exit_code in (0, 3)


def test_a_file_that_holds_an_algorithm_of_the_catalogue_has_no_record_of_its_own(tmp_path):
    made = "import verifiable_dp as vdp\none = vdp.make('dp-se', n_arms=2, horizon=64, epsilon=1.0)\n"
    (tmp_path / "a.py").write_text(made, "utf-8")
    line = refused(tmp_path, "audit", "a.py:one", "--budget", "smoke")
    assert "a.py:one is the catalogue algorithm dp-se; give dp-se" in line


def test_options_of_every_kind_are_answered_as_asked():
    def release(data, size, rng):
        return data + rng.normal(0, 4, size)

    common = {"delta": 1e-5, "runs": 400}
    for options in (
        {"rho": 0.1},
        {"epsilon": 1, "adjacency": "zero-out", "bounds": (-1, 1), "seed": 3, "sequential": True},
        {"epsilon": 1.0, "pairs": [(0, 1)]},
    ):
        assert vdp.audit(release, **common, **options).record["checks"]


# Mechanisms of which one entry becomes 0: how far it moves, and from which bound.


SMOKE = {"epsilon": 1.0, "adjacency": "zero-out", "budget": "smoke", "in_process": True}


def signs(data, size, rng):
    return np.sum(data) + rng.laplace(0, 1, size)


def far_end(data, size, rng):
    """At -5, outside what it clips to, the number itself is shown."""
    x = float(data)
    return (x if x <= -5 else max(-1.0, min(1.0, x))) + rng.laplace(0, 1.0, size)


def test_an_entry_between_signs_moves_half_as_far():
    """Negative control: replaced by another one it moves by 2."""
    report = audit(signs, bounds=(-1, 1), **SMOKE)
    assert report.verdict == "not_refuted"
    assert report.epsilon_upper == pytest.approx(1.0)
    assert audit(signs, bounds=(-1, 1), **{**SMOKE, "adjacency": "replace"}).verdict == "refuted"


def test_a_number_becomes_0_from_either_bound():
    report = audit(far_end, bounds=(-5, 1), **SMOKE)
    assert report.verdict == "refuted"
    assert report.epsilon_lower > 3


# That noise does not depend on epsilon is said where epsilon was handed over, and only there.


def noted(target):
    report = vdp.audit(target, epsilon=1.0, n_arms=2, horizon=20, runs=400)
    [traced] = [check for check in report.record["checks"] if check["kind"] == "tracing"]
    return [note["what"] for note in traced["statistics"]["notes"] if note["kind"] == "fixed"]


@pytest.mark.parametrize("target", code.DEPENDS, ids=lambda target: target.__name__)
def test_nothing_is_concluded_from_an_epsilon_that_was_not_set(target):
    """Broken: taking any dataclass among the parameters for one that was given another epsilon."""
    assert noted(target) == []


@pytest.mark.parametrize("target", code.IGNORES, ids=lambda target: target.__name__)
def test_an_epsilon_that_is_ignored_is_named(target):
    assert len(noted(target)) == 1


@pytest.mark.parametrize("target", [code.Fields, code.Nested])
def test_inspect_says_which_fields_keep_their_defaults_and_how_to_set_them(target):
    found = list(inspect_target(target, GivenRole(1.0), 2, 20).lines())
    assert "recognised: these parameters keep their defaults: epsilon=1.0 (--set NAME=VALUE)" in found
    told = list(inspect_target(target, GivenRole(1.0, parameters={"epsilon": 2.0}), 2, 20).lines())
    assert not any("keep their defaults" in line for line in told)


# What is said of the code that was not looked into follows from the checks that were made.


def check(kind, **statistics):
    return SimpleNamespace(kind=kind, statistics=statistics)


SAMPLED = check("black_box")
TRACED = check("tracing", failure="")


@pytest.mark.parametrize(
    ("checks", "said"),
    [
        ([SAMPLED], ["unseen-code"]),
        (
            [check("tracing", failure="it ended"), SAMPLED],
            ["unseen-code"],
        ),
        ([TRACED, SAMPLED], ["untraced-code"]),
        (
            [TRACED, check("upper_bound", scope="n paths")],
            ["untraced-code"],
        ),
        ([TRACED, check("upper_bound", scope="every path")], []),
    ],
)
def test_code_that_was_traced_was_not_only_seen_through_its_outputs(checks, said):
    assert [left.id for left in UserCase._unseen(SimpleNamespace(checks=checks))] == said


# What an audit that is conducted here makes of the last word of the code's process.


DRAFT = {"checks": [], "claim": {"epsilon": 1.0, "delta": 0.0}}


def made(monkeypatch, found, told):
    monkeypatch.setattr(conducted.child, "served", lambda *given: (found, told))
    asked = AuditRequest("x", "x", Promise(epsilon=1.0))
    one = Conducted(asked, None, None, None, Heard([0], "key"))
    return one.made(lambda line: None, Caged("none", seconds=1.0), contextlib.nullcontext)


def test_what_both_processes_have_spent_is_noted(monkeypatch):
    found = (SimpleNamespace(command=False), {"draft": DRAFT, "started": 0.0, "cpu_seconds": 1.5})
    done = made(monkeypatch, found, {"cpu_seconds": 2.0})
    assert done["cpu_seconds"] == 3.5
    assert done["draft"] == DRAFT
    assert done["kept"] == {"counted": {"asked_again": 0, "key": "key"}}


@pytest.mark.parametrize(
    "told", [{"cpu_seconds": "2"}, {"cpu_seconds": -1.0}, {"cpu_seconds": float("inf")}, 3, {}]
)
def test_another_last_word_is_no_verdict(told, monkeypatch):
    found = (SimpleNamespace(command=False), {"draft": DRAFT, "started": 0.0, "cpu_seconds": 1.5})
    with pytest.raises(InputError, match="something that we did not ask for"):
        made(monkeypatch, found, told)


def test_a_verdict_that_nobody_asked_for_is_none(monkeypatch):
    with pytest.raises(InputError, match="something that we did not ask for"):
        made(monkeypatch, None, {"cpu_seconds": 2.0})


# How far a stage of an audit is, and how long it takes yet.


PLAN = Plan(24, 200, 600_000)


def draft(**options):
    name = "tests.unit.auditing.test_audits_of_code:release"
    return audited(release, name=name, epsilon=1.0, plan=PLAN, power=False, **options)


def test_a_stage_says_how_far_it_is_only_where_it_is_heard():
    said = []
    stages = engine.Stages(said.append)
    with stages.heard():
        first = draft(progress=stages)
    parts = [line for line in said if line.startswith("black box: ") and "left" in line]
    shares = [
        int(re.fullmatch(r"black box: 1200000 draws: (\d+) %, about \d+ s left", line)[1]) for line in parts
    ]
    assert shares == sorted(set(shares))
    assert len(shares) == 9  # of ten shards; the last is followed by another stage or by the end
    before = len(said)
    again = draft()
    assert len(said) == before
    assert again["checks"] == first["checks"]


def test_a_re_run_says_it_and_gives_the_same():
    said = []
    record = finish(draft(), started=0.0, cpu_seconds=0.0).record
    again = api.rerun(record, progress=said.append)
    assert again["checks"] == record["checks"]
    parts = sum(line.startswith("black box: ") and line.endswith(" s left") for line in said)
    assert parts == 10  # counted in the other process, which hears of the last shard, too


# Neighbours that follow from what is asked: forms of data, and which of the plain pairs come first.


def listed(form):
    return tuple(np.asarray(side).tolist() for side in form)


@pytest.mark.parametrize(
    ("bounds", "kind", "forms"),
    [
        (
            (0.0, 1.0),
            "replace",
            [(0.0, 1.0), ([0.0], [1.0]), ([0.0] * 5, [1.0, 0.0, 0.0, 0.0, 0.0])],
        ),
        (
            (-1.0, 2.0),
            "replace",
            [(-1.0, 2.0), ([-1.0], [2.0]), ([-1.0] * 5, [2.0, -1.0, -1.0, -1.0, -1.0])],
        ),
        ((-1.0, 2.0), "add-remove", [([-1.0] * 5, [-1.0] * 4)]),
        ((0.0, 1.0), "zero-out", [(1.0, 0.0), ([1.0], [0.0]), ([1.0] * 5, [0.0, 1.0, 1.0, 1.0, 1.0])]),
        ((-3.0, 0.0), "zero-out", [(-3.0, 0.0), ([-3.0], [0.0]), ([-3.0] * 5, [0.0, *[-3.0] * 4])]),
    ],
)
def test_the_forms_of_data(bounds, kind, forms):
    """One value differs: it moves from bound to bound, goes, or becomes 0."""
    found = design.forms_of(bounds, kind)
    assert [listed(form) for form in found] == [listed(form) for form in forms]
    around = [listed(pair.worlds()) for pair in design.around(found, bounds, kind)]
    assert set(map(str, forms)) <= set(map(str, around))
    assert len(around) > len(forms)


@pytest.mark.parametrize(("runs", "many"), [(1499, 4), (1500, 6)])
def test_few_plain_neighbours_where_runs_are_few(runs, many):
    assert design.first([*range(6)], runs) == [*range(many)]


@pytest.mark.parametrize(("given", "found"), [(None, [1, 2]), ([], []), ([3], [3])])
def test_neighbours_that_are_given_are_the_only_ones(given, found):
    assert design.plain(SimpleNamespace(plain=lambda: iter((1, 2))), given) == found


# Data of several sizes for a mechanism: a leak at one of them is found, and what was tried is said.


def clipped(data):
    return np.clip(np.asarray(data, dtype=float), 0.0, 1.0)


def nothing_to_count(data, size, rng):
    x = clipped(data)
    return x.sum() + rng.laplace(size=size) if x.size else np.zeros(size)


def always_noisy(data, size, rng):
    return clipped(data).sum() + rng.laplace(size=size)


def batch_of_half(data, size, rng):
    x = clipped(data)
    return (x.sum() + rng.laplace(size=size)) / max(1, len(x) // 2)


def batch_of_two(data, size, rng):
    return (clipped(data).sum() + rng.laplace(size=size)) / 2


def bins_of_values(data, size, rng):
    counts, _ = np.histogram(clipped(data), bins=4, range=(0, 1))
    return np.where(counts > 0, counts + rng.laplace(size=(size, 4)), np.nan)


def bins_that_are_stated(data, size, rng):
    counts, _ = np.histogram(clipped(data), bins=4, range=(0, 1))
    return counts + rng.laplace(size=(size, 4))


_SMALL = 40


def small_noise_at_a_named_size(data, size, rng):
    x = clipped(data)
    return x.sum() + rng.laplace(size=size) * (0.1 if x.size == _SMALL else 1.0)


def refuses_one(data, size, rng):
    if len(data) < 2:
        raise ValueError("at least two records")
    return clipped(data).sum() + rng.laplace(size=size)


def audited_of_ladder(function, adjacency):
    return vdp.audit(function, epsilon=1.0, adjacency=adjacency, budget="smoke", runs=400, seed=0)


@pytest.mark.parametrize(
    ("leak", "fixed", "adjacency"),
    [
        (nothing_to_count, always_noisy, "add-remove"),
        (batch_of_half, batch_of_two, "add-remove"),
        (bins_of_values, bins_that_are_stated, "add-remove"),
        (small_noise_at_a_named_size, always_noisy, "replace"),
        (small_noise_at_a_named_size, always_noisy, "add-remove"),
    ],
)
def test_a_leak_at_one_size_is_refuted_and_right_code_is_not(leak, fixed, adjacency, monkeypatch):
    assert audited_of_ladder(leak, adjacency).verdict == "refuted"
    right = audited_of_ladder(fixed, adjacency)
    assert right.verdict == "not_refuted"
    said = "; ".join(words.not_covered(Record.of(right.record)))
    assert "data of sizes other than " in said
    assert "7, 8, 15 or 16 entries" in said if adjacency == "add-remove" else "8 or 16 entries" in said
    # Control: without the ladder all of these leaks pass.
    monkeypatch.setattr(ladder, "neighbours", lambda size, bounds, kind: iter(()))
    assert audited_of_ladder(leak, adjacency).verdict != "refuted"


def test_code_that_refuses_a_size_is_not_accused_and_the_record_says_so():
    report = audited_of_ladder(refuses_one, "add-remove")
    assert report.verdict == "not_refuted"
    assert {"id": "refused-sizes", "values": {"sizes": [0, 1]}, "settled_by": None} in (
        report.record["not_covered"]
    )


def raw_if_whole(data, size, rng):
    return np.full(size, float(data)) if isinstance(data, int) else data + rng.laplace(0, 2.0, size)


def test_what_types_the_data_had_is_said():
    """Data are tried as floats: code can treat whole numbers differently, and an audit says so.

    Broken variant: nothing is said of it. Control: of data that are stated, the types are stated, too.
    """
    kinds = []
    for stated in (None, [(0, 1)]):
        report = audit(raw_if_whole, epsilon=1.0, budget="smoke", in_process=True, pairs=stated)
        kinds.append((report.verdict, "data-types" in {one["id"] for one in report.record["not_covered"]}))
    assert kinds == [("not_refuted", True), ("refuted", False)]


def test_sizes_come_from_what_the_code_holds():
    assert {39, 40, 41} <= set(ladder.sizes_in(small_noise_at_a_named_size))
    assert not {39, 40, 41} & set(ladder.sizes_in(always_noisy))


def test_pairs_that_show_nothing_new_are_left_out():
    """Of a sum all sizes come out alike but for a shift: the ladder adds none of them."""
    assert len(audited_of_ladder(always_noisy, "add-remove").record["pairs"]) < 8
    assert len(audited_of_ladder(batch_of_half, "add-remove").record["pairs"]) > 8


# The power that an audit states: only what is caught with .95, and what its own repeats show.


CLAIM, PLAN_OF_POWER = PrivacyClaim(1.0), Plan(100, 1000, 2000)


@dataclass(frozen=True)
class Variant:
    """A sampler of which only the factor is of interest."""

    factor: float
    seed: int = 0


@pytest.fixture
def world(monkeypatch):
    """Powers and refuted repeats by factor, in place of runs; an event's promise carries the factor."""
    shown = {"power": {}, "refuted": {}, "level": set()}

    def select(sampler, pairs, plan, *, delta, workers):
        event = Event(Likelihood(), 0.0, False, sampler.factor, (0.5, 0.1), 100)
        return [Selected(0, pairs[0], event)], [0]

    def rejection(p, q, plan, claim, alpha):
        shown["level"].add(alpha)
        return shown["power"][shown["now"]]

    def shares(event):
        shown["now"] = event.promise
        return event.shares

    def repeat(sampler, picked, plan, terms, repeats):
        shown["level"].add(terms.alpha)
        return shown["refuted"].get(sampler.factor, repeats)

    monkeypatch.setattr(blackbox, "select", select)
    monkeypatch.setattr(Event, "careful_shares", shares)
    monkeypatch.setattr(power, "rejection", rejection)
    monkeypatch.setattr(power, "_repeat", repeat)
    return shown


def stated(**options):
    return power.of_black_box(
        Variant,
        [DataPair(0.0, 1.0)],
        PLAN_OF_POWER,
        blackbox.Terms(CLAIM, alpha=1e-4),
        true_epsilon=lambda factor: 10 * factor,
        repeats=3,
        **options,
    )


@pytest.mark.parametrize("runs", [None, 10**9])
def test_the_least_factor_is_the_first_that_is_caught_with_95_percent(world, runs):
    """.949 is not enough; by bisection it comes out as by trying one after the other."""
    world["power"] = {f: 0.97 if f >= 2.0 else 0.949 for f in power.FACTORS}
    found = stated(runs=runs)
    assert (found["noise_divided_by"], found["smallest_epsilon"]) == (2.0, 20.0)
    assert (found["probability"], found["repeats_refuted"]) == (0.95, 3)
    assert world["level"] == {1e-4}


def test_a_factor_whose_repeats_are_not_all_refuted_is_passed_over(world):
    world["power"] = dict.fromkeys(power.FACTORS, 1.0)
    world["refuted"] = {1.05: 2, 1.1: 0}
    assert stated()["noise_divided_by"] == 1.2
    world["refuted"] = dict.fromkeys(power.FACTORS, 2)
    assert stated() is None


def test_without_power_nothing_is_stated(world):
    world["power"] = dict.fromkeys(power.FACTORS, 0.9)
    assert stated() is None
    assert stated(runs=10**9) is None


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_what_is_detectable_is_refuted_with_95_percent_and_less_is_not(delta):
    claim = replace(CLAIM, delta=delta)
    least = power.detectable(0.1, PLAN_OF_POWER, claim, 1e-6)
    assert 1.0 < least < 3.0
    for epsilon, holds in ((least, True), (0.99 * least, False)):
        share = min(1.0, 0.1 * 2.718281828459045**epsilon + delta)
        assert (power.rejection(share, 0.1, PLAN_OF_POWER, claim, 1e-6) >= 0.95) == holds


def test_the_least_factor_by_bisection():
    assert least_factor(lambda factor: factor >= 1.37, 1e-3) == pytest.approx(1.37, abs=1e-3)
    assert least_factor(lambda factor: factor >= 37, 1e-3) == pytest.approx(37, abs=1e-3)
    assert least_factor(lambda factor: False, 1e-3) is None


def test_what_delta_allows_for_is_not_refuted():
    """Control: without a delta the same event refutes."""
    plan = Plan(0, 0, 1000)
    assert power.rejection(0.1, 0.0, plan, PrivacyClaim(1.0, 0.5), 1e-6) < 1e-6
    assert power.rejection(0.1, 0.0, plan, PrivacyClaim(1.0), 1e-6) > 0.99


# The sampler of production in an audit of the catalogue.


def rule():
    return vdp.make("dp-se", n_arms=2, epsilon=1.0, horizon=720, beta=0.999)


def audited_of_production(**options):
    return vdp.audit(rule(), budget="smoke", mutants=False, numerics=True, **options)


@pytest.fixture(scope="module")
def report():
    return audited_of_production()


def of_bits(report):
    (check,) = report.parsed.of_kind("numerics")
    return check


def test_the_sampler_of_production_is_tested_and_named(report):
    check = of_bits(report)
    assert check.verdict == "not_refuted"
    assert check.statistics["sampler"].startswith("OpenDP ")
    assert report.verdict == "not_refuted"
    assert "sampler" not in [left.id for left in report.parsed.not_covered]


def test_textbook_noise_in_its_place_is_refuted(monkeypatch):
    """Negative control: value + noise in floats, as a session with a seed draws."""
    monkeypatch.setattr(production, "Secure", lambda: Seeded(0))
    found = audited_of_production()
    assert of_bits(found).verdict == "refuted"
    assert found.verdict == "refuted"


def test_a_page_says_what_was_tested(report):
    """Control: without `numerics` it says that production was not audited."""
    plain = vdp.audit(rule(), budget="smoke", mutants=False)
    told, silent = (reviewed(one.record) for one in (report, plain))
    assert "whose last bits were tested: not refuted" in rows_audited.sampler(told)
    assert "was not tested here" in rows_audited.sampler(silent)
    caveats = [[line for line, _ in summary_card.of(one).caveats] for one in (told, silent)]
    assert not any("The noise generator that you will run" in line for line in caveats[0])
    assert any("The noise generator that you will run" in line for line in caveats[1])
    assert "OpenDP" in page.render(told, drawn=False)


def test_a_re_run_compares_the_verdict_of_what_is_never_drawn_again(report, tmp_path):
    """The counts of secure noise differ; all others are compared exactly."""
    path = tmp_path / "record.json"
    path.write_text(report.to_json())
    again = audited_of_production().record
    mine, theirs = (of_bits(one).statistics for one in (report, vdp.Report(again)))
    assert {key: mine[key] for key in ("k1", "k0")} != {key: theirs[key] for key in ("k1", "k0")}
    assert verify(path, rerun=lambda record: again).rerun
    other = json.loads(json.dumps(again))
    other["checks"][0]["statistics"]["examined"] += 1
    with pytest.raises(InputError, match="a rerun differs"):
        verify(path, rerun=lambda record: other)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ucb1", "`numerics` works only with your own mechanism"),
        ("dp-lin-ucb", "`numerics` works only with your own mechanism"),
        ("shuffled-linear", "a single report or draw may cost more than epsilon; audit it without numerics"),
    ],
)
def test_what_has_no_such_noise_is_refused(name, words):
    auditor = entries.auditor(name)
    algorithm = auditor.algorithm(**auditor.instance)
    with pytest.raises(InputError, match=words):
        vdp.audit(algorithm, budget="smoke", numerics=True)


@pytest.mark.parametrize(("name", "numerics"), [("shuffled-linear", False), ("dp-se", True), ("ucb1", False)])
def test_what_may_be_asked_is_planned(name, numerics, monkeypatch):
    """Broken variant: what promises a delta is refused without numerics, too."""

    class Planned(Exception):
        pass

    def plan_of(*_):
        raise Planned

    monkeypatch.setattr("verifiable_dp.auditing.algorithms.plan_of", plan_of)
    auditor = entries.auditor(name)
    with pytest.raises(Planned):
        vdp.audit(auditor.algorithm(**auditor.instance), budget="smoke", numerics=numerics)


def test_the_record_is_whole(report):
    assert Record.of(report.record).plan.numerics is True


@pytest.mark.parametrize(
    ("scales", "values", "hidden", "found"),
    [
        ((2.0, 2.0), (0.0, 1.0), None, [(0.0, 1.0, 2.0)]),
        ((2.0, 2.0), (1.0, 1.0), None, []),  # nothing differs
        ((2.0, 1.0), (0.0, 1.0), None, []),  # nor is it the same noise
        ((0.0, 0.0), (0.0, 1.0), None, []),  # nor any
        ((2.0, 2.0), (0.0, 1.0), "outcome", [(0.0, 1.0, 2.0)]),  # half the claim
        ((1.0, 1.0), (0.0, 1.0), "outcome", [(0.0, 1.0, 1.0)]),  # the claim
        ((0.9, 0.9), (0.0, 1.0), "outcome", []),  # shown it would cost more
    ],
)
def test_which_entries_of_two_draws_are_compared(scales, values, hidden, found):
    one, two = (
        SimpleNamespace(
            normal=False,
            freedom=0,
            value=np.array([[value]]),
            scale=np.array([[scale]]),
            where=np.array([[True]]),
            hidden=hidden,
            count=None,
            excess=0.0,
        )
        for value, scale in zip(values, scales, strict=True)
    )
    made = production._pairs(one, two, 1.0)
    assert [(float(pair.left[0]), float(pair.right[0]), pair.scale) for pair in made] == found


# Raw data that decides where replays on neighbours cannot tell what it gives away is a lead.


@pytest.mark.parametrize(
    ("play", "leads"),
    [
        (unsettled.leak_of_a_pattern, True),
        (unsettled.leak_of_a_nested_pattern, True),
        # Control: one plain question before the noise, whose answers were all seen, is left to replays.
        (unsettled.right_count, False),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_raw_decision_that_replays_do_not_settle_is_a_lead(play, leads):
    """Three rewards have to meet for the leak: neighbours of plain tables never show it."""
    inputs = Inputs(3, 24)
    bound, why, lead = traced.bound(play, play.__name__, inputs, 0.0)
    assert bound is None
    assert "raw rewards decide a branch" in why.what
    assert (lead is not None) == leads
    # Replays of the right code say nothing against it: what follows is due to the lead alone.
    check, _ = traced.trace(unsettled.right_count, "it", 1.0, inputs, 0, traced.Effort(12, most=12))
    assert conclude.lead(read_all([check.as_dict()])) == ""
    if lead is not None:
        said = conclude.lead(read_all([traced.with_lead(check, lead).as_dict()]))
        assert said == (
            f"we cannot tell whether noise hides the values that decide at {lead['file']}:{lead['line']}"
        )
        assert conclude.conclusion(read_all([traced.with_lead(check, lead).as_dict()])) == (
            "inconclusive",
            "lead",
        )


def one_question(rewards, rng):
    return [0 if rewards[0, 0] > 0.7 else 1] * len(rewards)


def one_of_two_questions(rewards, rng):
    return [0 if rewards[0, 0] > 0.7 and rewards[1, 0] < 0.3 else 1] * len(rewards)


def one_question_after_another(rewards, rng):
    """Both answers of the first are seen on plain data, of the last one only."""
    arm = 5
    if rewards[0, 0] > 0.7:
        arm -= 1
        if rewards[1, 0] > 0.7:
            arm -= 1
            if rewards[2, 0] < 0.3:
                arm -= 1
                if rewards[3, 0] < 0.3:
                    arm -= 1
    return [arm // 5] * len(rewards)


def one_that_fails_on_some_data(rewards, rng):
    if rewards[0, 0] > 0.7:
        if rewards.sum() == 12.0:
            raise ValueError
        return [0] * len(rewards)
    return [1] * len(rewards)


def none(rewards, rng):
    return [int(rewards[0, 0] + rng.laplace() > 0.7)] * len(rewards)


def another_end(rewards, rng):
    return [int(rewards[0, 0] * 10)] * len(rewards)


@pytest.mark.parametrize(
    ("play", "open_"),
    [
        (one_question, False),
        (one_of_two_questions, True),
        (one_question_after_another, True),
        (one_that_fails_on_some_data, False),  # the audit tells of it where it plays
        (none, False),
        (another_end, False),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_which_raw_decisions_are_open(play, open_):
    program = bounded_programs.Program(play, (6, 2), (0.0, 1.0))
    found = paths.explore(program, 2, most=6)
    assert paths.unsettled(program, found) is open_


class Awaited:
    """One sum an arm, released once; half of the noise costs twice as much."""

    noise = 1.0

    def __init__(self, n_arms, rng):
        self.rng, self.sums, self.t, self.best = rng, [0.0] * n_arms, 0, None

    async def released(self):
        await asyncio.sleep(0)
        return np.array(self.sums) + self.rng.laplace(0, self.noise, len(self.sums))

    async def select(self):
        if self.t < 4:
            return self.t % len(self.sums)
        if self.best is None:
            self.best = int(np.argmax(await self.released()))
        return self.best

    async def update(self, arm, reward):
        if self.t < 4:
            self.sums[arm] += reward
        self.t += 1


class AwaitedHalf(Awaited):
    noise = 0.5


class Locked(Awaited):
    def __init__(self, n_arms, rng):
        super().__init__(n_arms, rng)
        self.lock = asyncio.Lock()

    async def select(self):
        async with self.lock:
            return await super().select()


def functional(rewards, rng):
    """The sums turn as often as there are arms, whatever is drawn."""
    sums, arms, best = (0.0,) * rewards.shape[1], [], None
    for t in range(len(rewards)):
        if t == 4:
            best = int(np.argmax(np.array(sums) + rng.laplace(0, 1.0, len(sums))))
        arms.append(t % len(sums) if t < 4 else best)
        sums = tuple(s + rewards[t, arms[-1]] * (i == arms[-1]) for i, s in enumerate(sums))
    return np.array(arms)


@pytest.mark.parametrize(
    ("target", "epsilon", "what"),
    [(Awaited, 1.0, None), (AwaitedHalf, 2.0, None), (Locked, None, "unfollowed"), (functional, None, None)],
)
def test_a_line_that_is_not_followed_accuses_nobody(target, epsilon, what):
    """It was said that raw data decide at a lock, at an await and where sums are added up."""
    played = BanditClass(target, GivenRole()) if inspect.isclass(target) else target
    bound, _, lead = traced.bound(played, target.__name__, Inputs(2, 8), 0.0)
    assert (bound and bound.epsilon) == (epsilon and pytest.approx(epsilon))
    assert (lead and lead["what"]) == what
    assert lead is None or "decide" not in lead["words"]


@pytest.mark.parametrize("play", seldom.UNSETTLED, ids=lambda f: f.__name__)
def test_what_is_raw_on_a_path_that_was_forced_is_a_lead(play):
    """Runs hardly ever come there: neither replays nor the black box would tell of it."""
    bound, why, lead = traced.bound(play, play.__name__, Inputs(2, 24), 0.0)
    assert bound is None
    assert "raw rewards" in why.what
    assert lead is not None
    assert lead["open"]


def test_what_is_raw_in_every_run_is_left_to_replays():
    def play(rewards, rng):
        return [int(rewards[0, 0] > rng.random() / 2)] * len(rewards)

    bound, _, lead = traced.bound(play, "play", Inputs(2, 24), 0.0)
    assert bound is None
    assert lead is None


@pytest.mark.parametrize(
    ("seeds", "leads"), [(1000, True), (2**31, True), (2**62 - 1, True), (2**62, False), (2**63 - 1, False)]
)
def test_noise_of_few_seeds_is_a_lead(seeds, leads):
    """It takes as few values as its seed: no sample tells of it. Control: seeds that nobody can try out."""

    def play(rewards, rng):
        noise = np.random.default_rng(int(rng.integers(seeds)))
        return [int(rewards[0, 0] + noise.laplace() > 0.5)] * len(rewards)

    bound, _, lead = traced.bound(play, "play", Inputs(2, 24), 0.0)
    assert (bound is None) == leads
    assert (lead is not None) == leads
    if lead is not None:
        check, _ = traced.trace(
            unsettled.right_count, "it", 1.0, Inputs(3, 24), 0, traced.Effort(12, most=12)
        )
        with_it = read_all([traced.with_lead(check, lead).as_dict()])
        assert ", noise takes only a few values" in conclude.lead(with_it)
        assert conclude.conclusion(with_it) == ("inconclusive", "lead")


# Power by the code's own epsilon: the code is made for a larger one, whatever its mechanism draws from.


LIMITS = {"epsilon": 1.0, "budget": "smoke"}


def inverted(data, size, rng, epsilon):
    """Laplace noise from uniform draws, which no generator can scale."""
    u = rng.random(size) - 0.5
    return np.sum(data) - np.sign(u) * np.log(1 - 2 * abs(u)) / epsilon


def renamed(data, size, rng, level):
    return inverted(data, size, rng, level)


def bare(data, size, rng):
    return inverted(data, size, rng, 1.0)


def strict(data, size, rng, epsilon):
    if epsilon > 1:
        raise ValueError("epsilon must be at most 1")
    return np.sum(data) + rng.laplace(scale=1 / epsilon, size=size)


def ignoring(data, size, rng, epsilon):
    return np.sum(data) + rng.laplace(size=size)


class Coin:
    """Plays the arm that a randomised response of the last reward names."""

    def __init__(self, n_arms, eps=0.5):
        self.keeps, self.last = 1 / (1 + np.exp(-eps)), 0

    def select(self, rng):
        return self.last if rng.random() < self.keeps else 1 - self.last

    def update(self, arm, reward):
        self.last = int(reward > 0.5)


@dataclasses.dataclass
class Settings:
    epsilon: float = 2.0


def configured(config, rng):
    return Coin(2, config["epsilon"])


def nested(n_arms, settings: Settings):
    return Coin(n_arms, settings.epsilon)


Settings.__module__ = __name__
nested.__annotations__["settings"] = Settings


@pytest.mark.parametrize(
    ("target", "given", "found"),
    [
        (inverted, GivenRole(0.7), ("epsilon", 0.7)),
        (inverted, GivenRole(0.7, parameters={"epsilon": 3}), ("epsilon", 3.0)),
        (renamed, GivenRole(0.7), None),
        (renamed, GivenRole(0.7, epsilon_parameter="level"), ("level", 0.7)),
        (bare, GivenRole(0.7), None),
        (Coin, GivenRole(0.7), ("eps", 0.5)),
        (Coin, GivenRole(0.7, epsilon_parameter="eps"), ("eps", 0.7)),
        (Coin, GivenRole(0.7, parameters={"eps": True}), None),
        (Coin, GivenRole(None), None),
        (configured, GivenRole(0.7), ("", 0.7)),
        (nested, GivenRole(0.7), ("epsilon", 2.0)),  # a field keeps its default, as a parameter does
    ],
)
def test_the_parameter_that_is_epsilon(target, given, found):
    assert epsilon_of(target, given) == found


def test_code_is_made_for_a_larger_epsilon():
    """The share of kept answers is that of the larger epsilon, e^(c eps) / (1 + e^(c eps))."""
    rewards = np.ones((4000, 2))
    for target, given, epsilon in (
        (Coin, GivenRole(0.7), 1.5),
        (Coin, GivenRole(0.7, epsilon_parameter="eps"), 2.1),
        (configured, GivenRole(0.7), 2.1),
    ):
        arms = made_for(target, given, 3.0)(rewards, np.random.default_rng(1))
        assert arms[1:].mean() == pytest.approx(1 / (1 + np.exp(-epsilon)), abs=0.03)


def test_power_of_noise_that_no_generator_scales():
    """Without the parameter the same noise leaves the power unknown."""
    report = api.audit(inverted, **LIMITS)
    power = report.record["power"]
    assert 1 < power["smallest_epsilon"] <= 6
    assert power["variant"] == {"of": "parameter", "parameter": "epsilon", "stated": "nominal"}
    assert "times its epsilon (parameter epsilon) was refuted" in power_words.power(Record.of(report.record))
    validate(report.record)
    without = api.audit(bare, **LIMITS)
    assert without.record["power"] is None
    assert "changed nothing" in without.record["target"]["note"]


def test_the_parameter_can_be_named():
    with pytest.raises(InputError, match=r"got parameters|parameter level"):
        api.audit(renamed, **LIMITS)
    report = api.audit(renamed, **LIMITS, epsilon_parameter="level")
    assert "(parameter level)" in power_words.power(Record.of(report.record))
    assert report.record["target"]["parameters"]["epsilon_parameter"] == "level"
    again = api.rerun(report.record)
    assert plain(again["power"]) == plain(report.record["power"])
    with pytest.raises(InputError, match="epsilon_parameter: renamed has no parameter eps; accepted: level"):
        api.audit(renamed, **LIMITS, epsilon_parameter="eps")


@pytest.mark.parametrize("target", [strict, ignoring])
def test_code_that_refuses_or_ignores_a_larger_epsilon_has_its_noise_scaled(target):
    report = api.audit(target, **LIMITS)
    assert report.record["power"]["variant"]["of"] == "generator"
    assert "noise of the generator divided by" in power_words.power(Record.of(report.record))


def bandit(rewards, rng):
    return [int(rng.integers(2)) for _ in rewards]


@pytest.mark.parametrize(("target", "observe"), [(bandit, "releases"), (bare, "actions")])
def test_what_others_see_of_code_is_not_chosen(target, observe):
    """Broken variant: it is dropped, so that a record claims something else than was asked."""
    more = {"n_arms": 2, "horizon": 4} if observe == "releases" else {}
    with pytest.raises(
        InputError, match=r"observe must be '(actions|releases)' for a (bandit|mechanism) of your"
    ):
        api.audit(target, **LIMITS, **more, observe=observe)
