"""Which branches of the traced code no run has taken: what stands behind them was not looked at.

A branch counts as taken both ways, or not at all if its condition follows from constants, from the shape of
the rewards and from what is computed of these, or if only an exception waits on the other side. Where
exceptions are caught, what follows must have been seen, too.
"""

from __future__ import annotations

import ast
import dis
import functools
import itertools
import linecache
import sys
import threading
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from verifiable_dp.core.filled import Filled
from verifiable_dp.core.validate import Foreign, Function
from verifiable_dp.evidence.judge.language import Language
from verifiable_dp.evidence.judge.outside import Outside
from verifiable_dp.evidence.symbolic.desugar_match import parsed
from verifiable_dp.evidence.symbolic.ends import Ends, Unbounded
from verifiable_dp.evidence.symbolic.source import handlers_of, place_of
from verifiable_dp.evidence.symbolic.world import Scaling, Summed, World
from verifiable_dp.evidence.tracing.ledger import Place

_MOST_STEPS = 2_000_000
UNASKED = "a run executes code that we cannot rewrite, or that compares by identity in a chain"
_BETWEEN = frozenset(("CACHE", "EXTENDED_ARG", "TO_BOOL", "UNARY_NOT", "NOP"))  # a comparison and its branch


def _none(code: types.CodeType) -> frozenset[int]:
    return frozenset()


