"""Targets in any language: processes that play or release on request, in lines of JSON.

The protocol is that of ``docs/targets.md``. Each line from us is one object; the process answers each with
one line. First comes a greeting, then requests:

    us       {"protocol": "verifiable-dp-1", "kind": "play", "n_arms": 2, "horizon": 3, "bounds": [0, 1]}
    process  {"ready": true, "kind": "play"}
    us       {"id": 1, "input": "5f1d…", "rewards": [[0, 1], [0, 1], [0, 1]], "seeds": ["17", "4"]}
    process  {"id": 1, "actions": [[0, 1, 1], [1, 1, 0]]}

A request without rewards (data) is about those of the request before it.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import IO, cast

import numpy as np

from verifiable_dp.core import paths, plugins, watch
from verifiable_dp.core.files import checkout
from verifiable_dp.core.outputs import ReadOutputs, spoken
from verifiable_dp.core.steering import environment_of_targets
from verifiable_dp.core.validate import FloatArray, Given, InputError, JsonDict, JsonValue, positive

PROTOCOL = "verifiable-dp-1"
TIMEOUT = 60.0
_VALUES = 1_000_000  # values in an answer, at most
_RUNS = 256  # runs of a bandit in a request, at most
_DRAWS = 8192  # draws of a mechanism in a request
_LARGEST = 1 << 28  # bytes of a line
_QUOTED = 80  # characters of a line that an error quotes
_OURS = (watch.NAME, watch.CAGED, plugins.ALLOWED)  # variables of the process of a target
PROGRAM = "$"  # before the name of a program, among the digests of files that run
_SCRIPTS, _LONGEST_PATH = 4, 4096  # scripts of which one runs the other; characters of a first line
_GRACE = 0.5  # seconds that a process has to end by itself
_LATE = (
    "it must answer each line that it reads with one line, and flush its output; if it needs longer, "
    "allow more time with --exec-timeout SECONDS (in Python Exec(command, SECONDS))"
)
_ENDED = (
    "it must keep reading until its input ends; to see why it stopped, start it by hand and give it a request"
)


@dataclass(frozen=True)
class Exec:
    """A command to audit: a program in any language that exchanges JSON lines.

    Parameters
    ----------
    command
        Program and arguments, split as by a shell; no shell runs.
    timeout
        Time limit for the answer to one request, in seconds.

    Raises
    ------
    InputError
        If the command is empty or its quotes do not match, or the timeout is not positive.
    """

    command: str
    timeout: float = TIMEOUT

    def __post_init__(self) -> None:
        if not isinstance(self.command, str):
            raise InputError(f"exec must be a command line, got {type(self.command).__name__}")
        try:
            split = shlex.split(self.command)
        except ValueError as error:
            raise InputError(f"exec: {self.command!r} cannot be split into arguments: {error}") from None
        if not split:
            raise InputError("exec must be a program and its arguments, got nothing")
        object.__setattr__(self, "timeout", positive("exec_timeout", self.timeout))

    @property
    def arguments(self) -> list[str]:
        """Program and arguments."""
        return shlex.split(self.command)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that run: a program that is not installed, or the files that an interpreter runs.

        Empty if that is unknown: another program, which is installed, may run any code, elsewhere, too.
        """
        first, *others = self.arguments
        program = Path(first if os.sep in first else shutil.which(first) or "")
        ours = os.sep in first or program.resolve().is_relative_to(checkout(Path.cwd()) or Path.cwd())
        if _INTERPRETER.fullmatch(Path(first).name):
            return () if ours and _is_script(program) else _run_by(Path(first).name, others)
        return (program,) if ours and program.is_file() and not _of_environment(program) else ()

    @property
    def programs(self) -> dict[str, str]:
        """SHA-256 of the other programs that the system starts for the command, by `PROGRAM` and name.

        Those are the first word's, and interpreters that scripts name, as they are found now.
        """
        found, word = dict[str, str](), self.arguments[0]
        files = {one.resolve() for one in self.files}
        for _ in range(_SCRIPTS):
            place = shutil.which(word, path=environment_of_targets().get("PATH")) if word else None
            if place is None:
                break
            program = Path(place).resolve()
            if program not in files:
                found[f"{PROGRAM}{program.name}"] = hashlib.sha256(program.read_bytes()).hexdigest()
            word = _interpreter(program)
        return found

    @property
    def file(self) -> Path | None:
        """The program or, for an interpreter such as Python, the file that it runs; None if unknown."""
        return next(iter(self.files), None)


