"""sdist -> wheel, as a release is built: the linked subpackages must not be dropped on the way."""

import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from numba.core.caching import Cache, CacheImpl

import verifiable_dp
from verifiable_dp.core.kernels import kernel

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


# Installed where nothing can be written, for a user without a home: compiled code cannot be kept.


PACKAGE = Path(verifiable_dp.__file__).parent
COMMAND = [sys.executable, "-c", "from verifiable_dp import cli; cli.main()"]
# Another user, who may read everything, also a Python in root's home, and write nothing.
NOBODY = (
    *("setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=+dac_read_search"),
    *("--ambient-caps=+dac_read_search", "--bounding-set=-all,+dac_read_search"),
)


def total(numbers):
    found = 0.0
    for number in numbers:
        found += number
    return found


@pytest.fixture
def keeping():
    """As numba is before a target is loaded in this process: from then on it keeps nothing of these files.

    Where it had no `__new__` of its own this one stays: taken away, Python's would refuse the arguments.
    """
    before = vars(Cache).get("__new__")
    Cache.__new__ = staticmethod(lambda kind, *_: object.__new__(kind))
    yield
    if before is not None:
        Cache.__new__ = before


@pytest.mark.usefixtures("keeping")
def test_without_a_place_it_is_compiled_all_the_same(monkeypatch):
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    with pytest.raises(RuntimeError, match="cannot cache function"):  # what happened to every import
        njit(total, cache=True)
    made = kernel(total)
    assert made(np.arange(5.0)) == 10.0
    assert made.stats.cache_path is None


@pytest.mark.usefixtures("keeping")
def test_with_a_place_it_is_kept():
    assert kernel(total).stats.cache_path is not None


def test_there_is_one_way_to_compile():
    for folder in (PACKAGE, PACKAGE / "algorithms", PACKAGE / "auditors"):
        paths = list(folder.rglob("*.py"))
        assert paths, folder
        for path in paths:
            if path.name != "kernels.py":
                assert not re.search(r"cache\s*=\s*True", path.read_text("utf-8")), path


@pytest.fixture
def installed(tmp_path):
    """A copy of the package that nobody can write to, and how a user without a home starts Python there."""
    site = tmp_path / "site"
    shutil.copytree(PACKAGE, site / "verifiable_dp", ignore=shutil.ignore_patterns("__pycache__"))
    folders = [site, *(path for path in site.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    for folder in [tmp_path, *tmp_path.parents][:3]:  # pytest keeps them for their owner
        folder.chmod(folder.stat().st_mode | stat.S_IXOTH | stat.S_IROTH)
    become = []
    if os.geteuid() == 0:
        become = NOBODY
        if not shutil.which("setpriv") or subprocess.run([*become, "true"], check=False).returncode:
            pytest.skip("root can write everywhere, and setpriv is missing or may not change the user")
    kept = {k: v for k, v in os.environ.items() if k not in ("HOME", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    home = {} if become else {"HOME": "/nonexistent"}  # the home of the user database would be used
    yield become, {**kept, **home, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    for folder in folders:
        folder.chmod(0o755)


def test_an_audit_runs(installed):
    become, environment = installed
    place = "import verifiable_dp; print(verifiable_dp.__file__)"
    found = subprocess.run(
        [*become, sys.executable, "-c", place], cwd="/", env=environment, capture_output=True, text=True
    )
    assert found.stdout.strip() == str(Path(environment["PYTHONPATH"], "verifiable_dp/__init__.py"))
    done = subprocess.run(
        [*become, *COMMAND, "simulate", "ucb1", "--horizon", "1000", "--runs", "2"],
        cwd="/",
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "mean regret" in done.stdout
