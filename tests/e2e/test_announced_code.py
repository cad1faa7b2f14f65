"""`verify --rerun` runs what it announces, and only the bytes that it compared with the record."""

import contextlib
import hashlib
import json
import py_compile
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES

import pytest

from tests.commands import run
from verifiable_dp import api
from verifiable_dp.auditing.code import Code
from verifiable_dp.core import engine, pinned_source
from verifiable_dp.core.validate import InputError
from verifiable_dp.record.sealing import sealed
from verifiable_dp.targets.source import CodeSource, load

RELEASE = """
def release(data, size, rng):
    return data + rng.laplace(0, 1, size)
"""
PLAY = """
def play(rewards, rng):
    return rng.integers(0, rewards.shape[1], len(rewards))
"""
# What hostile code would do: leave a trace as soon as it is imported.
EVIL = "open('ran', 'w').close()\n"


def audited(folder, target, *options):
    """The record of a small audit."""
    done = run(folder, "audit", target, "--epsilon", 1, "--runs", 400, "--json", "r.json", *options)
    assert done.exit_code in (0, 3), done.stderr
    return json.loads((folder / "r.json").read_text("utf-8"))


def again(folder, record, *options):
    """`verify --rerun` of a record that was sealed anew."""
    (folder / "edited.json").write_text(json.dumps(sealed(record)), "utf-8")
    return run(folder, "verify", "edited.json", "--rerun", *options)


def refused(folder, record, words):
    """It is refused, and nothing of the target ran."""
    done = again(folder, record)
    assert done.exit_code == 2, done.stdout + done.stderr
    assert words in done.stderr
    assert not (folder / "ran").exists()


# In a cage numba can keep nothing, but finds what is there: one of the two is enough by day.
UNCAGED = pytest.param("none", marks=pytest.mark.slow)