_INTERPRETER = re.compile(
    r"(python|pypy|perl|ruby|node|nodejs|Rscript|julia|lua|php|java|bash|dash|sh|zsh)[\d.]*"
)
_FLAGS = "[bBdEiIOPqRsSuvx]"  # of Python, which may be written together
# Options of an interpreter that hold no code and take no word after them.
_OPTIONS = {
    "(python|pypy).*": re.compile(rf"-{_FLAGS}+|-[WX]\S+"),
    ".*sh": re.compile(r"-[aefhuvx]+|--[\w-]+"),
    "java": re.compile(r"-jar|-cp|-X\S+"),
    ".*": re.compile(r"-[wvT]|-[WO]\d|--[\w-]+(=\d+)?"),
}
_MODULE = re.compile(rf"-({_FLAGS}*)m(.*)")  # of Python: its name is in the word, or is the next one
_RUN_MODULES = ("python", "pypy")
_SAFE = re.compile("-[^WX]*[IP].*")  # options of Python without which it looks into the current folder


def _run_by(interpreter: str, arguments: Sequence[str]) -> tuple[Path, ...]:
    """What an interpreter runs that is given these arguments: a file after its options, or a module here."""
    option = next(one for name, one in _OPTIONS.items() if re.fullmatch(name, interpreter))
    words, here = iter(arguments), not environment_of_targets().get("PYTHONSAFEPATH")
    for word in words:
        if interpreter.startswith(_RUN_MODULES) and (module := _MODULE.fullmatch(word)):
            looks = here and not _SAFE.fullmatch(f"-{module[1]}")
            return _module(module[2] or next(words, "")) if looks else ()
        if not option.fullmatch(word):
            return (Path(word),) if Path(word).is_file() else ()
        here = here and not _SAFE.fullmatch(word)
    return ()


def _module(name: str) -> tuple[Path, ...]:
    """The files of a module of the current folder that is run, and of the packages that it is in.

    A folder without ``__init__.py`` is a package only if none of its name is installed.
    """
    place, top = Path(*name.split(".")), name.partition(".")[0]
    if top and not Path(top, "__init__.py").is_file() and not Path(f"{top}.py").is_file():
        elsewhere = [one for one in paths.of_targets() if os.path.realpath(one) != os.getcwd()]
        spec = PathFinder.find_spec(top, elsewhere)
        if spec is not None and spec.has_location:
            return ()
    inside = [above / "__init__.py" for above in (place, *place.parents) if above != Path()]
    for code in (place / "__main__.py", place.with_name(f"{place.name}.py") if name else place):
        if code.is_file():
            return (code, *(one for one in inside if one.is_file()))
    return ()


def _is_script(file: Path) -> bool:
    """Whether a program is text that another one runs: called as an interpreter, it may run it anywhere."""
    if not file.is_file():
        return False
    with file.open("rb") as content:
        return content.read(2) == b"#!"


def _interpreter(file: Path) -> str:
    """What the first line of a script names to run it; empty of any other program."""
    if not _is_script(file):
        return ""
    with file.open("rb") as content:
        words = content.readline(_LONGEST_PATH).decode("utf-8", "replace").removeprefix("#!").split()
    by_name = words[:1] and Path(words[0]).name == "env"
    plain = (word for word in words[1:] if word[0] != "-" and "=" not in word)
    return next(plain, "") if by_name else "".join(words[:1])


def _of_environment(file: Path) -> bool:
    """Whether it is a program of a virtual environment, which is installed."""
    return (file.parent.parent / "pyvenv.cfg").is_file()


