"""Whether a bound from some paths may speak of those that were not run: an allow-list of forms.

Branches are looked at on both sides (`symbolic.coverage`). What else may tell a path from others has to be
known before it runs: which function is called, how often a loop turns, which entry of a table is read. The
bound ends

1. where what is called follows from a draw, or is not known: its other callees never ran. One callee that is
   all there can be, whatever the draw, is known;
2. where a loop turns, or a container has, as often as a draw says that may say for rare values what it says
   for no others (`STEEP`): the paths saw the usual numbers. A loop whose condition compares noise is a
   branch, and each turn of it is charged; a number that moves in one direction with all draws has its ends
   looked at (`choosers.Extreme`), and a length that branches made has had those branches taken;
3. where such a number picks from data and noise that are not alike. What runs disclose there is public from
   then on, whatever is picked of it (`spots`);
4. where a number that draws have a part in scales data that no noise hides, or noise (`Language.weighs`): the
   paths say where numbers do. It has to be the same in every run (`Value.varies`), also where it may stand
   beside data (`Value.bare`), unless both sides of a sum are divided by it (`factors`). Where it scales data
   and noise at once, paths also pay for shifts that leave these as they are (`alignments.costs_held`).

What varies. A draw has a part in what is computed of it, in what is read at a place that it says, in what is
set, written, handed over or counted where it says whether that is done (conditions of statements and of
expressions, generators that are left before their ends), in how long a container is that chance
fills, and in what comes next out of an iterator that it moves. All of it is followed by value
(`Value.level`), whichever function makes it. `tests/public_numbers.py` holds what is left against runs.

Memory. What is said of a table holds of all its entries. A write in a place or in a part makes it rough, and
is seen by every name that may share it (`Root`): what a library gives shares with all it was given, and a
library writes into all it was given, unless its function is known not to (`values.is_fresh`, `values.writes`;
all functions of NumPy are tried in the tests). So no entry is unlike the others of a table that is not rough.

Turns. What is kept from one turn or call to the next (attributes, outer names, containers, iterators)
follows the turn, and so does what is taken out of it. What a library makes of public things is rough unless
it is known to leave entries alike.

What is put into a container stays shared with it. Where a draw says into which of several, those are as many
as before, and alike (`Marks.outermost`). An attribute of an object that a draw chooses may be anything, but
for one number in all of them (`calls.is_single`).

Draws. How many numbers that a generator gave are in a value is followed, too (`Value.draws`). Of one of few
values paths see each; of several they may see no one. So what is made of several may set no number of turns.

Places. Of tables of noise, one entry that is taken twice hides twice: no draw says which is taken.

Forms. Code that finds, makes or looks at code is outside, and so is each form that `statements` or
`expressions` do not know: nothing is known of what it sets.
"""

from __future__ import annotations

import ast
import linecache
import types
from collections.abc import Iterable, Mapping

from verifiable_dp.core.asked import functions_run
from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge.flow import File, Names
from verifiable_dp.evidence.judge.imports import codes_in, codes_of
from verifiable_dp.evidence.judge.marks import Roles, Spot
from verifiable_dp.evidence.judge.outside import UNKNOWN_CALL, Outside
from verifiable_dp.evidence.judge.statements import Statements
from verifiable_dp.evidence.judge.trees import tree_of, walk
from verifiable_dp.evidence.judge.values import STEEP, Value


