"""Records of bandits with contexts: what they say, that they come out again, what they are compared with."""

import json

import pytest
from click.testing import CliRunner

from tests.user_code import contextual
from verifiable_dp import api
from verifiable_dp.auditing import resume
from verifiable_dp.cli import main
from verifiable_dp.core.neighbours import ContextPair, pair_of
from verifiable_dp.record.model import Record
from verifiable_dp.record.verify import verify
from verifiable_dp.render import diff

ASKED = ("--epsilon", "1", "--arms", "2", "--horizon", "6", "--runs", "400", "--contexts", "2x2")
TARGET = f"{contextual.__file__}:without_noise"


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """Of the same code under three promises."""
    folder, found = tmp_path_factory.mktemp("records"), {}
    for name, more in {
        "joint": ("--model", "joint"),
        "plain": (),
        "reward": ("--model", "joint", "--protects", "reward", "--context-norm", "2"),
    }.items():
        path = folder / f"{name}.json"
        # In this process: what is tested here is the record.
        ran = CliRunner().invoke(
            main,
            ["audit", TARGET, *ASKED, *more, "--in-process", "--json", str(path)],
            catch_exceptions=False,
        )
        assert ran.exit_code == 1, ran.output
        found[name] = json.loads(path.read_text("utf-8"))
    return found


def test_a_record_says_what_is_protected_and_from_whom(records):
    assert {name: record["claim"]["protects"] for name, record in records.items()} == {
        "joint": "context-joint",
        "plain": "context-central",
        "reward": "reward-joint",
    }
    for record in records.values():
        assert verify(record).checks
        pair = pair_of(record["counterexamples"][0]["pair"])
        assert isinstance(pair, ContextPair)
    assert records["reward"]["target"]["parameters"]["contexts"] == "2x2"
    assert pair_of(records["reward"]["counterexamples"][0]["pair"]).form.norm == 2.0


def test_records_that_protect_something_else_are_not_compared(records):
    """Negative control: a record is comparable with itself."""
    for other in ("plain", "reward"):
        outcome = diff.compare(Record.of(records["joint"]), Record.of(records[other]))
        assert outcome.outcome == "not_comparable"
        assert any("different protects" in reason for reason in outcome.not_comparable)
    assert diff.compare(Record.of(records["joint"]), Record.of(records["joint"])).outcome == "same"


def test_a_record_comes_out_again(records):
    again = api.rerun(records["reward"], in_process=True)
    first = records["reward"]
    assert again["checks"] == first["checks"]
    assert again["claim"] == first["claim"]
    assert again["counterexamples"] == first["counterexamples"]
    assert again["target"]["parameters"] == first["target"]["parameters"]


def test_a_checkpoint_holds_pairs_of_users(records):
    pair = pair_of(records["joint"]["counterexamples"][0]["pair"])
    back = resume.unpacked(resume.packed({"pair": pair}))["pair"]
    assert isinstance(back, ContextPair)
    assert back.as_dict() == pair.as_dict()


def test_a_claim_that_says_something_else_does_not_verify(records):
    """A sentence that is none of the four does not fit the schema, whatever its digest."""
    from verifiable_dp.core.validate import InputError
    from verifiable_dp.record.sealing import digest

    edited = {
        **records["joint"],
        "claim": {**records["joint"]["claim"], "protects": "everything, from everybody"},
    }
    with pytest.raises(InputError, match=r"claim"):
        verify({**edited, "digest": digest(edited)})