@dataclass
class Coverage:
    """Steps between instructions that runs have taken.

    Attributes
    ----------
    files
        Of the traced code.
    places
        Where conditions stand: only code that holds one of them is watched. None: all of it.
    steps
        By code object, pairs of offsets.
    left
        Instructions that the run under way may still take: what is forced may never come to an end.
    most
        Instructions that a run has taken at most.
    enumerated
        Code of which all branches were tried whenever it was called; False if it was not so at times.
    compared, counts
        By the instruction, comparisons of uniform draws with one possible answer and with two, and of all.
    mistaken
        Where a number that stands for rewards may not have been taken as one, which raised an exception.
    raised
        Whether there was any exception but those that end a loop.
    mixed
        Where conditions stand both sides of which were followed at once.
    weights, sums, wide, scales, drawn
        Where numbers are multiplied with data or added to them, drawn, or set how much noise there is (of
        `World`).
    filled
        What adapters have filled parameters with.
    disclosed
        Expressions of which the adversary is told what they are made of (of `World`).
    """

    files: frozenset[str]
    places: frozenset[Foreign] | None = None
    steps: dict[types.CodeType, set[tuple[int, int]]] = field(default_factory=dict)

    left: int = 0
    most: int = 0
    enumerated: dict[types.CodeType, bool] = field(default_factory=dict)
    compared: dict[tuple[Foreign, int], list[int]] = field(default_factory=dict)
    counts: Counter[tuple[types.CodeType, int]] = field(default_factory=Counter)
    mistaken: Place | None = None
    raised: bool = False
    mixed: set[Foreign] = field(default_factory=set)
    scales: set[tuple[types.CodeType, int, int | None]] = field(default_factory=set)
    drawn: set[tuple[types.CodeType, frozenset[str] | None]] = field(default_factory=set)
    _stop: Function[Exception] = Unbounded
    _unasked: Callable[[Foreign], frozenset[int]] = _none
    weights: set[tuple[types.CodeType, int, int | None]] = field(default_factory=set)
    sums: set[tuple[types.CodeType, int, Summed]] = field(default_factory=set)
    wide: set[tuple[types.CodeType, int]] = field(default_factory=set)
    filled: Filled = field(default_factory=dict)
    disclosed: frozenset[tuple[str, Foreign]] = frozenset()
    said: tuple[frozenset[types.CodeType], Language] | None = None

    def language(self, scopes: Mapping[str, dict[str, Foreign]]) -> Language:
        """What the rules of the language say of the functions that ran."""
        codes = frozenset(self.steps)
        if self.said is None or not codes <= self.said[0]:
            each = ((code.co_filename, _positions(code, offset)) for code, offset in self.wide)
            wide = frozenset((file, place_of(at)) for file, at in each)
            functions = getattr(scopes, "functions", ())
            said = Language(scopes, codes, self.filled, wide, functions, self.disclosed)
            self.said = codes, said
        return self.said[1]

    def spots(self, scopes: Mapping[str, dict[str, Foreign]]) -> frozenset[tuple[str, Foreign]]:
        """Expressions to be disclosed for the language to go on there."""
        return self.language(scopes).spots - self.disclosed

    def replaced(self) -> bool:
        """Whether something else ran in place of a function with an expression that is disclosed."""
        codes = {*self.enumerated, *(code for code, _ in self.drawn)}
        return any(_asked(code) & self.disclosed for code in codes)

    def outside(self, scopes: Mapping[str, dict[str, Foreign]]) -> Outside | None:
        """A construct for which paths that were not run are unknown."""
        return self.language(scopes).outside(code for code, tried in self.enumerated.items() if tried)

    def note(self, other: World | Coverage) -> None:
        """Note which functions a run, or another's runs, have called, and what they have compared."""
        for code, tried in other.enumerated.items():
            self.enumerated[code] = tried and self.enumerated.get(code, True)
        self.mixed |= other.mixed
        self.scales |= other.scales
        self.drawn |= other.drawn
        self.weights |= other.weights
        self.sums |= other.sums
        self.wide |= other.wide
        for key, (certain, open_) in other.compared.items():
            before = self.compared.setdefault(key, [0, 0])
            self.compared[key] = [before[0] + certain, before[1] + open_]

    def add(self, other: Coverage) -> None:
        """Take over what other runs have done."""
        if other is not self:
            for code, steps in other.steps.items():
                self.steps.setdefault(code, set()).update(steps)
            self.counts.update(other.counts)
            self.mistaken = self.mistaken or other.mistaken
            self.note(other)

    def _certain(self, code: types.CodeType, offset: int) -> bool:
        """Whether an instruction compares nothing but uniform draws, each time with one possible answer."""
        certain, both = self.compared.get((code, offset), (0, 0))
        return certain > 0 and not both and certain == self.counts.get((code, offset), 0)

    @contextmanager
    def watching(
        self, stop: Function[Exception] = Unbounded, unasked: Callable[[Foreign], frozenset[int]] = _none
    ) -> Iterator[None]:
        """Note the steps of what runs inside, also in threads that are started there.

        What `stop` gives is raised after too many steps, and at an instruction of which `unasked` says that
        it asks what nothing could answer.
        """
        outer, self.left, self._stop, self._unasked = sys.gettrace(), _MOST_STEPS, stop, unasked
        threads = threading.gettrace()
        sys.settrace(self._called)
        threading.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(outer)
            threading.settrace(threads)
            self.most = max(self.most, self.taken)

    @property
    def taken(self) -> int:
        """Instructions of the last run."""
        return _MOST_STEPS - max(self.left, 0)

    def _called(self, frame: Foreign, event: str, argument: Foreign) -> Foreign:
        code = frame.f_code
        if code.co_filename not in self.files:
            return None
        if self.places is not None and not _asked(code) & self.places:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        steps, last = self.steps.setdefault(code, set()), -1
        comparing = _comparisons(code)
        barred = self._unasked(code)

        def stepped(frame: Foreign, event: str, argument: Foreign) -> Foreign:
            nonlocal last
            if event == "opcode":
                self.left -= 1
                if self.left < 0:
                    raise self._stop("a run takes too many steps for us to follow", why=Ends.ENDLESS)
                if frame.f_lasti in barred:
                    raise self._stop(UNASKED)
                steps.add((last, frame.f_lasti))
                if frame.f_lasti in comparing:
                    self.counts[code, frame.f_lasti] += 1
                last = frame.f_lasti
            elif event == "exception":
                self.raised = self.raised or not issubclass(argument[0], StopIteration | GeneratorExit)
                if issubclass(argument[0], TypeError | AttributeError):
                    self.mistaken = Place(code.co_filename, frame.f_lineno)
            return stepped

        return stepped

    def both(self) -> set[Foreign]:
        """Where conditions stand that came out both ways."""
        return self.sides()[1]

    def sides(self) -> tuple[set[Foreign], set[Foreign]]:
        """Where conditions stand that were asked, and those of them that came out both ways."""
        every, found = set(), set()
        for code, steps in self.steps.items():
            one = {position for _, position in _one_sided(code, steps, True, True, lambda *_: False)}
            asked = {step.positions for step in _branches(code, steps)}
            every |= {(code.co_filename, place_of(at)) for at in asked if at is not None}
            found |= {(code.co_filename, place_of(at)) for at in asked - one if at is not None}
        return every, found

    def jumping(self, scopes: Mapping[str, dict[str, Foreign]]) -> Place | None:
        """A line where how much noise there is, or how much data count, depends on a draw."""
        found, language = [], self.language(scopes)
        for instructions, asks in ((self.scales, language.steep), (self.weights, language.weighs)):
            for code, offset, side in instructions:
                at = _positions(code, offset)
                read = asks == language.weighs and self.enumerated.get(code)  # all that can happen was tried
                if not read and at.lineno is not None and asks(code.co_filename, place_of(at), side):
                    found.append(Place(code.co_filename, at.lineno))
        asked = {
            Summed.BARE: language.partial,
            Summed.HIDDEN: language.unhidden,
            Summed.AGAIN: language.often,
            Summed.TOLD: language.told_again,
        }
        for code, offset, kind in self.sums:
            at = _positions(code, offset)
            if at.lineno is not None and asked[kind](code.co_filename, place_of(at)):
                found.append(Place(code.co_filename, at.lineno))
        for code, names in self.drawn:
            if language.enters(code, names):
                found.append(Place(code.co_filename, code.co_firstlineno))
        return min(found, key=lambda place: (place.file, place.line), default=None)

    def varying(self, scopes: Mapping[str, dict[str, Foreign]], every: Iterable[Scaling]) -> Place | None:
        """A line where a number that follows from draws scales a sum of data and noise."""
        found, language = [], self.language(scopes)
        for one in every:
            asks = language.divides if one.divided else language.steep
            at = ((code.co_filename, _positions(code, offset), side) for code, offset, side in one.spots)
            found += [Place(f, p.lineno) for f, p, side in at if p.lineno and asks(f, place_of(p), side)]
        return min(found, key=lambda place: (place.file, place.line), default=None)

    def missed(
        self, scopes: Mapping[str, dict[str, Foreign]], *, strict: bool
    ) -> list[tuple[Place, Foreign]]:
        """Lines with a branch that was taken one way only, and where its condition stands, or None.

        If not `strict`, a loop need not come to its end where what follows it was reached by a break.
        """
        found = set() if self.mistaken is None else {(self.mistaken, None)}
        catching = [place for code, steps in self.steps.items() for place in _catching(code, steps)]
        found |= {(place, None) for place, seen in catching if not seen}
        language = self.language(scopes)
        for code, steps in self.steps.items():
            if self.enumerated.get(code) or _is_of_a_dataclass(code):
                continue
            file = code.co_filename
            for line, position in _one_sided(code, steps, strict, bool(catching), self._certain):
                at = None if position is None else place_of(position)
                both = at is not None and ((file, at) in self.mixed or language.public(file, at))
                if not both:
                    found.add((Place(file, line), at))
        return sorted(found, key=lambda at: (at[0].file, at[0].line, at[1] or ()))


