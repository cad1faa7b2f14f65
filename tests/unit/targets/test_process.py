"""Processes as targets: the protocol, and everything a process can do wrong."""

import os
import pickle
import re
import shlex
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from tests.commands import PATIENCE
from verifiable_dp import InputError
from verifiable_dp.targets import process
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.probes import probe_play, probe_release
from verifiable_dp.targets.process import Exec, ProcessTarget, running
from verifiable_dp.targets.releases import ReleaseSampler
from verifiable_dp.targets.source import CodeSource

# What every example begins with: it answers the greeting and hands over one request after the other.
FRAME = """
import json, os, sys, time

def requests(**ready):
    for line in sys.stdin:
        request = json.loads(line)
        if "protocol" in request:
            print(json.dumps({"ready": True, "kind": request["kind"], **ready}), flush=True)
        else:
            yield request

def say(request, **answer):
    print(json.dumps({"id": request["id"], **answer}), flush=True)
"""
GOOD = """
for r in requests(noise_factor=True):
    data = r.get("data", 0)
    say(r, outputs=[int(r["seed"]) % 1000 * r.get("noise_factor", 1)] * r["runs"])
"""


@pytest.fixture
def command(tmp_path):
    """Makes the command of a program whose body is given."""

    def make(body, timeout=300.0, name="program.py"):
        path = tmp_path / name
        path.write_text(FRAME + textwrap.dedent(body), "utf-8")
        return Exec(shlex.join([sys.executable, "-S", "-E", str(path)]), timeout)

    return make


def release(command, data=0.0, size=3, seeds=(7,), factor=1.0):
    with running(ProcessTarget(command, "release")) as target:
        return target.release(data, size, seeds, factor).made