def forgotten(patched):
    """What is loaded from now on is forgotten afterwards."""
    patched.setattr(sys, "path", list(sys.path))
    patched.setattr(pinned_source, "_HELD", {})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where modules of a test lie."""
    forgotten(monkeypatch)
    return tmp_path


def write_package(folder):
    """A module of a package within a package."""
    inner = folder / "outer" / "inner"
    inner.mkdir(parents=True)
    (folder / "outer" / "__init__.py").write_text("", "utf-8")
    (inner / "__init__.py").write_text("", "utf-8")
    (inner / "noise.py").write_text(RELEASE, "utf-8")


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """The records of a file and of that package, as they are anywhere: one audit each for all tests."""
    folder = tmp_path_factory.mktemp("audited")
    (folder / "good.py").write_text(RELEASE, "utf-8")
    write_package(folder)
    with pytest.MonkeyPatch.context() as patched:
        forgotten(patched)
        return [
            json.dumps(audited(folder, name)) for name in ("good.py:release", "outer.inner.noise:release")
        ]


@pytest.fixture
def file_record(folder, records):
    (folder / "good.py").write_text(RELEASE, "utf-8")
    (folder / "evil.py").write_text(EVIL + RELEASE, "utf-8")
    return json.loads(records[0])


@pytest.fixture
def packaged(folder, records):
    write_package(folder)
    return json.loads(records[1])


def source(record, **changes):
    target = record["target"]
    return {**record, "target": {**target, "source": {**target["source"], **changes}}}


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


# ---------------------------------------------------------------- one thing is named


def test_a_record_whose_name_and_source_differ_is_refused(folder, file_record):
    """Announced from the source, ``good.py``, and imported by the name, ``evil.py``."""
    evil = source(file_record, sha256=sha256(folder / "evil.py"))
    evil["target"]["name"] = "evil.py:release"
    refused(folder, evil, "it names two programs to run, 'evil.py:release' and 'good.py:release'")
    hidden = source(file_record, name="evil.py:release", sha256=sha256(folder / "evil.py"))
    refused(folder, hidden, "it names two programs to run")


def test_a_record_whose_name_and_path_differ_is_refused(folder, file_record):
    evil = source(file_record, name="evil.py:release", sha256=sha256(folder / "evil.py"))
    evil["target"]["name"] = "evil.py:release"
    refused(folder, evil, "it names two programs to run, 'evil.py:release' and 'good.py'")


def test_what_is_announced_is_what_runs(folder, file_record):
    done = again(folder, file_record)
    assert done.exit_code == 0, done.stderr
    digest = sha256(folder / "good.py")
    assert done.stderr.splitlines()[0] == f"imports and runs good.py:release, SHA-256 {digest[:12]}"
    # Of a record of other code that is named openly the announcement is of that code.
    evil = source(file_record, name="evil.py:release", path="evil.py", sha256=sha256(folder / "evil.py"))
    evil["target"]["name"] = "evil.py:release"
    assert api.will_run(evil) == [
        f"imports and runs evil.py:release, SHA-256 {sha256(folder / 'evil.py')[:12]}"
    ]


def test_a_command_in_the_record_of_code_is_refused(folder, file_record):
    evil = json.loads(json.dumps(file_record))
    evil["target"]["parameters"]["exec"] = "touch ran"
    refused(folder, evil, "it names two programs to run, 'touch ran' and 'good.py:release'")


def test_a_command_in_a_record_of_regret_is_refused(folder):
    """Announced from ``exec``, and imported from the source."""
    (folder / "bandit.py").write_text(PLAY, "utf-8")
    options = ["--bound", 1e6, "--arms", 2, "--horizon", 20, "--means", ".9,.5", "--runs", 8]
    done = run(folder, "regret", "bandit.py:play", *options, "--json", "r.json")
    assert done.exit_code in (0, 3), done.stderr
    record = json.loads((folder / "r.json").read_text("utf-8"))
    assert again(folder, record).exit_code == 0
    (folder / "bandit.py").write_text(EVIL + PLAY, "utf-8")
    evil = source(record, sha256=sha256(folder / "bandit.py"))
    evil["target"]["parameters"]["exec"] = "echo harmless"
    refused(folder, evil, "it names two programs to run, 'echo harmless' and 'bandit.py:play'")


def test_a_command_that_is_not_the_one_that_is_named_is_refused(folder):
    record = {
        "target": {
            "name": "python3 good.py",
            "kind": "release",
            "parameters": {"exec": "touch ran"},
            "source": {"name": "python3 good.py", "path": "", "line": 0, "sha256": ""},
        },
        "plan": {"budget": "smoke"},
    }
    with contextlib.chdir(folder), pytest.raises(InputError, match="names two programs to run"):
        Code.of(record["target"], None)
    record["target"]["parameters"]["exec"] = "python3 good.py"
    assert Code.of(record["target"], None).announced() == ["runs the command: python3 good.py"]
    record["target"]["source"]["path"] = "other.py"
    with pytest.raises(InputError, match="names two programs to run"):
        Code.of(record["target"], None)


# ---------------------------------------------------------------- compared before it runs


def test_a_changed_file_does_not_run(folder, file_record):
    (folder / "good.py").write_text(EVIL + RELEASE, "utf-8")
    refused(folder, file_record, "good.py has changed since the audit")
    refused(folder, source(file_record, sha256=""), "good.py has changed since the audit")


@pytest.mark.parametrize("changed", ["outer/__init__.py", "outer/inner/__init__.py", "outer/inner/noise.py"])
def test_no_package_runs_before_it_is_compared(changed, folder, packaged):
    assert again(folder, packaged).exit_code == 0
    path = folder / changed
    path.write_text(EVIL + path.read_text("utf-8"), "utf-8")
    refused(folder, packaged, f"{path} has changed since the audit")


def test_a_package_whose_digest_was_taken_out_is_refused(folder, packaged):
    assert list(packaged["target"]["source"]["loads"]) == ["outer", "outer.inner"]
    (folder / "outer" / "__init__.py").write_text(EVIL, "utf-8")
    bare = source(packaged, loads={"outer.inner": packaged["target"]["source"]["loads"]["outer.inner"]})
    refused(folder, bare, "also runs outer, whose digest is not in the record")


def test_packages_are_announced(folder, packaged):
    with contextlib.chdir(folder):
        found = api.will_run(packaged)
    assert [line.split(",")[0] for line in found] == [
        "imports outer",
        "imports outer.inner",
        "imports and runs outer.inner.noise:release",
    ]


@pytest.mark.parametrize("changed", ["front.py", "back.py"])
def test_what_is_defined_elsewhere_is_compared_too(changed, folder):
    """A file that names what another one defines: both are compared first."""
    (folder / "back.py").write_text(RELEASE, "utf-8")
    (folder / "front.py").write_text("from back import release\n", "utf-8")
    record = audited(folder, "front.py:release")
    assert again(folder, record).exit_code == 0
    path = folder / changed
    path.write_text(EVIL + path.read_text("utf-8"), "utf-8")
    refused(folder, record, f"{path} has changed since the audit")


# ---------------------------------------------------------------- the bytes that were compared run


def test_bytecode_of_a_cache_does_not_run(folder, packaged):
    """A file of bytecode that Python would take in place of the source, unchecked."""
    path = folder / "outer" / "inner" / "noise.py"
    right = path.read_text("utf-8")
    path.write_text(EVIL + right, "utf-8")
    py_compile.compile(str(path), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    path.write_text(right, "utf-8")
    assert again(folder, packaged).exit_code == 0
    assert not (folder / "ran").exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_bytecode_of_what_a_target_imports_does_not_run(workers, folder):
    (folder / "target.py").write_text("import helper\n" + RELEASE, "utf-8")
    helper = folder / "helper.py"
    helper.write_text(EVIL, "utf-8")
    py_compile.compile(str(helper), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    helper.write_text("", "utf-8")
    audited(folder, "target.py:release", "--workers", workers)
    assert not (folder / "ran").exists()


@pytest.mark.parametrize("cage", ["best", UNCAGED])
def test_what_numba_has_kept_of_a_target_does_not_run(cage, folder):
    """Its cache lies beside the source, and is believed if it says that it is of it."""
    pytest.importorskip("numba")
    code = "import numba\n\n@numba.njit(cache=True)\ndef scale(x):\n    return {} * x\n\n"
    code += "def release(data, size, rng):\n    return data + rng.laplace(0, scale(1.0), size)\n"
    kept = (
        "import pickle, sys, target\nprint(target.scale(1.0))\nimpl = target.scale._cache._impl\n"
        "place = f'{impl.locator.get_cache_path()}/{impl.filename_base}.nbi'\n"
        "with open(place, 'rb') as file:\n    parts = pickle.load(file), pickle.loads(file.read())\n"
        "open('target.py', 'w').write(sys.argv[1])\n"
        "with open(place, 'wb') as file:\n    pickle.dump(parts[0], file)\n"
        "    pickle.dump((impl.locator.get_source_stamp(), parts[1][1]), file)\n"
    )
    (folder / "target.py").write_text(code.format("1.0"), "utf-8")
    command = [sys.executable, "-c", kept, code.format("0.1")]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    command = [sys.executable, "-c", "import target; print(target.scale(1.0))"]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    assert done.stdout == "1.0\n"  # what it has kept runs where Python runs it
    done = run(folder, "audit", "target.py:release", "--epsilon", 1, "--runs", 400, "--cage", cage)
    assert done.exit_code == 1, done.stderr


def test_a_request_names_the_files_that_python_takes(folder):
    """An extension before source, and bytecode where there is no source."""
    (folder / "target.py").write_text("import helper\n" + RELEASE, "utf-8")
    (folder / "helper.pyc").touch()
    with contextlib.chdir(folder):
        for name in ("helper.pyc", "helper.py", f"helper{EXTENSION_SUFFIXES[-1]}"):
            (folder / name).touch()
            assert api.ask("target.py:release", epsilon=1.0).target.files.keys() == {"target.py", name}


def test_a_file_that_changes_after_it_was_compared_does_not_run(folder, file_record, monkeypatch):
    known = CodeSource.read(file_record["target"]["source"], "good.py:release")
    real = pinned_source.spec_of

    def late(*arguments):
        (folder / "good.py").write_text(EVIL + RELEASE, "utf-8")
        return real(*arguments)

    monkeypatch.setattr(pinned_source, "spec_of", late)
    with contextlib.chdir(folder):
        known.load()
    assert (folder / "good.py").read_text("utf-8").startswith(EVIL)
    assert not (folder / "ran").exists()


def test_a_record_holds_the_digest_of_what_ran(folder):
    (folder / "mine.py").write_text(RELEASE, "utf-8")
    digest = sha256(folder / "mine.py")
    with contextlib.chdir(folder):
        thing = load("mine.py:release")
        (folder / "mine.py").write_text(RELEASE + "# edited meanwhile\n", "utf-8")
        assert CodeSource.named(thing, "mine.py:release").sha256 == digest


WHICH = """
import hashlib, inspect, sys

def read(number):
    return (__spec__.loader.sha256, number)
"""


def test_workers_run_the_bytes_that_were_loaded(folder):
    (folder / "which.py").write_text(WHICH, "utf-8")
    digest = sha256(folder / "which.py")
    with contextlib.chdir(folder):
        function = load("which.py:read")
        (folder / "which.py").write_text(EVIL + WHICH, "utf-8")
        found = engine.ordered(function, [1, 2, 3], workers=2)
    assert found == [(digest, 1), (digest, 2), (digest, 3)]
    assert not (folder / "ran").exists()


def test_a_search_imports_nothing(folder):
    package = folder / "loud"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('imported')\n", "utf-8")
    (package / "part.py").write_text(RELEASE, "utf-8")
    with contextlib.chdir(folder):
        known = CodeSource(
            "loud.part:release", "loud/part.py", 2, "0" * 64, {"loud": sha256(package / "__init__.py")}
        )
        with pytest.raises(InputError, match=r"part\.py has changed"):
            known.load()
    assert "loud" not in sys.modules
