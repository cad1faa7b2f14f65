"""Faults that are put into code that is loaded: a plugin that collects tests once and forks for each fault.

Functions get the code that their module would give them with the fault; nothing is imported anew. What stands
outside of functions, or is compiled, cannot be changed so (`applies`).
"""

from __future__ import annotations

import ast
import contextlib
import gc
import json
import os
import signal
import time
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

GIVEN = "VERIFIABLE_DP_FAULTS"  # the file that holds faults, and the one that takes what comes of them
NONE = "none changed"  # no function that is loaded has the code
_POLL = 0.01  # seconds
_COMPILED = ("kernel", "njit", "jit", "intrinsic", "overload")


def applies(tree: ast.AST, node: ast.AST) -> bool:
    """Whether a node stands in a function that Python runs."""

    def within(one: ast.AST, function: bool) -> bool | None:
        if one is node:
            return function
        if isinstance(one, ast.FunctionDef):
            names = {ast.unparse(d).partition("(")[0].rpartition(".")[2] for d in one.decorator_list}
            if names & set(_COMPILED):
                return False if any(inner is node for inner in ast.walk(one)) else None
        function = function or isinstance(one, ast.FunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(one):
            found = within(child, function)
            if found is not None:
                return found
        return None

    return bool(within(tree, False))


def _pairs(one: types.CodeType, other: types.CodeType) -> Iterator[tuple[types.CodeType, types.CodeType]]:
    """The code of each function without and with a fault."""
    yield one, other
    inner = ([c for c in code.co_consts if isinstance(c, types.CodeType)] for code in (one, other))
    for left, right in zip(*inner, strict=False):
        if left.co_qualname == right.co_qualname:
            yield from _pairs(left, right)


def apply(path: str, source: str) -> int:
    """Give the functions of a module the code that another source gives them; how many were changed."""
    texts = Path(path).read_text("utf-8"), source
    compiled = (compile(text, path, "exec", dont_inherit=True) for text in texts)
    codes = {(old.co_qualname, old.co_firstlineno): new for old, new in _pairs(*compiled) if old != new}
    changed, real = 0, os.path.realpath(path)
    gc.unfreeze()  # what is settled for audits is not listed
    for function in [one for one in gc.get_objects() if type(one) is types.FunctionType]:
        code = function.__code__
        new = codes.get((code.co_qualname, code.co_firstlineno))
        if new is None or os.path.realpath(code.co_filename) != real or new.co_freevars != code.co_freevars:
            continue
        function.__code__ = new
        changed += 1
    return changed


class _Forks:
    """Runs the tests of each fault in a fork."""

    def __init__(self, place: Path) -> None:
        self._faults = json.loads(place.read_text("utf-8"))
        self._out = place.with_suffix(".came")
        self._failed = ""

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the first test that fails."""
        if report.failed and not self._failed:
            self._failed = report.nodeid

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """All faults, one after the other."""
        items = {item.nodeid: item for item in session.items}
        for fault in self._faults:
            tests = [items[test] for test in fault["tests"] if test in items]
            near = [item for item in session.items if item.nodeid.partition("::")[0] in fault["near"]]
            tests += [item for item in near if item not in tests]
            failed = self._forked(tests, fault, fault["most"])
            while failed in items and self._forked([items[failed]], None, fault["most"]) == failed:
                tests = [item for item in tests if item.nodeid != failed]  # it fails without a fault, too
                failed = self._forked(tests, fault, fault["most"])
            with self._out.open("a", encoding="utf-8") as file:
                print(json.dumps({"number": fault["number"], "failed": failed}), file=file, flush=True)
        return True

    def _forked(self, tests: list[pytest.Item], fault: dict[str, str] | None, most: float) -> str:
        """The first test that fails; "late" if that takes too long."""
        reads, writes = os.pipe()
        child = os.fork()
        if not child:
            os.setsid()
            try:
                if fault is not None and not apply(fault["path"], fault["source"]):
                    self._failed = NONE
                else:
                    for item, after in zip(tests, [*tests[1:], None], strict=True):
                        item.ihook.pytest_runtest_protocol(item=item, nextitem=after)
                        if self._failed:
                            break
            except BaseException:
                self._failed = self._failed or (tests[0].nodeid if tests else "")
            finally:
                os.write(writes, self._failed.encode())
                os._exit(0)
        os.close(writes)
        end, done = time.monotonic() + most, None
        while done is None and time.monotonic() < end:
            done = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            time.sleep(0 if done else _POLL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)  # while its number is its own
        os.waitpid(child, 0)
        with os.fdopen(reads, "rb") as file:
            return file.read().decode() if done else "late"


def pytest_configure(config: pytest.Config) -> None:
    """Only where the environment names faults."""
    if GIVEN in os.environ:
        config.pluginmanager.register(_Forks(Path(os.environ[GIVEN])))
