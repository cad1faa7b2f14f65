"""What code of a target can reach of the audit's own process, of the machine, and of files of others."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import verifiable_dp as vdp
from tests.commands import PATIENCE, SCRIPT, run
from tests.e2e.test_child import forkable  # noqa: F401  used in every test here
from verifiable_dp.core import remembered
from verifiable_dp.core.validate import InputError
from verifiable_dp.record import provenance
from verifiable_dp.targets import keeping

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked on Linux")
QUICK = ("--epsilon", 1, "--runs", 400)

DAEMON = """
import os, time

def right(data, size, rng):
    if not os.path.exists("pids"):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                with open("pids", "w") as file:
                    file.write(str(os.getpid()))
                while True:
                    try:
                        open("r.json", "r+").truncate(0)
                    except OSError:
                        pass
                    time.sleep(0.005)
            os._exit(0)
        while not os.path.exists("pids"):
            time.sleep(0.01)
    return data + rng.laplace(0, 1, size)
"""


def alive(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_daemon_of_the_code_does_not_outlive_the_audit(tmp_path):
    """It would empty the record, in a session of its own and without a parent."""
    (tmp_path / "a.py").write_text(DAEMON, "utf-8")
    assert run(tmp_path, "audit", "a.py:right", *QUICK, "--json", "r.json").exit_code in (0, 3)
    assert not alive(int((tmp_path / "pids").read_text()))
    assert vdp.verify(tmp_path / "r.json").checks > 0


def test_what_cannot_be_ended_is_no_verdict(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text("def right(data, size, rng):\n    return data + rng.laplace(0, 1, size)\n")
    monkeypatch.setattr(keeping, "_strays", lambda: {1 << 22: False})  # a number that no process has
    monkeypatch.setattr(keeping, "_PATIENCE", 0.0)
    done = run(tmp_path, "audit", "a.py:right", *QUICK, "--json", "r.json")
    assert done.exit_code == 2
    assert "target: we could not end the processes that its code started" in done.stderr
    assert not (tmp_path / "r.json").exists()


def test_without_the_parents_care_the_daemon_lives(tmp_path, monkeypatch):
    """Control of the test before."""
    (tmp_path / "a.py").write_text(DAEMON.replace("r.json", "x.json"), "utf-8")
    monkeypatch.setattr(keeping, "_end_strays", lambda: None)
    assert run(tmp_path, "audit", "a.py:right", *QUICK).exit_code in (0, 3)
    process = int((tmp_path / "pids").read_text())
    assert alive(process)
    os.kill(process, signal.SIGKILL)


def test_processes_of_others_are_left_alone(tmp_path):
    """What ran before, and what this process starts meanwhile in its own session."""
    (tmp_path / "a.py").write_text(DAEMON.replace("r.json", "x.json"), "utf-8")
    before = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    meanwhile = []

    def progress(line):
        if not meanwhile:
            meanwhile.append(subprocess.Popen(["sleep", "1000"]))

    try:
        vdp.audit(f"{tmp_path / 'a.py'}:right", epsilon=1.0, runs=400, progress=progress)
        assert [one.poll() for one in (before, *meanwhile)] == [None, None]
    finally:
        for one in (before, *meanwhile):
            one.kill()
            one.wait()
        Path("pids").unlink(missing_ok=True)


def test_the_parent_is_closed_to_others_while_the_code_runs(tmp_path):
    (tmp_path / "a.py").write_text("def right(data, size, rng):\n    return data + rng.laplace(0, 1, size)\n")
    dumpable = ctypes.CDLL(None).prctl
    before, seen = dumpable(3, 0, 0, 0, 0), []

    def progress(line):
        if line != "repeating some runs in fresh processes":  # said between the processes
            seen.append(dumpable(3, 0, 0, 0, 0))

    vdp.audit(f"{tmp_path / 'a.py'}:right", epsilon=1.0, runs=400, progress=progress)
    assert set(seen) == {0}
    assert dumpable(3, 0, 0, 0, 0) == before


READS = """
import os

def right(data, size, rng):
    found = []
    for process in (os.getpid(), os.getppid()):
        for name in ("environ", "mem", "fd"):
            try:
                if name == "fd":
                    os.readlink(f"/proc/{process}/fd/0")
                else:
                    with open(f"/proc/{process}/{name}", "rb") as file:
                        text = file.read() if name == "environ" else b""
                        found += [part for part in text.split(b"\\0") if b"hidden" in part]
                found.append(f"{process == os.getpid()} {name}".encode())
            except OSError:
                pass
    with open("seen", "wb") as file:
        file.write(b"\\n".join(found))
    return data + rng.laplace(0, 1, size)
