"""Numbers that a program's plain runs seldom show, and the runs that show them.

A number that is public may come out once in a thousand runs and say then how much a reward counts, or how
much noise hides it. Each branch on the way there may have been taken both ways on some path, and no path took
them all. So the plain program is run some thousand times, its numbers are noted where they are used, and the
runs with the rarest ones are traced as paths are. What comes out more seldom than once in all these runs may
still be missed.
"""

from __future__ import annotations

import ast
import functools
import types
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic.desugar_match import parsed
from verifiable_dp.evidence.symbolic.rewriting import by_place, replaced
from verifiable_dp.evidence.symbolic.source import called_here, placed, where
from verifiable_dp.evidence.symbolic.terms import PREFIX
from verifiable_dp.evidence.tracing.reach import Scopes

_FEWEST, _MOST, _WORK = 400, 4000, 10_000_000  # runs, and instructions of all of them
_PROBED = 40  # runs after which sites are left alone that show many values
_VALUES = 64  # of a site: those of noise are all different
_SCHEDULE = 8  # values that come in each run, such as the numbers of its rounds
_PATHS = 12
_PART = 64  # entries of an array or a list that are looked at
_SELDOM = 0.05  # of the runs
_WORDS = 624  # numbers of a generator that can be chosen
_BY_CHANCE, _LOOKED, _PARENTS = 0.3, 50, 64  # share of runs that chance makes; the others change one of these

Site = str  # a file, and the position of an expression
_NUMBERS = frozenset((int, float, bool, str, np.float64, np.int64, np.bool_, np.float32, np.int32))


def _site(file: str, node: ast.AST) -> Site:
    return f"{file}:{where(node)}"


class _Noting(ast.NodeTransformer):
    """Hands numbers on their way into arithmetic, calls, look-ups and comparisons to `Sightings.note`."""

    def __init__(self, file: str, idle: frozenset[Site]) -> None:
        self._file, self._idle = file, idle

    def _noted(self, node: Foreign) -> Foreign:
        site = _site(self._file, node)
        if isinstance(node, ast.Constant | ast.Starred | ast.Slice | ast.Tuple) or site in self._idle:
            return node
        return placed(called_here("note", ast.Constant(site), node), node)

    def visit_BinOp(self, node: ast.BinOp) -> Foreign:
        """Both sides."""
        self.generic_visit(node)
        node.left, node.right = self._noted(node.left), self._noted(node.right)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Foreign:
        """What is added."""
        self.generic_visit(node)
        node.value = self._noted(node.value)
        return node

    def visit_Compare(self, node: ast.Compare) -> Foreign:
        """All sides."""
        self.generic_visit(node)
        node.left, node.comparators = self._noted(node.left), [*map(self._noted, node.comparators)]
        return node

    def visit_Call(self, node: ast.Call) -> Foreign:
        """What is given."""
        self.generic_visit(node)
        node.args = [*map(self._noted, node.args)]
        for word in node.keywords:
            word.value = self._noted(word.value) if word.arg else word.value
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Foreign:
        """The place."""
        self.generic_visit(node)
        node.slice = self._noted(node.slice)
        return node

    def visit_Slice(self, node: ast.Slice) -> Foreign:
        """Its ends."""
        self.generic_visit(node)
        for end in ("lower", "upper", "step"):
            if getattr(node, end) is not None:
                setattr(node, end, self._noted(getattr(node, end)))
        return node


@functools.lru_cache(maxsize=64)
def _compiled(file: str, text: str, idle: frozenset[Site]) -> dict[types.CodeType, types.CodeType]:
    """Code of the functions of a file that notes its numbers, by the code that they had."""
    before = by_place(compile(text, file, "exec", dont_inherit=True))
    tree = ast.fix_missing_locations(_Noting(file, idle).visit(parsed(text)))
    found = by_place(compile(tree, file, "exec", dont_inherit=True))
    return {
        code: found[key]
        for key, code in before.items()
        if key in found and code.co_freevars == found[key].co_freevars
    }


@dataclass(frozen=True)
class Course:
    """What a run is made of: the number of its data, and the first numbers that its generator gives."""

    table: int
    words: np.ndarray[tuple[int], np.dtype[np.uint32]]

    def bits(self) -> np.random.MT19937:
        """A generator of NumPy's that gives them: its state is what comes out, but for four exclusive ors."""
        y = self.words ^ (self.words >> np.uint32(18))
        y = y ^ (y << np.uint32(15) & np.uint32(0xEFC60000))
        x = y
        for _ in range(4):
            x = y ^ (x << np.uint32(7) & np.uint32(0x9D2C5680))
        z = x
        for _ in range(2):
            z = x ^ (z >> np.uint32(11))
        bits = np.random.MT19937(0)
        bits.state = {"bit_generator": "MT19937", "state": {"key": z, "pos": 0}}
        return bits

    @classmethod
    def any(cls, rng: np.random.Generator, table: int) -> Course:
        """As chance has it."""
        return cls(table, rng.integers(1 << 32, size=_WORDS, dtype=np.uint32))

    def changed(self, rng: np.random.Generator) -> Course:
        """The same with other numbers from a place on, or with a few others there."""
        words, many = self.words.copy(), int(rng.choice((2, 2, 4, 8, _WORDS)))
        start = int(rng.integers(int(rng.choice((16, 64, 256, _WORDS)))))
        part = words[start : start + many]
        part[:] = rng.integers(1 << 32, size=part.size, dtype=np.uint32)
        return Course(self.table, words)


