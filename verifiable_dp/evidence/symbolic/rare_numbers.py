"""Plain runs that show numbers which few others show.

A number that is public may come out once in a million runs and say then how much a reward counts, or how much
noise hides it. Each branch on the way there may have been taken both ways on some path, and no path took them
all. So plain runs are made, and their numbers are noted where they are used. Some runs are as chance has
them; the others change a part of what came out of the generator in a run that showed something rare, which
leads to rarer numbers step by step, as coverage does in a fuzzer. What was rarest is traced as a path then.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import math
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic.desugar_match import parsed
from verifiable_dp.evidence.symbolic.rewriting import by_place, replaced
from verifiable_dp.evidence.symbolic.source import called_here, placed, tree_of, where
from verifiable_dp.evidence.symbolic.terms import PREFIX
from verifiable_dp.evidence.tracing.reach import Scopes

RARE_WORK = 10_000_000  # instructions of all plain runs
_MOST = 8000  # runs
_BY_CHANCE, _LOOKED = 0.3, 50  # share of runs; runs after which others are changed
_PARENTS, _FAVOURED = 64, 8.0  # runs that are changed, and those of them that mostly are
_VALUES, _SCHEDULE = 64, 8  # of a site with noise or data, and of one that shows the same in all runs
_SELDOM = 0.05  # of the runs by chance
_PATHS = 12
_PART = 64  # entries of an array or a list that are looked at
_WORDS = 624  # numbers of a generator that can be chosen
_CHANGED = (1, 2, 2, 4, 8, _WORDS)  # of them: a uniform draw takes two

Site = str  # a file and the position of an expression
_NUMBERS = frozenset((int, float, bool, str, np.float64, np.int64, np.bool_, np.float32, np.int32))


def _site(file: str, node: ast.AST) -> Site:
    return f"{file}:{where(node)}"


class _Noting(ast.NodeTransformer):
    """Hands on to `Sightings.note` what arithmetic, comparisons, calls and look-ups use."""

    def __init__(self, file: str, idle: frozenset[Site]) -> None:
        self._file, self._idle = file, idle

    def _noted(self, node: Foreign) -> Foreign:
        site = _site(self._file, node)
        if isinstance(node, ast.Constant | ast.Starred | ast.Slice | ast.Tuple) or site in self._idle:
            return node
        return placed(called_here("note", ast.Constant(site), node), node)

    def visit(self, node: ast.AST) -> Foreign:
        """Parts first."""
        self.generic_visit(node)
        for name in _USED.get(type(node), ()):
            part = getattr(node, name)
            if isinstance(part, list):
                part[:] = map(self._noted, part)
            elif part is not None:
                setattr(node, name, self._noted(part))
        return node


_USED: dict[type, tuple[str, ...]] = {
    ast.BinOp: ("left", "right"),
    ast.AugAssign: ("value",),
    ast.Compare: ("left", "comparators"),
    ast.Call: ("args",),
    ast.keyword: ("value",),
    ast.Subscript: ("slice",),
    ast.Slice: ("lower", "upper", "step"),
}


@functools.lru_cache(maxsize=64)
def _compiled(file: str, text: str, idle: frozenset[Site]) -> dict[types.CodeType, types.CodeType]:
    """Code of the functions of a file that notes its numbers, by the code that they had."""
    before = by_place(compile(text, file, "exec", dont_inherit=True))
    tree = ast.fix_missing_locations(_Noting(file, idle).visit(parsed(text)))
    found = by_place(compile(tree, file, "exec", dont_inherit=True))
    pairs = ((code, found[key]) for key, code in before.items() if key in found)
    return {code: other for code, other in pairs if code.co_freevars == other.co_freevars}


@dataclass(frozen=True)
class Course:
    """What a run is made of: the number of its data, the numbers that its generator gives, and those used."""

    table: int
    words: npt.NDArray[np.uint32]
    used: int = _WORDS

    def bits(self, bits: np.random.MT19937 | None = None) -> np.random.MT19937:
        """A generator that gives them, or this one: what its state holds is shifted, which is undone here."""
        y = self.words ^ (self.words >> np.uint32(18))
        y = y ^ (y << np.uint32(15) & np.uint32(0xEFC60000))
        x = y
        for _ in range(4):
            x = y ^ (x << np.uint32(7) & np.uint32(0x9D2C5680))
        z = x
        for _ in range(2):
            z = x ^ (z >> np.uint32(11))
        bits = np.random.MT19937(0) if bits is None else bits  # which takes longer than a small run
        bits.state = {"bit_generator": "MT19937", "state": {"key": z, "pos": 0}}
        return bits

    @classmethod
    def any(cls, rng: np.random.Generator, table: int) -> Course:
        """As chance has it."""
        return cls(table, rng.integers(1 << 32, size=_WORDS, dtype=np.uint32))

    def changed(self, rng: np.random.Generator) -> Course:
        """The same with a few other numbers among those that were used, or with others from there on."""
        words, many = self.words.copy(), int(rng.choice(_CHANGED))
        start = int(rng.integers(max(1, self.used // int(rng.choice((1, 4))))))
        part = words[start : start + many]
        part[:] = rng.integers(1 << 32, size=part.size, dtype=np.uint32)
        return Course(self.table, words)

    def after(self, bits: np.random.MT19937) -> Course:
        """The same, of which a run has used as many numbers as `bits` have given."""
        before, now = self.bits().state["state"], bits.state["state"]
        whole = before["key"][0] != now["key"][0]  # others were made of them
        return Course(self.table, self.words, _WORDS if whole else max(1, int(now["pos"])))


Pair = tuple[Site, Foreign]  # and a value


@dataclass
class Sightings:
    """What plain runs have shown.

    Attributes
    ----------
    now
        Of the run under way.
    seen
        How many runs have shown it, and which of `courses` did so with what else was rare, and how rare.
    runs
        How many there were.
    values
        How many values sites have shown.
    courses
        Of the runs that showed something with rarer things than others.
    usual
        What chance often shows.
    idle
        Sites that are left alone.
    """

    now: set[Pair] = field(default_factory=set)
    seen: dict[Pair, tuple[int, int, float]] = field(default_factory=dict)
    runs: int = 0
    values: Counter[Site] = field(default_factory=Counter)
    courses: list[Course] = field(default_factory=list)
    usual: set[Pair] = field(default_factory=set)
    idle: set[Site] = field(default_factory=set)

    def note(self, site: Site, value: Foreign) -> Foreign:
        """Note a number, or the ends of several; what is given comes back as it is."""
        kind = type(value)
        if kind in _NUMBERS:
            self.now.add((site, value))
        elif kind is np.ndarray:
            if 0 < value.size <= _PART and value.dtype.kind in "iufb":
                self.now |= {(site, value.min()), (site, value.max())}
        elif (kind is list or kind is tuple) and 0 < len(value) <= _PART:
            kinds = set(map(type, value))
            if kinds <= _NUMBERS and str not in kinds:
                self.now |= {(site, min(value)), (site, max(value))}
        return value

    def end(self, course: Course, bits: np.random.MT19937) -> None:
        """A run has ended, with its generator."""
        live = [pair for pair in self.now if pair[0] not in self.idle]
        self.runs += 1
        rare = math.fsum(math.log(self.runs / (1 + self.seen.get(pair, (0,))[0])) for pair in live)
        kept = False
        for pair in live:
            count, run, best = self.seen.get(pair, (0, -1, -math.inf))
            if not count:
                self.values[pair[0]] += 1
            better = rare > best
            kept = kept or better
            self.seen[pair] = count + 1, len(self.courses) if better else run, max(rare, best)
        if kept:
            self.courses.append(course.after(bits))
        self.now.clear()

    def rest(self, runs: int) -> None:
        """Leave alone sites with many values, as of noise or data, or with the same ones in all runs."""
        always = Counter(site for (site, _), (count, *_) in self.seen.items() if count == runs)
        for site, many in self.values.items():
            if many > _VALUES or many == always[site] >= _SCHEDULE:
                self.idle.add(site)

    def settle(self, runs: int) -> None:
        """So many runs were made by chance: what more than a few of them have shown is usual."""
        self.usual = {pair for pair, (count, *_) in self.seen.items() if count > _SELDOM * runs}

    def rarest(self, first: frozenset[Site], most: int) -> list[Course]:
        """The runs that show what few others do; what sites show that come `first` counts before the rest."""
        rare = sorted(
            (pair[0] not in first, count, run)
            for pair, (count, run, _) in self.seen.items()
            if pair[0] not in self.idle and pair not in self.usual
        )
        return [self.courses[run] for run in [*dict.fromkeys(run for *_, run in rare)][:most]]


def rare_runs(
    play: Callable[[int, np.random.BitGenerator], object],
    tables: int,
    scopes: Scopes,
    first: frozenset[Site],
    runs: int,
) -> list[Course]:
    """Courses of plain runs that show numbers which few others do.

    Parameters
    ----------
    play
        Makes a plain run, on data of a number.
    tables
        How many data there are.
    scopes
        Globals of the code, by file.
    first
        Where numbers say how much noise there is, or how much data count: these come first.
    runs
        How many, at most 8,000.
    """
    bits = np.random.MT19937(0)
    rng, sightings, parents = np.random.default_rng(20260110), Sightings(), list[Course]()
    runs = min(runs, _MOST)
    chance = int(_BY_CHANCE * runs)
    for start in range(0, runs, _LOOKED):
        if start >= chance:
            parents = sightings.rarest(frozenset(), _PARENTS)
        compiled = functools.partial(_compiled, idle=frozenset(sightings.idle if start else ()))
        with replaced(scopes, compiled, {PREFIX + "note": sightings.note}):
            for number in range(start, min(start + _LOOKED, runs)):
                course = Course.any(rng, number % tables)
                if parents:
                    course = parents[int(rng.exponential(_FAVOURED)) % len(parents)].changed(rng)
                course.bits(bits)
                with contextlib.redirect_stdout(io.StringIO()):
                    play(course.table, bits)
                sightings.end(course, bits)
        sightings.rest(start + _LOOKED)
        if start < chance:
            sightings.settle(start + _LOOKED)
    return sightings.rarest(first, _PATHS)


def sites_of(instructions: Iterable[tuple[str, Foreign, int | None]]) -> frozenset[Site]:
    """The expressions that stand on a side of some instructions, or all that are given to a call."""
    sides = {(file, position): side for file, position, side in instructions}
    trees = {file: tree_of(file) for file, _ in sides}
    found = set[Site]()
    for file, tree in trees.items():
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.expr | ast.AugAssign) and (file, where(node)) in sides:
                found |= {_site(file, part) for part in _parts(node, sides[file, where(node)])}
    return frozenset(found)


def _parts(node: ast.AST, side: int | None) -> Iterator[ast.AST]:
    if isinstance(node, ast.BinOp) and side is not None:
        yield (node.left, node.right)[side]
    else:
        parts = (part.value if isinstance(part, ast.keyword) else part for part in ast.iter_child_nodes(node))
        yield from (part for part in parts if isinstance(part, ast.expr))
