"""Who asks for a file or a variable: the code that is audited, or a library by itself.

A library asks for what the code has handed to it; what else it asks for, and Python too, is its own.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from types import FrameType, MappingProxyType, ModuleType

from verifiable_dp.core import paths
from verifiable_dp.core.validate import Foreign

_PLACE = Path(__file__).parents[1]
_LINKED = [one for one in _PLACE.iterdir() if one.is_symlink()]  # folders of a checkout
OURS = tuple(f"{one}{os.sep}" for one in (_PLACE, *map(os.path.realpath, (_PLACE, *_LINKED))))
_TOP, _IMPORTS, _GENERATED = "<module>", "<frozen importlib", "<string>"
_HOLDERS = (dict, MappingProxyType, list, tuple, set, frozenset)
_ANY_ARGUMENTS, _NAMED_ARGUMENTS = 0x04, 0x08  # flags of code
_DEEP = 3  # containers and objects in each other that are looked into

Names = Callable[[str], bool]  # whether a text names what is asked for


def is_installed(place: str) -> bool:
    """Whether a file or folder is one of ours, of Python's, or of where it installs into."""
    return place.startswith(OURS) or paths.installed(place)


@dataclass(frozen=True)
class Asker:
    """What has led to a question.

    Attributes
    ----------
    code
        Frames of the code that is audited, the innermost first; none if Python or a library imports.
    library
        The call of a library that the code has made; None if the code asks itself.
    """

    code: tuple[FrameType, ...]
    library: FrameType | None

    @classmethod
    def of(cls, frame: FrameType | None, base: FrameType | None, itself: Collection[str] = ()) -> Asker:
        """By the frames from one on, up to `base`; files of `itself` ask for whoever calls them."""
        code, library = list[FrameType](), None
        while frame is not None and frame is not base:
            file = frame.f_code.co_filename
            if not (file.startswith(OURS) or file == _GENERATED or file in itself):
                if not (paths.of_python(file) or is_installed(file)):
                    code.append(frame)
                elif not code:
                    if file.startswith(_IMPORTS) or (
                        frame.f_code.co_name == _TOP and not paths.of_python(file)
                    ):
                        break
                    library = frame
            frame = frame.f_back
        return cls(tuple(code), library)

    def asks(self, handed: Names, known: Names | None = None) -> bool:
        """Whether the code asks itself, or has named what is asked for.

        By a text that it has `handed` to the library, or by any that is `known` to it.
        """
        if not self.code or self.library is None:
            return bool(self.code)
        there = itertools.chain(*map(_known, self.code)) if known else ()
        return any(map(handed, _given(self.library))) or (known is not None and any(map(known, there)))


def _given(frame: FrameType) -> Iterator[str]:
    """Texts among the arguments of a call."""
    code = frame.f_code
    more = bool(code.co_flags & _ANY_ARGUMENTS) + bool(code.co_flags & _NAMED_ARGUMENTS)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + more]
    scope = frame.f_locals
    return _texts([scope[name] for name in names if name in scope], _DEEP)


def _known(frame: FrameType) -> Iterator[str]:
    """Texts among the constants, locals and globals of code."""
    yield from frame.f_code.co_names
    for values in (frame.f_code.co_consts, frame.f_locals, frame.f_globals):
        yield from _texts(values, _DEEP)


def _texts(value: Foreign, deep: int) -> Iterator[str]:
    """Those in a value; nothing of the code's runs for that."""
    kind = type(value)
    if issubclass(kind, str):
        yield str(value)
    elif issubclass(kind, bytes | PurePath):
        yield os.fsdecode(value)
    elif deep and kind is not ModuleType:
        inside: Foreign = value if kind in _HOLDERS else ()
        with suppress(AttributeError):
            inside = inside or object.__getattribute__(value, "__dict__")
        more = [*inside.values()] if type(inside) in (dict, MappingProxyType) else []
        for one in [*inside, *more]:
            yield from _texts(one, deep - 1)