@dataclass
class Sightings:
    """What plain runs have shown.

    Attributes
    ----------
    now
        Of the run under way: sites and values.
    seen
        By site and value, how many runs have shown it, and the first of them.
    values
        How many values sites have shown.
    courses
        Of the runs that were the first to show something.
    idle
        Sites that are left alone.
    usual
        Sites and values that chance often shows.
    """

    now: set[tuple[Site, Foreign]] = field(default_factory=set)
    seen: dict[tuple[Site, Foreign], tuple[int, int]] = field(default_factory=dict)
    values: Counter[Site] = field(default_factory=Counter)
    courses: list[Course] = field(default_factory=list)
    idle: set[Site] = field(default_factory=set)
    usual: set[tuple[Site, Foreign]] = field(default_factory=set)

    def note(self, site: Site, value: Foreign) -> Foreign:
        """Note a number, or the ends of several; what is given comes back as it is."""
        kind = type(value)
        if kind in _NUMBERS:
            self.now.add((site, value))
        elif kind is np.ndarray:
            if 0 < value.size <= _PART and value.dtype.kind in "iufb":
                self.now |= {(site, value.min()), (site, value.max())}
        elif (kind is list or kind is tuple) and 0 < len(value) <= _PART:
            if _NUMBERS.issuperset(map(type, value)) and not isinstance(value[0], str):
                self.now |= {(site, min(value)), (site, max(value))}
        return value

    def end(self, course: Course) -> None:
        """A run has ended."""
        new = False
        for pair in self.now:
            count, first = self.seen.get(pair, (0, len(self.courses)))
            if not count and pair[0] not in self.idle:
                self.values[pair[0]] += 1
                new = True
            self.seen[pair] = count + 1, first
        if new:
            self.courses.append(course)
        self.now.clear()

    def rest(self, runs: int) -> None:
        """Leave alone sites with so many values that noise or data are among them, or with the same in all."""
        always = Counter(site for (site, _), (count, _) in self.seen.items() if count == runs)
        for site, many in self.values.items():
            if many > _VALUES or many == always[site] >= _SCHEDULE:
                self.idle.add(site)

    def settle(self, runs: int) -> None:
        """So many runs were made by chance: what more than a few of them have shown is usual."""
        self.usual = {pair for pair, (count, _) in self.seen.items() if count > _SELDOM * runs}

    def rarest(self, first: frozenset[Site], most: int) -> list[Course]:
        """The runs that show what few others do: what counts `first` before the rest."""
        rare = sorted(
            (pair[0] not in first, count, run, repr(pair))
            for pair, (count, run) in self.seen.items()
            if pair[0] not in self.idle and pair not in self.usual
        )
        return [self.courses[run] for run in [*dict.fromkeys(run for *_, run, _ in rare)][:most]]


def rare_runs(
    play: Callable[[Course], object], tables: int, scopes: Scopes, first: frozenset[Site], each: int
) -> list[Course]:
    """Courses of plain runs that show numbers which few others do.

    Parameters
    ----------
    play
        Makes a plain run.
    tables
        How many data there are.
    scopes
        Globals of the code, by file.
    first
        Where numbers say how much noise there is, or how much data count: these come first.
    each
        Instructions of a run.
    """
    rng, sightings = np.random.default_rng(20260110), Sightings()
    runs = min(max(_WORK // max(each, 1), _FEWEST), _MOST)
    parents, chance = list[Course](), int(_BY_CHANCE * runs)
    for part in (range(_PROBED), range(_PROBED, runs)):
        compiled = functools.partial(_compiled, idle=frozenset(sightings.idle))
        with replaced(scopes, compiled, {PREFIX + "note": sightings.note}):
            for number in part:
                if number == chance:
                    sightings.settle(number)
                if number >= chance and (number - chance) % _LOOKED == 0:
                    sightings.rest(number)
                    parents = sightings.rarest(frozenset(), _PARENTS)
                parent = parents[int(rng.integers(len(parents)))] if parents else None
                course = parent.changed(rng) if parent else Course.any(rng, number % tables)
                play(course)
                sightings.end(course)
        sightings.rest(_PROBED)
    return sightings.rarest(first, _PATHS)


def sites_of(
    instructions: Sequence[tuple[str, Foreign, int | None]], trees: Callable[[str], ast.Module | None]
) -> frozenset[Site]:
    """The expressions that stand on a side of some instructions, or all that are given to a call."""
    found = set[Site]()
    for file, position, side in instructions:
        tree = trees(file)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.expr | ast.stmt) and where(node) == position:
                found |= {_site(file, part) for part in _parts(node, side)}
    return frozenset(found)


def _parts(node: ast.AST, side: int | None) -> Iterator[ast.AST]:
    if isinstance(node, ast.BinOp):
        yield from [[node.left, node.right][side]] if side in (0, 1) else [node.left, node.right]
    else:
        yield from ast.iter_child_nodes(node)
        for word in getattr(node, "keywords", ()):
            yield word.value
