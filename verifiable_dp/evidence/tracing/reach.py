"""Which code a target runs: its functions, and the globals of all of the user's modules that it can reach."""

from __future__ import annotations

import collections
import contextlib
import dis
import functools
import inspect
import os
import random
import sys
import sysconfig
import types
import weakref
from collections.abc import Iterator, Mapping, Sequence, Set
from types import CellType, CodeType, FunctionType, MemberDescriptorType, ModuleType

import numpy as np

from verifiable_dp.core import paths
from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.tracing.foreign import bits_of

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_FOREIGN = (
    os.path.join(_PACKAGE, ""),
    *(os.path.join(sysconfig.get_path(kind), "") for kind in ("stdlib", "platstdlib")),
)
_IMPORT_NAME = dis.opmap["IMPORT_NAME"]
_LEAVES = frozenset((types.NoneType, bool, int, float, complex, str, bytes))
# What code finds other code with to which no object leads.
_SEARCHING = frozenset(
    (
        *("import_module", "__import__", "modules", "exec", "eval", "pickle", "dill", "cloudpickle"),
        *(
            "get_objects",
            "__subclasses__",
            "iter_modules",
            "walk_packages",
            "entry_points",
            "run_path",
            "run_module",
        ),
    )
)
# What wraps other code names it so: methods, functools, numba.
_WRAPPED = ("__wrapped__", "__func__", "__self__", "py_func", "func", "args", "keywords")
_GENERATORS = (np.random.Generator, np.random.RandomState, random.SystemRandom)
_NAMES = (str, int)  # by which an entry is found without a user's code
_MAPPINGS = (dict, types.MappingProxyType)
_CONTAINERS = (*_MAPPINGS, list, tuple, set, frozenset, collections.deque)


def functions_of(target: Foreign) -> list[FunctionType]:
    """The functions that `target` runs: through partial, methods, callable objects, classes and wrappers."""
    found: list[FunctionType] = []
    queue, seen = [target], set()
    while queue:
        value = queue.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, functools.partial):
            queue.append(value.func)
            continue
        value = getattr(value, "__func__", value)
        if inspect.isfunction(value):
            found.append(value)
            cells = [cell.cell_contents for cell in value.__closure__ or () if _filled(cell)]
            queue += [held for held in cells if callable(held)]
        elif inspect.isclass(value):
            queue += [v for kind in value.__mro__[:-1] for v in vars(kind).values() if inspect.isfunction(v)]
        elif callable(value):
            queue += [vars(kind)["__call__"] for kind in type(value).__mro__[:-1] if "__call__" in vars(kind)]
        wrapped = getattr(value, "__wrapped__", None)
        if wrapped is not None:
            queue.append(wrapped)
    return found