def alive(pid):
    """Whether a process runs: a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "got nothing"),
        ("   ", "got nothing"),
        ("echo 'a", "cannot be split"),
        (3, "must be a command line"),
    ],
)
def test_unusable_commands_are_refused(text, message):
    with pytest.raises(InputError, match=message):
        Exec(text)


@pytest.mark.parametrize("timeout", [0, -1, "x", float("nan")])
def test_unusable_timeouts_are_refused(timeout):
    with pytest.raises(InputError, match="exec_timeout"):
        Exec("cat", timeout)


def test_a_program_that_is_not_there():
    with pytest.raises(InputError, match=r"exec: 'no-such-program-here' cannot be started: No such file"):
        release(Exec("no-such-program-here"))


def test_no_shell_interprets_the_command(tmp_path, command):
    made = tmp_path / "made"
    with pytest.raises(InputError):
        release(Exec(f"echo x > {made}; touch {made}"))
    assert not made.exists()


def test_data_are_sent_when_they_change_only(command):
    body = """
    for r in requests():
        say(r, outputs=[[float("data" in r), float(len(r["input"]))]] * r["runs"])
    """
    with running(ProcessTarget(command(body), "release")) as target:
        sent = [target.release(data, 1, (1,)).made[0, 0] for data in (0.0, 0.0, 1.0, 1.0, 0.0, np.zeros(1))]
    assert sent == [1, 0, 1, 0, 1, 1]


def test_seeds_are_strings_of_64_bits_and_runs_are_in_batches(command):
    body = """
    for r in requests():
        assert isinstance(r["seed"], str)
        say(r, outputs=[int(r["seed"]) % 2**20] * r["runs"])
    """
    size = 20_000
    seeds = [2**64 - 1, 5, 0][: ProcessTarget.requests(size)]
    found = release(command(body), size=size, seeds=seeds)
    values, counts = np.unique(found, return_counts=True)
    assert values.tolist() == [0, 5, 2**20 - 1]
    assert counts.sum() == size
    assert counts.max() == 8192


def test_play_gives_a_run_for_each_seed(command):
    body = """
    for r in requests():
        say(r, actions=[[int(s) % 2] * 5 for s in r["seeds"]])
    """
    target = ProcessTarget(command(body), "play", n_arms=2, horizon=5)
    sampler = PlaySampler(target, False, 2, 5, seed=0)
    with running(target):
        first = sampler.actions(np.zeros((5, 2)), (0,), np.arange(300))
        backwards = sampler.actions(np.zeros((5, 2)), (0,), np.arange(300)[::-1])
        assert first.shape == (300, 5)
        assert 90 < first[:, 0].sum() < 210
        assert (first == backwards[::-1]).all(), "a run's seed depends on its number only"
        assert probe_play(sampler, [np.zeros((5, 2))]).repeatable


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("actions=[[0, 1]] * len(r['seeds'])", "arms of shape"),
        ("actions=[[0, 1, 5]] * len(r['seeds'])", "arms in 0 .. 1"),
        ("actions=[[0, 1, .5]] * len(r['seeds'])", "integer arms"),
        ("actions=[['a', 'b', 'c']] * len(r['seeds'])", "integer arms"),
        ("actions=[[0, 1, 1], [0]]", "arms of shape"),
        ("actions=[[0, 1, 1]]", "must be a list with 2 entries"),
        ("actions='none'", "must be a list with 2 entries"),
        ("outputs=[1, 2]", "must be a list with 2 entries"),
        ("error='no such arm'", "reports an error: no such arm"),
    ],
)
def test_wrong_answers_of_a_bandit(answer, message, command):
    target = ProcessTarget(command(f"for r in requests(): say(r, {answer})"), "play", n_arms=2, horizon=3)
    with running(target), pytest.raises(InputError, match=message):
        PlaySampler(target, False, 2, 3, seed=0).actions(np.zeros((3, 2)), (0,), np.arange(2))


@pytest.mark.parametrize(
    "outputs",
    [
        "[1, 'a', 2]",
        "[[1, 2], [3], [4, 5]]",
        "[[1], 2, 3]",
        "[{}, 1, 2]",
        "['0.5', 1, 2]",
        "[.5, 2**53 + 1, 2]",
        "['a', 'b', 'c']",
    ],
)
def test_outputs_must_be_numbers(outputs, command):
    """Broken variant: numbers as text, and whole numbers that no float has, become floats unseen."""
    with pytest.raises(InputError, match="outputs must be numbers"):
        release(command(f"for r in requests(): say(r, outputs={outputs})"))


def test_types_of_json_are_seen(command):
    """Broken variant: `1` and `1.0`, or null and the word for no number, look alike."""
    body = "for r in requests(): say(r, outputs={})"
    told = ["[1, 1, 1]", "[1.0] * 3", "[True] * 3", "[None] * 3", "['nan'] * 3", "[[1]] * 3", "[1, 1, 1.0]"]
    forms = []
    for outputs in told:
        with running(ProcessTarget(command(body.format(outputs)), "release")) as target:
            forms.append(tuple(target.release(0.0, 3, (7,)).forms))
    assert len({*forms}) == len(told)
    assert release(command(body.format("['inf', '-inf', None]")))[:2].tolist() == [np.inf, -np.inf]


def test_null_is_nothing_and_doubles_keep_all_bits(command):
    found = release(command("for r in requests(): say(r, outputs=[None, 0.1, 1e-310])"))
    assert np.isnan(found[0])
    assert found[1:].tolist() == [0.1, 1e-310]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("print('hello ' * 40, flush=True); time.sleep(30)", r"got '(hello ){13}he'"),
        ("print('[1, 2]', flush=True); time.sleep(30)", r"lines of JSON objects, got '\[1, 2\]'"),
        ('print(\'{"ready": true, "kind": "play"}\', flush=True); time.sleep(30)', "the first line must be"),
        ('for r in requests(): print(\'{"id": 1, "outputs": [1\', flush=True)', "lines of JSON objects, got"),
        (
            "for r in requests(): sys.stdout.buffer.write(b'\\xff\\xfe\\n'); sys.stdout.flush()",
            "JSON objects",
        ),
        (
            'for r in requests(): print(\'{"id": 77, "outputs": [1, 1, 1]}\', flush=True)',
            "must have id 1, got 77",
        ),
        ("for r in requests(): print('[' * 100000, flush=True)", "JSON objects, got"),
    ],
)
def test_garbage_is_quoted_and_not_asked_for_twice(body, message, command):
    with pytest.raises(InputError, match=message) as caught:
        release(command(body))
    assert len(str(caught.value)) < 250
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        ("sys.exit('the disk is full')", r"ended \(exit status 1\): the disk is full"),
        ("os._exit(7)", r"ended \(exit status 7\)"),
        ("os.kill(os.getpid(), 11)", r"ended \(signal SIGSEGV\)"),
        (
            "print('{\"id\"', end='', flush=True); os._exit(0)",
            r"ended in the middle of a line \(exit status 0\)",
        ),
        ("1 / 0", r"exit status 1\): ZeroDivisionError: division by zero"),
        ("sys.stderr.write('x' * 300_000); sys.stderr.flush(); sys.exit(3)", r"exit status 3\): xxx"),
    ],
)
@pytest.mark.parametrize("when", ["", "for r in requests(): "])
def test_a_process_that_ends_twice(when, ending, message, command):
    with pytest.raises(InputError, match=message):
        release(command(f"{when}{ending}"))


def test_a_lost_process_is_started_again_and_asked_the_same(tmp_path, command):
    asked = tmp_path / "asked"
    body = f"""
    for r in requests():
        with open({str(asked)!r}, "a") as file:
            file.write(r["seed"] + " " + str("data" in r) + "\\n")
        if r["seed"] == "5" and open({str(asked)!r}).read().count("5 ") == 1:
            os._exit(1)
        say(r, outputs=[int(r["seed"])] * r["runs"])
    """
    with running(ProcessTarget(command(body), "release")) as target:
        assert target.release(2.0, 2, (4,)).made.tolist() == [4, 4]
        assert not target.restarted
        assert target.release(2.0, 2, (5,)).made.tolist() == [5, 5]
        assert "exit status 1" in target.restarted
    # The new process has seen no data yet: they are sent again.
    assert asked.read_text("utf-8").splitlines() == ["4 True", "5 False", "5 True"]


def test_no_answer_in_time(command):
    start = time.monotonic()
    with pytest.raises(InputError, match=r"did not answer within 0\.3 seconds \(we made the request twice\)"):
        release(command("for r in requests(): time.sleep(3600)", timeout=0.3))
    assert time.monotonic() - start < 1800  # and not the hour that the answer would take


def test_a_process_that_neither_reads_nor_answers(command):
    large = np.zeros(200_000)  # far more than a pipe holds
    advice = "flush its output; if it needs longer, allow more time with --exec-timeout SECONDS"
    with pytest.raises(InputError, match=f"did not answer within .*{advice}"):
        release(command("time.sleep(60)", timeout=0.3), large)


def test_much_of_everything_blocks_nobody(command):
    body = """
    for r in requests():
        sys.stderr.write("y" * 1_000_000)
        line = json.dumps({"id": r["id"], "outputs": [[0.5] * 100] * r["runs"]})
        for i in range(0, len(line), 70_001):  # in pieces, with more on stderr
            sys.stdout.write(line[i : i + 70_001])
            sys.stdout.flush()
            sys.stderr.write("z" * 100_000)
        print(flush=True)
    """
    found = release(command(body), np.zeros(300_000), 8192)
    assert found.shape == (8192, 100)


def test_a_line_without_end_is_cut_off(command, monkeypatch):
    monkeypatch.setattr(process, "_LARGEST", 1 << 21)
    with pytest.raises(InputError, match="wrote 2 MiB without a line break"):
        release(command("while True: sys.stdout.write('x' * 100000)"))


def test_the_process_and_its_children_are_gone_afterwards(tmp_path, command):
    body = f"""
    import subprocess
    child = subprocess.Popen(["sleep", "600"])
    with open({str(tmp_path / "pids")!r}, "w") as file:
        file.write(f"{{os.getpid()}} {{child.pid}}")
    for r in requests(): say(r, outputs=[0] * r["runs"])
    time.sleep(600)
    """
    with running(ProcessTarget(command(body), "release")) as target:
        target.release(0.0, 1, (1,))
        parent, child = map(int, (tmp_path / "pids").read_text("utf-8").split())
        assert alive(parent)
        assert alive(child)
    for pid in (parent, child):
        end = time.monotonic() + PATIENCE
        while alive(pid):
            assert time.monotonic() < end
            time.sleep(0.02)
    with pytest.raises(ChildProcessError):
        os.waitpid(parent, os.WNOHANG)  # reaped: no zombie is left


def test_a_process_that_reads_to_the_end_may_clean_up(tmp_path, command):
    done = tmp_path / "done"
    body = f"""
    for r in requests(): say(r, outputs=[0] * r["runs"])
    open({str(done)!r}, "w").close()
    """
    release(command(body))
    assert done.exists()


def test_threads_have_processes_of_their_own(command, tmp_path):
    """Each answers when there are two of them."""
    body = f"""
    open(os.path.join({str(tmp_path)!r}, f"{{os.getpid()}}.seen"), "w").close()
    for r in requests():
        while sum(name.endswith(".seen") for name in os.listdir({str(tmp_path)!r})) < 2:
            time.sleep(0.01)
        say(r, outputs=[os.getpid()] * r["runs"])
    """
    seen = []
    with running(ProcessTarget(command(body), "release")) as target:
        tasks = [
            threading.Thread(target=lambda: seen.append(target.release(0.0, 1, (1,)).made[0]))
            for _ in range(2)
        ]
        for task in tasks:
            task.start()
        for task in tasks:
            task.join()
        again = target.release(0.0, 1, (1,)).made[0]
    assert len(set(seen)) == 2
    assert again in seen, "idle processes are used again"


def test_targets_can_be_pickled_and_used_elsewhere(command):
    target = ProcessTarget(command(GOOD), "release")
    program = (
        "import pickle, sys; target = pickle.loads(bytes.fromhex(sys.argv[1]));"
        "print(target.release(0.0, 2, (12,)).made.tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, pickle.dumps(target).hex()],
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.stdout == "[12.0, 12.0]\n", done.stderr


def test_noise_factor_only_where_it_is_declared(command):
    assert release(command(GOOD), factor=0.5).tolist() == [3.5, 3.5, 3.5]
    with pytest.raises(InputError, match="does not declare noise_factor"):
        release(command("for r in requests(): say(r, outputs=[0] * r['runs'])"), factor=0.5)


def test_neighbours_that_the_process_declares(command):
    with running(
        ProcessTarget(command("for r in requests(neighbours=[[0, 2], [[1, 1], [0, 1]]]): pass"), "release")
    ) as t:
        (a, b), (c, d) = t.neighbours
    assert (a, b) == (0, 2)
    assert (c.tolist(), d.tolist()) == ([1, 1], [0, 1])
    wrong = ProcessTarget(command("for r in requests(neighbours=[3]): pass"), "release")
    with running(wrong), pytest.raises(InputError, match="neighbours"):
        _ = wrong.neighbours


def test_state_between_requests_is_noticed(command):
    stateful = """
    import itertools
    count = itertools.count()
    for r in requests(): say(r, outputs=[next(count) for _ in range(r["runs"])])
    """
    for body, repeatable in ((stateful, False), (GOOD, True)):
        target = ProcessTarget(command(body), "release")
        with running(target):
            seen = probe_release(ReleaseSampler(target, 0), [0.0, 1.0])
        assert seen.repeatable is repeatable
        assert bool(seen.notes) is not repeatable


def test_the_source_of_a_command_is_its_file(tmp_path, command):
    made = command(GOOD)
    source = CodeSource.of(ProcessTarget(made, "release"), made.command)
    assert source.path.endswith("program.py")
    assert len(source.sha256) == 64
    assert CodeSource.of(Exec("sort -n"), "sort -n") == CodeSource("sort -n")


NAMED = {
    "./mech params.json": ["mech"],
    "mech --config=params.json": ["bin/mech"],  # on the PATH, below the repository
    "python3 -u answers.py params.json": ["answers.py"],
    "/usr/bin/perl answers.py": ["answers.py"],
    "env/bin/python -Wignore answers.py": ["answers.py"],
    "python3 -m inside.mech --config params.json": ["inside/mech.py", "inside/__init__.py"],
    "python3 -m inside": ["inside/__main__.py", "inside/__init__.py"],
    "python3 -manswers params.json": ["answers.py"],  # params.json was the code
    "python3 -uBmanswers params.json": ["answers.py"],
    "python3 -Xdev -um inside.mech": ["inside/mech.py", "inside/__init__.py"],
    "bash -eu mech params.json": ["mech"],
    "java -jar mech params.json": ["mech"],
    # What these run is not told.
    "conda run -n old python answers.py params.json": [],
    "env -C inside python3 answers.py": [],
    "nice ./mech": [],
    "sudo -i python3 answers.py": [],
    "tool params.json": [],
    "env/bin/tool params.json": [],
    "python3 -c pass params.json": [],
    "python3 -cpass params.json": [],
    "node --eval=code params.json": [],
    "sh -c './mech x' params.json": [],
    "python3 -m json.tool params.json": [],
    "python3 - params.json": [],
    "python3 -W ignore params.json": [],
    "python3 -cx params.json": [],
    "python3 -mno params.json": [],
    "perl -Mx params.json": [],
    "sh -c mech": [],
    "docker run -i image python answers.py": [],  # that of the image
    "tool python answers.py": [],
    "sh -ec mech params.json": [],
    "ruby -Xin answers.py": [],
    "cat": [],
    # What is installed, as Python does not look into the current folder.
    "tools/python3 answers.py": [],  # a script, which may run it in a container
    "ruby3 answers.py": [],  # one of the repository on the PATH
    "lua answers.py": ["answers.py"],  # one of the machine, as of pyenv
    "python3 -Pm inside.mech": [],
    "python3 -I -u -m inside.mech": [],
    "python3 -uImanswers": [],
    "python3 -XPI -m answers": ["answers.py"],
    "python3 -I answers.py": ["answers.py"],
    "python3 -m yaml.mech": [],  # a folder of the name of a package that is installed
    "python3 -m folder.mech": ["folder/mech.py"],
}


@pytest.mark.parametrize("command", NAMED)
def test_what_a_command_runs_is_told_by_its_first_word(command, tmp_path, monkeypatch):
    """Broken variant: an interpreter anywhere among the words says what runs: `env -C inside python3`."""
    repository, installed = tmp_path / "repository", tmp_path / "installed"
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, [repository / "bin", installed, os.environ["PATH"]])))
    for place in ("mech", "bin/mech", "params.json", "answers.py", "env/bin/python", "env/bin/tool"):
        (repository / place).parent.mkdir(parents=True, exist_ok=True)
        (repository / place).touch(0o755)
    for place in (
        "env/pyvenv.cfg",
        "inside/__init__.py",
        "inside/__main__.py",
        "inside/mech.py",
        ".git",
        "yaml/mech.py",
        "folder/mech.py",
    ):
        (repository / place).parent.mkdir(exist_ok=True)
        (repository / place).touch()
    installed.mkdir()
    (installed / "tool").touch(0o755)
    (repository / "tools").mkdir()
    for place in (repository / "tools/python3", repository / "bin/ruby3", installed / "lua"):
        place.write_text("#!/bin/sh\nexec other\n")
        place.chmod(0o755)
    monkeypatch.chdir(repository)
    found = [os.path.relpath(file) for file in Exec(command).files]
    assert found == NAMED[command]
    assert Exec(command).file == next(iter(Exec(command).files), None)
    monkeypatch.setenv("PYTHONSAFEPATH", "1")  # broken variant: only options count
    assert bool(Exec(command).files) == (bool(found) and not re.search(r"python3 .*-\w*m", command))
