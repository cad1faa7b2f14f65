"""Campaign files: what is accepted, what is run, what is kept, and what happens when writing fails."""

import ast
import contextlib
import errno
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import types
from dataclasses import replace
from pathlib import Path

import pytest

import verifiable_dp as vdp
from tests import commands
from verifiable_dp import api, pytest_plugin
from verifiable_dp.api import isolation
from verifiable_dp.auditing import identity
from verifiable_dp.campaign import baseline, entries, examples, file, settings
from verifiable_dp.campaign import file as campaign_file
from verifiable_dp.campaign import run as campaign
from verifiable_dp.campaign.baseline import Baseline
from verifiable_dp.campaign.examples import Examples
from verifiable_dp.campaign.judge import judge
from verifiable_dp.core.files import write_text
from verifiable_dp.core.validate import InputError
from verifiable_dp.record import requests
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import sealed
from verifiable_dp.record.verify import verify
from verifiable_dp.render.findings import FindingCode, findings
from verifiable_dp.render.sarif import to_sarif
from verifiable_dp.report import Report
from verifiable_dp.targets.cage import Caged
from verifiable_dp.targets.opened import ABSENT

DOCS = Path(__file__).parents[3] / "docs" / "campaigns.md"
OWN = """
import numpy as np
import helper

def right(data, size, rng):
    return np.asarray(data).sum() + rng.laplace(0, helper.SCALE, size)

def wrong(data, size, rng):
    raise OSError("no such model")
"""
SMALL = """
[defaults]
budget = 0.02
mutants = false
epsilon = 1.0

[[targets]]
target = "tree-sum"

[[targets]]
name = "other-tree"
target = "tree-sum"
parameters = { epsilon = 0.5 }
seed = 3
"""
RECORD = Path(__file__).parents[3] / "reports" / "tree-sum" / "record.json"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "helper.py").write_text("SCALE = 1\n")
    return tmp_path


def write(folder, text, name="c.toml"):
    path = folder / name
    path.write_text(text)
    return path


BASE = '[[targets]]\ntarget = "own.py:right"\nepsilon = 1\n'
BAD = [
    ("", "[[targets]] must occur 1 to 1000 times"),
    ("targets = 3", "[[targets]] must occur"),
    ("a = ", "is not TOML"),
    ("more = 1\n" + BASE, "'more' is unknown; accepted: baseline, defaults, targets"),
    ("defaults = 1\n" + BASE, "defaults must be a table"),
    (
        "[defaults]\nbudgets = 1\n" + BASE,
        "defaults: 'budgets' is unknown; accepted: budget, require, seed, alpha",
    ),
    (BASE + "horizons = 3", "target 1 (own.py:right): 'horizons' is unknown; accepted: name, target"),
    (BASE + 'exec = "x"', "must have either the key target or the key exec"),
    ("[[targets]]\nname = 'x'", "must have either the key target or the key exec"),
    (BASE + "budget = 0", "budget must be one of quick, standard, thorough or a positive number"),
    (BASE + "budget = true", "budget must be one of"),
    (BASE + "budget = 1" + "0" * 400, "budget must be one of"),
    (BASE + "seed = -1", "seed must be an integer of at least 0"),
    (BASE + "alpha = 1", "alpha must lie in the open interval"),
    (BASE + "delta = 1", "delta must lie in [0, 1)"),
    (BASE + "bounds = [1, 0]", "bounds must be finite with LOW < HIGH"),
    (BASE + "sequential = 1", "sequential must be true or false"),
    (BASE + 'observe = "all"', "observe must be one of actions"),
    (BASE + 'name = "../up"', "name must be a folder name"),
    (BASE + 'name = "Schema"', "name must be a folder name"),
    ('[[targets]]\nexec = "x"\nepsilon = 1\nparameters = { a = 1 }', "'parameters' is unknown"),
    (BASE + 'declarations = "none.toml"', "none.toml' cannot be read"),
    (BASE + BASE, "targets 1 and 2 have the same name 'own-right'"),
    ('[[targets]]\ntarget = "own.py:right"', "epsilon must be given"),
    ('[[targets]]\ntarget = "none.py:right"\nepsilon = 1', "no file 'none.py'"),
    ('[[targets]]\ntarget = "dp-see"', "dp-see"),
    ('[[targets]]\ntarget = "dp-se"\nepsilon = 2', "'epsilon' is unknown; accepted: name, target"),
    ('[[targets]]\ntarget = "dp-se"\nparameters = { epsilon = 0 }', "epsilon must"),
    ('[[targets]]\ntarget = "dp-se"\nparameters = { arms = 3 }', "arms"),
    (
        '[[targets]]\ntarget = "dp-se"\nregret = true\nmutants = false',
        "mutants cannot be combined with regret",
    ),
    ('[[targets]]\ntarget = "dp-se"\nregret = true\nbudget = 3', "budget must be one of"),
    ("[[targets]]\nexec = \"'\"\nname = 'x'\nepsilon = 1", "cannot be split"),
]


def test_the_table_of_keys_holds_all_that_are_accepted():
    """And for which targets. Broken variant: a key is accepted that no page names."""
    rows = re.findall(r"^\| (`.*?`) \| (.*?) \| .* \|$", DOCS.read_text("utf-8"), re.MULTILINE)
    named = {(key, of) for keys, of in rows for key in re.findall(r"`(\w+)`", keys)}
    assert named == {
        ("target", "all"),
        ("exec", "all"),
        ("name", "all"),
        *((key, "all") for key in entries._EVERY),
        *((key, "catalogue") for key in entries._LISTED),
        *((key, "your own") for key in entries._OWN),
        *((key, "your own Python code") for key in entries._PYTHON),
        *((key, "`exec`") for key in entries._COMMAND),
    }


@pytest.mark.parametrize(("text", "said"), BAD)
def test_what_is_wrong_is_named_before_anything_runs(text, said, folder):
    with pytest.raises(InputError) as caught:
        entries.read(write(folder, text))
    assert said in str(caught.value)
    assert str(caught.value).startswith("campaign: ")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_missing_or_too_large_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"cannot be read"):
        entries.read(tmp_path / "none.toml")
    with pytest.raises(InputError, match="larger than 1 MiB"):
        entries.read(write(tmp_path, "#" * (1 << 20) + "\n"))


def test_defaults_apply_where_they_can(folder):
    text = """
[defaults]
budget = "standard"
seed = 4
epsilon = 1.0
arms = 2
horizon = 30
exec_timeout = 5
mutants = false

[[targets]]
target = "dp-se"
seed = 5

[[targets]]
target = "own.py:right"
delta = 1e-5

[[targets]]
exec = "perl target.pl"
name = "perl"

[[targets]]
target = "own.py:right"
name = "zcdp"
rho = 0.5
"""
    listed, own, command, zcdp = entries.read(write(folder, text)).entries
    assert dict(listed.options) == {"budget": "standard", "seed": 5, "mutants": False}
    assert own.options == {
        "budget": "standard",
        "seed": 4,
        "epsilon": 1.0,
        "n_arms": 2,
        "horizon": 30,
        "delta": 1e-5,
    }
    assert command.options["exec_timeout"] == 5
    assert command.command == "perl target.pl"
    assert "epsilon" not in zcdp.options
    assert [entry.name for entry in (listed, own, command, zcdp)] == ["dp-se", "own-right", "perl", "zcdp"]