class _LostError(Exception):
    """The process ended or did not answer in time; it may be started again.

    Parameters
    ----------
    how
        What it did.
    advice
        What to do if it does so again.
    """

    def __init__(self, how: str, advice: str) -> None:
        super().__init__(how)
        self.advice = advice


class _Child:
    """One running process; only one thread talks to it at a time."""

    def __init__(self, command: Exec, greeting: JsonDict) -> None:
        self._command = command
        try:
            self._process = subprocess.Popen(
                command.arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env={name: one for name, one in environment_of_targets().items() if name not in _OURS},
                start_new_session=True,  # a group of its own, which ends with it
            )
        except OSError as error:
            raise InputError(f"exec: {command.command!r} cannot be started: {error.strerror}") from None
        # Pipes were asked for, so that none is None.
        self._in, self._out, self._err = (
            cast(IO[bytes], pipe)
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr)
        )
        self._selector = selectors.DefaultSelector()
        for pipe in (self._in, self._out, self._err):
            os.set_blocking(pipe.fileno(), False)
        for pipe in (self._out, self._err):
            self._selector.register(pipe, selectors.EVENT_READ)
        self._received, self._tail = bytearray(), b""
        self._number, self._input = 0, ""
        try:
            self.ready = self._read(self._exchange(_line(greeting)))
            if self.ready.get("ready") is not True or self.ready.get("kind") != greeting["kind"]:
                raise InputError(
                    f'exec: the first line must be {{"ready": true, "kind": "{greeting["kind"]}"}}, '
                    f"got {json.dumps(self.ready)[:_QUOTED]}"
                )
        except BaseException:
            self.close()
            raise

    def ask(self, key: str, what: str, data: Given, request: JsonDict) -> JsonDict:
        """The answer to a request about `data`, which is sent only if it is not the one sent last."""
        self._number += 1
        message: JsonDict = {"id": self._number, "input": key}
        if self._input != key:
            message[what] = data.tolist() if isinstance(data, np.ndarray) else data
        answer = self._read(self._exchange(_line({**message, **request})))
        self._input = key
        if "error" in answer:
            raise InputError(f"exec: the process reports an error: {str(answer['error'])[:200]}")
        if answer.get("id") != self._number:
            raise InputError(
                f"exec: the answer to request {self._number} must have id {self._number}, got "
                f"{answer.get('id')!r}"
            )
        return answer

    def _read(self, line: bytes) -> JsonDict:
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            shown = line[: 4 * _QUOTED].decode("utf-8", "replace")[:_QUOTED]
            raise InputError(f"exec: the process must answer with lines of JSON objects, got {shown!r}")
        return answer

    def _exchange(self, line: bytes) -> bytes:
        """Write a line and read one; both at once, so that full pipes block nobody."""
        pending, deadline = memoryview(line), time.monotonic() + self._command.timeout
        self._selector.register(self._in, selectors.EVENT_WRITE)
        searched = 0
        try:
            while True:
                end = self._received.find(b"\n", searched)
                if end >= 0:
                    answer = bytes(self._received[:end])
                    del self._received[: end + 1]
                    return answer
                searched = len(self._received)
                if searched > _LARGEST:
                    raise InputError(
                        f"exec: the process wrote {_LARGEST >> 20} MiB without a line break; each answer "
                        "must be one line"
                    )
                left = deadline - time.monotonic()
                if left <= 0:
                    raise _LostError(f"did not answer within {self._command.timeout:g} seconds", _LATE)
                for key, _ in self._selector.select(left):
                    if key.fileobj is self._in:
                        pending = self._write(pending)
                    elif key.fileobj is self._err:
                        self._drain()
                    elif not self._receive():
                        raise _LostError(self._ending(), _ENDED)
        finally:
            if self._process.returncode is None and self._in in self._selector.get_map():
                self._selector.unregister(self._in)

    def _write(self, pending: memoryview) -> memoryview:
        try:
            pending = pending[os.write(self._in.fileno(), pending[: 1 << 16]) :]
        except BlockingIOError:
            return pending
        except OSError:
            pending = memoryview(b"")  # it reads no more; what it has written still counts
        if not pending:
            self._selector.unregister(self._in)
        return pending

    def _receive(self) -> bool:
        """Take what was written; whether more may come."""
        try:
            part = os.read(self._out.fileno(), 1 << 20)
        except BlockingIOError:
            return True
        self._received += part
        return bool(part)

    def _drain(self) -> None:
        """Keep the end of what is written to stderr."""
        try:
            part = os.read(self._err.fileno(), 1 << 16)
        except BlockingIOError:
            return
        if not part and self._err in self._selector.get_map():
            self._selector.unregister(self._err)
        self._tail = (self._tail + part)[-4096:]

    def _ending(self) -> str:
        """How the process ended, in words; it is reaped."""
        where = " in the middle of a line" if self._received else ""
        self._wait()
        for _ in range(64):
            self._drain()
        status = self.close()
        how = f"exit status {status}" if status >= 0 else f"signal {signal.Signals(-status).name}"
        lines = self._tail.decode("utf-8", "replace").strip().splitlines()
        return f"ended{where} ({how})" + (f": {lines[-1].strip()[:200]}" if lines else "")

    def _wait(self) -> None:
        """Let the process end, for a moment, without reaping it: its group keeps its number."""
        end = time.monotonic() + _GRACE
        while time.monotonic() < end and self._process.returncode is None:
            if os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return
            time.sleep(0.005)

    def close(self, grace: bool = False) -> int:
        """End the process with its children and reap it; its exit status."""
        if self._process.returncode is not None:
            return self._process.returncode
        with contextlib.suppress(OSError):
            self._in.close()
        if grace:
            self._wait()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        status = self._process.wait()
        self._selector.close()
        for pipe in (self._out, self._err):
            pipe.close()
        return status


