"""A cage for code of a target: what it is kept from, that results stay the same, and what happens without."""

import contextlib
import json
import os
import socket
import stat
import subprocess
import sys
import tempfile

import pytest

import verifiable_dp as vdp
from tests.commands import run
from tests.e2e.test_child import forkable  # noqa: F401  used in every test here
from verifiable_dp.core import watch
from verifiable_dp.core.validate import InputError
from verifiable_dp.targets import cage, guard, line

WHOLE = "import sys; from verifiable_dp.targets import cage; sys.exit(len(cage.enter()) != 10)"
ALONE = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # a process of several threads gets no user namespace
POSSIBLE = not subprocess.run([sys.executable, "-c", WHOLE], env=ALONE, capture_output=True).returncode
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="namespaces are those of Linux")
needs_namespaces = pytest.mark.skipif(not POSSIBLE, reason="this system gives no user namespaces")

CODE = """
import os, socket

def right(data, size, rng):
    return data + rng.laplace(0, 1, size)

def reaches(data, size, rng):
    done = []
    for name, mode in (("environ", "rb"), ("mem", "r+b")):
        try:
            with open(f"/proc/{os.getppid()}/{name}", mode) as file:
                done.append(name)
        except OSError:
            pass
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.connect(("192.0.2.1", 9))  # sends nothing
            done.append("network")
    except OSError:
        pass
    print("reached", *done, "and no more")
    return right(data, size, rng)
"""
QUICK = ("--epsilon", 1, "--runs", 400)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.py").write_text(CODE, "utf-8")
    return tmp_path


def online():
    """Whether this process has a way to other machines."""
    with open("/proc/net/route") as file:
        return len(file.readlines()) > 1


@needs_namespaces
def test_code_in_a_cage_reaches_neither_its_parent_nor_the_network(folder):
    """Also where root runs it. Control: without a cage it reaches what it could."""
    options = ("audit", "a.py:reaches", *QUICK, "--json", "r.json", "-v")
    done = run(folder, *options, "--cage", "required")
    assert done.exit_code in (0, 3), done.stderr
    assert "reached and no more" in done.stderr
    taken = vdp.verify(folder / "r.json").record["provenance"]["cage"]
    assert taken == [
        *("no-new-privileges", "limits", "user-namespace", "no-network", "own-ipc"),
        *("own-processes", "read-only-files", "own-temporary-files", "confined-writes", "no-sockets"),
    ]
    assert "note: the audited code ran in a cage: no-new-privileges" in done.stdout
    done = run(folder, *options)
    free = ["environ", "mem"] * (os.geteuid() == 0) + ["network"] * online()
    assert (done.exit_code in (0, 3), " ".join(["reached", *free, "and no more"]) in done.stderr) == (
        True,
        True,
    )
    assert "cage" not in vdp.verify(folder / "r.json").record["provenance"]


@needs_namespaces
def test_results_in_a_cage_are_the_same(folder, monkeypatch):
    monkeypatch.chdir(folder)
    found = [
        vdp.audit("a.py:right", epsilon=1.0, runs=400, seed=3, workers=workers, cage=asked).record
        for asked, workers in (("none", 1), ("required", 1), ("required", 2))
    ]
    bare = [json.dumps({**record, "provenance": None, "digest": None}) for record in found]
    assert bare[0] == bare[1] == bare[2]
    assert run(folder, "audit", "a.py:right", *QUICK, "--json", "r.json", "--cage", "best").exit_code in (
        0,
        3,
    )
    assert run(folder, "verify", "r.json", "--rerun", "--cage", "required").exit_code == 0


def test_where_no_cage_can_be_had_best_goes_on_and_required_does_not(folder, monkeypatch):
    monkeypatch.setattr(cage, "enter", lambda *given: ["no-new-privileges"])
    options = ("audit", "a.py:right", *QUICK, "--json", "r.json")
    assert run(folder, *options, "--cage", "best").exit_code in (0, 3)
    assert vdp.verify(folder / "r.json").record["provenance"]["cage"] == ["no-new-privileges"]
    (folder / "r.json").unlink()
    done = run(folder, *options, "--cage", "required")
    assert (done.exit_code, "but this system allows only no-new-privileges" in done.stderr) == (
        2,
        True,
    )
    assert not (folder / "r.json").exists()
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match="cage: the code would run in this process"):
        vdp.audit("a.py:right", epsilon=1.0, runs=400, in_process=True, cage="required")
    with pytest.raises(InputError, match="cage must be"):
        vdp.audit("a.py:right", epsilon=1.0, runs=400, cage="iron")