def stripped(report):
    """A record without what two runs need not share."""
    kept = json.loads(report.to_json())
    for key in ("provenance", "digest"):
        del kept[key]
    return kept


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A campaign that was run, its file and its folder."""
    place = tmp_path_factory.mktemp("small")
    path = write(place, SMALL)
    return path, campaign_file.run(path, out=place / "out"), place / "out"


def test_a_campaign_gives_a_record_and_a_page_each_and_one_portfolio(small):
    _, done, out = small
    assert done.exit_status == 0
    assert list(done.reports) == ["tree-sum", "other-tree"]
    for name, epsilon, seed in (("tree-sum", 1.0, 0), ("other-tree", 0.5, 3)):
        record = verify(out / name / "record.json").record
        assert (record["claim"]["epsilon"], record["seed"]) == (epsilon, seed)
        assert record["digest"] == done.reports[name].record["digest"]
        assert f'href="{name}/record.html"' in (out / "index.html").read_text("utf-8")
    state = json.loads((out / "campaign.json").read_text("utf-8"))
    assert [row["verdict"] for row in state["targets"]] == ["not_refuted", "not_refuted"]


def test_a_record_of_a_campaign_is_that_of_an_audit(small):
    _, done, _ = small
    alone = api.audit("tree-sum", budget=0.02, mutants=False)
    assert stripped(alone) == stripped(done.reports["tree-sum"])


def test_resume_keeps_what_holds_and_is_the_same(small, monkeypatch):
    path, done, out = small
    made, known = [], dict(done.reports)

    def audited(task):  # each audit once: whether it is asked for is what counts here
        made.append(task.entry.name)
        return known["tree-sum"] if task.entry.name == "tree-sum" else known["other-tree"]

    monkeypatch.setattr(campaign_file, "_audited", audited)

    def resumed(text=SMALL):
        made.clear()
        path.write_text(text)
        again = campaign_file.run(path, out=out, resume=True)
        assert again.exit_status == 0
        return list(made)

    assert resumed() == []
    assert resumed(SMALL.replace("seed = 3", "seed = 4")) == ["other-tree"]
    assert resumed() == ["other-tree"]
    record = out / "tree-sum" / "record.json"
    record.write_text(record.read_text("utf-8").replace("not_refuted", "refuted", 1), "utf-8")
    assert resumed() == ["tree-sum"]
    (out / "tree-sum" / "record.html").unlink()
    assert resumed() == ["tree-sum"]
    (out / "campaign.json").write_text('{"targets": [{"name"')
    assert resumed() == ["tree-sum", "other-tree"]
    for asked in out.glob("*/request.json"):  # what is taken for an audit above answers none
        asked.unlink()
    monkeypatch.setattr(campaign_file.engine, "code_digest", lambda: "0" * 64)
    assert resumed() == ["tree-sum", "other-tree"]
    assert stripped(Report.load(record)) == stripped(done.reports["tree-sum"])


def test_resume_takes_no_records_that_came_with_the_code(small, tmp_path, monkeypatch):
    """Broken variant: `campaign.json` and a record that fit each other are kept, whoever wrote them.

    Control: the same call in the folder where they were made keeps them.
    """
    path, done, out = small
    made = []
    monkeypatch.setattr(
        campaign_file, "_audited", lambda task: made.append(task.entry.name) or done.reports[task.entry.name]
    )
    brought, lines = tmp_path / "brought", []
    campaign_file.run(path, out=out)
    made.clear()
    shutil.copytree(out, brought)
    campaign_file.run(path, out=out, resume=True)
    assert made == []
    campaign_file.run(path, out=brought, resume=True, progress=lines.append)
    assert made == ["tree-sum", "other-tree"]
    assert lines[0] == "0 of 2 targets were already finished"
    assert lines[1].startswith(
        "audited again, because you did not make these records on this machine: tree-sum"
    )


def test_resume_compares_variables_that_the_code_asks_for(small, monkeypatch):
    """Broken variant: a record is kept where a variable decides otherwise how much noise there is."""
    path, done, out = small
    given = campaign_file.read(path)
    monkeypatch.delenv("OWN_SCALE", raising=False)
    record = json.loads(json.dumps(done.reports["tree-sum"].record))
    record["provenance"]["target"]["opened"] = {"./$OWN_SCALE": ABSENT}
    campaign_file._State(given, out, "best").add("tree-sum", Report(sealed(record)))

    def kept():
        state = campaign_file._State(given, out, "best")
        assert state.recall() == []
        return "tree-sum" in state.reports

    assert kept()
    monkeypatch.setenv("OWN_SCALE", "0.4")
    assert not kept()


@pytest.mark.slow
def test_own_code_failures_and_names_that_clash(folder, tmp_path):
    """Two folders' helper.py do not meet, a failing target keeps no other from its record."""
    here = write(
        folder,
        """
[defaults]
epsilon = 1.0
budget = 0.05
[[targets]]
target = "own.py:right"
[[targets]]
target = "own.py:wrong"
""",
    )
    done = campaign_file.run(here, out=folder / "out")
    assert done.exit_status == 2
    assert "no such model" in done.failed["own-wrong"]
    assert done.reports["own-right"].verdict != "refuted"
    other = tmp_path / "second"
    other.mkdir()
    (other / "own.py").write_text(OWN)
    (other / "helper.py").write_text("SCALE = 0.3\n")
    found = write(other, '[[targets]]\ntarget = "own.py:right"\nepsilon = 1.0\nbudget = 0.05\n')
    again = campaign_file.run(found, out=other / "out")
    assert again.reports["own-right"].verdict == "refuted"
    assert again.exit_status == 1


LISTED, ITS_OWN = 'target = "tree-sum"', 'target = "own.py:right"\nepsilon = 1.0'


@pytest.mark.parametrize(
    ("targets", "apart"),
    [
        ([LISTED], False),
        ([ITS_OWN], False),
        ([LISTED] * 2, False),
        ([ITS_OWN] * 2, True),
        ([LISTED, ITS_OWN], True),
    ],
)
def test_code_that_is_not_ours_runs_apart_from_other_targets(targets, apart, folder, tmp_path, monkeypatch):
    text = "".join(f'[[targets]]\nname = "t{n}"\n{one}\n' for n, one in enumerate(targets))
    asked = []

    def run(_, tasks, **options):
        asked.append((len(tasks), options["apart"]))
        return iter(())

    monkeypatch.setattr(campaign_file.engine, "run", run)
    campaign_file.run(write(folder, text), out=tmp_path / "out")
    assert asked == [(len(targets), apart)]


