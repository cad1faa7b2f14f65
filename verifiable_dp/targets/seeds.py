"""Whose seeds are secret: generators that code keeps, as they are in a fresh import of it.

A generator that has the same state after every import hides nothing from those who read the file. Generators
that have one state between them draw the same noise. Neither shows in the text: modules are imported twice in
a process of their own, and states are compared.
"""

from __future__ import annotations

import ast
import collections
import contextlib
import copy
import functools
import hashlib
import importlib
import importlib.util
import io
import random
import re
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np

from verifiable_dp.core.validate import Foreign, Function, InputError, JsonValue
from verifiable_dp.evidence.tracing.foreign import MODULES, Source, bits_of, noted, state_of, wide
from verifiable_dp.evidence.tracing.reach import globals_of, scopes_of
from verifiable_dp.targets import child
from verifiable_dp.targets.guard import importing
from verifiable_dp.targets.line import Progress
from verifiable_dp.targets.source import parsed, resolved

Module = tuple[str, str]  # name and file
FIXED = "{} starts from the same state in every process"
FEW = "{} starts from one of only a few seeds, and anyone can try them all"
UNTOLD = "{} has a seed that may not be secret"
TWINS = "{} and {} start from the same seed, so they draw the same numbers"
ADVICE = (
    ": anyone who reads the code may know its noise, so the results hold only for observers who have not "
    "read it; use np.random.default_rng() without a seed, so the system supplies one"
)
_DRAWS = (1, 5)  # after which states are compared: the first may renew all of a state
_WORD = 8  # bytes at least, of what tells streams apart
_SEEDING = ("seed", "set_state", "setstate")
_MOST = 100_000  # objects that are looked into
# After the digest of a generator with one of so many seeds: of 2^63, two are as small once in 2^30 times.
_FEW_SEEDS, _MARK = 1 << 48, " few"
_SEVERAL = 4  # words of a seed, each below 2^32, that together are no small number
_BLOCK, _BLOCKS = 624, 64  # draws after which all of a Mersenne twister is another one, and how many of them
_LEAST_ENTROPY = 1 << 96  # what the system gives has 128 bits
_PART = "\n"  # between a file and the way from its globals to a generator


def _digest(source: Source, begun: Source | None = None) -> str:
    words = f"{type(source).__name__} {noted(state_of(source))!r}"
    mark = _MARK if isinstance(source, np.random.BitGenerator) and _has_few_seeds(source, begun) else ""
    return f"{hashlib.sha256(words.encode()).hexdigest()}{mark}"


def _has_few_seeds(source: np.random.BitGenerator, begun: Source | None) -> bool:
    """Whether it was started from a small number, or from something that its seed does not give.

    What it was started from does not stand in its state where it was seeded in the old way, as we seed that
    of the process: it goes on from where it has `begun` if nobody else seeds it.
    """
    seed: Foreign = getattr(source, "seed_seq", None)
    entropy = getattr(seed, "entropy", None)
    if isinstance(entropy, list | tuple) and len(entropy) < _SEVERAL:
        entropy = max(map(int, entropy), default=0)
    if isinstance(entropy, int) and entropy < _FEW_SEEDS:
        return True
    if not isinstance(source, np.random.MT19937):
        return False
    if seed is not None:
        twin = np.random.MT19937(np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key))
    elif isinstance(begun, np.random.MT19937):
        twin = copy.deepcopy(begun)
    else:
        return True
    key = source.state["state"]["key"]
    for _ in range(_BLOCKS):
        if np.array_equal(twin.state["state"]["key"], key):
            return False
        twin.random_raw(_BLOCK)
    return True


def _stream_of(source: Source) -> str:
    """What copies of a generator have in common wherever they are: the part of its state that draws leave.

    Of a kind that changes all of it this is the whole state.
    """
    states = []
    if isinstance(source, random.Random):
        twin = random.Random()
        twin.setstate(source.getstate())
        draw = twin.random
    else:
        bits: Foreign = type(source)()
        bits.state = source.state
        draw = np.random.Generator(bits).random
        twin = bits
    for draws in _DRAWS:
        for _ in range(draws):
            draw()
        states.append([*_leaves(state_of(twin))])
    left = [one for one, other in zip(*states, strict=True) if one == other and len(one) >= _WORD]
    return hashlib.sha256(repr(left).encode()).hexdigest() if left else _digest(source)


