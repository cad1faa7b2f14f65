"""What was asked is written before any code runs, and nothing the code answers can stand in its place."""

import json
import sys

import pytest

import verifiable_dp as vdp
from tests.commands import run, writes_files
from tests.e2e.test_child import forkable  # noqa: F401  used in every test here
from verifiable_dp.core.validate import InputError
from verifiable_dp.record import requested
from verifiable_dp.record.requests import asked_of
from verifiable_dp.record.sealing import sealed
from verifiable_dp.targets import child

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked on Linux")

RIGHT = "def right(data, size, rng):\n    return data + rng.laplace(0, 1, size)\n"
PLAY = "def play(rewards, rng):\n    return (rng.random(len(rewards)) < 0.5).astype(int)\n"
# It changes what its process sends, as any code could that knows ours: whole drafts, where regret is checked.
EVIL = """
from verifiable_dp.targets import child

send = child._send

def other(channel, message):
    if "answer" in message:
        edit(message["answer"], message["answer"]["draft"])
    send(channel, message)

child._send = other
"""
QUICK = ("--epsilon", 1, "--runs", 400)
REGRET = ("--bound", 50, "--arms", 2, "--horizon", 20, "--runs", 9)
EDITS = {
    "declarations": ('draft["declarations"] = {}', "part is 'declarations' instead"),
    "kill table": ('draft["kill_table"] = None', "part is 'kill_table' instead"),
    "baseline": ('draft["target"]["role"] = "baseline"', "role is 'baseline' instead"),
    "paper": ('draft["target"]["paper"] = "S1"', "paper is 'S1' instead"),
    "algorithm": ('draft["target"]["kind"] = "algorithm"', "kind algorithm is True instead"),
    "model": ('draft["target"]["model"] = "certified"', "model is 'certified' instead"),
    "source": ('draft["target"]["source"]["sha256"] = "0" * 64', "but that is not a file that we run"),
    "loads": ('draft["target"]["source"]["loads"] = {"b": "0" * 64}', "but that is not a file that we run"),
    "seed": ('draft["seed"] = 7', "seed is 7 instead of 0"),
    "result": (
        'draft["regret"]["checks"][0]["statistics"] = {}',
        "a draft of the record that we cannot read",
    ),
    "no checks": ('draft["checks"] = 3', "its process sent a draft of the record that we cannot read"),
    "mutants": ('draft["mutants"] = [{"checks": []}]', "mutants is 1 instead of 0"),
    "runs": ('draft["plan"]["regret"]["runs"] = 2', "runs is 2 instead of 9"),
    "no draft": ('del draft["plan"]', "cannot be compared"),
}


@pytest.mark.parametrize("name", EDITS)
def test_code_cannot_answer_another_question(name, tmp_path):
    edit, said = EDITS[name]
    code = f"{PLAY}{EVIL}\ndef edit(answer, draft):\n    {edit}\n"
    (tmp_path / "a.py").write_text(code, "utf-8")
    done = run(tmp_path, "regret", "a.py:play", *REGRET, "--json", "r.json")
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert not (tmp_path / "r.json").exists()


def test_a_bandit_is_not_answered_by_a_mechanism(tmp_path):
    """Control: without the lie it is refuted. Nor is a mechanism asked for with arms."""
    leaks = "def play(rewards, rng):\n    return [0, int(rewards[0, 0] > 0.5)]\n"
    lie = "from verifiable_dp.auditing import rungs\nrungs.taken = lambda *given: ('release', right)\n"
    asked = (*QUICK, "--arms", 2, "--horizon", 2)
    for code, status, said in (
        (leaks, 1, ""),
        (
            f"{RIGHT}{leaks}{lie}",
            2,
            "`n_arms` and `horizon` work only with a bandit",
        ),
        (RIGHT.replace("right", "play"), 2, "`n_arms` and `horizon` work only with a bandit"),
    ):
        (tmp_path / "a.py").write_text(code, "utf-8")
        done = run(tmp_path, "audit", "a.py:play", *asked)
        assert (done.exit_code, said in done.stderr) == (status, True), done.stderr


def test_a_copy_of_the_request_that_was_edited_does_not_hold(tmp_path):
    record = vdp.audit("nas", budget="smoke", mutants=False).record
    asked = {**record["provenance"]["request"], "seed": 7}
    edited = sealed({**record, "provenance": {**record["provenance"], "request": asked}})
    with pytest.raises(InputError, match="request: edited or corrupted"):
        vdp.verify(edited)
    vdp.verify(record)


