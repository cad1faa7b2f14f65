"""Which variables of the environment code asks for while it runs, by digests of their values.

A value is never kept: it may be a secret. What Python or a library asks for by itself does not count, unless
the code names it. We do not hear of what code that is not Python's asks for.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

from verifiable_dp.core.engine import Passed
from verifiable_dp.core.steering import environment_of_targets, is_of_a_job
from verifiable_dp.targets import opened
from verifiable_dp.targets.folders import ALL

_OURS = "VERIFIABLE_DP_"  # they tell processes of ours of each other
# Files of what asks for whoever calls it.
_ITSELF = {one.__code__.co_filename for one in (os._Environ.__getitem__, os.getenv, Mapping.get)}


class _Listening:
    """What the variables were before any code of a target ran here; None where nobody listens."""

    there: ClassVar[dict[str, str] | None] = None


def of(found: Mapping[str, str]) -> dict[str, str]:
    """Digests of the variables that the code asked for, by their names, of what was noted in an audit."""
    return {name.removeprefix(opened.VARIABLE): one for name, one in opened.variables(found).items()}


def said(found: Mapping[str, str]) -> str:
    """The names of these variables, with commas between them."""
    return ", ".join("all variables" if name == ALL else name for name in sorted(of(found)))


def changed(found: Mapping[str, str]) -> str:
    """A variable that the code asked for and that has another value now; empty if there is none."""
    there = environment_of_targets() if _Listening.there is None else _Listening.there
    return next((name for name, one in of(found).items() if _digest(name, there) != one), "")


def _digest(name: str, there: Mapping[str, str]) -> str:
    """SHA-256 of a variable and its value, or of the names of all; `opened.ABSENT` if it is not set."""
    if name not in there and name != ALL:
        return opened.ABSENT
    value = "\0".join(sorted(map(_shown, there))) if name == ALL else there[name]
    return hashlib.sha256(f"{name}={value}".encode("utf-8", "surrogateescape")).hexdigest()


def _shown(name: str) -> str:
    return "" if name.startswith(_OURS) else name


def listen(withheld: Collection[str]) -> None:
    """Note from now on which variables the code asks for, also of those that are `withheld` from it."""
    before = vars(os.environ)["_data"]
    if not isinstance(before, _Heard):
        _Listening.there = dict(os.environ)
        _put(_Heard(before, withheld))


@contextmanager
def heard(withheld: Collection[str] = ()) -> Iterator[None]:
    """As `listen`, within a block."""
    before = vars(os.environ)["_data"]
    listen(withheld)
    try:
        yield
    finally:
        if (after := vars(os.environ)["_data"]) is not before:
            before.clear()
            before.update({name: dict.__getitem__(after, name) for name in dict.__iter__(after)})
            _put(before)
            _Listening.there = None


def _put(data: Passed) -> None:
    for one in (os.environ, getattr(os, "environb", os.environ)):
        vars(one)["_data"] = data


class _Heard(dict[Passed, Passed]):
    """The variables of a process, which hears what it is asked for."""

    def __init__(self, there: Mapping[Passed, Passed], withheld: Collection[str]) -> None:
        super().__init__(there)
        self._withheld, self._made = withheld, set[str]()

    def __getitem__(self, name: Passed) -> Passed:
        self._note([os.fsdecode(name)])
        return super().__getitem__(name)

    def __iter__(self) -> Iterator[Passed]:
        """All of them: what steers a job is of no use to code that does not name it."""
        self._note([ALL, *(one for one in self._withheld if not is_of_a_job(one))])
        return super().__iter__()

    def __setitem__(self, name: Passed, value: Passed) -> None:
        """What the code sets is its own."""
        self._made.add(os.fsdecode(name))
        super().__setitem__(name, value)

    def __delitem__(self, name: Passed) -> None:
        self._made.add(os.fsdecode(name))
        super().__delitem__(name)

    def _note(self, names: Collection[str]) -> None:
        root, found = opened.here()
        names = [one for one in names if root and one not in self._made and not one.startswith(_OURS)]
        led, asker = opened.led_by(sys._getframe(2), _ITSELF) if names else (False, None)
        for name in names:
            if name in self._withheld and led:
                found[f"{opened.VARIABLE}{name}"] = opened.WITHHELD
            elif name not in self._withheld and asker and asker.asks(*[functools.partial(_names, name)] * 2):
                found.setdefault(f"{opened.VARIABLE}{name}", _digest(name, _Listening.there or {}))


def _names(name: str, text: str) -> bool:
    """Whether a text has the name of a variable in it."""
    return name != ALL and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