def test_code_cannot_say_that_it_was_in_a_cage(folder, monkeypatch):
    monkeypatch.setattr(line, "_GRACE", 0.2)  # to end in: it waits for an answer
    told = CODE + (
        "\nfrom verifiable_dp.targets import child\nsend = child._send\n"
        'two = b\'{"cage": ["all"]}\\n\' * 2\n'
        "def other(channel, message):\n    child._write(channel, two)\n    send(channel, message)\n"
        "child._send = other\n"
    )
    (folder / "a.py").write_text(told, "utf-8")
    for asked in ("none", "best"):
        done = run(folder, "audit", "a.py:right", *QUICK, "--cage", asked)
        assert (done.exit_code, "is not a verdict" in done.stderr) == (2, True), done.stderr


HELD = """
import os, resource, subprocess, sys, tempfile

def right(data, size, rng):
    return data + rng.laplace(0, 1, size)

def tries(data, size, rng):
    global tried
    if tried:
        return right(data, size, rng)
    tried, done = True, []
    own = os.path.join(os.path.dirname(__file__), "more")
    for place in (own, "/tmp/more-of-a-target", "/var/tmp/more-of-a-target"):
        try:
            open(place, "w").close()
            os.unlink(place)
            done.append("files")
        except OSError:
            pass
    if any(name.startswith("of-another-") for name in os.listdir("/dev/shm")):
        done.append("memory")
    if sum(name.isdigit() for name in os.listdir("/proc")) > 9:
        done.append("processes")
    if os.listdir("/run"):
        done.append("servers")
    if resource.getrlimit(resource.RLIMIT_CORE)[1] or resource.getrlimit(resource.RLIMIT_NOFILE)[1] > 4096:
        done.append("limits")
    if subprocess.run(["mount", "-o", "remount,bind,rw", "/"], capture_output=True).returncode == 0:
        done.append("mounts")
    with tempfile.NamedTemporaryFile("w", dir="/dev/shm") as file, tempfile.NamedTemporaryFile() as other:
        file.write("a")
        other.write(b"b")
    print("reached", *done, "and no more")
    return right(data, size, rng)

def crashes(data, size, rng):
    import ctypes
    ctypes.string_at(0)

def hangs(data, size, rng):
    import signal, time
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    while True:
        time.sleep(1)

def leaves(data, size, rng):
    global left
    if not left:
        left = True
        subprocess.Popen(["sleep", "600"], start_new_session=True)
    return right(data, size, rng)

left = tried = False
"""


@pytest.fixture
def apart(folder, monkeypatch):
    """A folder that is not among the temporary ones of the audit."""
    (folder / "a.py").write_text(HELD, "utf-8")
    (folder / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder / "tmp"))
    return folder


@needs_namespaces
def test_code_in_a_cage_writes_temporary_files_only_and_sees_its_own_processes(apart):
    """Control: without a cage it does all that it tries, but for mounts where it has not the rights."""
    asked = ("audit", "a.py:tries", *QUICK)
    with tempfile.NamedTemporaryFile(prefix="of-another-", dir="/dev/shm"):
        done = run(apart, *asked, "--cage", "required")
        assert done.exit_code in (0, 3), done.stderr
        assert "reached and no more" in done.stderr
        assert not os.listdir(apart / "tmp")
        done = run(apart, *asked)
    assert done.exit_code in (0, 3)
    assert "reached files files files memory processes" in done.stderr


LEFT = """
import os, socket, stat

def right(data, size, rng):
    return float(data) + rng.laplace(0, 1, size)

def tries(data, size, rng):
    global tried
    if tried:
        return right(data, size, rng)
    tried, done = True, []

    def can(name, do):
        try:
            do()
            done.append(name)
        except OSError:
            pass

    def joins():
        with socket.socket(socket.AF_UNIX) as server:
            server.connect("server")

    ends = {os.path.realpath(f"/proc/self/fd/{end}"): int(end) for end in os.listdir("/proc/self/fd")}
    for name in ("written", "read"):
        end = ends.get(os.path.abspath(name), -1)
        can(name, lambda: os.write(end, b"a"))
        can(f"{name}-anew", lambda: os.close(os.open(f"/proc/self/fd/{end}", os.O_WRONLY)))
    can("pipe", lambda: os.close(os.open("pipe", os.O_WRONLY | os.O_NONBLOCK)))
    can("pipe-read", lambda: os.read(ends.get(os.path.abspath("pipe"), -1), 1))
    can("device", lambda: os.close(os.open("device", os.O_WRONLY)))
    can("server", joins)
    with open("/dev/null", "w") as null, socket.socketpair()[0]:
        null.write("a")
    print("reached", *done, "and no more")
    return right(data, size, rng)

tried = False
"""