def test_results_are_made_of_statistics_where_none_of_the_code_runs(tmp_path):
    """A child's results are dropped; control: its statistics count, whoever made them."""
    edit = 'draft["regret"]["checks"][0]["result"] = {"verdict": "consistent"}'
    code = f"{PLAY}{EVIL}\ndef edit(answer, draft):\n    {edit}\n"
    (tmp_path / "a.py").write_text(code, "utf-8")
    above = [0.01 if one == 50 else one for one in REGRET]
    assert run(tmp_path, "regret", "a.py:play", *above).exit_code == 1


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.py").write_text(f"import b\n{RIGHT}", "utf-8")
    (tmp_path / "b.py").write_text("x = 1\n", "utf-8")
    return tmp_path


@writes_files
def test_a_request_names_the_bytes_that_run_and_is_written_before_they_do(folder):
    noted = "import pathlib\npathlib.Path('seen').write_text(str(pathlib.Path('q.json').exists()))\n"
    (folder / "b.py").write_text(noted, "utf-8")
    assert run(
        folder, "audit", "a.py:right", *QUICK, "--request", "q.json", "--json", "r.json"
    ).exit_code in (0, 3)
    assert (folder / "seen").read_text() == "True"
    request = requested.read(folder / "q.json")
    assert set(request.target.files) == {"a.py", "b.py"}
    record = vdp.verify(folder / "r.json").record
    assert asked_of(record) == request
    assert record["target"]["source"]["sha256"] == request.target.files["a.py"]


def test_asking_runs_nothing(folder):
    (folder / "a.py").write_text("raise SystemExit(0)\n", "utf-8")
    done = run(folder, "audit", "a.py:right", "--epsilon", 1, "--ask", "q.json")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith(requested.read(folder / "q.json").digest)
    again = run(folder, "audit", "a.py:right", "--epsilon", 1, "--ask", "q.json")
    assert (again.exit_code, "already exists" in again.stderr) == (2, True)
    assert run(folder, "regret", "ucb1", "--bound", "a.py:f", "--ask", "p.json").exit_code == 0
    assert set(requested.read(folder / "p.json").target.files) == {"a.py"}


CHANGES = {
    "the same": ((), "", ""),
    "other seed": (("--seed", 7), "", "seed is 0 there, and 7 here"),
    "other promise": (("--epsilon", 2), "", "claim.epsilon"),
    "other level": (("--alpha", 0.1), "", "level.alpha"),
    "other inputs": (("--bounds", 0, 2), "", "inputs.bounds"),
    "other code": ((), "a.py", "target.files.a.py"),
    "other code that is imported": ((), "b.py", "target.files.b.py"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_request_that_is_there_is_answered_or_refused(name, folder):
    more, changed, said = CHANGES[name]
    assert run(folder, "audit", "a.py:right", *QUICK, "--ask", "q.json").exit_code == 0
    if changed:
        with (folder / changed).open("a") as file:
            file.write("# changed\n")
    done = run(folder, "audit", "a.py:right", *QUICK, *more, "--request", "q.json")
    assert (done.exit_code == 2) == bool(said), done.stderr
    assert said in done.stderr


def test_code_that_changes_after_it_was_asked_for_does_not_run(folder, monkeypatch):
    monkeypatch.chdir(folder)
    served = child.served

    def changed(*given):
        (folder / "a.py").write_text(RIGHT.replace("0, 1", "0, .1"), "utf-8")
        return served(*given)

    monkeypatch.setattr(child, "served", changed)
    with pytest.raises(InputError, match="has changed since the audit was requested"):
        vdp.audit("a.py:right", epsilon=1.0, runs=400)


def test_an_edited_request_is_refused(folder):
    assert run(folder, "audit", "a.py:right", *QUICK, "--ask", "q.json").exit_code == 0
    values = json.loads((folder / "q.json").read_text())
    for edited in ({**values, "seed": 7}, {**values, "more": 1}, sealed({**values, "more": 1}), [1]):
        (folder / "q.json").write_text(json.dumps(edited))
        with pytest.raises(InputError):
            requested.read(folder / "q.json")
    (folder / "q.json").write_text(json.dumps(sealed({**values, "seed": 7})))
    assert requested.read(folder / "q.json").seed == 7
