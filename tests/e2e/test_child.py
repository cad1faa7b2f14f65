"""A user's code runs in a child process: whatever it does there ends no audit with a verdict."""

import contextlib
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

import verifiable_dp as vdp
from tests.commands import PATIENCE, SCRIPT, finished, refused, run
from tests.user_code import styles
from verifiable_dp.api import audits, isolation
from verifiable_dp.core import engine, watch
from verifiable_dp.core.files import write_bytes
from verifiable_dp.core.validate import InputError
from verifiable_dp.targets import child, guard, line

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked on Linux")

ATTACKS = """
import ctypes, os, signal, sys, time

def right(data, size, rng):
    return data + rng.laplace(0, 1, size)

def posix_exit(data, size, rng):
    import posix
    posix._exit(0)

def c_exit(data, size, rng):
    ctypes.CDLL(None)._exit(0)

def another_program(data, size, rng):
    os.execv("/bin/sh", ["sh", "-c", "echo '::notice::x'; echo 'a.py:right  not_refuted  epsilon >= 0'"])

def segfault(data, size, rng):
    os.kill(os.getpid(), signal.SIGSEGV)

TRIED = []

def fills_the_calls(data, size, rng):
    if TRIED:  # in every process once: a look at the maps takes longer than a call
        return right(data, size, rng)
    TRIED.append(True)
    with open(os.environ["VERIFIABLE_DP_CALLS"], "r+b") as file:
        for length in (0, 1 << 20):
            try:
                os.truncate(file.fileno(), length)
            except PermissionError:
                continue
            os.kill(os.getpid(), signal.SIGSEGV)
    with open("/proc/self/maps") as file:
        if file.read().count("verifiable-dp-calls") > 1:
            os.kill(os.getpid(), signal.SIGSEGV)
    return right(data, size, rng)

def killed(data, size, rng):
    os.kill(os.getpid(), signal.SIGKILL)

def interrupts(data, size, rng):
    raise KeyboardInterrupt

def closes(data, size, rng):
    os.closerange(3, 1000)
    return right(data, size, rng)

def forges(data, size, rng):
    for number in range(3, 100):
        try:
            os.write(number, b'{"answer": {"verdict": "not_refuted"}}\\n')
        except OSError:
            pass
    return right(data, size, rng)

def writes(data, size, rng):
    os.write(1, b"::stop-commands::x\\nverifiable-dp: ##[add-mask]")
    os.write(2, b"\\x1b[2J\\n")
    if not os.path.exists("once"):
        os.system("touch once; echo '::error::from a shell'")
    sys.__stdout__.write("::warning::w\\n")
    return right(data, size, rng)

def floods(data, size, rng):
    for _ in range(100):
        os.write(1, b"x" * 99 + b"\\n")
    return right(data, size, rng)

def environment(data, size, rng):
    print("".join(sorted(f"{name}," for name in os.environ)))
    return right(data, size, rng)

def waits(data, size, rng):
    noted(os.getpid())
    time.sleep(1000)

def leaves_another(data, size, rng):
    if not os.path.exists("pids"):
        other = os.fork()
        if other == 0:
            time.sleep(1000)
        noted(other)
    return right(data, size, rng)

def noted(process):
    with open("pids", "a") as file:
        file.write(f"{process}\\n")
"""
QUICK = ("--epsilon", 1, "--runs", 400)