def _leaves(state: Foreign) -> Iterator[bytes]:
    """The numbers that a state is made of."""
    if isinstance(state, dict):
        for value in state.values():
            yield from _leaves(value)
    elif isinstance(state, tuple):  # of Python's; the last word is the place among the others
        yield np.array(state[1][:-1]).tobytes()
    elif isinstance(state, np.ndarray):
        yield state.tobytes()
    elif isinstance(state, int):
        yield state.to_bytes((state.bit_length() + 7) // 8, "little")


# ---------------------------------------------------------------- where generators are kept


def holders(scopes: Mapping[str, Mapping[str, object]]) -> dict[str, Source]:
    """Generators that objects of these modules lead to, each by the first way to it: file, name, parts."""
    queue = collections.deque(
        (f"{file}{_PART}{name}", value)
        for file, scope in scopes.items()
        for name, value in list(scope.items())
        if not name.startswith("__")
    )
    kept, found, files = dict[int, Foreign](), dict[str, Source](), {*scopes}
    while queue and len(kept) < _MOST:
        place, value = queue.popleft()
        if id(value) in kept or isinstance(value, str | bytes | int | float | np.ndarray | None):
            continue
        kept[id(value)] = value
        if isinstance(value, random.SystemRandom):
            continue
        if isinstance(value, random.Random | np.random.BitGenerator):
            found[place] = value
            continue
        with contextlib.suppress(Exception):  # whatever an object makes of being asked
            queue += [(f"{place}{way}", part) for way, part in _parts(value, files)]
    return found


def _parts(value: Foreign, files: set[str]) -> Iterator[tuple[str, Foreign]]:
    if isinstance(value, np.random.Generator | np.random.RandomState):
        yield "", bits_of(value)
    elif isinstance(value, Mapping):
        yield from ((f"[{key!r:.40}]", part) for key, part in value.items())
    elif isinstance(value, list | tuple | collections.deque):
        yield from ((f"[{number}]", part) for number, part in enumerate(value))
    elif isinstance(value, types.FunctionType):
        if value.__code__.co_filename in files:
            cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
            yield from ((f".{name}", cell.cell_contents) for name, cell in cells)
            yield from ((".", part) for part in (value.__defaults__, value.__kwdefaults__, vars(value)))
    elif isinstance(value, type):
        if getattr(sys.modules.get(value.__module__), "__file__", None) in files:
            yield from ((f".{name}", part) for name, part in vars(value).items())
    elif not isinstance(value, types.ModuleType):
        yield from ((f".{name}", part) for name, part in getattr(value, "__dict__", {}).items())
        slots = [name for kind in type(value).__mro__ for name in vars(kind).get("__slots__", ())]
        yield from ((f".{name}", getattr(value, name, None)) for name in slots)
        wrapping = ("__self__", "__func__", "__wrapped__", "func", "args", "keywords", "fget")
        yield from (("", getattr(value, name, None)) for name in wrapping)
        yield "", type(value)


# ---------------------------------------------------------------- fresh imports


def _afresh(modules: Sequence[Module], say: Progress) -> JsonValue:
    """Digests of the states of all generators after an import of the modules, for two imports."""
    del say
    rounds: list[JsonValue] = []
    for _ in range(2):
        for name, _file in modules:
            sys.modules.pop(name, None)
        random.seed()
        np.random.seed()  # noqa: NPY002 - the state of those who seed nothing
        begun = copy.deepcopy(wide()["np.random"])
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            made = {file: vars(_imported(name, file)) for name, file in modules}
        rounds.append(
            {place: _digest(source, begun) for place, source in {**holders(made), **wide()}.items()}
        )
    return rounds


def _imported(name: str, file: str) -> types.ModuleType:
    if name in sys.modules:  # another one has imported it
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location("__mp_main__" if name == "__main__" else name, file)
    if spec is None or spec.loader is None:
        raise InputError(f"target: {file} cannot be imported")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    with importing(file):
        spec.loader.exec_module(module)
    return module


def _executing(scopes: Sequence[Mapping[str, object]]) -> bool:
    """Whether one of the modules is being imported: another import of it would come here again."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and any(frame.f_globals is scope for scope in scopes):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


@dataclass(frozen=True)
class Origins:
    """Where the states of generators come from.

    Attributes
    ----------
    places
        Ways to the generators that the code keeps.
    scopes
        Globals of the code, by file, as they were.
    modules
        What can be imported again, packages first.
    """

    places: Mapping[str, Source]
    scopes: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    modules: tuple[Module, ...] = ()

    @classmethod
    def of(cls, function: Function[Foreign]) -> Origins:
        """Those of the modules that a target reaches."""
        scopes = scopes_of(function)
        named = [(str(scope["__name__"]), file) for file, scope in scopes.items() if "__file__" in scope]
        named = [] if _executing(globals_of(scopes)) else sorted(named, key=lambda one: one[0].count("."))
        kept = {file: dict(scope) for file, scope in scopes.items()}
        return cls({**holders(scopes), **wide()}, kept, tuple(named))

    @functools.cached_property
    def fresh(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Digests of states after either of two imports, by way; empty where none can be made."""
        if not child.POSSIBLE or not self.modules:
            return {}, {}
        try:
            one, other = cast(
                list[dict[str, str]], child.call(functools.partial(_afresh, self.modules), _silent)
            )
        except Exception:  # what cannot be imported twice
            return {}, {}
        return one, other

    def _ways(self, source: Source) -> list[str]:
        return [place for place, held in self.places.items() if held is source]

    def doubted(self, source: Source) -> str:
        """Why the seed of a generator is not a secret, in words; empty if it is one."""
        ways, (one, other) = self._ways(source), self.fresh
        known = [way for way in ways if way in one and way in other]
        if known:
            fixed = [way for way in known if one[way] == other[way]]
            few = [way for way in known if one[way].endswith(_MARK) and other[way].endswith(_MARK)]
            said = FIXED.format(self._shown(fixed[0])) if fixed else ""
            return said or (FEW.format(self._shown(few[0])) if few else "")
        entropy = getattr(getattr(source, "seed_seq", None), "entropy", None)
        is_systems = isinstance(entropy, int) and entropy >= _LEAST_ENTROPY
        if is_systems or any(_PART not in way for way in ways):
            return ""
        shown = self._shown(ways[0]) if ways else "a generator kept between runs"
        made = f"{shown}, made from the seed {entropy},"
        return UNTOLD.format(shown) if entropy is None else FIXED.format(made)

    @functools.cached_property
    def known(self) -> Mapping[int, str]:
        """Why draws of kept generators hide nothing by themselves, by the identity of the generator."""
        alike: dict[str, list[str]] = {}
        for way, source in self.places.items():
            for key in {self.state(source), _stream_of(source)}:
                alike.setdefault(key, []).append(way)
        shared = [ways for ways in alike.values() if len(ways) > 1]
        twins = {way: TWINS.format(*map(self._shown, ways[:2])) for ways in shared for way in ways}
        doubts = {id(held): self.doubted(held) or twins.get(way, "") for way, held in self.places.items()}
        return {number: why for number, why in doubts.items() if why}

    def shifted(self, sources: Sequence[Source]) -> Iterator[str]:
        """Which of these have one seed, but not one state: draws may be the same at another place."""
        first: dict[str, Source] = {}
        for source in sources:
            other = first.setdefault(_stream_of(source), source)
            if self.state(other) != self.state(source):
                ways = [(self._ways(one) or ["a generator kept between runs"])[0] for one in (other, source)]
                yield TWINS.format(*map(self._shown, ways))

    def state(self, source: Source) -> str:
        """What the states of two generators are compared by: after an import, else as they are."""
        first = self.fresh[0]
        return next((first[way] for way in self._ways(source) if way in first), _digest(source))

    def _shown(self, way: str) -> str:
        """A generator with the line that makes or seeds it."""
        file, _, name = way.rpartition(_PART)
        for place in [file] if file else self.scopes:
            tree, words = parsed(place), re.findall(r"\w+", name)
            for line in _bound(tree, words) if file else _seeded(tree, self.scopes[place], way):
                return f"{name} ({Path(place).name}:{line})"
        return name


class _Last:
    """What was asked for last: an audit has one target."""

    function: Foreign = None
    origins = Origins({})


def origins_of(function: Function[Foreign]) -> Origins:
    """The origins of what a target draws from; modules are imported again for the first question only."""
    if _Last.function is not function:
        _Last.function, _Last.origins = function, Origins.of(function)
    return _Last.origins


def _bound(tree: ast.AST | None, words: Sequence[str]) -> Iterator[int]:
    """Where a name is given a value or a definition, else the one that it is in."""
    for node in getattr(tree, "body", ()):
        targets = [*getattr(node, "targets", ()), getattr(node, "target", None)]
        if words[:1] in ([getattr(node, "name", None)], *([getattr(one, "id", None)] for one in targets)):
            yield from _bound(node, words[1:])
            yield node.lineno


def _seeded(tree: ast.AST | None, scope: Mapping[str, Foreign], way: str) -> Iterator[int]:
    """Where the generator of a module is seeded, as far as that shows."""
    seeding = [getattr(MODULES[way], name, None) for name in _SEEDING]
    for node in ast.walk(tree) if tree is not None else ():
        found = resolved(node.func, scope) if isinstance(node, ast.Call) else None
        if found is not None and found in seeding:
            yield node.lineno  # type: ignore[attr-defined]


def _silent(line: str) -> None:
    del line