"""


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="nothing keeps root out")
def test_it_reads_neither_memory_nor_files_nor_secrets_of_the_parent(tmp_path):
    """Without the rights of root, whom nothing keeps out. What it reads of itself is without the secret."""
    (tmp_path / "a.py").write_text(READS, "utf-8")
    command = [SCRIPT, "audit", "a.py:right", *map(str, QUICK)]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *command]
    secret = {**os.environ, "MY_TOKEN": "hidden", "GITHUB_ENV": "hidden"}
    done = subprocess.run(command, cwd=tmp_path, env=secret, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode in (0, 3), done.stderr
    seen = set((tmp_path / "seen").read_bytes().split(b"\n"))
    assert seen == {b"True environ", b"True mem", b"True fd"}


# ---------------------------------------------------------------- git


def git(folder, *arguments):
    names = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "a.py")
    git(tmp_path, "commit", "-qm", "one")
    return tmp_path


def test_git_runs_no_program_that_a_repository_names(repository):
    """As code of a target may have written into its configuration. Control: `git status` runs them."""
    program = repository / "program"
    program.write_text(f"#!/bin/sh\necho ran >>{repository}/ran\ncat\n")
    program.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(program))
    git(repository, "config", "filter.f.clean", str(program))
    (repository / ".git/info/attributes").write_text("* filter=f\n")
    time.sleep(0.01)
    (repository / "a.py").write_text("x = 2\n")
    found = provenance.place(str(repository / "a.py"))
    assert len(found["commit"]) == 40
    assert found["dirty"] is True
    assert not (repository / "ran").exists()
    subprocess.run(["git", "status"], cwd=repository, capture_output=True, check=True)
    assert (repository / "ran").exists()


def test_what_git_says_of_a_file_is_right(repository):
    path = str(repository / "a.py")
    clean = provenance.place(path)
    assert (clean["dirty"], len(clean["commit"])) == (False, 40)
    (repository / "a.py").write_bytes(b"x = 1\r\n")
    assert provenance.place(path)["dirty"] is True
    (repository / "a.py").write_text("x = 2\n")
    assert provenance.place(path)["dirty"] is True
    (repository / "b.py").write_text("x = 2\n")
    assert provenance.place(str(repository / "b.py")) == {"repository": "", "commit": "", "dirty": False}


def test_a_commit_speaks_of_all_files_that_run(repository, monkeypatch):
    """Also of those that a target imports, in the commit or not. Control: one that it does not import."""
    monkeypatch.chdir(repository)
    (repository / "inside").mkdir()
    code = "import b\n\ndef right(data, size, rng):\n    return data + rng.laplace(0, b.SCALE, size)\n"
    (repository / "inside/a.py").write_text(code)
    (repository / "inside/b.py").write_text("SCALE = 1\n")

    def dirty():
        record = vdp.audit("inside/a.py:right", epsilon=1.0, runs=400).record
        return record["provenance"]["target"]["dirty"]

    git(repository, "add", "inside/a.py")
    git(repository, "commit", "-qm", "two")
    assert dirty()
    git(repository, "add", "inside/b.py")
    git(repository, "commit", "-qm", "three")
    (repository / "a.py").write_text("x = 2\n")
    assert not dirty()
    (repository / "inside/b.py").write_text("SCALE = 2\n")
    assert dirty()


def test_a_commit_during_an_audit_is_not_that_of_the_code_that_ran(repository, monkeypatch):
    """The code of the target counts as changed; the commit of our own is that of the start."""
    monkeypatch.chdir(repository)
    code = "def right(data, size, rng):\n    return data + rng.laplace(0, 1, size)\n"
    (repository / "a.py").write_text(code)
    ours = repository / "verifiable_dp/record/provenance.py"
    ours.parent.mkdir(parents=True)
    ours.write_text("x = 1\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "two")
    head, edits = provenance.place("a.py")["commit"], []

    def commit(line):
        if edits:
            edits.pop().write_text("# moved\n" + code)
            git(repository, "commit", "-qam", "three")

    def audited(*files):
        edits[:] = files
        provenance._committed.cache_clear()
        return vdp.audit("a.py:right", epsilon=1.0, runs=400, progress=commit).record["provenance"]

    monkeypatch.setattr(provenance, "__file__", str(ours))
    try:
        still, moved = audited(), audited(repository / "a.py")
        assert (moved["commit"], moved["dirty"]) == (head, False)  # our code did not change
        assert (still["target"]["dirty"], moved["target"]["dirty"]) == (False, True)
        monkeypatch.setattr(provenance.engine.code_digest, "__wrapped__", lambda: "0" * 64)
        assert audited()["dirty"]
    finally:
        provenance._committed.cache_clear()


def test_neither_a_repository_in_a_folder_nor_a_replacement_is_believed(repository):
    """Both may come with the code: a repository without a working tree can be committed as files."""
    clean = provenance.place(str(repository / "a.py"))
    inside = repository / "inside"
    git(repository, "clone", "-q", "--bare", ".", str(inside))
    (inside / "a.py").write_text("x = 1\n")
    assert provenance.place(str(inside / "a.py"))["commit"] == ""
    (repository / "a.py").write_text("x = 2\n")
    git(repository, "commit", "-qam", "other")
    other = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=repository, capture_output=True, text=True
    ).stdout
    git(repository, "replace", clean["commit"], other.strip())
    git(repository, "reset", "-q", "--soft", clean["commit"])
    found = provenance.place(str(repository / "a.py"))
    assert (found["commit"], found["dirty"]) == (clean["commit"], True)


# ---------------------------------------------------------------- where we write


def test_a_folder_that_is_a_link_is_not_written_into(tmp_path):
    (tmp_path / "a.py").write_text("def right(data, size, rng):\n    return data + rng.laplace(0, 1, size)\n")
    (tmp_path / "c.toml").write_text('[[targets]]\ntarget = "a.py:right"\nepsilon = 1\nbudget = "smoke"\n')
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "out").symlink_to(other)
    for command in (["campaign", "c.toml", "--out", "out"], ["report", "--only", "nas", "--out", "out"]):
        done = run(tmp_path, *command)
        assert (done.exit_code, "is a link" in done.stderr) == (2, True), done.stderr
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside/a-right").symlink_to(other)
    done = run(tmp_path, "campaign", "c.toml", "--out", "inside")
    assert (done.exit_code, "is a link" in done.stderr) == (2, True), done.stderr
    (tmp_path / "build").symlink_to(other)
    done = run(tmp_path, "campaign", "c.toml", "--out", "build/reports")
    assert (done.exit_code, "build' is a link" in done.stderr) == (2, True), done.stderr
    assert not list(other.iterdir())


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_checkpoint_is_a_file(kind, tmp_path):
    (tmp_path / "a.py").write_text("def right(data, size, rng):\n    return data + rng.laplace(0, 1, size)\n")
    path = tmp_path / "steps"
    path.symlink_to("other") if kind == "link" else os.mkfifo(path)
    done = run(tmp_path, "audit", "a.py:right", *QUICK, "--checkpoint", "steps")
    assert (done.exit_code, "is a link, or not a file" in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_in_the_place_of_a_file_is_not_written_through(kind, tmp_path):
    path, other = tmp_path / "x" / "r.json", tmp_path / "other"
    other.write_text("mine")
    path.parent.mkdir()
    {"link": lambda: path.symlink_to(other), "pipe": lambda: os.mkfifo(path), "folder": path.mkdir}[kind]()
    commands = (["audit", "nas", "--budget", "smoke", "--json", path], ["audit", "nas", "--ask", path])
    for command in commands:
        done = run(tmp_path, *command)
        assert other.read_text() == "mine"
        if kind == "link" and command[-2] == "--json":
            assert done.exit_code in (0, 1)  # a baseline; the link is replaced
            path.unlink()
            path.symlink_to(other)
        else:
            assert (done.exit_code, done.stdout) == (2, "")
            assert done.stderr.startswith("verifiable-dp: ")


def test_a_full_disk_is_one_line(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    done = run(tmp_path, "audit", "nas", "--ask", "q.json")
    assert (done.exit_code, "cannot be written: No space left" in done.stderr) == (2, True)
    with pytest.raises(InputError, match="cannot be written: No space left"):
        vdp.audit("nas", budget="smoke", request=tmp_path / "p.json")
    with pytest.raises(InputError, match="cannot be written: No space left"):
        vdp.audit("nas", budget="smoke", checkpoint=tmp_path.parent / "steps")
    assert remembered.recall(tmp_path.parent / "steps") == b""
    assert run(tmp_path, "keygen", "mine").exit_code == 2
    assert not list(tmp_path.iterdir())
