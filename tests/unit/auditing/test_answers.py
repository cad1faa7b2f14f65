"""A draft that answers another question than was asked is refused, whoever made it."""

import pytest

import verifiable_dp as vdp
from tests.commands import refused, run
from verifiable_dp.auditing import answers
from verifiable_dp.core.validate import InputError


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
    ("release", "claim", {"epsilon": 1.0}, "claim's epsilon 0.5, asked was 1.0"),
    ("release", "claim", {"delta": 0.9}, "claim's delta 0.0, asked was 0.9"),
    ("release", "claim", {"adjacency": "zero-out"}, "claim's unit"),
    ("release", "", {"seed": 0}, "seed 7, asked was 0"),
    ("release", "plan", {"budget": "smoke"}, "budget 'quick', asked was 'smoke'"),
    ("release", "plan", {"runs": 500}, "runs"),
    ("release", "level", {"alpha": 1e-9}, "alpha 1e-06, asked was 1e-09"),
    ("release", "level", {"confidence": 0.5}, "confidence 0.95, asked was 0.5"),
    ("release", "plan", {"detect": 9.0}, "detect 2.0, asked was 9.0"),
    ("release", "plan", {"sequential": True}, "sequential False, asked was True"),
    ("release", "plan", {"numerics": True}, "numerics False, asked was True"),
    ("release", "plan", {"timeout": 9.0}, "timeout 60.0, asked was 9.0"),
    ("release", "inputs", {"bounds": [0.0, 0.01]}, "bounds [0.0, 1.0], asked was [0.0, 0.01]"),
    ("release", "inputs", {"pairs": [[0.0, 0.0]]}, "pairs False, asked was True"),
    ("release", "target", {"name": "b.py:release"}, "target 'release', asked was 'b.py:release'"),
    ("release", "target", {"parameters": {"scale": 2}}, "parameters {}, asked was {'scale': 2}"),
    ("play", "inputs", {"horizon": 3}, "horizon 6, asked was 3"),
    ("play", "inputs", {"n_arms": 3}, "n_arms 2, asked was 3"),
    ("play", "claim", {"group": 3}, "group 2, asked was 3"),
    ("play", "plan", {"curve": True}, "curve False, asked was True"),
    ("play", "plan", {"detect": 2.0}, "detect 3.0, asked was 2.0"),
]


@pytest.mark.parametrize(("name", "part", "change", "said"), OTHERS)
def test_an_answer_to_another_question_is_refused(name, part, change, said, answered):
    """Control: the question that was asked is answered."""
    record, asked = answered[name]
    answers.of_request(record, asked)
    asked = {**asked, **change} if not part else {**asked, part: {**asked[part], **change}}
    with pytest.raises(InputError) as caught:
        answers.of_request(record, asked)
    assert str(caught.value).startswith("target: another question was answered: ")
    assert said in str(caught.value)


def test_a_parameter_that_the_code_does_not_have_is_no_question(tmp_path):
    (tmp_path / "a.py").write_text("def play(rewards, rng):\n    return [0] * len(rewards)\n", "utf-8")
    asked = ("--epsilon", 1, "--runs", 400, "--arms", 2, "--horizon", 6, "--set", "rng=1")
    assert "play has no parameter rng" in refused(tmp_path, "audit", "a.py:play", *asked)


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
