"""A third party's package registers an algorithm; the code is that of docs/add-an-algorithm.md."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "add-an-algorithm.md"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A folder on the path with the guide's module and the metadata that pip would write."""
    place = tmp_path_factory.mktemp("site")
    text = GUIDE.read_text("utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (toml,) = re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    name, value = re.search(r'^(\S+) = "(.*)"$', toml, re.MULTILINE).groups()
    assert '[project.entry-points."verifiable_dp.auditors"]' in toml
    package = place / "your_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "commit.py").write_text(code, "utf-8")
    info = place / "your_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: your-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[verifiable_dp.auditors]\n{name} = {value}\n")
    return {**os.environ, "PYTHONPATH": str(place)}


def run(environment, folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "verifiable_dp.cli", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_it_is_listed_audited_and_its_mutant_refuted(environment, tmp_path):
    assert "explore-then-commit" in run(environment, tmp_path, "list").stdout
    done = run(environment, tmp_path, "audit", "explore-then-commit", "--budget", "2", "--json", "r.json")
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert record["checks"][0]["statistics"]["max_cost"] == pytest.approx(1.0)
    assert [m["verdict"] for m in record["mutants"]] == ["refuted"]
    assert record["target"]["source"]["path"] == "your_package/commit.py"
    again = run(environment, tmp_path, "verify", "r.json", "--rerun")
    assert again.returncode == 0, again.stderr


def test_without_the_package_it_is_unknown(tmp_path):
    done = run(dict(os.environ), tmp_path, "audit", "explore-then-commit")
    assert done.returncode == 2
    assert "explore-then-commit" in done.stderr


def test_a_broken_package_spoils_only_its_own_name(environment, tmp_path):
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
    assert "explore-then-commit" in listed.stdout