@needs_namespaces
def test_code_in_a_cage_reaches_nobody_through_what_was_there_before(folder):
    """Files that are open, also to be read, named pipes, devices and sockets.

    Control: without a cage; what is open in the parent is not inherited there either.
    """
    (folder / "a.py").write_text(LEFT, "utf-8")
    os.mkfifo(folder / "pipe")
    with contextlib.suppress(PermissionError):  # which only root can make
        os.mknod(folder / "device", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    devices = ["device"] * (folder / "device").exists()
    with contextlib.ExitStack() as held, contextlib.chdir(folder):
        server = held.enter_context(socket.socket(socket.AF_UNIX))
        server.bind("server")
        server.listen(9)
        held.enter_context(open("written", "ab"))
        (folder / "read").touch()
        held.enter_context(open("read", "rb"))
        held.callback(os.close, os.open("pipe", os.O_RDONLY | os.O_NONBLOCK))
        done = run(folder, "audit", "a.py:tries", *QUICK, "--cage", "required")
        assert done.exit_code in (0, 3), done.stderr
        assert "reached and no more" in done.stderr
        assert (folder / "written").read_bytes() == b""
        done = run(folder, "audit", "a.py:tries", *QUICK)
    free = ["pipe", *devices, "server"]
    assert " ".join(["reached", *free, "and no more"]) in done.stderr


@needs_namespaces
@pytest.mark.parametrize(
    ("name", "said"),
    [("crashes", "signal SIGSEGV ended its process"), ("hangs", "target: a call to its code")],
)
def test_a_child_in_a_cage_that_ends_or_hangs_gives_no_verdict(name, said, apart):
    more = ("--timeout", "0.01") if name == "hangs" else ()
    done = run(apart, "audit", f"a.py:{name}", *QUICK, *more, "--cage", "required")
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr


@needs_namespaces
def test_nothing_that_code_in_a_cage_starts_outlives_it(apart):
    before = watch.descendants(os.getpid())
    assert run(apart, "audit", "a.py:leaves", *QUICK, "--cage", "required").exit_code in (0, 3)
    assert set(watch.descendants(os.getpid())) <= set(before)


SMALL = {"n_arms": 2, "epsilon": 1.0, "horizon": 100, "beta": 0.5}


class Mine(type(vdp.make("dp-se", **SMALL))):
    """An algorithm of another package."""

    @property
    def claim(self):
        if guard.Child.inside:
            with contextlib.suppress(OSError), open("more", "w"):
                pass
        return super().claim


@needs_namespaces
@pytest.mark.parametrize("asked", ["none", "required"])
def test_a_cage_has_no_folder_for_a_checkpoint(asked, tmp_path, monkeypatch):
    """Such an algorithm is drafted where its code runs. Control: without a cage it writes beside the file."""
    monkeypatch.chdir(tmp_path)
    vdp.audit(Mine(**SMALL), budget=0.02, mutants=False, cage=asked, checkpoint="steps")
    found = {one.name for one in tmp_path.iterdir()}
    assert found == ({"more", "steps"} if asked == "none" else set())


LOCKED = """
from pathlib import Path

HERE = Path(__file__).parent
try:
    with open(HERE / "settings.lock", "w"):  # nobody changes them meanwhile
        SCALE = float((HERE / "scale.txt").read_text())
except OSError:
    SCALE = 1.0

def release(data, rng):
    return data.sum() + rng.laplace(0, 1) * SCALE
"""


@needs_namespaces
def test_what_a_cage_refuses_to_the_code_is_a_lead(tmp_path):
    """Without the lock it takes other noise. Broken variant: not refuted. Control: what asks for nothing."""
    (tmp_path / "a.py").write_text(LOCKED, "utf-8")
    (tmp_path / "b.py").write_text(CODE, "utf-8")
    (tmp_path / "scale.txt").write_text("0", "utf-8")
    options = (*QUICK, "--cage", "required")
    done = run(tmp_path, "audit", "a.py:release", *options, "--json", "r.json")
    record = vdp.verify(tmp_path / "r.json").record
    assert (done.exit_code, record["reason"], record["provenance"]["target"]["opened"]) == (
        3,
        "lead",
        {"./settings.lock": "e" * 64},
    )
    assert "asked for something that its cage denies ('settings.lock')" in done.stdout
    again = run(tmp_path, "verify", "r.json", "--rerun", "--cage", "required")
    assert again.exit_code == 0, again.stderr
    done = run(tmp_path, "audit", "b.py:right", *options, "--json", "b.json")
    names = [one["name"] for one in vdp.verify(tmp_path / "b.json").record["checks"]]
    assert "refused by the cage" not in names
