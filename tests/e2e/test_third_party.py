"""A third party's package registers an algorithm: docs/add-an-algorithm.md is followed to the letter."""

import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.commands import PATIENCE

GUIDE = Path(__file__).parents[2] / "docs" / "add-an-algorithm.md"
FILE = re.compile(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The guide's files in a folder of their own, outside the repository."""
    place = tmp_path_factory.mktemp("your-package")
    text = GUIDE.read_text("utf-8")
    files = FILE.findall(text)
    assert len(files) == text.count("```python") + text.count("```toml"), "a block of the guide is no file"
    for name, content in files:
        path = place / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, "utf-8")
    return place


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


@pytest.fixture(scope="module")
def followed(package, environment):
    """Every command of the guide with what it said; each must exit with 0."""
    said = {}
    for line in "".join(COMMANDS.findall(GUIDE.read_text("utf-8"))).splitlines():
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


def run(environment, folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "verifiable_dp.cli", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.mark.slow
def test_it_is_listed_audited_and_its_mutant_refuted(followed, package):
    assert "quadrupling" in followed["verifiable-dp list"]
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
    both = {**environment, "PYTHONPATH": f"{environment['PYTHONPATH']}{os.pathsep}{broken}"}
    done = run(both, tmp_path, "audit", "broken")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert run(both, tmp_path, "simulate", "se", "--horizon", "100").returncode == 0
    listed = run(both, tmp_path, "list")
    assert listed.returncode == 0
    assert "quadrupling" in listed.stdout
