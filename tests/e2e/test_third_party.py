"""A third party's package registers an algorithm, a kind of check, an operator, a rendering.

docs/add-an-algorithm.md and docs/extend.md are followed to the letter.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.commands import PATIENCE

DOCS = Path(__file__).parents[2] / "docs"
GUIDE, EXTENSIONS = DOCS / "add-an-algorithm.md", DOCS / "extend.md"
FILE = re.compile(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHANGE = re.compile(r"^<!-- change: (\S+) -->\n```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HUNK = re.compile(r"((?:^-.*\n)+)((?:^\+.*\n)+)", re.MULTILINE)
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def written(guide, place):
    """The files of a guide in a folder, with its changes to those that lie there."""
    text = guide.read_text("utf-8")
    files, changes = FILE.findall(text), CHANGE.findall(text)
    blocks = len(re.findall(r"^```(?:python|toml|diff)$", text, re.MULTILINE))
    assert len(files) + len(changes) == blocks, "a block of the guide is no file"
    for name, content in files:
        path = place / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, "utf-8")
    for name, diff in changes:
        old = (place / name).read_text("utf-8")
        for removed, added in HUNK.findall(diff):
            before, after = (re.sub(r"^[-+]", "", part, flags=re.MULTILINE) for part in (removed, added))
            assert old.count(before) == 1, f"{name} does not have once what the guide changes: {before}"
            old = old.replace(before, after)
        (place / name).write_text(old, "utf-8")
    return place


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The guide's files in a folder of their own, outside the repository."""
    return written(GUIDE, tmp_path_factory.mktemp("your-package"))


@pytest.fixture(scope="module")
def environment(package, tmp_path_factory):
    """What the commands of the guide see. pip installs into a folder: without a network, and none of ours."""
    site = tmp_path_factory.mktemp("site")
    pip = {"TARGET": site, "NO_DEPS": 1, "NO_INDEX": 1, "DISABLE_PIP_VERSION_CHECK": 1}
    return {
        **os.environ,
        **{f"PIP_{name}": str(value) for name, value in pip.items()},
        "PIP_NO_BUILD_ISOLATION": "0",  # this means: without isolation
        "PATH": f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(site),
    }


def commands_of(guide, package, environment):
    """Every command of the guide with what it said; each must exit with 0."""
    said = {}
    for line in "".join(COMMANDS.findall(guide.read_text("utf-8"))).splitlines():
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=package,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        said[line] = done.stdout
    return said


@pytest.fixture(scope="module")
def followed(package, environment):
    return commands_of(GUIDE, package, environment)


@pytest.fixture(scope="module")
def extended(package, tmp_path_factory):
    """The same package with the second guide's kind of check, operator and rendering."""
    place = tmp_path_factory.mktemp("extended") / "your-package"
    shutil.copytree(package / "your_package", place / "your_package")
    return written(EXTENSIONS, place)


@pytest.fixture(scope="module")
def extension(extended, environment, tmp_path_factory):
    """What the second guide's commands said, installed into a folder of its own."""
    site = tmp_path_factory.mktemp("extended-site")
    allowed = {"VERIFIABLE_DP_PLUGINS": "your-package, your-checks"}
    inside = {**environment, **allowed, "PIP_TARGET": str(site), "PYTHONPATH": str(site)}
    return commands_of(EXTENSIONS, extended, inside), inside