def _positions(code: types.CodeType, offset: int) -> dis.Positions:
    """Where an instruction of a function stands in its file."""
    return dis.Positions(*list(code.co_positions())[offset // 2])


def _is_of_a_dataclass(code: types.CodeType) -> bool:
    """Whether a class was given this code, whose branches ask only if a field was given a value."""
    names = (*code.co_freevars, *code.co_names)
    return code.co_filename == "<string>" and any("HAS_DEFAULT_FACTORY" in name for name in names)


def compares(place: Place) -> bool:
    """Whether all that is asked on a line is one comparison."""
    asked = conditions_at(place)
    return bool(asked) and all(isinstance(test, ast.Compare) and len(test.ops) == 1 for test in asked)


def conditions_at(place: Place) -> list[ast.expr]:
    """What is asked on a line by the code itself, and not by what it calls."""
    try:
        nodes = list(ast.walk(parsed("".join(linecache.getlines(place.file)))))
    except SyntaxError:
        return []
    return [
        node.test
        for node in nodes
        if isinstance(node, ast.If | ast.IfExp | ast.While)
        and node.test.lineno <= place.line <= (node.test.end_lineno or 0)
    ]


@functools.lru_cache(maxsize=1 << 10)
def _asked(code: types.CodeType) -> frozenset[Foreign]:
    """Where conditions of a function stand."""
    steps = dis.get_instructions(code)
    return frozenset(
        (code.co_filename, place_of(step.positions)) for step in steps if step.positions is not None
    )


@functools.lru_cache(maxsize=1 << 10)
def _comparisons(code: types.CodeType) -> frozenset[int]:
    """Offsets of the instructions that compare."""
    return frozenset(step.offset for step in dis.get_instructions(code) if step.opname == "COMPARE_OP")


def _need_not_go(code: types.CodeType, step: Foreign, certain: Callable[[types.CodeType, int], bool]) -> bool:
    """Whether a branch cannot go both ways: it follows a comparison with one possible answer."""
    before = [i for i in dis.get_instructions(code) if i.offset < step.offset and i.opname not in _BETWEEN]
    return bool(before) and before[-1].opname == "COMPARE_OP" and certain(code, before[-1].offset)


def _one_sided(
    code: types.CodeType,
    steps: set[tuple[int, int]],
    strict: bool,
    caught: bool,
    certain: Callable[[types.CodeType, int], bool],
) -> Iterator[tuple[int, Foreign]]:
    """Line and position of the branches that were taken one way only; all if exceptions are `caught`."""
    instructions = list(dis.get_instructions(code))
    following = {a.offset: b.offset for a, b in itertools.pairwise(instructions)}
    after: dict[int, set[int]] = {}
    for last, offset in steps:
        after.setdefault(last, set()).add(offset)
    # Of what kind an exception is; one of another kind goes on.
    matching = {b.offset for a, b in itertools.pairwise(instructions) if a.opname == "CHECK_EXC_MATCH"}
    for step in _branches(code, steps):
        ends = _ends(instructions, step)
        jumped = bool(after[step.offset] & ends)
        fell = bool(after[step.offset] - ends)
        broken = step.opname == "FOR_ITER" and any(offset in ends for _, offset in steps)
        if fell and (jumped or (broken and not strict)):
            continue
        other = following.get(step.offset, -1) if jumped else step.argval
        kinds = step.offset in matching and _next(instructions, other) == "RERAISE"
        only_raises = not caught and _raises(instructions, other)
        if not (kinds or only_raises or _need_not_go(code, step, certain)):
            at = step.positions
            yield (at.lineno if at and at.lineno else code.co_firstlineno), at


def _branches(code: types.CodeType, steps: set[tuple[int, int]]) -> Iterator[Foreign]:
    """The branches of the user's that were taken."""
    taken = {last for last, _ in steps}
    for step in dis.get_instructions(code):
        jumps = ("JUMP" in step.opname and "IF" in step.opname) or step.opname == "FOR_ITER"
        at = step.positions
        # What has no width is not one of the user's (`rewriting`).
        own = at is None or (at.lineno, at.col_offset) != (at.end_lineno, at.end_col_offset)
        if jumps and step.offset in taken and own:
            yield step


def _ends(instructions: Sequence[Foreign], step: Foreign) -> set[int]:
    """Where a branch that jumps goes on; since Python 3.12 a loop that ends skips what clears up after it."""
    ends = {step.argval}
    if step.opname == "FOR_ITER":
        for here, there in itertools.pairwise(instructions):
            if here.offset in ends and here.opname in ("END_FOR", "POP_TOP", "POP_ITER"):
                ends.add(there.offset)
    return ends


def _next(instructions: list[Foreign], offset: int) -> str:
    """The name of the instruction at an offset."""
    return next((step.opname for step in instructions if step.offset == offset), "")


def _catching(code: types.CodeType, steps: set[tuple[int, int]]) -> Iterator[tuple[Place, bool]]:
    """Where a function catches exceptions and goes on, and whether that was seen."""
    handlers = [handler for handler in handlers_of(code.co_filename) if not handler.raises]
    if not handlers:
        return
    taken = {offset for _, offset in steps}
    inside: dict[Foreign, bool] = {}
    for step in dis.get_instructions(code):
        at = step.positions
        if at is None or at.lineno is None or at.col_offset is None:
            continue
        for handler in handlers:
            if handler.start <= (at.lineno, at.col_offset) < handler.end:
                inside[handler] = inside.get(handler, False) or step.offset in taken
    for handler, seen in inside.items():
        yield Place(code.co_filename, handler.start[0]), seen and not handler.suppresses


def _raises(instructions: list[Foreign], offset: int) -> bool:
    """Whether from here on nothing but an exception can come."""
    for step in instructions:
        if step.offset < offset:
            continue
        if step.opname == "JUMP_FORWARD":  # as after the second comparison of `not a <= b < c`
            offset = step.argval
            continue
        if step.opname == "RAISE_VARARGS":
            return True
        if "JUMP" in step.opname or step.opname.startswith(
            ("RETURN", "STORE", "FOR_ITER", "YIELD", "RERAISE")
        ):
            return False
    return False
