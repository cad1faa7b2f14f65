"""Settings in pyproject.toml: what is accepted, where it is found, and that it asks what a campaign asks."""

import ast
import json
import os
import subprocess
import sys

import pytest

from verifiable_dp.campaign import baseline, entries, file, settings
from verifiable_dp.campaign.baseline import Baseline
from verifiable_dp.campaign.examples import Examples
from verifiable_dp.core.validate import InputError
from verifiable_dp.record.model import Record
from verifiable_dp.render.findings import FindingCode, findings
from verifiable_dp.render.sarif import to_sarif
from verifiable_dp.report import Report

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
    (folder / "c.toml").write_text('[[targets]]\ntarget = "own.py:right"\nepsilon = 2\nbudget = "smoke"\n')
    (other,) = file.ask(folder / "c.toml", out="d").values()  # the control: another question differs
    assert "epsilon" in first.difference(other)


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
    assert "list targets in pyproject.toml: [[tool.verifiable-dp.targets]]" in aside
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
    status, said, _ = run("judge", "audit-reports", "--campaign", "pyproject.toml")
    assert status == 0
    known = json.loads(file.Path("known.json").read_text())
    known["findings"] = [one for one in known["findings"] if one["code"] != "DP101"]
    file.Path("known.json").write_text(json.dumps(known))
    assert run("judge", "audit-reports", "--campaign", "pyproject.toml")[0] == 3
    refuted = {**known["findings"][0], "code": "DP100"}
    file.Path("known.json").write_text(json.dumps({"version": 2, "findings": [refuted]}))
    with pytest.raises(InputError, match="is not a baseline"):
        Baseline.at(file.Path("known.json"))
    project(ROW.format(name="wrong", more=""))
    file.Path("known.json").unlink()
    assert run("audit", "--write-baseline")[0] == 1


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
        InputError, match=r"version 1, which names no lines.*write it again with verifiable-dp"
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
    "text", ["", "[]", "{}", '{"version": 3, "findings": []}', '{"version": 2, "findings": [1]}']
)
def test_a_file_that_is_no_baseline_is_refused(tmp_path, text):
    (tmp_path / "b.json").write_text(text)
    with pytest.raises(InputError, match="is not a baseline; remove it, and write it with --write-baseline"):
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
        assert ("nothing, ignored in the code: only in tests" in said) == effective
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
    assert "exists already" in aside


def test_the_hook_runs_a_command_that_there_is():
    yaml = pytest.importorskip("yaml")
    (hook,) = yaml.safe_load((file.Path(__file__).parents[3] / ".pre-commit-hooks.yaml").read_text())
    program, *words = hook["entry"].split()
    assert program == "verifiable-dp"
    assert run(*words, "--help")[0] == 0
    assert run("audits", "--help")[0] == 2  # the control