def run(environment, folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "verifiable_dp", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.mark.slow
def test_it_is_listed_audited_and_its_mutant_refuted(followed, package):
    assert "quadrupling" in followed["VERIFIABLE_DP_PLUGINS=your-package verifiable-dp list"]
    record = json.loads((package / "record.json").read_text("utf-8"))
    assert record["verdict"] == "not_refuted"
    assert record["checks"][0]["statistics"]["max_cost"] == pytest.approx(1.0)
    assert [m["verdict"] for m in record["mutants"]] == ["refuted"] * 6
    assert record["target"]["source"]["path"] == "your_package/quadrupling.py"
    assert (package / "reports/quadrupling/record.html").is_file()


@pytest.mark.parametrize(("file", "most"), [("quadrupling.py", 60), ("auditor.py", 100)])
def test_a_new_elimination_costs_no_more_lines_than_promised(package, file, most):
    assert len((package / "your_package" / file).read_text("utf-8").splitlines()) <= most


@pytest.mark.slow
def test_its_theorems_hold_and_its_broken_decisions_are_caught(followed, package):
    record = json.loads((package / "reports/quadrupling/record.json").read_text("utf-8"))
    assert {c["name"]: c["result"]["verdict"] for c in record["regret"]["checks"]} == {
        "theorem-2 pulls on wide gaps": "consistent",
        "theorem-2 survival on all but tied": "consistent",
        "theorem-3 on wide gaps": "consistent",
    }
    broken = {m["name"]: m["verdict"] for m in record["mutants"] if m["breaks"] == "regret"}
    assert broken == dict.fromkeys(("hasty", "timid", "inverted"), "contradicted")


@pytest.mark.slow
def test_what_ran_is_the_installed_package(followed, environment, tmp_path):
    program = "import your_package; print(your_package.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.stdout.startswith(environment["PYTHONPATH"])


@pytest.mark.slow
def test_without_the_package_it_is_unknown(tmp_path):
    done = run(dict(os.environ), tmp_path, "audit", "quadrupling")
    assert done.returncode == 2
    assert "quadrupling" in done.stderr


@pytest.mark.slow
def test_a_broken_package_spoils_only_its_own_name(followed, environment, tmp_path):
    broken = tmp_path / "site"
    info = broken / "other-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[verifiable_dp.auditors]\nbroken = no_such_module:auditor\n")
    both = {
        **environment,
        "VERIFIABLE_DP_PLUGINS": "*",
        "PYTHONPATH": f"{environment['PYTHONPATH']}{os.pathsep}{broken}",
    }
    done = run(both, tmp_path, "audit", "broken")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert run(both, tmp_path, "simulate", "se", "--horizon", "100").returncode == 0
    listed = run(both, tmp_path, "list")
    assert listed.returncode == 0
    assert "quadrupling" in listed.stdout


NAME = "theorem-3 median on wide gaps"


@pytest.mark.slow
def test_a_kind_of_check_of_a_package_stands_in_every_rendering(extension, extended):
    """The verdict is made again by `verify`, as of any kind, and an edited one is refused."""
    _, environment = extension
    path = extended / "extended/quadrupling/record.json"
    record = json.loads(path.read_text("utf-8"))
    check = {c["name"]: c for c in record["regret"]["checks"]}[NAME]
    assert check["kind"] == "median_bound"
    assert check["result"]["verdict"] == "consistent"
    sentence = "runs above 50000, claimed at most half of them"
    for form in ("html", "markdown", "junit", "lines"):
        done = run(environment, extended, "render", str(path), "--to", form)
        assert done.returncode == 0, done.stderr
        assert NAME in done.stdout, form
        assert sentence in done.stdout, form
    assert (
        "Median against the bound" in run(environment, extended, "render", str(path), "--to", "html").stdout
    )
    assert run(environment, extended, "verify", str(path)).returncode == 0
    text = path.read_text("utf-8")
    edited = extended / "edited.json"
    edited.write_text(text.replace(f'"above": {check["statistics"]["above"]}', '"above": 1000000'), "utf-8")
    assert edited.read_text("utf-8") != text
    assert run(environment, extended, "verify", str(edited)).returncode == 2


@pytest.mark.slow
def test_without_the_package_its_kind_is_named_and_the_record_refused(extension, extended, tmp_path):
    done = run(dict(os.environ), tmp_path, "verify", str(extended / "extended/quadrupling/record.json"))
    assert done.returncode == 2
    assert "median_bound" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.slow
def test_an_operator_of_a_package_takes_part_in_the_mutation_suite(extension, extended):
    table = json.loads((extended / "kills.json").read_text("utf-8"))
    (row,) = [row for row in table["mutants"] if row["mutant"] == "thirds"]
    assert (row["outcome"], row["origin"], row["at_most"]) == ("killed", "scale", 3.0)


@pytest.mark.slow
def test_a_rendering_of_a_package_is_one_of_ours(extension):
    said, _ = extension
    (lines,) = [text for line, text in said.items() if line.endswith("--to lines")]
    assert {line.count("\t") for line in lines.splitlines()} == {2}
    assert NAME in lines
