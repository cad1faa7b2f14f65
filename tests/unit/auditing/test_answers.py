"""A draft that answers another question than was asked is refused, whoever made it."""

import pytest

import verifiable_dp as vdp
from tests.commands import refused, run

# What a file may do to the process that it is audited in, before its code is looked up.
CHANGED = """
import dataclasses
from verifiable_dp import api
from verifiable_dp.auditing import request as requests

make = api._made

def other(request, drafted, checkpoint, **more):
    promise, inputs, settings = request.promise, request.inputs, request.settings
    return make(CHANGE, drafted, checkpoint, **more)

api._made = other

def release(data, size, rng):
    return data + rng.laplace(0, 1, size)

def play(rewards, rng):
    return (rng.random(len(rewards)) < 0.5).astype(int)
"""
REPLACED = "dataclasses.replace(request, {}=dataclasses.replace({}, {}))"


def _replaced(part, change):
    return REPLACED.format(part, part, change)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_replaced("promise", "epsilon=1.0"), "claim's epsilon 1.0, asked was 0.1"),
        (_replaced("promise", "delta=0.9"), "claim's delta 0.9, asked was 0.0"),
        (_replaced("promise", "adjacency='zero-out'"), "claim's unit"),
        (_replaced("settings", "seed=0"), "seed 0, asked was 7"),
        (_replaced("settings", "budget='smoke'"), "budget 'smoke', asked was 'quick'"),
        (_replaced("settings", "runs=500"), "runs"),
        (_replaced("settings", "alpha=1e-9"), "alpha 1e-09, asked was 1e-06"),
        (_replaced("settings", "confidence=0.5"), "confidence 0.5, asked was 0.95"),
        (_replaced("settings", "detect=9.0"), "detect 9.0, asked was 2.0"),
        (_replaced("settings", "sequential=True"), "sequential True, asked was False"),
        (_replaced("settings", "numerics=True"), "numerics True, asked was False"),
        (_replaced("settings", "timeout=9.0"), "timeout 9.0, asked was 60.0"),
        (_replaced("inputs", "bounds=(0.0, 0.01)"), "bounds [0.0, 0.01], asked was [0.0, 1.0]"),
        (_replaced("inputs", "pairs=[(0.0, 0.0)]"), "pairs True, asked was False"),
        (
            "dataclasses.replace(request, name='b.py:release')",
            "target 'b.py:release', asked was 'a.py:release'",
        ),
    ],
)
def test_an_answer_to_another_question_is_refused(change, said, tmp_path):
    (tmp_path / "a.py").write_text(CHANGED.replace("CHANGE", change), "utf-8")
    runs = ("--budget", "quick") if "budget" in change else ("--runs", 400)
    given = ("--epsilon", 0.1, "--seed", 7, *runs, "--json", "r.json")
    line = refused(tmp_path, "audit", "a.py:release", *given)
    assert line.startswith("verifiable-dp: target: another question was answered: ")
    assert said in line
    assert not (tmp_path / "r.json").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_replaced("inputs", "horizon=3"), "horizon 3, asked was 6"),
        (_replaced("inputs", "n_arms=3"), "n_arms 3, asked was 2"),
        (_replaced("promise", "group=2"), "group 2, asked was None"),
        (_replaced("settings", "curve=True"), "curve True, asked was False"),
    ],
)
def test_so_is_one_about_another_bandit(change, said, tmp_path):
    (tmp_path / "a.py").write_text(CHANGED.replace("CHANGE", change), "utf-8")
    given = ("--epsilon", 1, "--arms", 2, "--horizon", 6, "--runs", 400)
    assert said in refused(tmp_path, "audit", "a.py:play", *given)


def test_an_unchanged_question_is_answered(tmp_path):
    (tmp_path / "a.py").write_text(CHANGED.replace("CHANGE", "request"), "utf-8")
    assert run(tmp_path, "audit", "a.py:release", "--epsilon", 1, "--runs", 400).exit_code in (0, 3)
    options = ("--epsilon", 1, "--runs", 400, "--delta", 1e-6, "--arms", 2, "--horizon", 6, "--group", 2)
    assert run(tmp_path, "audit", "a.py:play", *options, "--set", "rng=1").exit_code == 2
    assert run(tmp_path, "audit", "a.py:play", *options, "--detect", 3).exit_code in (0, 3)


REGRET = """
import dataclasses
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
        ("dataclasses.replace(subject, name='b.py:play')", "claims", "more", "target 'b.py:play'"),
        ("subject", "dataclasses.replace(claims, runs=2)", "more", "runs 2, asked was 9"),
        ("subject", "dataclasses.replace(claims, beta=0.5)", "more", "beta 0.5, asked was None"),
        ("subject", "dataclasses.replace(claims, factor=0.5)", "more", "factor 0.5, asked was 1.0"),
        ("subject", "claims", "{**more, 'seed': 0}", "seed 0, asked was 7"),
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
    assert "a.py:one is dp-se of the catalogue: give dp-se" in line


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
