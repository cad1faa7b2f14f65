"""What adapters fill parameters of users' code with, noted where they do it.

Only what was noted here is known of a parameter; what it is called tells nothing.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from verifiable_dp.core.validate import Foreign

Filled = dict[types.CodeType | type, dict[str, str]]
_NOTED: ContextVar[Filled | None] = ContextVar("filled", default=None)


@contextmanager
def noting() -> Iterator[Filled]:
    """Collect what is noted inside: parameters of a function's code, or of a class whose code is in no file.

    Each is ``public``, ``data``, ``drawn`` (a public outcome of chance), ``seed``, ``generator`` or
    ``environment``; one that was filled with several of these is ``several``.
    """
    found: Filled = {}
    token = _NOTED.set(found)
    try:
        yield found
    finally:
        _NOTED.reset(token)


def note(function: Foreign, kinds: Mapping[str, str]) -> None:
    """Note with what parameters of a function, method or class are filled now."""
    noted = _NOTED.get()
    if noted is None:
        return
    made: Foreign = (
        function.__init__ if inspect.isclass(function) else getattr(function, "__func__", function)
    )
    code = getattr(inspect.unwrap(made), "__code__", None)
    key = function if inspect.isclass(function) and (code is None or code.co_filename == "<string>") else code
    if key is not None:
        known = noted.setdefault(key, {})
        for name, kind in kinds.items():
            known[name] = kind if known.get(name, kind) == kind else "several"


def note_placed(function: Foreign, *kinds: str) -> None:
    """As `note`, of the first parameters that are left of a function, which is called with these by place."""
    if _NOTED.get() is not None and inspect.isfunction(inspect.unwrap(function)):
        names = list(inspect.signature(function, follow_wrapped=False).parameters)
        note(function, dict(zip(names, kinds, strict=False)))
