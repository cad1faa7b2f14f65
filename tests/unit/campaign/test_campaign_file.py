"""Campaign files: what is accepted, what is run, what is kept, and what happens when writing fails."""

import errno
import json
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

import verifiable_dp as vdp
from verifiable_dp import api
from verifiable_dp.campaign import entries
from verifiable_dp.campaign import file as campaign_file
from verifiable_dp.campaign import run as campaign
from verifiable_dp.core.files import write_text
from verifiable_dp.core.validate import InputError
from verifiable_dp.record.verify import verify
from verifiable_dp.report import Report

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
    ("", "[[targets]] must stand 1 to 1000 times"),
    ("targets = 3", "[[targets]] must stand"),
    ("a = ", "is not TOML"),
    ("more = 1\n" + BASE, "'more' is unknown; accepted: baseline, defaults, targets"),
    ("defaults = 1\n" + BASE, "defaults must be a table"),
    (
        "[defaults]\nbudgets = 1\n" + BASE,
        "defaults: 'budgets' is unknown; accepted: budget, require, seed, alpha",
    ),
    (BASE + "horizons = 3", "target 1 (own.py:right): 'horizons' is unknown; accepted: name, target"),
    (BASE + 'exec = "x"', "must have a key target or a key exec, and not both"),
    ("[[targets]]\nname = 'x'", "must have a key target or a key exec"),
    (BASE + "budget = 0", "budget must be one of quick, standard, thorough or a positive number"),
    (BASE + "budget = true", "budget must be one of"),
    (BASE + "budget = 1" + "0" * 400, "budget must be one of"),
    (BASE + "seed = -1", "seed must be an integer of at least 0"),
    (BASE + "alpha = 1", "alpha must lie in the open interval"),
    (BASE + "delta = 1", "delta must lie in [0, 1)"),
    (BASE + "bounds = [1, 0]", "bounds must be finite with LOW < HIGH"),
    (BASE + "sequential = 1", "sequential must be true or false"),
    (BASE + 'observe = "all"', "observe must be one of actions"),
    (BASE + 'name = "../up"', "name must be a folder's name"),
    (BASE + 'name = "Schema"', "name must be a folder's name"),
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
    monkeypatch.setattr(campaign_file.engine, "code_digest", lambda: "0" * 64)
    assert resumed() == ["tree-sum", "other-tree"]
    assert stripped(Report.load(record)) == stripped(done.reports["tree-sum"])


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
    assert campaign_file._audited(task).verdict
    more = [*files, "json.py", "new.py"]
    for name in more:
        (tmp_path / name).write_text(files.get(name, "") + "\n# another")
        said = campaign_file._audited(task)
        if name == "elsewhere/unused.py":
            assert isinstance(said, vdp.Report)
        else:
            assert said.startswith(f"{name} on ")
            assert "is not the one of the machine that began the campaign" in said
        (tmp_path / name).write_text(files[name]) if name in files else (tmp_path / name).unlink()
    (tmp_path / "beside.py").unlink()
    assert campaign_file._audited(task).startswith("beside.py on ")
    away = campaign_file._Task(task.entry, str(tmp_path / "none"), {})
    assert "is not on" in campaign_file._audited(away)


def test_resume_looks_at_what_lies_beside_the_code(folder):
    entry = entries.read(write(folder, BASE)).entries[0]
    before = campaign_file._key(entry, folder)
    assert before == campaign_file._key(entry, folder)
    (folder / "helper.py").write_text("SCALE = 2\n")
    assert campaign_file._key(entry, folder) != before


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


@pytest.mark.slow
def test_report_keeps_finished_evidence(tmp_path, monkeypatch):
    campaign.run(out=tmp_path, only=["tree-sum"])
    asked = campaign.Wanted()
    assert campaign._finished(tmp_path, "tree-sum", False, asked) is not None
    for change in ({"budget": "standard"}, {"seed": 1}, {"declarations": {"unprotected_outputs": []}}):
        assert campaign._finished(tmp_path, "tree-sum", False, replace(asked, **change)) is None
    monkeypatch.setattr(campaign, "_evidence", None)
    campaign.run(out=tmp_path, only=["tree-sum"], resume=True)


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
    assert lines[0] == "1 of 2 targets were finished before"
    assert done.exit_status == 0


@pytest.mark.parametrize("place", ["/proc/reports", "file/reports"])
def test_a_folder_that_cannot_be_written_is_one_line(place, report, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    with pytest.raises(InputError, match="cannot be made"):
        report.save(place)
    with pytest.raises(InputError, match="cannot be made"):
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