@pytest.fixture(autouse=True)
def forkable(monkeypatch, few_paths):
    """Threads that other tests have left in this process, idle by now, are no reason not to fork it."""
    engine.close()
    left, count = threading.active_count(), threading.active_count
    monkeypatch.setattr(child, "_native_threads", lambda: 0)
    monkeypatch.setattr(threading, "active_count", lambda: count() - left + 1)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.py").write_text(ATTACKS, "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("posix_exit", "ended early (exit status 0)"),
        ("c_exit", "ended early (exit status 0)"),
        ("another_program", "ended early (exit status 0)"),
        ("segfault", "signal SIGSEGV ended its process"),
        ("killed", "signal SIGKILL ended its process, as happens when memory runs out"),
        ("interrupts", "raised KeyboardInterrupt"),
        ("closes", "ended early"),
        ("forges", "something that we did not ask for"),
    ],
)
def test_code_that_ends_its_process_gives_no_verdict(name, said, folder):
    # What it finds to write to must not be a file that this pytest is logged to.
    done = finished(folder, "audit", f"a.py:{name}", *QUICK, "--json", "r.json", apart=name == "forges")
    assert (done.returncode, done.stdout) == (2, "")
    lines = (line for line in done.stderr.splitlines() if not re.search(r"^target \| | … \d+ s$", line))
    (line,) = lines
    assert line.startswith("verifiable-dp: target: ")
    assert said in line
    assert not (folder / "r.json").exists()


@pytest.mark.parametrize("cage", ["none", "best"])
def test_the_memory_of_calls_is_small_and_of_one_audit(cage, folder):
    """Broken variants: a file that code can fill or cut; one that a copy of the parent still maps."""
    done = run(folder, "audit", "a.py:fills_the_calls", *QUICK, "--cage", cage)
    assert done.exit_code in (0, 3), done.stderr
    assert not list(Path(tempfile.gettempdir()).glob(f"verifiable-dp-calls-{os.getpid()}-*"))


def test_a_file_that_ends_the_process_when_it_is_imported_gives_no_verdict(folder):
    (folder / "b.py").write_text("import posix; posix._exit(0)")
    for command in (["audit", "b.py:x", *QUICK], ["regret", "ucb1", "--bound", "b.py:x", "--runs", 2]):
        done = run(folder, *command)
        assert (done.exit_code, done.stdout) == (2, "")
        assert "ended early" in done.stderr


def test_a_re_run_of_code_that_ends_the_process_does_not_hold(folder):
    ends_when_told = "import os, posix\nif os.path.exists('now'): posix._exit(0)\n" + ATTACKS
    (folder / "a.py").write_text(ends_when_told, "utf-8")
    assert run(folder, "audit", "a.py:right", *QUICK, "--json", "r.json").exit_code in (0, 3)
    assert run(folder, "verify", "r.json", "--rerun").exit_code == 0
    (folder / "now").touch()
    done = run(folder, "verify", "r.json", "--rerun")
    assert (done.exit_code, done.stdout) == (2, "")


def test_one_target_of_a_campaign_that_ends_its_process_is_named(folder):
    (folder / "c.toml").write_text('[[targets]]\ntarget = "a.py:posix_exit"\nepsilon = 1\nbudget = "smoke"\n')
    done = run(folder, "campaign", "c.toml", "--out", "out")
    assert done.exit_code == 2
    assert "ended early" in done.stderr