def _filled(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


Holder = dict[Foreign, Foreign] | list[Foreign]


class Scopes(dict[str, dict[str, object]]):
    """Globals, by file.

    Attributes
    ----------
    functions
        Those in these files, wherever they are kept.
    held
        What objects and containers of the code hold by name or place, each once; no module's globals.
    apart
        The identities of states of generators that something else holds as well: tuples, slots, classes,
        closures, methods, objects of libraries.
    """

    functions: Sequence[FunctionType] = ()
    held: Sequence[Holder] = ()
    apart: Set[int] = frozenset()


def scopes_of(target: Foreign) -> Scopes:
    """Globals, by file, of the user's code that `target` can reach: through whatever objects, and imports.

    Code that finds code by itself (`import_module`, `sys.modules`, `__subclasses__`) reaches all that lies
    beside it or below. Installed libraries are left out, wherever the rest lies. A target that is made of a
    library's parts names their modules itself, in its attribute `modules`.
    """
    reach = _reached(target)
    made = Scopes(reach.found)
    seen = [*reach.seen.values()]
    made.functions = [v for v in seen if type(v) is FunctionType and v.__code__.co_filename in made]
    modules = [getattr(module, "__dict__", None) for module in [*sys.modules.values()]]
    globals_ = {*map(id, (sys.modules, *modules, *made.values()))}
    made.held = [v for v in seen if type(v) in (dict, list) and id(v) not in globals_]
    made.apart = reach.apart
    return made


def reached(target: Foreign) -> tuple[dict[str, dict[str, object]], list[Foreign]]:
    """The globals as `scopes_of` gives them, and all objects on the way, the libraries' own as well."""
    found = _reached(target)
    return found.found, [*found.seen.values()]


def _reached(target: Foreign) -> _Reach:
    own = functions_of(target)
    reach = _Reach(frozenset(function.__code__.co_filename for function in own))
    reach.follow([target, *own])
    if reach.searches:
        folders = {os.path.join(os.path.dirname(os.path.abspath(file)), "") for file in reach.found}
        beside = tuple(folder for folder in folders if os.path.exists(folder))
        reach.follow([m for m in [*sys.modules.values()] if beside and _file(m).startswith(beside)])
    for module in getattr(target, "modules", ()):
        reach.found.setdefault(module.__file__, vars(module))
    return reach


def globals_of(scopes: Mapping[str, dict[str, Foreign]]) -> list[dict[str, Foreign]]:
    """The globals in `scopes`, each once: those of code that a dataclass was given are its module's."""
    return [*{id(scope): scope for scope in scopes.values()}.values()]


def held_in(scopes: Mapping[str, dict[str, Foreign]]) -> Iterator[tuple[Holder, Foreign, Foreign]]:
    """What attributes and entries hold, beside globals: the holder, the name or place, and the value."""
    for holder in getattr(scopes, "held", ()):
        pairs = [*holder.items()] if isinstance(holder, dict) else [*enumerate(holder)]
        yield from ((holder, name, value) for name, value in pairs if type(name) in _NAMES)


class _Reach:
    """What objects lead to.

    Attributes
    ----------
    files
        In which the target's own functions are: there may be no such file.
    found
        Globals of the user's code, by file.
    searches
        Whether some of that code finds other code by itself.
    """

    def __init__(self, files: frozenset[str]) -> None:
        self.files = files
        self.found: dict[str, dict[str, object]] = {}
        self.searches = False
        self.apart: set[int] = set()
        self.seen: dict[int, Foreign] = {}  # held: another could have the address of one that is gone

    def follow(self, values: list[Foreign]) -> None:
        """Go wherever these lead."""
        queue = [(value, False) for value in values]
        while queue:
            value, given = queue.pop()
            if id(value) in self.seen:
                continue
            self.seen[id(value)] = value
            librarys = _is_librarys(value)
            if librarys and given:
                continue  # what a library's object was given, it may call; into its own parts nothing looks
            parts = [*(_given_to(value) if librarys else self._parts(value))]
            self.apart |= {id(_state_of(part)) for part in parts if _is_fixed(value, part)}
            queue += [(part, librarys) for part in parts if type(part) not in _LEAVES]

    def _parts(self, value: Foreign) -> Iterator[Foreign]:
        if isinstance(value, _CONTAINERS):
            yield from [*value, *(value.values() if isinstance(value, _MAPPINGS) else ())]
        if isinstance(value, ModuleType):
            yield from self._globals(_file(value), vars(value))
        elif isinstance(value, FunctionType):
            file = value.__code__.co_filename
            # Methods that `dataclass` writes, say, are in no file.
            if (file in self.files or os.path.exists(file)) and not _is_foreign(os.path.abspath(file)):
                yield from self._named(value)
            yield tuple(cell.cell_contents for cell in value.__closure__ or () if _filled(cell))
            yield from [value.__defaults__, value.__kwdefaults__, getattr(value, "__wrapped__", None)]
        elif isinstance(value, property):
            yield from [value.fget, value.fset, value.fdel]
        elif isinstance(value, type):
            yield sys.modules.get(value.__module__)
            yield from [*value.__mro__[1:], *vars(value).values()]
        else:
            members = [member for kind in type(value).__mro__ for member in vars(kind).values()]
            yield from [_held(member, value) for member in members if inspect.ismemberdescriptor(member)]
            yield from [type(value), getattr(value, "__dict__", None)]

    def _globals(self, file: str, scope: dict[str, object]) -> list[Foreign]:
        self.found.setdefault(file, scope)
        return [part for name, part in scope.items() if name != "__builtins__"]

    def _named(self, function: FunctionType) -> Iterator[Foreign]:
        """The globals that a function names, and loaded modules that it imports (from) while it runs."""
        scope = function.__globals__
        everything = self._globals(function.__code__.co_filename, scope)
        package = str(scope.get("__package__") or "")
        codes = [function.__code__]
        while codes:
            code = codes.pop()
            self.searches |= not _SEARCHING.isdisjoint(code.co_names)
            yield from everything if "globals" in code.co_names else [scope.get(n) for n in code.co_names]
            codes += [part for part in code.co_consts if isinstance(part, CodeType)]
            if _IMPORT_NAME not in code.co_code[::2]:  # spares most functions the slow `dis`
                continue
            for step in dis.get_instructions(code):
                if step.opcode == _IMPORT_NAME:
                    yield from (sys.modules.get(n) for n in (str(step.argval), f"{package}.{step.argval}"))


def _is_fixed(holder: Foreign, part: Foreign) -> bool:
    """Whether a generator is held where no other can be put in its place."""
    if isinstance(part, np.random.BitGenerator):
        return True
    if not isinstance(part, _GENERATORS) or isinstance(holder, ModuleType | FunctionType | list):
        return False
    return type(holder) is not dict or any(
        key is part or (value is part and type(key) not in _NAMES) for key, value in holder.items()
    )


def _state_of(generator: Foreign) -> Foreign:
    kinds = np.random.Generator | np.random.RandomState
    return bits_of(generator) if isinstance(generator, kinds) else generator


def _is_librarys(value: Foreign) -> bool:
    """Whether an object is code of a library, or was made by a class of one."""
    if isinstance(value, (*_CONTAINERS, FunctionType, property)):
        return False  # a function of a library may be its decorator, whose closure leads on
    if isinstance(value, ModuleType):
        return not _file(value).endswith(".py") or _is_foreign(_file(value))
    home = sys.modules.get((value if isinstance(value, type) else type(value)).__module__)
    if home is None or not (_file(home) or home.__name__ in sys.builtin_module_names):
        return False  # of a notebook, say
    return _is_foreign(_file(home))


def _given_to(value: Foreign) -> list[Foreign]:
    """What a library's object may have been given."""
    if isinstance(value, type | ModuleType):
        return []
    found = [value()] if isinstance(value, weakref.ref) else [*getattr(value, "__dict__", {}).values()]
    for name in _WRAPPED:
        with contextlib.suppress(Exception):  # whatever a library makes of being asked
            found.append(getattr(value, name))
    return found


def _held(slot: MemberDescriptorType, value: Foreign) -> Foreign:
    try:
        return slot.__get__(value)
    except AttributeError:  # nothing yet
        return None


def _file(module: ModuleType) -> str:
    return getattr(module, "__file__", None) or ""


def _is_foreign(file: str) -> bool:
    return not file or paths.installed(file) or file.startswith(_FOREIGN)
