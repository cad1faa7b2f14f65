"""Runs of pytest that begin where what they import from others is loaded already: forks of this process.

It is started as a program of its own, so that nothing of this repository is loaded in it. It reads a line of
JSON for each run, and answers with a line: how the run ended, None if it took too long, and what it printed.
"""

import contextlib
import importlib
import json
import os
import signal
import sys
import tempfile
import time
import traceback

_LOADED = (
    "pytest",
    "_pytest.pytester",
    "click",
    "jinja2",
    "joblib",
    "jsonschema",
    "markdown_it",
    "matplotlib.pyplot",
    "msgspec",
    "numba",
    "numba.typed",
    "numpy.testing",
    "pandas",
    "rich.console",
    "scipy.integrate",
    "scipy.optimize",
    "scipy.signal",
    "scipy.special",
    "scipy.stats",
    "sklearn.linear_model",
    "sklearn.ensemble",
    "threadpoolctl",
)
_POLL = 0.02  # seconds


def run(tree: str, options: list[str], environment: dict[str, str], most: float) -> tuple[int | None, str]:
    """The status of a run of pytest in a tree, and what it printed."""
    with tempfile.TemporaryFile() as printed:
        child = os.fork()
        if not child:
            _begin(tree, options, environment, printed.fileno())
        end, done = time.monotonic() + most, None
        while done is None and time.monotonic() < end:
            done = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            time.sleep(0 if done else _POLL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)  # with what it has started, while its number is its own
        _, found = os.waitpid(child, 0)
        status = os.waitstatus_to_exitcode(found) if done else None
        printed.seek(0)
        return status, printed.read().decode(errors="replace")


def _begin(tree: str, options: list[str], environment: dict[str, str], out: int) -> None:
    """In the fork: never returns."""
    status = 70
    try:
        os.setsid()
        for handle, to in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (out, 2)):
            os.dup2(handle, to)
        os.chdir(tree)
        os.environ.update(environment)
        sys.path[:] = [
            tree,
            *(path for path in sys.path if os.path.abspath(path) != os.path.dirname(__file__)),
        ]
        sys.argv[:] = ["pytest", *options]
        import pytest

        status = int(pytest.main(options))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def main() -> None:
    """Answer until the input ends."""
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != os.path.dirname(__file__)]
    for name in _LOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