class Language:
    """What the rules say of the functions that ran.

    Parameters
    ----------
    scopes
        Globals of users' files, by file.
    codes
        What ran.
    roles
        What an adapter fills parameters with.
    wide
        Where numbers were drawn of which the paths saw but a few, by file and position.
    disclosed
        Where runs tell the adversary all numbers that an expression is made of, by file and position.
    functions
        Of these files: their cells hold what functions around them were given before the runs.
    """

    def __init__(
        self,
        scopes: Mapping[str, Mapping[str, Foreign]],
        codes: Iterable[types.CodeType],
        roles: Roles,
        wide: frozenset[Spot] = frozenset(),
        functions: Iterable[types.FunctionType] = (),
        disclosed: frozenset[Spot] = frozenset(),
    ) -> None:
        self._codes, files = [*codes], dict[str, File]()
        for file in sorted({code.co_filename for code in self._codes}):
            try:
                files[file] = File(tree_of("".join(linecache.getlines(file))), scopes.get(file, {}))
            except (SyntaxError, ValueError):
                continue  # whose branches nobody can tell, either
        self._names = Names(files)
        self._ran = {node for code in self._codes for node in self._names.nodes_of(code)}
        made = self._unsettled()
        began = {node for code in functions_run() for node in self._names.nodes_of(code)}
        for file in files:
            self._names.settled[file].idle(self._ran | began)
        for file in files:
            self._names.of_system[file] |= self._names.settled[file].names
        self._said = Statements(self._names, roles, self._ran)
        self._said.wide, self._said.disclosed = wide, disclosed
        for one in functions:
            self._names.of_object(one)
        self._said.run()
        # A name that a function may set anew is told of where it is read: what it stood for, only if nothing
        # that is read leads there.
        later = self._unsettled() - made
        made |= later - self._read() if later else later
        nodes = {node for code in made for node in self._names.nodes_of(code)}
        for node in self._ran:
            self._said.note_chosen(node, made=node in nodes)

    def _unsettled(self) -> set[types.CodeType]:
        return {code for one in self._names.settled.values() for code in codes_of(one.names, one.scope)}

    def _read(self) -> set[types.CodeType]:
        """Code that settled names lead to which are read by what ran."""
        names = {name for code in self._codes for name in code.co_names}
        every = self._names.settled.values()
        return {code for one in every for code in codes_in(names - one.names, one.scope)}

    def outside(self, read: Iterable[types.CodeType] = ()) -> Outside | None:
        """The first construct for which paths that were not run are unknown; None if there is none.

        Of functions that were `read` in place of being run, all paths are known, if all their forms are.
        Calls that are not known come first: much else is unknown by them.
        """
        unknown = UNKNOWN_CALL.words
        return min(self.all_outside(read), key=lambda one: (one.words != unknown, one), default=None)

    def all_outside(self, read: Iterable[types.CodeType] = ()) -> list[Outside]:
        """As `outside`, all of them, by file and line."""
        seen, found = {*map(self._names.node_of, read)}, self._said.outside.items()
        return sorted(
            one for (node, _, unknown), one in found if node in self._ran and (unknown or node not in seen)
        )

    @property
    def spots(self) -> frozenset[Spot]:
        """Expressions at which the language would go on if what they are made of were disclosed."""
        return frozenset(self._said.spots)

    def public(self, file: str, position: tuple[int, ...]) -> bool:
        """Whether the condition at a position, or how often a loop turns, is the same in every run."""
        return self._said.asked.get((file, position), False)

    def steep(self, file: str, position: tuple[int, ...], side: int | None) -> bool:
        """Whether draws have a part in an operand of what stands at a position, or in any of them.

        Of numbers made of noise, those from place `side` on, or by name: around what noise is drawn is none.
        """
        if (file, position) in self._said.divided:
            return (file, position) in self._said.carrying
        return self._steep(file, position, side) or self.weighs(file, position, side)

    def _steep(self, file: str, position: tuple[int, ...], side: int | None) -> bool:
        drawn = (file, position) in self._said.drawn_at
        for at, value in self._said.operands.get((file, position), []):
            placed = isinstance(at, int) and side is not None
            counts = at >= side if placed and drawn else at != "loc"
            if value.varies and counts and (value.bare or (drawn and side is not None)):
                return True
        return False

    def divides(self, file: str, position: tuple[int, ...], side: int | None) -> bool:
        """Whether draws have a part in what both sides of a sum are divided by, by what stands there."""
        return (file, position) in self._said.divided and self._steep(file, position, side)

    def weighs(self, file: str, position: tuple[int, ...], side: int | None) -> bool:
        """As `steep`, of arithmetic alone."""
        found = self._said.arithmetic.get((file, position), [])
        if (file, position) in self._said.carrying | self._said.divided:
            return (file, position) in self._said.carrying
        if side is not None and 0 <= side < len(found):
            return found[side].varies
        return any(v.bare for v in found)

    def unhidden(self, file: str, position: tuple[int, ...]) -> bool:
        """Whether noise that data without noise get at a position may be left out, or they get it again."""
        given = self._operands(file, position)
        bare = any((one.kept and one.raw) or (one.partial and one.noisy) for one in given)
        return bare or (file, position) in self._said.carrying

    def told_again(self, file: str, position: tuple[int, ...]) -> bool:
        """Whether data at a position may say how draws come out as often as draws say."""
        begin, end = position[:2], position[2:]
        inside = (at for home, at in self._said.told_again if home == file)
        return any(begin <= at[:2] and at[2:] <= end for at in inside)

    def partial(self, file: str, position: tuple[int, ...]) -> bool:
        """Whether data that are added up at a position are there, or are added, as often as draws say."""
        found, made = self._operands(file, position), (file, position) in self._said.carrying
        return any(one.partial or (made and one.kept and one.raw) for one in found)

    def often(self, file: str, position: tuple[int, ...]) -> bool:
        """Whether what is done at a position is done as often as draws say."""
        return (file, position) in self._said.often

    def _operands(self, file: str, position: tuple[int, ...]) -> list[Value]:
        """Those of arithmetic, or of a call."""
        given = [value for _, value in self._said.operands.get((file, position), [])]
        given.append(self._said.bases.get((file, position), Value()))
        return given + self._said.arithmetic.get((file, position), [])

    def enters(self, code: types.CodeType, names: Iterable[str] | None) -> bool:
        """As `steep`, of one of these names in a function; by default of what it looks up elsewhere."""
        found: list[Value | None] = []
        for node in self._names.nodes_of(code):
            parts = walk(node)
            used = {part.id for part in parts if isinstance(part, ast.Name)}
            keys = {
                (self._names.owner(node, name), name) for name in used & {*(used if names is None else names)}
            }
            found += [self._said.marks.get(key) for key in keys if names is not None or key[0] is not node]
            looked = {part.attr for part in parts if isinstance(part, ast.Attribute) and names is None}
            found += map(self._said.stored, looked)
        return any(value is not None and value.level >= STEEP and value.bare for value in found)