def _line(message: JsonDict) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


class _Pool:
    """The processes of one target in this process: as many as there are threads that ask."""

    def __init__(self, command: Exec, greeting: JsonDict) -> None:
        self._command, self._greeting = command, greeting
        self._lock = threading.Lock()
        self._idle: list[_Child] = []
        self._ready: JsonDict | None = None
        self.restarted = ""

    def _start(self) -> _Child:
        child = _Child(self._command, self._greeting)
        self._ready = child.ready
        return child

    @property
    def ready(self) -> JsonDict:
        """The line by which the process said that it is ready."""
        if self._ready is None:
            try:
                child = self._start()
            except _LostError as error:
                raise InputError(f"exec: the process {error}; {error.advice}") from None
            with self._lock:
                self._idle.append(child)
        assert self._ready is not None
        return self._ready

    def ask(self, *request: Given) -> JsonDict:
        """The answer of any idle process; a request during which it is lost is made once more."""
        try:
            return self._ask(*request)
        except _LostError as error:
            lost = str(error)
        try:
            answer = self._ask(*request)
            self.restarted = lost  # what ends each time on such a request is refused
            return answer
        except _LostError as error:
            raise InputError(
                f"exec: the process {error} (we made the request twice); {error.advice}"
            ) from None

    def _ask(self, *request: Given) -> JsonDict:
        with self._lock:
            child = self._idle.pop() if self._idle else None
        if child is None:
            child = self._start()
        try:
            answer = child.ask(*request)
        except BaseException:
            child.close()
            raise
        with self._lock:
            self._idle.append(child)
        return answer

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.close(grace=True)


_POOLS: dict[tuple[int, ProcessTarget], _Pool] = {}
_POOLS_LOCK = threading.Lock()


def _close_all() -> None:
    for (pid, _), pool in list(_POOLS.items()):
        if pid == os.getpid():
            pool.close()


atexit.register(_close_all)