def test_what_it_writes_is_apart_from_results(folder):
    """In a process of its own, for the descriptors are what matters."""
    command = [SCRIPT, "audit", "a.py:writes", *map(str, QUICK)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode in (0, 3), done.stderr
    assert done.stdout.startswith("target a.py:writes ")
    assert "::" not in done.stdout
    lines = done.stderr.splitlines()
    assert all(line.startswith("target | ") for line in lines if "::" in line or "mask" in line)
    assert {"target | ::stop-commands::x", "target | ::error::from a shell"} <= set(lines)
    assert "##[" not in done.stderr
    assert "\x1b" not in done.stderr


def test_it_cannot_write_to_what_its_parent_writes_to(folder):
    """Such as the pipe that pytest hears a worker by, and a file; nor read what it reads.

    Broken variants: files stay open; pipes that it reads do.
    """
    ends = [*os.pipe(), *(one.detach() for one in socket.socketpair())]
    with (folder / "kept").open("w") as kept:
        writable = {end: os.readlink(f"/proc/self/fd/{end}") for end in (*ends, kept.fileno())}

        def release(data, size, rng):
            now = {end: f"/proc/self/fd/{end}" for end in writable}  # a number may be that of another file
            found = [
                end for end, at in now.items() if os.path.lexists(at) and os.readlink(at) == writable[end]
            ]
            print("still open:", found)
            return data + rng.laplace(0, 1, size)

        with contextlib.redirect_stderr(io.StringIO()) as said:
            vdp.audit(release, epsilon=1.0, runs=400)
        assert "still open: []" in said.getvalue()
    for end in ends:
        os.close(end)


def test_it_may_write_as_much_as_it_likes_and_little_is_shown(folder):
    done = run(folder, "audit", "a.py:floods", *QUICK)
    assert done.exit_code in (0, 3), done.stderr
    assert done.stderr.count("the rest is not shown") == 1
    assert len(done.stderr) < 2 * guard._MOST


SCALED = """
import os

SCALE = {{"production": 0.0}}.get(os.environ.get("{name}", "development"), 1.0)

def release(data, size, rng):
    return data + rng.laplace(0, 1, size) * SCALE
"""


@pytest.mark.parametrize(("name", "status"), [("DP_PASS", 3), ("ENV", 1), ("MODE", 1), ("NONE", 0)])
def test_code_that_asks_for_what_it_does_not_get_is_not_acquitted(name, status, folder):
    """Broken variant: it is audited as for development, where whoever asks said production.

    Controls: a variable that it gets; and one that nobody has given. `ENV` is a path only to a shell.
    """
    (folder / "scaled.py").write_text(SCALED.format(name=name), "utf-8")
    given = {**os.environ, **dict.fromkeys(("DP_PASS", "ENV", "MODE"), "production")}
    asked = (SCRIPT, "audit", "scaled.py:release", *map(str, QUICK))
    done = subprocess.run(asked, cwd=folder, env=given, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == status, done.stdout + done.stderr
    said = "asked for variables that we hide from it (DP_PASS), because they look like secrets"
    assert (said in done.stdout) == (status == 3)


def test_it_inherits_nothing_that_steers_a_job(folder, monkeypatch):
    steering = ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "BASH_ENV")
    secret = ("GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "CI_JOB_JWT", "AWS_SECRET_ACCESS_KEY", "my_api_key")
    for name in (*steering, *secret, "GITHUB_SHA", "MONKEY"):
        monkeypatch.setenv(name, "x")
    lines = run(folder, "audit", "a.py:environment", *QUICK).stderr.splitlines()
    line = next(line for line in lines if line.startswith("target | "))  # it prints them at each call
    seen = line.removeprefix("target | ").split(",")
    assert not {*steering, *secret} & set(seen)
    assert {"GITHUB_SHA", "MONKEY", "PATH"} <= set(seen)
    assert os.environ["GITHUB_ENV"] == "x"


# ---------------------------------------------------------------- the same results


def _evidence(report):
    record = {**report.record, "provenance": None, "digest": None}
    return json.dumps(record, sort_keys=True)


@pytest.mark.parametrize("budget", ["smoke", pytest.param("quick", marks=pytest.mark.slow)])
def test_results_are_those_of_an_audit_in_process(budget, folder, monkeypatch):
    monkeypatch.chdir(folder)
    asked = [(seed, in_process) for seed in (3, 4) for in_process in (False, True)]
    found = [vdp.audit("a.py:right", epsilon=1.0, budget=budget, seed=s, in_process=p) for s, p in asked]
    assert _evidence(found[0]) == _evidence(found[1])
    assert _evidence(found[2]) == _evidence(found[3])
    assert _evidence(found[0]) != _evidence(found[2])
    assert found[0].record["checks"]
    assert "in_process" not in found[0].record["provenance"]


def test_code_in_this_process_is_noted(folder):
    done = run(folder, "audit", "a.py:right", *QUICK, "--in-process", "--json", "r.json", "-v")
    assert done.exit_code in (0, 3)
    assert "note: the audited code ran in the process of the audit, as was asked" in done.stdout
    assert vdp.verify(folder / "r.json").record["provenance"]["in_process"] == "as was asked"
    done = run(folder, "audit", "a.py:right", *QUICK, "--json", "r.json")
    assert "the process of the audit" not in done.stdout


def test_what_no_other_process_could_find_is_audited_in_a_child():
    places = []

    def closure(data, size, rng):
        places.append(os.getpid())
        return data + rng.laplace(0, 1, size)

    class Own:
        def __call__(self, data, size, rng):
            return closure(data, size, rng)

    for target in (closure, lambda data, size, rng: closure(data, size, rng), Own()):
        record = vdp.audit(target, epsilon=1.0, runs=400).record
        assert "in_process" not in record["provenance"]
        assert places == []
    vdp.audit(closure, epsilon=1.0, runs=400, in_process=True)
    assert set(places) == {os.getpid()}


def test_with_other_threads_a_named_target_has_a_new_process_and_an_object_none(folder):
    def release(data, size, rng):
        return data + rng.laplace(0, 1, size)

    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        record = vdp.audit(release, epsilon=1.0, runs=400).record
        assert record["provenance"]["in_process"] == "because other threads are running"
        named = vdp.audit(f"{folder / 'a.py'}:right", epsilon=1.0, runs=400).record
        assert "in_process" not in named["provenance"]
        with pytest.raises(InputError, match="ended early"):
            vdp.audit(f"{folder / 'a.py'}:posix_exit", epsilon=1.0, runs=400)
    finally:
        stop.set()
        thread.join()
    again = vdp.audit(f"{folder / 'a.py'}:right", epsilon=1.0, runs=400).record
    assert (named["checks"], named["power"]) == (again["checks"], again["power"])


def test_an_algorithm_of_another_package_is_a_users_code(monkeypatch):
    class Mine(type(vdp.make("ucb1", n_arms=2, horizon=10))):
        __module__ = "verifiable_dp.algorithms.mine"  # what a name looks like is no evidence

        def width(self, count):
            return 0.0

    assert isolation.foreign(Mine(n_arms=2, horizon=10))
    assert not isolation.foreign(vdp.make("ucb1", n_arms=2, horizon=10))
    assert not isolation.foreign("nas")
    assert isolation.foreign(vdp.Exec("cat"))
    monkeypatch.setattr(isolation.registry, "ours", lambda name: False)
    assert isolation.foreign("nas")


# ---------------------------------------------------------------- ends


def running(process):
    """Whether a process runs: one that has ended may wait for somebody to ask for its status."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def noted(folder):
    """Processes that a target has noted; the last line may be half written."""
    path = folder / "pids"
    return [int(line) for line in path.read_text().split("\n")[:-1]] if path.exists() else []


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_what_it_leaves_running_is_ended(folder):
    assert run(folder, "audit", "a.py:leaves_another", *QUICK).exit_code in (0, 3)
    assert noted(folder)
    assert not any(map(running, noted(folder)))


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_the_child_ends_with_its_parent(number, status, folder):
    command = [SCRIPT, "audit", "a.py:waits", *map(str, QUICK)]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: noted(folder))
    process.send_signal(number)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == status
    assert said.strip() == ("verifiable-dp: interrupted; nothing was written" if status == 130 else "")
    until(lambda: not running(noted(folder)[0]))


STUCK = """
import itertools, multiprocessing, os, signal, subprocess, time

def right(data, size, rng):
    return data + rng.laplace(0, 1, size)

def counts_in_c(data, size, rng):
    sum(itertools.repeat(0))

def stops(data, size, rng):
    os.kill(os.getpid(), signal.SIGSTOP)

def blocks(data, size, rng):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    time.sleep(100_000)

def catches(data, size, rng):
    while True:
        try:
            time.sleep(100_000)
        except BaseException:
            pass

def swallows(data, size, rng):
    try:
        time.sleep(100_000)
    except BaseException:
        return right(data, size, rng)

def disguises(data, size, rng):
    try:
        time.sleep(100_000)
    except BaseException:
        raise KeyError("mine")

def leaves_another(data, size, rng):
    other = subprocess.Popen(["sleep", "100000"], start_new_session=True)
    with open("pids", "a") as file:
        file.write(f"{other.pid}\\n{os.getpid()}\\n")
    stops(data, size, rng)

def later(rewards, rng):
    if "Loky" in multiprocessing.current_process().name:
        sum(itertools.repeat(0))
    return rng.integers(0, 2, len(rewards))
"""


@pytest.fixture
def stuck(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text(STUCK, "utf-8")
    monkeypatch.setattr(line, "_GRACE", 1.0)
    return tmp_path


@pytest.mark.parametrize(
    "name", ["counts_in_c", "stops", "blocks", "catches", "swallows", "disguises", "leaves_another"]
)
def test_a_call_that_does_not_let_itself_be_ended_is_ended_by_the_parent(name, stuck):
    said = refused(stuck, "audit", f"a.py:{name}", *QUICK, "--timeout", 0.5, "--json", "r.json")
    assert "did not return within 1 seconds" in said  # of two draws
    assert "--timeout SECONDS" in said
    assert not (stuck / "r.json").exists()
    assert len(noted(stuck)) == (2 if name == "leaves_another" else 0)
    until(lambda: not any(map(running, noted(stuck))))


def test_a_call_in_a_worker_is_ended_by_the_parent_too(stuck):
    given = ("--epsilon", 1, "--arms", 2, "--horizon", 6, "--budget", 2, "--workers", 2, "--timeout", 1)
    assert "did not return within 1 seconds" in refused(stuck, "audit", "a.py:later", *given)


def test_a_stuck_target_of_a_campaign_is_named(stuck):
    (stuck / "c.toml").write_text('[[targets]]\ntarget = "a.py:stops"\nepsilon = 1\ntimeout = 0.5\n')
    done = run(stuck, "campaign", "c.toml", "--out", "out")
    assert done.exit_code == 2
    assert "a-stops" in done.stderr
    assert "target: a call to its code did not return within 1 seconds" in done.stderr


def test_code_in_time_is_not_ended(stuck):
    assert run(stuck, "audit", "a.py:right", *QUICK, "--timeout", 600).exit_code in (0, 3)


@pytest.mark.parametrize(
    "command", [["audit", *QUICK], ["regret", "--bound", 5, "--arms", 2, "--horizon", 9]]
)
def test_an_audit_that_hangs_elsewhere_ends_without_a_verdict(command, stuck, monkeypatch):
    for name in ("_LEAST_SECONDS", "_MANY", "_DAY"):
        monkeypatch.setattr(f"verifiable_dp.auditing.plans.{name}", 0.5 * (name != "_MANY"))
    (stuck / "b.py").write_text("import time\nwhile True: time.sleep(1)")
    said = refused(stuck, command[0], "b.py:x", *command[1:])
    assert "we stopped the audit without a verdict after 0 seconds" in said
    assert "without a verdict" in said


def test_only_calls_of_processes_that_exist_are_overdue():
    with watch.shared() as calls:
        own, place = watch.OwnCalls(calls.place), calls.place
        assert calls.overdue(0.0) is None
        own.begin(-1.0)
        assert calls.overdue(0.0) == (os.getpid(), -1.0)
        assert calls.overdue(1000.0) is None
        own.end()
        assert calls.overdue(0.0) is None
        other = os.fork()
        if other == 0:
            own.begin(-1.0)
            os._exit(0)
        os.waitpid(other, 0)
        assert calls.overdue(0.0) is None
    assert not os.path.exists(place)


def test_without_memory_files_the_calls_are_in_a_temporary_one(monkeypatch):
    """As on systems other than Linux."""
    monkeypatch.setattr(watch.sys, "platform", "darwin")
    with watch.shared() as calls:
        own = watch.OwnCalls(calls.place)
        own.begin(-1.0)
        assert calls.overdue(0.0) == (os.getpid(), -1.0)
        assert os.path.dirname(calls.place) == tempfile.gettempdir()
    assert not os.path.exists(calls.place)


def test_an_error_of_the_program_in_the_child_is_that_of_the_program(folder, monkeypatch):
    def breaks(*arguments, **options):
        raise TypeError("two\nlines")

    monkeypatch.setattr(audits.rungs, "served", breaks)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setattr("verifiable_dp.core.crash._TEMPORARY", (str(folder),))
    done = run(folder, "audit", "a.py:right", *QUICK)
    assert done.exit_code == 70
    assert "internal error, which says nothing about the claim: TypeError: two lines" in done.stderr
    (trace,) = folder.glob("verifiable-dp-*/traceback.txt")
    assert "in breaks" in trace.read_text("utf-8")


@pytest.mark.parametrize(
    "line", [b"{", b"[]", b"{}", b'{"answer": 1, "refused": ""}', b'{"crashed": 1}', b"[" * 9999]
)
def test_what_is_not_a_verdict_is_refused(line, monkeypatch):
    def task(progress):
        return None

    def sends(channel, message):
        os.write(channel, line + b"\n")

    monkeypatch.setattr(child, "_send", sends)
    with pytest.raises(InputError, match=r"^target: its process sent"):
        child.call(task, print)


def test_progress_of_a_child_is_marked_as_what_it_prints():
    """Code of a target finds the pipe. Broken variant: its lines look like those of this program."""
    said = []
    child.call(lambda progress: progress("verifiable-dp: ##[error]all is well"), said.append)
    assert said == ["target | verifiable-dp: #" + "#\\x5berror]all is well"]


TELLS = """
import fcntl, json, os

def right(data, size, rng):
    for end in range(3, 64):
        try:
            if fcntl.fcntl(end, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY:
                os.write(end, json.dumps({"progress": "verifiable-dp: all is well"}).encode() + b"\\n")
        except OSError:
            pass
    return data + rng.laplace(0, 1, size)
"""


def test_a_child_that_serves_has_no_progress(folder):
    """Control: code that sends nothing is audited (`test_results_are_those_of_an_audit_in_process`).

    Broken variant: its lines are shown, or skipped.
    """
    (folder / "a.py").write_text(TELLS)
    done = run(folder, "audit", "a.py:right", *QUICK)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "all is well" not in done.stderr
    assert "target: its process sent" in done.stderr


def test_a_record_that_does_not_hold_as_it_is_written_is_no_verdict(folder, monkeypatch):
    def alters(path, content):
        return write_bytes(path, content.replace("not_refuted", "refuted").encode())

    given = ("audit", "a.py:right", "--epsilon", 1, "--budget", "smoke", "--json", "r.json")
    assert run(folder, *given).exit_code == 0
    monkeypatch.setattr("verifiable_dp.core.files.write_text", alters)
    done = run(folder, *given)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "no longer contains the record" in done.stderr


def test_workers_of_a_child_have_a_tracker_of_their_own():
    """That of a parent which has used joblib is beyond a pipe that the child closes."""
    from joblib.externals.loky.backend import resource_tracker

    resource_tracker.ensure_running()
    report = vdp.audit(styles.commit, epsilon=1.0, n_arms=2, horizon=12, runs=400, workers=2)
    assert report.record["checks"]


def test_of_two_verdicts_none_counts():
    assert line.told([{"answer": 1}], 0) == 1
    with pytest.raises(InputError, match="more than one verdict"):
        line.told([{"answer": 1}, {"answer": 2}], 0)
