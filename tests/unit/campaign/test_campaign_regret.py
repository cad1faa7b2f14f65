"""Claims about the regret of one's own code in a campaign: what is accepted, and that they fail closed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import small_records
from tests.commands import PATIENCE, run
from verifiable_dp.campaign import entries
from verifiable_dp.campaign import file as campaign_file
from verifiable_dp.campaign.judge import judge
from verifiable_dp.core.validate import InputError
from verifiable_dp.record.model import Record
from verifiable_dp.record.verify import verify

ROOT = Path(__file__).parents[3]
CODE = """
import numpy as np

def play(rewards, rng):
    return rng.integers(2, size=len(rewards))

def broken(rewards, rng):
    raise OSError("no such model")

def half(gaps, horizon):
    return 0.55 * gaps.max() * horizon
"""
ROW = """
[[targets]]
name = "{0}"
target = "own.py:{1}"
arms = 2
horizon = 200
regret = {{ runs = 64, environments = [[0.9, 0.1]], {2} }}
"""
# Uniform play has regret 80 there, of 160 at most.
CASES = {
    "holds": ("play", 'bound = "own.py:half"', 0),
    "fails": ("play", "bound = 40", 1),
    "vacuous": ("play", "bound = 500", 3),
    "undecided": ("play", "bound = 80", 3),
    "stops": ("broken", "bound = 40", 2),
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "own.py").write_text(CODE, "utf-8")
    return tmp_path


def rows(*names):
    return "".join(ROW.format(name, *CASES[name][:2]) for name in names)


def write(folder, text):
    (folder / "c.toml").write_text(text, "utf-8")
    return folder / "c.toml"


@pytest.mark.parametrize("name", CASES)
def test_the_exit_status_is_that_of_the_verdict_on_regret(name, folder):
    path, status = write(folder, rows(name)), CASES[name][2]
    done = campaign_file.run(path, out=folder / "out")
    assert done.exit_status == status
    # It follows from the record alone, too.
    assert judge(folder / "out", [], path).exit_status == status


@pytest.mark.slow
def test_the_worst_of_all_counts_and_the_record_runs_again(folder):
    path = write(folder, rows("holds", "vacuous", "fails"))
    done = run(folder, "campaign", path, "--out", "out")
    assert done.exit_code == 1, done.output
    record = verify(folder / "out/fails/record.json").record
    assert (record["regret"]["verdict"], record["checks"]) == ("contradicted", [])
    assert run(folder, "verify", "out/fails/record.json", "--rerun").exit_code == 0
    said = list[str]()
    assert campaign_file.run(path, out=folder / "out", resume=True, progress=said.append).exit_status == 1
    assert "3 of 3 targets were already finished" in said


def test_a_record_of_the_other_kind_answers_nothing(folder):
    """A claim about regret that holds says nothing about a promise of privacy, nor the other way round."""
    path = write(folder, rows("holds"))
    campaign_file.run(path, out=folder / "out")
    assert judge(folder / "out", [], path).exit_status == 0
    write(
        folder, '[[targets]]\nname = "holds"\ntarget = "own.py:play"\nepsilon = 1\narms = 2\nhorizon = 200\n'
    )
    judged = judge(folder / "out", [], path)
    assert (judged.exit_status, judged.failed) == (
        2,
        [f"{path}: holds: its record lacks the checks that this entry asks for"],
    )
    # The other way round.
    (entry,) = entries.read(write(folder, rows("holds"))).entries
    record = verify(folder / "out/holds/record.json").record
    assert not campaign_file.unanswered(entry, folder, Record.of(record))
    other = {**record, "regret": None, "checks": small_records.small()["checks"]}
    assert campaign_file.unanswered(entry, folder, Record.of(other))


def test_defaults_for_audits_are_left_out(folder):
    text = (
        "[defaults]\nepsilon = 1.0\nalpha = 1e-6\nmutants = false\nseed = 5\nregret = true\nhorizon = 9\n\n"
    )
    (entry,) = entries.read(write(folder, text + rows("holds"))).entries
    assert entry.options == {"n_arms": 2, "horizon": 200, "seed": 5}
    assert entry.claims == {"runs": 64, "environments": [[0.9, 0.1]], "bound": "own.py:half"}


DEFAULTS = '[defaults]\nepsilon = 1\nrequire = "tested-paths"\n'
PRIVACY = '[[targets]]\ntarget = "own.py:play"\narms = 2\nhorizon = 9\n'


def test_defaults_about_privacy_that_apply_to_nothing_are_said(folder):
    """Evidence that they require is missing then. Controls: they apply elsewhere; there are none."""
    path = write(folder, DEFAULTS + rows("holds"))
    done = run(folder, "campaign", path, "--out", "out")
    assert "entry holds: only its regret was checked, so epsilon, require in [defaults]" in done.output
    missing = "not enough evidence: no record is about privacy; tested-paths is required"
    assert (done.exit_code, missing in done.output) == (3, True)
    done = run(folder, "judge", "out", "--campaign", path)
    assert (done.exit_code, missing in done.output) == (3, True)
    found = entries.read(write(folder, DEFAULTS + rows("holds") + PRIVACY))
    assert (found.unaudited, found.require) == ([], "tested-paths")
    found = entries.read(write(folder, rows("holds")))
    assert (found.unaudited, found.require) == ([], "detectable")
    assert run(folder, "judge", "out", "--campaign", path).exit_code == 0


BASE = '[[targets]]\ntarget = "own.py:play"\narms = 2\nhorizon = 200\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BASE + "regret = true", "regret must be a table of claims such as { scaling"),
        (BASE + "regret = { runs = 3 }", "regret must contain bound, scaling or better_than"),
        (BASE + "regret = { bound = -1 }", "bound must be a number greater than 0"),
        (BASE + "regret = { bound = 0 }", "bound must be a number greater than 0"),
        (BASE + "regret = { bounds = 1 }", "regret: 'bounds' is unknown; accepted: bound, scaling"),
        (BASE + 'regret = { scaling = { T = "fast" } }', "scaling: T must be an exponent"),
        (BASE + "regret = { bound = 1, runs = 1 }", "runs must be an integer of at least 2"),
        (BASE + "regret = { bound = 1, environments = 3 }", "environments must be lists of means"),
        (BASE + 'regret = { bound = "none.py:f" }', "no file 'none.py'"),
        (BASE + 'regret = { better_than = "none.py:f" }', "no file 'none.py'"),
        (
            BASE + "epsilon = 1\nregret = { bound = 1 }",
            "epsilon cannot be combined with regret; accepted: arms",
        ),
        (
            BASE + 'budget = "smoke"\nregret = { bound = 1 }',
            "budget must be one of quick, standard, thorough",
        ),
        ('[[targets]]\nexec = "x"\nregret = { bound = 1 }', "'regret' is unknown"),
    ],
)
def test_what_is_wrong_is_named_before_anything_runs(text, said, folder):
    with pytest.raises(InputError) as caught:
        entries.read(write(folder, text))
    assert said in str(caught.value)
    assert str(caught.value).startswith("campaign: target 1 (")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "status"),
    [("--bound own.py:half", 0), ("--bound 40", 1), ("--bound 500", 3), ("", 2)],
)
def test_the_script_of_the_action_ends_as_the_check_does(options, status, folder):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    given = {**os.environ, "PATH": path, "CHECK": "regret", "TARGETS": "own.py:play", "REPORTS": "out"}
    fixed = ["--arms", "2", "--horizon", "200", "--means", ".9,.1", "--runs", "64"]
    script = ["bash", str(ROOT / "ci/audit.sh"), *(fixed if options else fixed[:4]), *options.split()]
    done = subprocess.run(script, cwd=folder, env=given, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == status, done.stdout + done.stderr
    assert (folder / "out/index.html").is_file() == (status != 2)
    assert "command not found" not in done.stderr