@dataclass(frozen=True)
class ProcessTarget:
    """A command as a bandit or a mechanism; processes start on first use, some for each Python process.

    Parameters
    ----------
    command
        What runs.
    kind
        ``play`` or ``release``.
    bounds
        Range of the rewards or of the data.
    n_arms, horizon
        K and T of a bandit.
    """

    command: Exec
    kind: str
    bounds: tuple[float, float] = (0.0, 1.0)
    n_arms: int = 0
    horizon: int = 0

    @property
    def _pool(self) -> _Pool:
        with _POOLS_LOCK:
            key = (os.getpid(), self)
            if key not in _POOLS:
                greeting: JsonDict = {"protocol": PROTOCOL, "kind": self.kind}
                if self.kind == "play":
                    greeting |= {"n_arms": self.n_arms, "horizon": self.horizon}
                _POOLS[key] = _Pool(self.command, {**greeting, "bounds": list(self.bounds)})
            return _POOLS[key]

    @property
    def scalable(self) -> bool:
        """Whether the process can multiply its noise, so that the power of an audit can be measured."""
        return self._pool.ready.get("noise_factor") is True

    @property
    def own_randomness(self) -> bool:
        """Whether the process says that it draws from the system, so that seeds do not decide its noise."""
        return self._pool.ready.get("own_randomness") is True

    @property
    def neighbours(self) -> list[tuple[float | FloatArray, float | FloatArray]] | None:
        """Pairs of neighbouring data that the process declares, if any."""
        given = self._pool.ready.get("neighbours")
        if given is None:
            return None
        try:
            return [(_data(left), _data(right)) for left, right in given]
        except (TypeError, ValueError):
            raise InputError("exec: neighbours must be pairs of numbers or of arrays of numbers") from None

    @property
    def restarted(self) -> str:
        """Why a process was started again, in words; empty if none was."""
        return self._pool.restarted

    def play(self, table: FloatArray, seeds: Sequence[int], factor: float = 1.0) -> list[JsonValue]:
        """Actions of a run for each seed, as the process gave them: n lists of T arms.

        Raises
        ------
        InputError
            If the process is lost twice, or does not follow the protocol.
        """
        size = int(np.clip(_VALUES // max(self.horizon, 1), 1, _RUNS))
        out: list[JsonValue] = []
        for i in range(0, len(seeds), size):
            part = seeds[i : i + size]
            out += self._ask(
                "rewards", table, {"seeds": [str(s) for s in part]}, factor, "actions", len(part)
            )
        return out

    def release(self, data: Given, size: int, seeds: Sequence[int], factor: float = 1.0) -> ReadOutputs:
        """Outputs (size, ...) of a mechanism, and their types; a seed for each 8192 of them.

        Raises
        ------
        InputError
            As `play`, or if an output is not a number.
        """
        out: list[JsonValue] = []
        for i, seed in enumerate(seeds):
            runs = min(_DRAWS, size - i * _DRAWS)
            out += self._ask("data", data, {"seed": str(seed), "runs": runs}, factor, "outputs", runs)
        return spoken(out)

    @staticmethod
    def requests(size: int) -> int:
        """Seeds that `release` needs for `size` draws."""
        return -(-size // _DRAWS)

    def _ask(
        self, what: str, data: Given, request: JsonDict, factor: float, expected: str, runs: int
    ) -> list[JsonValue]:
        if factor != 1.0:
            if not self.scalable:
                raise InputError("exec: the process does not declare noise_factor")
            request["noise_factor"] = factor
        array = np.asarray(data, dtype=np.float64)
        key = hashlib.sha256(repr(array.shape).encode() + array.tobytes()).hexdigest()[:16]
        found = self._pool.ask(key, what, data, request).get(expected)
        if not isinstance(found, list) or len(found) != runs:
            got = f"{len(found)}" if isinstance(found, list) else "none"
            raise InputError(
                f"exec: {expected} must be a list with {runs} entries, one for each run, got {got}"
            )
        return found

    def close(self) -> None:
        """End the processes that this Python process started."""
        with _POOLS_LOCK:
            pool = _POOLS.pop((os.getpid(), self), None)
        if pool is not None:
            pool.close()


def _data(value: JsonValue) -> float | FloatArray:
    return float(value) if isinstance(value, int | float) else np.array(value, dtype=np.float64)


@contextlib.contextmanager
def running(target: ProcessTarget) -> Iterator[ProcessTarget]:
    """The target while it is audited; afterwards its processes are ended."""
    try:
        yield target
    finally:
        target.close()
