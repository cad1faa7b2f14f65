"""Where a user measures coverage by tests: lines that run in the child of an audit count, too.

The child leaves without the end of Python, at which `coverage` writes, and what it inherits of the parent's
measurement must not be written by both. So it measures by itself, into a file that the parent adds to its
own.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from verifiable_dp.core.validate import Foreign, JsonDict
from verifiable_dp.core.watch import new_file

# What decides which lines are measured and how they are named.
_OPTIONS = (
    *("branch", "source", "source_pkgs", "source_dirs", "include", "omit", "core"),
    *("relative_files", "context", "plugins", "concurrency"),
)


@dataclass(frozen=True)
class Measured:
    """A measurement in the child.

    Attributes
    ----------
    path
        Of the file that the child writes.
    options
        Of `coverage`, by name.
    """

    path: str
    options: JsonDict

    def begin(self) -> Foreign:
        """Measure from now on, in place of what was inherited."""
        import coverage

        inherited = coverage.Coverage.current()
        if inherited is not None:
            inherited.stop()
        found = coverage.Coverage(data_file=self.path, config_file=False)
        for name, value in self.options.items():
            found.set_option(f"run:{name}", value)
        found.start()
        return found


@contextlib.contextmanager
def measured() -> Iterator[Measured | None]:
    """What a child of this block is to measure; afterwards it counts here. None where nobody measures."""
    coverage: Foreign = sys.modules.get("coverage")
    ours = coverage and coverage.Coverage.current()
    if not ours:
        yield None
        return
    handle, path = new_file("verifiable-dp-coverage-")
    os.close(handle)
    options: JsonDict = {}
    for name in _OPTIONS:
        with contextlib.suppress(coverage.CoverageException):  # not of this version
            options[name] = ours.get_option(f"run:{name}")
    try:
        yield Measured(path, options)
    finally:
        with contextlib.suppress(coverage.CoverageException):  # of a child that was ended there is nothing
            other = coverage.CoverageData(path)
            other.read()
            ours.get_data().update(other)
        os.unlink(path)