def test_code_of_another_machine_is_not_audited(tmp_path):
    """Whatever of it differs: the file, a module beside it or in a package, and what that imports."""
    code = "from pkg import deep\ndef right(data, size, rng):\n    return data + rng.laplace(0, 1, size)\n"
    files = {
        "own.py": code,
        "beside.py": "",
        "pkg/__init__.py": "from .deep import x",
        "pkg/deep.py": "import json, deeper.still\nx = 1",
        "deeper/still.py": "",
        "elsewhere/unused.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = entries.read(
        write(tmp_path, '[[targets]]\ntarget = "own.py:right"\nepsilon = 1.0\nbudget = 0.05\n')
    )
    task = campaign_file._Task(
        found.entries[0], str(tmp_path), campaign_file._code_of(found.entries[0], tmp_path)
    )
    assert sorted(task.code) == sorted(files.keys() - {"elsewhere/unused.py"})
    done = campaign_file._audited(task)
    assert not isinstance(done, str), done
    assert done.verdict
    more = [*files, "json.py", "new.py"]
    for name in more:
        (tmp_path / name).write_text(files.get(name, "") + "\n# another")
        said = campaign_file._audited(task)
        if name == "elsewhere/unused.py":
            assert isinstance(said, vdp.Report)
        else:
            assert said.startswith(f"{name} on ")
            assert "differs from the copy on the machine that started the campaign" in said
        (tmp_path / name).write_text(files[name]) if name in files else (tmp_path / name).unlink()
    (tmp_path / "beside.py").unlink()
    assert campaign_file._audited(task).startswith("beside.py on ")
    away = campaign_file._Task(task.entry, str(tmp_path / "none"), {})
    assert "does not exist on" in campaign_file._audited(away)


def test_resume_looks_at_what_lies_beside_the_code(folder):
    entry = entries.read(write(folder, BASE)).entries[0]
    before = campaign_file._key(entry, folder, "none")
    assert before == campaign_file._key(entry, folder, "none")
    (folder / "helper.py").write_text("SCALE = 2\n")
    assert campaign_file._key(entry, folder, "none") != before


def test_what_was_made_in_another_cage_is_not_resumed(small, tmp_path, monkeypatch):
    """Neither records nor steps. Broken variant: --cage required kept a record that was made without one."""
    reports, made = small[1].reports, []
    monkeypatch.setattr(
        campaign_file, "_audited", lambda task: made.append(task.cage) or reports[task.entry.name]
    )
    path = write(tmp_path, SMALL)
    for resume, cage in ((False, "none"), (True, "none"), (True, "required")):
        campaign_file.run(path, out=tmp_path / "out", resume=resume, cage=cage)
    assert made == ["none", "none", "required", "required"]
    asked = []
    request = types.SimpleNamespace(target=len, name="len", asked=dict, progress=print)
    monkeypatch.setattr(isolation, "replace", lambda given, **_: given)
    monkeypatch.setattr(isolation.identity, "of", lambda *_, **more: asked.append(more))
    monkeypatch.setattr(isolation.resume, "at", lambda _, of, *more: contextlib.nullcontext(of()))
    for policy in ("none", "best"):
        isolation.timed_draft(request, lambda _: {}, None, Caged(policy))
    assert asked == [{"cage": "none"}, {"cage": "best"}]


# ---------------------------------------------------------------- report --resume


@pytest.mark.slow
def test_report_resumes_records_that_are_those_asked_for(tmp_path, monkeypatch):
    made = []

    def evidence(task):
        made.append(task.name)
        return api.audit("tree-sum", budget=0.02, mutants=False)

    monkeypatch.setattr(campaign, "_evidence", evidence)
    campaign.run(out=tmp_path, only=["tree-sum"])
    # What was written is no evidence of the whole catalogue's kind: another budget, no regret.
    assert campaign._finished(tmp_path, "tree-sum", False, campaign.Wanted()) is None
    campaign.run(out=tmp_path, only=["tree-sum"], resume=True)
    assert made == ["tree-sum", "tree-sum"]


def test_report_keeps_what_answers_the_request_of_today(report, tmp_path, monkeypatch):
    """Whatever a request says counts. Broken variant: a list of what counts, without the packages."""
    asked = campaign.Wanted()
    request = api.ask_evidence("tree-sum", **vars(asked)).as_dict()
    provenance = {**report.record["provenance"], "request": request, "code": request["code"]}
    Report(sealed({**report.record, "provenance": provenance})).save(tmp_path / "tree-sum")
    assert campaign._finished(tmp_path, "tree-sum", False, asked) is not None
    monkeypatch.setattr(identity, "packages", lambda: f"sha256:{'1' * 64}")
    assert campaign._finished(tmp_path, "tree-sum", False, asked) is None


@pytest.mark.slow
def test_report_keeps_finished_evidence(tmp_path, monkeypatch):
    campaign.run(out=tmp_path, only=["tree-sum"])
    asked = campaign.Wanted()
    assert campaign._finished(tmp_path, "tree-sum", False, asked) is not None
    for change in ({"budget": "standard"}, {"seed": 1}, {"declarations": {"unprotected_outputs": []}}):
        assert campaign._finished(tmp_path, "tree-sum", False, replace(asked, **change)) is None
    shutil.copytree(tmp_path, tmp_path / "brought")
    with monkeypatch.context() as patched:
        patched.setattr(campaign, "_evidence", None)
        campaign.run(out=tmp_path, only=["tree-sum"], resume=True)
        lines = []
        with pytest.raises(TypeError):  # nothing vouches for the copy: it is made again
            campaign.run(out=tmp_path / "brought", only=["tree-sum"], resume=True, progress=lines.append)
        assert lines[0] == "0 of 1 algorithms were already finished"


# ---------------------------------------------------------------- when writing fails


@pytest.fixture
def report():
    return Report.load(RECORD)


