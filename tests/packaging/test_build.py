"""sdist -> wheel, as a release is built: the linked subpackages must not be dropped on the way."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CACHES = {".pyc", ".nbc", ".nbi"}


def expected_files():
    """Files of the checkout as they are named in the wheel."""
    sources = {ROOT / "verifiable_dp": "verifiable_dp"}
    for name in ("algorithms", "auditors"):
        folder = ROOT / name
        sources[folder if folder.is_dir() else ROOT / "verifiable_dp" / name] = f"verifiable_dp/{name}"
    return {
        f"{target}/{path.relative_to(folder).as_posix()}"
        for folder, target in sources.items()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in CACHES and not path.name.startswith(".")
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    build = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT],
        capture_output=True,
        text=True,
    )
    assert build.returncode == 0, build.stdout + build.stderr
    (path,) = out.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


def test_every_file_is_in_the_wheel(wheel):
    expected = expected_files()
    for name in ("py.typed", "algorithms/__init__.py", "auditors/__init__.py"):
        assert f"verifiable_dp/{name}" in expected
    assert expected <= set(wheel.namelist())


def test_nothing_else_is_at_the_top(wheel):
    top = {name.split("/")[0] for name in wheel.namelist()}
    assert {name for name in top if not name.endswith(".dist-info")} == {"verifiable_dp"}


def test_every_algorithm_has_an_entry_point(wheel):
    (name,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    text = wheel.read(name).decode()
    assert "verifiable_dp = verifiable_dp.pytest_plugin" in text
    for path in (ROOT / "verifiable_dp" / "auditors").glob("[!_]*.py"):
        if path.stem != "items":  # rows on the papers
            assert f"verifiable_dp.auditors.{path.stem}:auditor" in text