def test_a_full_disk_is_one_line_and_leaves_what_was_there(report, tmp_path, monkeypatch):
    report.save(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(dir, prefix):
        path = Path(dir, f"{prefix}full")
        path.touch()
        return os.open("/dev/full", os.O_WRONLY), str(path)

    monkeypatch.setattr(tempfile, "mkstemp", full)
    with pytest.raises(InputError, match=os.strerror(errno.ENOSPC)):
        report.save(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_pipe_is_not_replaced_by_a_file(report, tmp_path):
    """As root, a device was: `--json /dev/full` left a file in its place."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is a device or a pipe, not a file"):
        write_text(tmp_path / "pipe", report.to_json())
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.slow
def test_a_campaign_on_a_full_disk_can_be_resumed(tmp_path, monkeypatch):
    path, out = write(tmp_path, SMALL), tmp_path / "out"
    real, saved = Report.save, []

    def save(self, folder):
        if saved:
            raise InputError(f"path: cannot be written: {os.strerror(errno.ENOSPC)}")
        saved.append(folder)
        return real(self, folder)

    monkeypatch.setattr(Report, "save", save)
    with pytest.raises(InputError, match="No space left"):
        campaign_file.run(path, out=out)
    monkeypatch.undo()
    lines = []
    done = campaign_file.run(path, out=out, resume=True, progress=lines.append)
    assert lines[0] == "1 of 2 targets were already finished"
    assert done.exit_status == 0


@pytest.mark.parametrize("place", ["/proc/reports", "file/reports"])
def test_a_folder_that_cannot_be_written_is_one_line(place, report, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    with pytest.raises(InputError, match="cannot be created"):
        report.save(place)
    with pytest.raises(InputError, match="cannot be created"):
        campaign_file.run(write(tmp_path, SMALL), out=place)


def test_a_read_only_folder_is_one_line(report, tmp_path):
    tmp_path.chmod(0o500)
    try:
        if os.access(tmp_path, os.W_OK):
            pytest.skip("whoever runs this may write everywhere")
        with pytest.raises(InputError, match="cannot be written"):
            report.save(tmp_path)
    finally:
        tmp_path.chmod(0o700)


def test_a_clock_that_jumps_back_gives_no_negative_time(tmp_path, monkeypatch):
    now = [2e9]

    def back():
        now[0] -= 7200
        return now[0]

    monkeypatch.setattr(time, "time", back)
    found = api.audit("tree-sum", budget=0.02, mutants=False)
    facts = found.record["provenance"]
    assert facts["started"] <= facts["finished"]
    assert facts["cpu_seconds"] >= 0
    found.save(tmp_path)
    assert verify(tmp_path / "record.json").record["provenance"] == facts


# Settings in pyproject.toml: what is accepted, where it is found, and that it asks what a campaign asks.


CODE = """
import numpy as np

def right(data, size, rng):
    return np.asarray(data).sum() + rng.laplace(0, 1, size)

def wrong(data, size, rng):
    return np.asarray(data).sum() + rng.laplace(0, 0.5, size)

def open_lead(rewards, rng):
    played = [0]
    for t in range(1, len(rewards)):
        total = rewards[:t].sum(0) + rng.laplace(0, 3, 2)
        if rewards[0, 0] > 2:{comment}
            total = total + 1
        played.append(int(np.argmax(total)))
    return np.array(played)
"""
TARGETS = """
[tool.verifiable-dp]
baseline = "known.json"
[tool.verifiable-dp.defaults]
epsilon = 1
budget = "smoke"
"""
ROW = '[[tool.verifiable-dp.targets]]\ntarget = "own.py:{name}"\n{more}\n'
LEAD = ROW.format(name="open_lead", more="arms = 2\nhorizon = 10")


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def make(*rows, comment="", top=TARGETS):
        (tmp_path / "own.py").write_text(CODE.replace("{comment}", comment))
        (tmp_path / "pyproject.toml").write_text(top + "".join(rows))
        return tmp_path

    return make


def run(*words):
    whole = [sys.executable, "-m", "verifiable_dp", *words]
    done = subprocess.run(
        whole, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "200"}
    )
    return done.returncode, done.stdout, done.stderr


def test_a_default_budget_of_privacy_audits_leaves_checks_of_regret_alone(project):
    """Control: one of its own is refused."""
    folder = project("")
    text = '[defaults]\nepsilon = 1\nbudget = "smoke"\n[[targets]]\ntarget = "own.py:right"\n'
    text += "arms = 2\nhorizon = 400\n"
    (folder / "c.toml").write_text(text + 'regret = { scaling = { T = "linear" } }\n')
    (entry,) = entries.read(folder / "c.toml").entries
    assert "budget" not in entry.options
    (folder / "c.toml").write_text(text + 'budget = "smoke"\nregret = { scaling = { T = "linear" } }\n')
    with pytest.raises(InputError, match="budget must be one of"):
        entries.read(folder / "c.toml")


def test_a_test_that_misspells_a_listed_target_is_told_its_name(project):
    """Control: what resembles none is looked for in the catalogue."""
    folder = project(ROW.format(name="right", more='name = "play-right"'))
    node = types.SimpleNamespace(path=folder / "test_it.py")
    request = types.SimpleNamespace(config=types.SimpleNamespace(stash={}), node=node)
    with pytest.raises(InputError, match="is called 'paly-right'; did you mean 'play-right'"):
        pytest_plugin._listed(request, "paly-right", {})
    assert pytest_plugin._listed(request, "dp-se", {})[0] == "dp-se"


def test_settings_ask_what_a_campaign_file_asks(project):
    folder = project(ROW.format(name="right", more='require = "tested-paths"'))
    here = entries.read(folder / "pyproject.toml")
    (folder / "c.toml").write_text(
        '[defaults]\nepsilon = 1\nbudget = "smoke"\nrequire = "tested-paths"\n'
        '[[targets]]\ntarget = "own.py:right"\n'
    )
    assert here.entries == entries.read(folder / "c.toml").entries
    asked = [file.ask(one, out=out) for one, out in ((here, "a"), (entries.read(folder / "c.toml"), "b"))]
    first, second = (next(iter(one.values())) for one in asked)
    assert first.difference(second) == ""
    assert first.require == second.require == "tested-paths"  # which `judge` asks for without the file, too
    (folder / "c.toml").write_text('[[targets]]\ntarget = "own.py:right"\nepsilon = 2\nbudget = "smoke"\n')
    (other,) = file.ask(folder / "c.toml", out="d").values()  # the control: another question differs
    assert "epsilon" in first.difference(other)
    assert other.require is None


@pytest.mark.parametrize(
    ("top", "row", "named"),
    [
        (
            "[tool.verifiable-dp]\nbudgets = 3\n",
            "",
            "'budgets' is unknown; accepted: baseline, defaults, targets",
        ),
        ("[tool.verifiable-dp.defaults]\narm = 2\n", "", "defaults: 'arm' is unknown; accepted: "),
        (
            "",
            ROW.format(name="right", more="epsilon = 1\nhorizons = 2"),
            "'horizons' is unknown; accepted: name",
        ),
        ("", ROW.format(name="right", more='epsilon = 1\nrequire = "proof"'), "require must be"),
        ("[tool.other]\n", "", "has no table [tool.verifiable-dp]; add [[tool.verifiable-dp.targets]]"),
    ],
)
def test_what_is_unknown_is_refused_in_one_line(project, top, row, named):
    folder = project(row, top=top)
    with pytest.raises(InputError) as error:
        entries.read(folder / "pyproject.toml")
    assert named in str(error.value)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith("pyproject.toml: ")


def test_settings_are_found_from_below_and_only_where_there_are_some(project, tmp_path):
    folder = project()
    below = folder / "a" / "b"
    below.mkdir(parents=True)
    (folder / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert settings.nearest(below) == folder / "pyproject.toml"
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert settings.nearest(below) is None


def test_audit_without_a_target_audits_what_is_listed(project):
    folder = project(ROW.format(name="right", more=""), ROW.format(name="wrong", more=""))
    status, said, _ = run("audit")
    assert status == 1
    assert [line.split()[1] for line in said.splitlines() if line.startswith("entry ")] == [
        "own-right:",
        "own-wrong:",
    ]
    kept = folder / ".verifiable-dp" / "examples" / "own-wrong.json"
    assert kept.is_file()
    assert not kept.with_name("own-right.json").exists()
    status, said, aside = run("audit")
    assert "replayed: own-wrong: its last counterexample still refutes the claim" in aside
    assert status == 1
    record = Record.of(json.loads((folder / "audit-reports" / "own-wrong" / "record.json").read_text()))
    assert (record.verdict, record.plan.given_pairs) == ("refuted", True)
    assert record.plan.alpha == pytest.approx(1e-9)
    judged, said, _ = run("judge", "audit-reports")
    assert judged == 1
    assert "refuted: own.py:wrong" in said
    # The replay asks another question than the entry; judge knows it.
    judged, _, aside = run("judge", "audit-reports", "--campaign", "pyproject.toml")
    assert (judged, "another question" in aside) == (1, False)
    (entry,) = (one for one in entries.read(folder / "pyproject.toml").entries if one.name == "own-wrong")
    refuted = json.loads((folder / "audit-reports" / "own-wrong" / "record.json").read_text())
    for other in ({}, {"verdict": "inconclusive"}, {"verdict": "refuted", "counterexamples": []}):
        assert examples.is_replay(entry, folder, Record.of({**refuted, **other})) is not bool(other)
    # The control: code that is mended is not refuted by the inputs that are kept.
    project(ROW.format(name="wrong", more=""))
    source = (folder / "own.py").read_text().replace("0.5, size", "1, size")
    (folder / "own.py").write_text(source)
    found = entries.read(folder / "pyproject.toml")
    assert Examples(found).replay(found.entries[0]) is None
    assert run("audit")[0] == 0


def test_options_of_one_target_need_a_target(project):
    project(ROW.format(name="right", more=""))
    for words in (("--epsilon", "2"), ("--json", "x.json")):
        status, _, aside = run("audit", *words)
        assert status == 2
        assert "needs a TARGET; for the targets in pyproject.toml it is a key of each" in aside
    (settings.nearest(file.Path.cwd())).unlink()
    status, _, aside = run("audit")
    assert status == 2
    assert "list targets under [[tool.verifiable-dp.targets]] in pyproject.toml" in aside
    assert len(aside.splitlines()) == 1


def test_what_is_required_of_an_entry_counts(project):
    listed = ROW.format(name="right", more='require = "certified"')
    project(listed)
    status, _, aside = run("audit")
    assert status == 3
    assert "--require asks for certified" in aside
    assert run("judge", "audit-reports", "--campaign", "pyproject.toml")[0] == 3
    project(listed.replace("certified", "detectable"))
    assert run("judge", "audit-reports", "--campaign", "pyproject.toml")[0] == 0  # the control


def test_the_script_of_ci_asks_what_the_settings_list(project):
    folder = project(ROW.format(name="right", more=""))
    places = os.pathsep.join([str(file.Path(sys.executable).parent), os.environ["PATH"]])
    script = str(file.Path(__file__).parents[3] / "ci" / "audit.sh")

    def ask(reports):
        environment = {"PATH": places, "HOME": str(folder), "REPORTS": reports}
        return subprocess.run(
            ["bash", script, "ask"], env=environment, capture_output=True, text=True, check=False
        )

    done = ask("a")
    assert done.stdout.startswith("sha256:"), done.stderr
    assert (folder / "a" / "own-right" / "request.json").is_file()
    project(top="[tool.verifiable-dp-other]\n")  # the control
    done = ask("b")
    assert (done.returncode, done.stdout) == (2, "")
    assert "pyproject.toml has no [tool.verifiable-dp]" in done.stderr


def test_a_baseline_excuses_what_is_known_and_never_a_refutation(project):
    project(LEAD)
    assert run("audit")[0] == 3
    status, said, _ = run("audit", "--write-baseline")
    assert status == 0
    assert "(known: all its findings are in the baseline)" in said
    judged = [str(file.Path(name).absolute()) for name in ("audit-reports", "pyproject.toml")]
    with contextlib.chdir(os.sep):  # broken variant: lines of code are looked up in the current folder
        assert run("judge", judged[0], "--campaign", judged[1])[0] == 0
    known = json.loads(file.Path("known.json").read_text())
    known["findings"] = [one for one in known["findings"] if one["code"] != "DP101"]
    file.Path("known.json").write_text(json.dumps(known))
    assert run("judge", "audit-reports", "--campaign", "pyproject.toml")[0] == 3
    refuted = {**known["findings"][0], "code": "DP100"}
    file.Path("known.json").write_text(json.dumps({"version": 4, "findings": [refuted]}))
    with pytest.raises(InputError, match="is not a baseline"):
        Baseline.at(file.Path("known.json"))
    project(ROW.format(name="wrong", more=""))
    file.Path("known.json").unlink()
    assert run("audit", "--write-baseline")[0] == 1


def test_a_folder_has_the_results_of_one_campaign(project, tmp_path):
    """Broken variant: an entry of the same name takes the place of a refuted one."""
    entry = '[[targets]]\nname = "x"\ntarget = "{}"\nepsilon = 1\nbudget = "smoke"\n'
    for name, target in (("a", "own.py:wrong"), ("b", "own.py:right")):
        project()
        (tmp_path / name).mkdir()
        shutil.move("own.py", tmp_path / name)
        (tmp_path / name / "c.toml").write_text(entry.format(target))
    (tmp_path / ".git").mkdir()
    assert campaign_file.run(tmp_path / "a/c.toml", out="out").exit_status == 1
    with pytest.raises(InputError, match=r"out: .* has the results of another campaign, 'a/c.toml'; "):
        campaign_file.run(tmp_path / "b/c.toml", out="out")
    assert judge("out", [], tmp_path / "a/c.toml").exit_status == 1
    assert campaign_file.run(tmp_path / "b/c.toml", out="other").exit_status == 0


def test_a_baseline_excuses_nothing_of_which_more_than_samples_is_required(project):
    """What is excused rests on nothing: by the settings, by the command, and by who judges."""
    project(LEAD)
    assert run("audit", "--write-baseline")[0] == 0
    asks = ("--require", "tested-paths")
    status, _, aside = run("audit", *asks)
    assert (status, "own.py:open_lead is undecided; tested-paths is required" in aside) == (3, True)
    judged = ("judge", "audit-reports", "--campaign", "pyproject.toml")
    assert run(*judged)[0] == 3  # the request of the record requires it
    assert run("audit")[0] == run(*judged)[0] == 0
    assert run(*judged, *asks)[0] == 3
    project(LEAD, top=TARGETS.replace("epsilon", 'require = "certified"\nepsilon'))
    assert run("campaign", "pyproject.toml", "--out", "audit-reports")[0] == 3
    assert run(*judged)[0] == 3


def test_a_second_leak_of_a_kind_is_not_excused_and_a_moved_one_is(project):
    """The baseline excused every later leak of the same code in the same file."""
    folder = project(LEAD)
    known = folder / "known.json"
    assert run("audit", "--write-baseline")[0] == 0
    kept = json.loads(known.read_text())["findings"]
    lead = {**kept[0], "code": "DP101", "function": "open_lead", "text": "if rewards[0, 0] > 2:"}
    assert lead in kept
    assert {one["file"] for one in kept} == {"own.py"}
    source = (folder / "own.py").read_text()
    (folder / "own.py").write_text(source.replace("import numpy as np", "import numpy as np\n\nMOVED = 1\n"))
    status, said, _ = run("audit")
    assert (status, "new: " in said, "gone: " in said) == (0, False, False)
    again = "        if rewards[0, 1] > 2:\n            total = total + 1\n        played.append"
    (folder / "own.py").write_text(source.replace("        played.append", again))
    status, said, _ = run("audit")
    assert status == 3
    assert "new: DP101 of own-open_lead in own.py, open_lead: if rewards[0, 1] > 2: is not in the" in said
    assert "is not in the baseline; fix it, or add it with --write-baseline" in said
    # The same text twice in one function is two findings.
    same = again.replace("[0, 1]", "[0, 0]")
    (folder / "own.py").write_text(source.replace("        played.append", same))
    status, said, _ = run("audit")
    assert (status, said.count("new: DP101")) == (3, 1)


def test_a_warning_about_a_target_is_known_for_the_code_that_it_names():
    """Moved code and what it does not name leave it; a helper or a constant of the module does not."""
    module = "import m\nSCALE = 2\n\ndef helper(x):\n    return x / SCALE\n\ndef other():\n    pass\n\n"
    module += "class Mine:\n    def play(self):\n        return helper(m.n)\n"

    def code(text):
        tree = ast.parse(text)
        names = [getattr(one, "name", "") for one in tree.body]
        return [ast.unparse(one) for one in baseline._needed(tree, tree.body[names.index("Mine")])]

    before = code(module)
    assert [one.split()[0] for one in before] == ["import", "SCALE", "def", "class"]
    assert code("X = 1\n\n" + module.replace("pass", "return 9")) == before
    for changed in (module.replace("= 2", "= 3"), module.replace("x / ", "x * ")):
        assert code(changed) != before


@pytest.mark.parametrize(
    ("added", "counts"),
    [
        ("NOISE.seed(42)", True),
        ("SETTINGS['scale'] = 0", True),
        ("NOISE.state = 0", True),
        ("for one in range(3):\n    NOISE = one", True),
        ("@NOISE.seeded\ndef more():\n    pass", True),
        ("def more(x=NOISE.seed(42)):\n    pass", True),
        ("class More:\n    NOISE.seed(42)", True),
        ("MORE = NOISE.seed(42)", True),
        ("if __name__ == '__main__':\n    print(1)\nelse:\n    NOISE.seed(42)", True),
        ("MORE = 1", False),
        ("def more(x=1):\n    NOISE.seed(42)", False),
        ("class More(Mine):\n    'One.'\n    x: int = 1\n    def f(self):\n        NOISE.seed(1)", False),
        ("'A text.'", False),
        ("if __name__ == '__main__':\n    NOISE.seed(42)", False),
    ],
)
def test_what_runs_as_a_module_is_imported_is_code_of_its_targets(added, counts):
    """Broken variant: only what defines a name, so that a seed in between leaves a finding known."""
    whole = f"import m\n\ndef play():\n    return m.n\n\n{added}\n"
    tree = ast.parse(whole)
    assert len(baseline._needed(tree, tree.body[1])) == 2 + counts
    assert baseline._needed(tree, tree.body[1])[:2] == tree.body[:2]


OF_NOISE = """
import numpy as np
import noise

release = lambda data, rng, test=False: data.sum() + (noise.FIXED if test else noise.SECRET).laplace(0, 0.95)
"""
NOISE = "import numpy as np\nSECRET = np.random.default_rng()\nFIXED = np.random.default_rng(42)\n"


def test_a_known_warning_is_of_what_was_asked_and_of_all_files(project):
    """Broken variant: where a target is not in a function, only its own file counts; parameters never do."""
    folder = project(ROW.format(name="release", more=""))
    (folder / "own.py").write_text(OF_NOISE)
    (folder / "noise.py").write_text(NOISE)
    assert run("audit", "--write-baseline")[0] == run("audit")[0] == 0
    (folder / "noise.py").write_text(NOISE.replace("default_rng()", "default_rng(42)"))
    assert run("audit")[0] == 3
    (folder / "noise.py").write_text(NOISE)
    (folder / "pyproject.toml").write_text(
        TARGETS + ROW.format(name="release", more="parameters = { test = true }")
    )
    assert run("audit")[0] == 3


def test_a_comment_makes_no_finding_known(project):
    """Broken variant: it takes DP301 from what has to be known, and a known DP101 excuses the target."""
    folder = project(LEAD)
    assert run("audit", "--write-baseline")[0] == 0
    known = json.loads((folder / "known.json").read_text())
    known["findings"] = [one for one in known["findings"] if one["code"] != "DP301"]
    (folder / "known.json").write_text(json.dumps(known))
    source = (folder / "own.py").read_text()
    comment = "def open_lead(rewards, rng):  # verifiable-dp: ignore[DP301] harmless"
    (folder / "own.py").write_text(source.replace("def open_lead(rewards, rng):", comment))
    status, said, _ = run("audit")
    assert (status, "new: DP301" in said) == (3, True)


def test_a_record_of_other_code_than_that_beside_it_is_not_excused(project):
    folder = project(LEAD)
    assert run("audit", "--write-baseline")[0] == 0
    judged = ("judge", "audit-reports", "--campaign", "pyproject.toml")
    assert run(*judged)[0] == 0
    with (folder / "own.py").open("a") as more:
        more.write("\n# other code\n")
    assert run(*judged)[0] == 3


def test_a_baseline_of_an_older_version_says_how_to_make_it_again(tmp_path):
    (tmp_path / "b.json").write_text('{"version": 1, "findings": []}')
    with pytest.raises(
        InputError, match=r"version 1, which names no lines.*write a new one with verifiable-dp"
    ):
        Baseline.at(tmp_path / "b.json")


def test_a_comment_ignores_its_own_line_alone(project):
    """Another leak of the same code in the same function stays a warning."""
    folder = project(comment="  # verifiable-dp: ignore[DP101] only in tests", top="")
    source = (folder / "own.py").read_text()
    again = "        if rewards[0, 1] > 2:\n            total = total + 1\n        played.append"
    (folder / "own.py").write_text(source.replace("        played.append", again))
    options = ["--epsilon", "1", "--arms", "2", "--horizon", "10", "--budget", "smoke", "--json", "r.json"]
    assert run("audit", "own.py:open_lead", *options)[0] == 3
    found = findings(Report.load(folder / "r.json").parsed)
    assert sorted(one.ignored for one in found if one.code is FindingCode.RAW_DATA) == ["", "only in tests"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"version": 5, "findings": []}', '{"version": 4, "findings": [1]}']
)
def test_a_file_that_is_no_baseline_is_refused(tmp_path, text):
    (tmp_path / "b.json").write_text(text)
    with pytest.raises(
        InputError, match="is not a baseline; remove it, and write a new one with --write-baseline"
    ):
        Baseline.at(tmp_path / "b.json")


def test_a_comment_makes_a_finding_a_note_and_leaves_the_verdict(project):
    for comment, effective in (
        ("  # verifiable-dp: ignore[DP101] only in tests", True),
        ("  # verifiable-dp: ignore[DP101]", False),  # without a reason
        ("  # verifiable-dp: ignore[DP102] only in tests", False),  # another finding
    ):
        folder = project(comment=comment, top="")
        options = (
            "--epsilon",
            "1",
            "--arms",
            "2",
            "--horizon",
            "10",
            "--budget",
            "smoke",
            "--json",
            "r.json",
        )
        status, said, _ = run("audit", "own.py:open_lead", *options, "-v")
        assert status == 3
        report = Report.load(folder / "r.json")
        (lead,) = [one for one in findings(report.parsed) if one.code is FindingCode.RAW_DATA]
        assert lead.ignored == ("only in tests" if effective else "")
        assert ("nothing, because the code says to ignore it: only in tests" in said) == effective
        assert ("suppressions" in to_sarif(report.parsed)) == effective
        assert ("ignored in the code: only in tests" in report.to_html()) == effective


def test_a_refutation_cannot_be_ignored(project):
    folder = project(top="")
    source = (folder / "own.py").read_text()
    (folder / "own.py").write_text(
        source.replace(
            "def wrong(data, size, rng):", "def wrong(data, size, rng):  # verifiable-dp: ignore[DP100] fine"
        )
    )
    status, said, _ = run("audit", "own.py:wrong", "--epsilon", "1", "--budget", "smoke", "--json", "r.json")
    assert status == 1
    assert "error DP100" in said
    assert "ignored" not in said


def test_a_workflow_is_written_once(project):
    yaml = pytest.importorskip("yaml")
    project()
    assert run("init", "--github")[0] == 0
    (job,) = yaml.safe_load(file.Path(".github/workflows/verifiable-dp.yml").read_text())["jobs"].values()
    assert job["steps"][-1] == {"uses": "OWNER/REPOSITORY@COMMIT"}
    status, _, aside = run("init", "--github")
    assert status == 2
    assert "already exists" in aside


def test_the_hook_runs_a_command_that_there_is():
    yaml = pytest.importorskip("yaml")
    (hook,) = yaml.safe_load((file.Path(__file__).parents[3] / ".pre-commit-hooks.yaml").read_text())
    program, *words = hook["entry"].split()
    assert program == "verifiable-dp"
    assert run(*words, "--help")[0] == 0
    assert run("audits", "--help")[0] == 2  # the control


def test_the_hook_runs_whatever_a_push_changes():
    """It was skipped where no file of Python had changed, and code reads data, declarations and programs."""
    yaml = pytest.importorskip("yaml")
    (hook,) = yaml.safe_load((file.Path(__file__).parents[3] / ".pre-commit-hooks.yaml").read_text())
    assert hook["always_run"] is True
    assert not hook.keys() & {"files", "exclude", "types", "types_or", "exclude_types"}
    assert hook["pass_filenames"] is False
    assert "pre-push" in hook["stages"]


@pytest.mark.parametrize(
    ("asked", "change", "said"),
    [
        ("HEAD", "", ""),
        ("refs/heads/other", "", "check out "),
        ("HEAD", "own.py", "with uncommitted changes (own.py)"),
        ("HEAD", "pyproject.toml", "differs from its version in commit"),
        ("none", "", "commit: 'none' is not a commit in the repository"),
    ],
)
def test_the_hook_audits_what_is_pushed(asked, change, said, project, monkeypatch):
    """Broken variant: noise that is not committed yet lets a commit without it pass. Control: none."""
    folder = project(ROW.format(name="right", more=""))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    steps = (["init", "-q"], ["add", "own.py", "pyproject.toml"], ["commit", "-qm", "a"], ["branch", "other"])
    for step in (*steps, ["commit", "-qm", "b", "--allow-empty"]):
        subprocess.run([*git, *step], cwd=folder, check=True, capture_output=True)
    if change:
        (folder / change).write_text((folder / change).read_text() + "# more\n")
    monkeypatch.delenv("PRE_COMMIT_TO_REF", raising=False)
    monkeypatch.setenv("PRE_COMMIT_LOCAL_BRANCH", asked)
    status, _, aside = run("audit")
    which = "pyproject.toml" if change == "pyproject.toml" else "own-right"
    assert (status, f"{which}: commit: " in aside) == ((2, True) if said else (0, False))
    assert said in aside
    monkeypatch.setenv("PRE_COMMIT_TO_REF", "HEAD")
    monkeypatch.setenv("PRE_COMMIT_LOCAL_BRANCH", "none")
    assert run("audit")[0] == (2 if change else 0)


VALUES = {
    "budget": '"quick"',
    "require": '"certified"',
    "seed": "7",
    "alpha": "1e-4",
    "confidence": "0.9",
    "detect": "1.5",
    "declarations": '"d.toml"',
    "sequential": "true",
    "curve": "true",
    "group": "2",
    "observe": '"releases"',
    "epsilon": "0.5",
    "delta": "0.1",
    "arms": "3",
    "horizon": "5",
    "bounds": "[0, 2]",
    "rho": "0.5",
    "mu": "0.5",
    "adjacency": '"add-remove"',
    "numerics": "true",
    "own_neighbours": "true",
    "parameters": "{ epsilon = 0.5 }",
    "mutants": "false",
    "regret": "true",
    "exec_timeout": "3",
}
KINDS_OF_TARGETS = {
    "a listed algorithm": ('target = "dp-se"\n', ""),
    "a listed algorithm with its regret": ('target = "dp-se"\nregret = true\n', ""),
    "code": ('target = "own.py:right"\n', "epsilon = 1\n"),
    "code and its regret": ('target = "own.py:right"\narms = 2\nhorizon = 9\n', ""),
    "a command": ('exec = "python own.py"\n', "epsilon = 1\n"),
}


@pytest.mark.parametrize("kind", KINDS_OF_TARGETS)
@pytest.mark.parametrize("key", VALUES)
def test_a_default_applies_wherever_its_row_may_hold_it(key, kind, project):
    """`parameters` for all targets were left out for your own code without a word."""
    folder = project("")
    (folder / "d.toml").write_text("")
    row, claimed = KINDS_OF_TARGETS[kind]
    whole = 'regret = { scaling = { T = "linear" } }\n' if kind == "code and its regret" else ""
    defaults = "" if key in ("rho", "mu", "epsilon") else claimed  # each is a claim by itself

    def read_of(defaults, row):
        (folder / "c.toml").write_text(f"[defaults]\n{defaults}[[targets]]\n{row}{whole}")
        try:
            return entries.read(folder / "c.toml").entries[0]
        except InputError:
            return None

    line = f"{key} = {VALUES[key]}\n"
    given = read_of(defaults + line, row)
    if (line not in row and key + " " in row) or (key == "regret" and whole):
        assert given == read_of(defaults, row)  # what a row says itself counts
        return
    asked = read_of(defaults, row + line)
    if "listed" in kind and asked is None and key in PROMISED:
        assert given is None  # an algorithm of the catalogue promises something else
        return
    assert given == (asked or read_of(defaults, row))
    assert (asked is not None) == (key in HELD_BY[kind])
    if asked is not None and key != "budget":  # which is the usual one
        assert asked != read_of(defaults, row)


PROMISED = ("epsilon", "delta", "rho", "mu", "bounds", "adjacency", "group", "numerics", "parameters")
EVERY = {*entries._EVERY}
HELD_BY = {
    "a listed algorithm": EVERY | {*entries._LISTED},
    "a listed algorithm with its regret": {*entries._BESIDE_REGRET},
    "code": EVERY | {*entries._OWN} | {"parameters"},
    "code and its regret": {"parameters", "budget", "seed"},
    "a command": EVERY | {*entries._OWN, *entries._COMMAND},
}


@pytest.mark.parametrize(
    ("defaults", "more", "said"),
    [
        ("epsilon = 0.1", "", "epsilon = 0.1"),
        ("epsilon = 0.1", "regret = true", "epsilon = 0.1"),
        ("parameters = { epsilon = 0.1 }", "regret = true", "epsilon = 0.1"),
        ("bounds = [0, 2]", "", "bounds = (0.0, 2.0)"),
        ("epsilon = 1\ndelta = 0", "", ""),  # its own promise
        ("epsilon = 0.1", "parameters = { epsilon = 0.5 }", ""),
        ("parameters = { epsilon = 0.1 }", "", ""),
        ('observe = "actions"\nnumerics = false', "", ""),
    ],
)
def test_a_promise_in_defaults_holds_for_all_targets(defaults, more, said, project):
    """Broken variant: epsilon 1 was certified for a file that promises 0.1 of all that it lists."""
    path = write(project(""), f'[defaults]\n{defaults}\n[[targets]]\ntarget = "tree-sum"\n{more}\n')
    if not said:
        entries.read(path)
        return
    with pytest.raises(InputError) as error:
        entries.read(path)
    assert f"target 1 (tree-sum): {said} in defaults does not apply to this algorithm" in str(error.value)


def test_the_test_of_defaults_has_all_keys_that_may_be_one():
    assert {*VALUES} == {*entries._EVERY, *entries._OWN, *entries._LISTED, *entries._COMMAND}


ASKS = '[[targets]]\nname = "a"\ntarget = "own.py:{name}"\nepsilon = 1\nbudget = "smoke"\n'


def test_a_request_that_nobody_has_answered_is_not_replaced(project):
    """A run overwrote it without a word. Controls: what a run has asked itself, and what is answered."""
    folder = project("")
    (folder / "c.toml").write_text(ASKS.format(name="right"))
    (asked,) = file.ask(folder / "c.toml", out="out").values()
    place = folder / "out" / "a"
    (folder / "own.py").write_text((folder / "own.py").read_text() + "\nMORE = 1\n")
    for _ in range(2):
        status, _, aside = run("campaign", "c.toml", "--out", "out")
        assert status == 2
        assert "has not been answered, and asks a different question (target.files.own.py is" in aside
        assert "remove it, or name another folder with --out" in aside
        assert json.loads((place / "request.json").read_text())["digest"] == asked.digest
    with pytest.raises(InputError, match="has not been answered"):
        file.ask(folder / "c.toml", out="out")
    (place / "request.json").write_text("{}")  # whatever it asked
    assert run("campaign", "c.toml", "--out", "out")[0] == 2
    (place / "request.json").unlink()
    # A run may replace what it asked itself, and what is answered.
    (folder / "c.toml").write_text(ASKS.format(name="none"))
    assert run("campaign", "c.toml", "--out", "out")[0] == 2
    assert (place / "request.json").is_file()
    (folder / "c.toml").write_text(ASKS.format(name="right"))
    assert run("campaign", "c.toml", "--out", "out")[0] == 0
    (folder / "own.py").write_text((folder / "own.py").read_text() + "\nMORE = 2\n")
    again = file.ask(folder / "c.toml", out="out")
    assert run("campaign", "c.toml", "--out", "out")[0] == 0
    assert (
        Report.load(place / "record.json").parsed.provenance.request.digest
        == next(iter(again.values())).digest
    )


def test_a_run_asks_anew_and_leaves_no_older_answer(project, monkeypatch):
    """Broken variants: what was asked last night is asked again, with the time of then; a record of before
    stays beside a request that the failed audit of tonight has not answered.

    Controls: a request that waits is answered, and a run that is resumed answers its own.
    """
    folder = project("")
    path, place = write(folder, ASKS.format(name="right")), folder / "out" / "a"
    hours = itertools.count(1)
    clock = types.SimpleNamespace(
        gmtime=lambda: None, strftime=lambda *_: f"2026-01-01T{next(hours):02}:00:00Z"
    )
    monkeypatch.setattr(requests, "time", clock)

    def ran(status, **more):
        assert file.run(path, out="out", **more).exit_status == status
        return json.loads((place / "request.json").read_text())["made"]

    (asked,) = file.ask(path, out="out").values()
    assert ran(0) == asked.made
    assert ran(0) > asked.made
    record = Report.load(place / "record.json").parsed
    assert record.provenance.request.made > asked.made
    assert "record.html" in (folder / "out" / "index.html").read_text()
    monkeypatch.setattr(file, "_audited", lambda task: "it failed")
    failed = ran(2)
    assert failed > record.provenance.request.made
    assert [one.name for one in place.glob("record*")] == []
    assert "record.html" not in (folder / "out" / "index.html").read_text()
    assert ran(2, resume=True) == failed
    assert ran(2) > failed
    # Where nothing can be asked, no answer stays either; and where one cannot be removed, nothing runs.
    (place / "record.json").write_text("{}")
    monkeypatch.setattr(file, "_calls", lambda entry: (_refused, None))
    assert file.run(path, out="out").exit_status == 2
    assert not (place / "record.json").exists()
    (place / "record.json").mkdir()
    with pytest.raises(InputError, match=r"record.json' cannot be removed: Is a directory"):
        file.run(path, out="out")


@pytest.mark.parametrize("resume", [False, True])
def test_a_run_removes_what_its_last_run_left_for_entries_that_are_gone(resume, project, monkeypatch):
    """Broken variant: `judge` passed the record of last week for a row that was lost in a merge.

    Controls: what is still there; a request that waits; a name that leads elsewhere; what is not ours.
    """
    folder = project("")
    out, row = folder / "out", ASKS.format(name="right")
    path = write(folder, row + row.replace('"a"', '"gone"'))
    monkeypatch.setattr(file, "_audited", lambda task: "it failed")
    file.run(path, out=out)
    state = json.loads((out / "campaign.json").read_text())
    for name in ("../x", "kept"):
        state["asked"][name] = state["asked"]["gone"] if name == "../x" else "sha256:" + "0" * 64
        shutil.copytree(out / "gone", out / name, dirs_exist_ok=True)
    (out / "campaign.json").write_text(json.dumps(state))
    for name in ("a", "gone", "../x", "kept"):
        (out / name / "record.json").write_text("{}")
    write(folder, row)
    file.run(path, out=out, resume=resume)
    assert not (out / "gone").exists()
    assert [(out / name / "request.json").is_file() for name in ("a", "../x", "kept")] == [True] * 3
    assert (folder / "x" / "record.json").is_file()


@pytest.mark.parametrize("command", ["audit", "campaign", "api"])
def test_answers_of_a_campaign_that_cannot_be_read_are_not_judged(command, project, monkeypatch):
    """Broken variant: `judge` passed last week's records. Control: the next run that reads it judges anew."""
    out = Path("audit-reports")
    project(ROW.format(name="right", more=""))
    monkeypatch.setattr(file, "_audited", lambda task: "it failed")

    def ran():
        if command == "api":
            return file.run("pyproject.toml", out=out)
        words = ["audit"] if command == "audit" else ["campaign", "pyproject.toml", "--out", str(out)]
        return commands.run(Path.cwd(), *words)

    ran()
    project(ROW.format(name="right", more="horizons = 3"))
    with contextlib.suppress(InputError):
        ran()
    (line,) = (one for one in judge(out).failed if one.startswith("campaign.json: "))
    assert "could not read its file: pyproject.toml: " in line
    assert "'horizons' is unknown" in line
    project(ROW.format(name="right", more=""))
    ran()
    assert not any(one.startswith("campaign.json: ") for one in judge(out).failed)


def _refused():
    raise InputError("target: gone")
