"""What expressions of users' code may be, by the form each has; a form that is not here is unknown."""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Sequence

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import outside, values
from verifiable_dp.evidence.judge.calls import Calls, Given, how_many
from verifiable_dp.evidence.judge.chances import GROWN, LOTTERY
from verifiable_dp.evidence.judge.flow import COMPREHENSION, Function, bound, of_constant, parameters
from verifiable_dp.evidence.judge.marks import DATA, ENVIRONMENT, Root, where
from verifiable_dp.evidence.judge.places import SHAPES
from verifiable_dp.evidence.judge.trees import walk
from verifiable_dp.evidence.judge.values import (
    ANY,
    GENERATOR,
    MADE,
    NONE,
    NUMBER,
    OPAQUE,
    PUBLIC,
    RECORD,
    SMOOTH,
    STEEP,
    UNKNOWN,
    Value,
    joined,
)

_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_FACTORS = (ast.Mult, ast.Div, ast.FloorDiv, ast.Pow, ast.LShift, ast.RShift, ast.MatMult)
_KEPT = (ast.Name, ast.Attribute, ast.Subscript)
_COMPUTES = (*_KEPT, ast.BinOp, ast.UnaryOp, ast.Constant, ast.keyword, ast.operator, ast.unaryop, ast.Load)
_NAMES = ("__name__", "__qualname__", "__doc__")
# What Python sets in each module, or by how it was started.
_OF_MODULES = (
    *("__name__", "__file__", "__spec__", "__loader__", "__package__", "__path__", "__cached__"),
    *("__doc__", "__debug__"),
)
_KIND = "__class__"  # as what `type` gives: that of a generator is not the one of a run


def _of_views(node: Foreign, op: ast.operator) -> bool:
    """Whether keys are taken from keys, which makes a set of them."""
    sides = [getattr(node, "left", None), getattr(node, "right", None)]
    called = [one.func for one in sides if isinstance(one, ast.Call)]
    keys = any(isinstance(one, ast.Attribute) and one.attr in ("keys", "items") for one in called)
    return isinstance(op, ast.Sub) and keys


class Expressions(Calls):
    """Follows expressions."""

    def of(self, node: Foreign) -> Value:
        """What an expression may be."""
        if node is None or isinstance(node, ast.Constant):
            if isinstance(node, ast.Constant) and str(node.value).strip().lower() in values.NOW:
                self.tell(node, outside.READS, f"the clock (through the text {node.value!r})")
            return of_constant(getattr(node, "value", None))
        found: Value = getattr(self, f"_of_{type(node).__name__}", self.unfollowed)(node)
        if found.bare and not isinstance(node, ast.Name | ast.Attribute):  # not what draws only set
            found = found._replace(apart=True)
        if found.varies and not found.own and not isinstance(node, ast.Name | ast.Attribute):
            found = found._replace(own=frozenset((NUMBER,)))
        another = found.stream and isinstance(node, _KEPT) and self.repeated()
        return found._replace(turn=found.each.turn) if another else found

    def unfollowed(self, node: Foreign) -> Value:
        """Of a form that is not known: what it sets, and what the function returns, may be anything."""
        self.tell(node, outside.STATEMENT, type(node).__name__.lower())
        for part in walk(node):
            for name in bound(part):
                self.add(self.key(name), UNKNOWN)
            if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                self.add(("attribute", part.attr), UNKNOWN)
        self.add((self.function_of(self.scope), "return of"), UNKNOWN)
        return UNKNOWN

    def _of_Name(self, node: ast.Name) -> Value:
        owner = self.names.owner(self.scope, node.id)
        key = owner, node.id
        if owner is None or isinstance(owner, ast.Module):
            told = node.id in _OF_MODULES or node.id in self.names.of_system[self.names.home[self.scope]]
            if told and isinstance(self.scope, Function) and key not in self.looked:
                self.tell(node, outside.READS, node.id)
            return self.names.unbound(self.scope, node.id) | self.looked.get(key, Value())
        if key in self.names.settled[self.names.home[self.scope]].defaults:
            self.tell(node, outside.READS, node.id)
        found = self.looked.get(key, Value()) | self.names.held.get(key, Value())
        if self.at_once and not isinstance(owner, COMPREHENSION) and not found.stream:
            found = found._replace(turn=PUBLIC)
        if self.is_behind(key):
            found |= Value(STEEP, apart=True)
        return self.kept_in(node.id, found)

    def is_behind(self, key: Foreign) -> bool:
        """Whether a name is read behind a loop that has set it in each turn, until a draw said so."""
        behind = [one for one in self.counted.get(key, ()) if one not in self.turning]
        return any(one in self.left or one in self.uneven for one in behind)

    def _of_Attribute(self, node: ast.Attribute) -> Value:
        return self.kept_in(f".{node.attr}", self.attribute(node, self.of(node.value), called=False))

    def attribute(self, node: ast.Attribute, base: Value, *, called: bool) -> Value:
        """What an attribute may be: what was stored under its name, a method, what a library's object has."""
        name, found = node.attr, list[Value]()
        self.named_whole(node)
        if base.varies and self.is_single(base, name):
            base = base._replace(level=PUBLIC, draws=0)
        unsettled = self.names.settled[self.names.home[self.scope]].attributes
        if name == "__doc__" or (base.things and name in unsettled):
            self.tell(node, outside.READS, name)
        if called and name in values.DATED_METHODS - {*self.names.methods}:
            self.tell(node, outside.READS, "the clock (through a method that reads texts as dates)")
        known = name in self.names.methods or name == "__init__" if called else name in _NAMES
        if name in (_KIND, "__hash__") or (base.refs and name[:2] == "__" and not known):
            self.tell(node, outside.REFLECTION, name)
        for kind, ref in base.own:
            if kind == "module":
                if name in self.names.settled[ref].names:
                    self.tell(node, outside.READS, name)
                file = self.names.files[ref]
                found.append(self.names.of_object(file.scope.get(name)))
                found.append(self.marks.get((file.tree, name), Value()))
            elif kind == "library":
                owner, here = self.names.objects[ref], self.names.settled[self.names.home[self.scope]]
                theirs = here.of(owner) if isinstance(owner, types.ModuleType) else None
                if values.is_of_system(owner, name) or (theirs is not None and name in theirs.names):
                    self.tell(node, outside.READS, name)
                found.append(self.names.part(ref, name))
            elif (kind, ref) == OPAQUE:
                found.append(MADE._replace(level=base.level))
            elif (kind, ref) == ENVIRONMENT:
                found.append(Value(own=frozenset((ENVIRONMENT,))))
            elif (kind, ref) == GENERATOR and not called:
                found.append(values.of_generator(name))
            elif kind in ("instance", "class", "any", "function", "applied", "method"):
                kept = self.stored(name)
                if kept is not None or name in self.kept:
                    found.append(self.of_one(base, kept or Value()))
                of = ref if kind in ("instance", "class") else None
                for method in self.methods_of(of, name) if kind != "function" else ():
                    if self.is_(method, property) or self.is_(method, functools.cached_property):
                        found.append(self.enter(method, Given([])))
                    else:
                        found.append(Value(own=frozenset((("method", method),))))
        plain = not base.things or (ANY in base.own and not called)
        if plain and not called and values.may_write(name) and values.is_method(name):
            self.written(self.roots(node.value), UNKNOWN._replace(own=NONE, inner=NONE))
        if plain or not found:
            sized = base._replace(own=base.container | (base.own & {ANY}))
            sized = Value(base.size, base.turn) if name in SHAPES else sized
            found.append(
                sized if not base.things or ANY in base.own else Value(base.level, own=frozenset((ANY,)))
            )
        every = joined(found)
        chosen = base.level if name not in SHAPES or base.things else PUBLIC
        return every._replace(level=max(every.level, chosen))

    def _of_Subscript(self, node: ast.Subscript) -> Value:
        base, at = self.known(node, self.of(node.value)), self.of(node.slice)
        self.note_partly(node, base)
        self.compared(node.slice, at)
        if ENVIRONMENT in base.own:
            return base
        if base.data and at.size >= STEEP:
            self.picks(node, outside.SLICED)
        if not isinstance(node.slice, ast.Slice):
            found = self.at_place(self.entry(node, base, at), node.slice)
            # What stands last may be what stands first, too.
            ends = base.noisy and base.size and isinstance(node.slice, ast.UnaryOp)
            return found._replace(size=max(found.size, at.takes), partial=found.partial or bool(ends))
        unlike = base.unlike if not base.data else PUBLIC
        turn = max(base.turn, at.turn, base.unlike) if at.turn and base.unlike else base.turn
        level = max(base.level, min(at.level, SMOOTH), unlike if at.level else PUBLIC)
        draws = base.draws if base.data else values.together((base, at))
        size = max(base.size, STEEP if at.draws > 1 else at.takes)
        return self.at_place(base._replace(level=level, turn=turn, size=size, draws=draws), node.slice)

    def _of_Slice(self, node: ast.Slice) -> Value:
        every = joined(self.of(part) for part in (node.lower, node.upper, node.step))
        return every._replace(size=max(every.size, every.level))

    def _of_Tuple(self, node: Foreign) -> Value:
        made = [self.of(part) for part in node.elts]
        alike = len({ast.dump(part) for part in node.elts}) <= 1
        every = joined(made)._replace(draws=values.together(made))
        every = every._replace(partial=every.partial or self.beside(made))
        own = frozenset((values.LIST if alike else values.RECORD,))
        if made and made[0].by_chance and any(part.data for part in made[1:]):
            every = every._replace(passed=every.passed | {LOTTERY})
        return every._replace(own=own, inner=every.own | every.inner)

    _of_List = _of_Tuple

    def _of_Dict(self, node: ast.Dict) -> Value:
        keys, every = joined(map(self.of, node.keys)), joined(map(self.of, node.values))
        self.compared(node, keys)
        spread = max(every.level, keys.level), max(every.size, keys.level)
        own = frozenset((values.RECORD if node.values else values.LIST,))
        return every._replace(own=own, inner=every.own | every.inner, level=spread[0], size=spread[1])

    def _of_Starred(self, node: ast.Starred) -> Value:
        self.note_order(node, self.of(node.value))
        return self.of(node.value).each

    def _of_JoinedStr(self, node: ast.JoinedStr) -> Value:
        parts = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
        shown = joined(map(self.of, parts))
        self.note_shown(node, shown)
        made = shown.steep() | of_constant("")
        return made._replace(size=max(made.size, made.level))

    def _of_Lambda(self, node: ast.Lambda) -> Value:
        return Value(own=frozenset((("function", node),)))

    def begins(self, target: ast.expr, value: ast.expr | None) -> None:
        """Note what is given a container that may hold something."""
        keys = {root.key for root in self.roots(target)}
        self.begun |= keys
        for key in keys if isinstance(value, ast.BinOp | ast.ListComp) else ():
            self.several(key, value)

    def _of_IfExp(self, node: ast.IfExp) -> Value:
        test = self.ask(self.of(node.test), node.test, node)
        before, self.context = self.context, self.within(test).under(node, test)
        each = [self.of(node.body), self.of(node.orelse)]
        self.context = before
        self.operands[self.names.home[self.scope], where(node)] = [*enumerate(each)]
        sides = self.selected(node, self.one_of(*each) if test.level else joined(each), test)
        level = max(sides.level, SMOOTH if test.level else PUBLIC)
        turn = max(sides.turn, STEEP if test.turn else PUBLIC)
        size = max(sides.size, SMOOTH if test.level else PUBLIC)
        return sides._replace(level=level, turn=turn, size=size, raw=sides.raw or test.raw)

    def _of_BoolOp(self, node: ast.BoolOp) -> Value:
        parts, before = list[Value](), self.context
        for value in node.values:
            parts.append(self.ask(self.of(value), value))
            self.context = self.within(parts[-1]).under(node, parts[-1])  # whether the rest is looked at
        self.context = before
        self.ask(joined(parts[:-1]), node)
        every = joined(parts)
        return self.selected(node, every, joined(parts[:-1])) if every.data else every

    def _of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            asked = self.ask(self.of(node.operand), node.operand)
            return asked.steep()._replace(own=NONE, data=False, truth=True)
        value = self.of(node.operand)
        return value.steep() if isinstance(node.op, ast.Invert) else value

    def _of_Compare(self, node: ast.Compare) -> Value:
        parts = [self.of(part) for part in (node.left, *node.comparators)]
        every = joined(parts)
        if not all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            self.compared(node, *parts)
        noisy = every.data and all(isinstance(op, _ORDERED) for op in node.ops)
        made = every if noisy else every.whole().steep()
        self.note_told(node, parts, every.size)
        self.operands[self.names.home[self.scope], where(node)] = [*enumerate(parts)]
        level = SMOOTH if noisy and every.level < STEEP else made.whole().steep().level
        made = Value(level, made.turn, every.size, made.rough, truth=True)
        return made._replace(
            raw=every.raw, tossed=every.tossed, unseen=every.unseen, draws=values.together(parts)
        )

    def _of_BinOp(self, node: ast.BinOp) -> Value:
        sides = [self.of(node.left), self.of(node.right)]
        self.arithmetic[self.names.home[self.scope], where(node)] = sides
        self.note_often(node, sides)
        if self.telling and isinstance(node.op, ast.Add | ast.Sub):
            self.note_factors(node)
        if any(part in self.again_by for part in walk(node)):
            self.note_carrying(node)
        return self.combined(node, node.op, *sides)

    def combined(self, node: Foreign, op: ast.operator, one: Value, other: Value) -> Value:
        """What an operation gives."""
        every = one | other
        if isinstance(op, ast.Mod):
            self.note_shown(node, other)
        exact = not isinstance(op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow)  # it may tell one count
        draws = values.together((one, other))
        every = every._replace(draws=2 if draws and every.many and exact else draws)
        powers = isinstance(op, ast.Pow) and every.turn
        if every.level == PUBLIC and ((one.turn and other.turn) or powers):  # it may have a peak at some turn
            every = every._replace(turn=STEEP)
        inner = every.inner if every.container else NONE
        if every.container and (isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor) or _of_views(node, op)):
            every = every._replace(own=every.own | {values.SET})
            inner = inner if values.SET in (one.own | other.own) else inner | {values.TEXT}
        beside = any(side.data and side.apart for side in (one, other))
        apart = every.apart if every.container else beside or (every.bare and not every.data)
        many = every.many or every.level > PUBLIC
        # Numbers with a truth value in them are numbers: data or noise that holds none are floats.
        truth = every.truth and (bool(every.container) or all(v.truth or not v.data for v in (one, other)))
        every = every._replace(own=every.container, inner=inner, many=many, apart=apart, truth=truth)
        if isinstance(op, ast.Mult):
            for value, times, written in (
                ((one, other, node.left), (other, one, node.right)) if hasattr(node, "left") else ()
            ):
                listed = isinstance(written, ast.List | ast.ListComp | ast.Tuple)
                if listed or values.LIST in value.own or RECORD in value.own:  # [x] * n
                    if value.data and times.level >= STEEP:
                        self.tell(node, outside.REPEATED)
                    draws = values.together((value, times))
                    size = max(value.size, STEEP if times.draws > 1 else times.level)
                    partial = value.partial or bool(value.data and times.level)
                    return value._replace(size=size, level=value.level, draws=draws, partial=partial)
        if isinstance(op, ast.Add) and every.container:  # one behind another
            partial = every.partial or self.beside((one, other))
            return every._replace(own=frozenset((values.RECORD,)), partial=partial)
        if isinstance(op, ast.Add | ast.Sub):
            return every
        if isinstance(op, ast.MatMult):
            every = every._replace(partial=every.partial or bool(every.noisy and every.size))
        if isinstance(op, ast.FloorDiv):
            every = every.whole()
        if not isinstance(op, _FACTORS):
            return every.whole().steep()
        # A product may have a peak somewhere. Of noise times noise runs follow what becomes of it.
        powers = isinstance(op, ast.Pow)
        several = one.level and (other.level or powers)
        return every.steep() if several and not (one.noisy and (other.noisy or powers)) else every

    def store_each(self, target: Foreign, each: Value, roots: set[Root], *, parts: Sequence[Value]) -> None:
        """A target is given what is looped over, of which not all parts need be data or noise."""
        targets = getattr(target, "elts", [])
        if len(parts) != len(targets) or not parts or ast.Starred in map(type, targets):
            self.store(target, each, roots)
            return
        for part, known in zip(targets, parts, strict=True):
            data, noisy = each.data and known.data, each.noisy and known.noisy
            held = each._replace(own=each.inner, data=data, noisy=noisy)
            self.store(part, held, {root.entry() for root in roots})

    def parts_of(self, source: ast.expr) -> list[Value]:
        """What is side by side in each entry, of `items` and `zip`; empty if that is not known.

        A key is no data, and no noise: what was asked for its hash was shown.
        """
        if not isinstance(source, ast.Call) or ast.Starred in map(type, source.args):
            return []
        telling, self.telling, func = self.telling, False, source.func
        own = self.of(func.value if isinstance(func, ast.Attribute) else func).own
        found = list[Value]()
        if isinstance(func, ast.Attribute):
            if func.attr == "items" and own and own <= {values.LIST, RECORD}:
                found = [Value(), self.of(func.value)]
        elif [self.names.objects[ref] for kind, ref in own if kind == "library"] == [zip] and len(own) == 1:
            found = [self.of(part) for part in source.args]
        self.telling = telling
        return found

    def _of_ListComp(self, node: Foreign) -> Value:
        outer, self.scope, before, turning = self.scope, node, self.context, self.turning
        around, lazy = Value(), isinstance(node, ast.GeneratorExp)
        if lazy and node not in self.consumed:
            self.context = self.within(Value(SMOOTH))  # it may be left before its end
        for at, part in enumerate(node.generators):
            self.scope = node if at else outer  # the first is looked for, and asked once, around it
            rows, roots = self.of(part.iter), {root.entry() for root in self.roots(part.iter)}
            parted = self.parts_of(part.iter)
            lazy = lazy or rows.stream
            self.turning = [*turning, node]
            if size := self.turns(part.iter):
                self.uneven |= {node}
                self.uneven_parts[node] = max(self.uneven_parts.get(node, 0), at)
            self.ask(Value(size, rows.turn), part.iter)
            self.scope = node
            self.store_each(part.target, rows.each, roots, parts=parted)
            tests = joined(self.ask(self.of(test), test) for test in part.ifs)
            self.context = self.within(tests)
            level = SMOOTH if tests.level else PUBLIC
            around |= Value(level, size=max(size, level), rough=STEEP if tests.turn else PUBLIC)
            around |= Value(passed=frozenset((GROWN,)) if tests.by_chance and not tests.unseen else NONE)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        place = None if lazy else self.of_place(node, parts)
        made = [self.of(part) for part in parts]
        self.scope, self.turning, self.context = outer, turning, before
        several = STEEP if made[0].draws > 1 else made[0].level
        keyed = several if isinstance(node, ast.DictComp) else PUBLIC
        every = joined(made) | around
        every = every._replace(partial=every.partial or node in every.kept, kept=every.kept - {node})
        kept = made[-1] if isinstance(node, ast.DictComp) else every  # keys say which values, not what
        size, rough = max(every.size, keyed), max(kept.rough, made[-1].turn if place is None else place)
        own = frozenset((values.LIST,))
        stream = isinstance(node, ast.GeneratorExp)
        return every._replace(size=size, rough=rough, own=own, inner=every.own | every.inner, stream=stream)

    _of_GeneratorExp = _of_DictComp = _of_ListComp

    def of_place(self, node: Foreign, parts: list[ast.expr]) -> int | None:
        """How an entry follows from its position where all are made at one time; None where they are not.

        If no more is done than to draw, names from around the comprehension tell no entry from others.
        """
        asked = [test for one in node.generators for test in one.ifs]
        asked += [one.iter for one in node.generators[1:]]
        if not all(map(self.only_draws, parts + asked)):
            return None
        telling, self.telling, self.at_once = self.telling, False, True
        turn = self.of(parts[-1]).turn
        self.telling, self.at_once = telling, False
        return turn

    def only_draws(self, node: Foreign) -> bool:
        """Whether an expression does no more than compute and draw: what names stand for stays the same."""
        if isinstance(node, ast.Call):
            base = self.of(node.func.value).own if isinstance(node.func, ast.Attribute) else NONE
            written = any(word.arg in ("out", None) for word in node.keywords)
            parts = [*node.args, *node.keywords]
            return base == {GENERATOR} and not written and all(map(self.only_draws, parts))
        if isinstance(node, ast.Attribute) and node.attr in self.names.methods:
            return False
        return isinstance(node, _COMPUTES) and all(map(self.only_draws, ast.iter_child_nodes(node)))

    def _of_Yield(self, node: Foreign) -> Value:
        """What comes out of a generator; several of its parts need not be alike."""
        key, made, roots = (self.scope, "return of"), self.of(node.value), self.roots(node.value)
        if isinstance(node, ast.Yield):
            one = self.reached(made)
            size = max(one.size, self.control.level)
            made = one._replace(own=NONE, inner=one.own | one.inner, size=size, rough=one.turn)
            roots = {root.inside() for root in roots}
        self.add(key, made._replace(rough=STEEP) if self.several(key, node) else made)
        self.share(key, roots)
        return DATA | self.marks.get("sent", Value())

    def _of_Await(self, node: ast.Await) -> Value:
        """What the call returns that is awaited."""
        return self.of(node.value)

    def _of_YieldFrom(self, node: ast.YieldFrom) -> Value:
        return UNKNOWN | self._of_Yield(node)

    def _of_Call(self, node: ast.Call) -> Value:
        if self.consumes(node):
            self.consumed |= {part for part in node.args if isinstance(part, ast.GeneratorExp)}
        given = self.given(node)
        self.calling = node
        self.operands[self.names.home[self.scope], where(node)] = [(at, one) for at, one, _ in given.parts]
        base = self.of(node.func.value) if isinstance(node.func, ast.Attribute) else Value()
        base = self.known(node, base)
        if GENERATOR not in base.own:  # what is drawn adds up nothing
            self.note_often(node, [base, given.every])
        self.bases[self.names.home[self.scope], where(node)] = base
        callee = (
            self.attribute(node.func, base, called=True)
            if isinstance(node.func, ast.Attribute)
            else self.of(node.func)
        )
        many = PUBLIC  # draws that it makes at once, as draws say
        if isinstance(node.func, ast.Attribute):
            if GENERATOR in base.own:
                self.drawn_at.add((self.names.home[self.scope], where(node)))
                made = [self.draw(node.func.attr, given)]
                several = how_many(node.func.attr, given)
                many = several.level if several is not None else PUBLIC
                callee = callee._replace(own=callee.own - {ANY}) if base.own == {GENERATOR} else callee
            else:
                made = []
            if ENVIRONMENT in base.own:
                return UNKNOWN._replace(level=SMOOTH, own=NONE, inner=NONE, apart=False)
            known = callee.things - {ANY}
            library = not base.things or ANY in base.own or (not known and not made)
            if library:
                made.append(self.plainly(node, base, given))
            self.chosen(node, base, callee, known)
            callee = callee._replace(own=known)
        else:
            made = []
            if callee.level:
                self.tell(node, _CHOSEN.get(type(node.func), outside.CHOSEN))
            elif not callee.own:  # such as None: it is no function, or a method of what is public
                made.append((callee | given.every).steep()._replace(own=NONE))
                self.written({root for *_, roots in given.parts for root in roots}, given.every)
            elif ANY in callee.own or not callee.things:
                self.tell(node, outside.UNKNOWN_CALL)
        self.calling = node  # after the calls in what it is called of
        bound = not any(kind == "class" for kind, _ in base.own)
        before, self.context = self.context, self.context._replace(level=max(self.context.level, base.level))
        for kind, ref in callee.things:  # whose object a draw chooses, a draw decides what is done to
            if kind == "method" and bound and base.level and self.is_method(ref):
                self.add((ref, parameters(ref)[0].arg), Value(base.level, base.turn))
            made.append(self.called(node, kind, ref, given, bound=bound))
        self.context = before
        found = joined(made) if made or not self.firm else UNKNOWN
        self.note_told(node, [value for _, value, _ in given.parts], many)
        rare = (self.names.home[self.scope], where(node)) in self.wide
        return found._replace(level=values.WIDE, draws=2) if rare else found

    def note_partly(self, node: ast.AST, value: Value) -> None:
        """Note that all attributes of a class are read, as of an enumeration, if one may be another one."""
        for kind, ref in value.own:
            if kind == "class" and ref.name in self.names.settled[self.names.home[ref]].partly:
                self.tell(node, outside.READS, ref.name)

    def consumes(self, node: ast.Call) -> bool:
        """Whether a call takes what it is given to its end, whatever of what it may be is called."""
        own = self.of(node.func).own if isinstance(node.func, ast.Name) else NONE
        known = [self.names.objects[ref] for kind, ref in own if kind == "library"]
        return 0 < len(known) == len(own) and all(values.same(one, values.CONSUMING) for one in known)

    def called(self, node: ast.Call, kind: str, ref: Foreign, given: Given, *, bound: bool) -> Value:
        """What a call of one of those gives that it may be of."""
        if kind in ("function", "method"):
            unbound = kind == "method" and not bound and not self.is_(ref, classmethod)
            made = self.enter(ref, given, unbound=unbound)
            return made._replace(stream=made.stream or ref in self.names.waits)
        if kind == "class":
            return self.make(ref, given)
        if kind == "instance":
            return joined(self.enter(m, given) for m in self.methods_of(ref, "__call__"))
        if kind == "applied":
            return self.enter(ref, given.anywhere)
        if kind == "draws":
            return self.draw(ref, given)
        if kind == "library":
            return self.library(node, self.names.objects[ref], given)
        if (kind, ref) == OPAQUE and not given.every.refs - {OPAQUE}:
            level = max(SMOOTH, given.every.steep().level)
            noise = MADE._replace(level=level, data=True, noisy=True, tossed=True)
            return noise._replace(raw=given.every.raw)
        self.back(given.every.own | given.every.inner, Given([(..., UNKNOWN, set())]))
        return UNKNOWN

    def chosen(self, node: ast.Call, base: Value, callee: Value, known: values.Tags) -> None:
        """End the language where a draw says whose method is called, and another's may do else."""
        functions = {ref for kind, ref in known if kind in ("method", "function", "applied")}
        name = node.func.attr  # type: ignore[attr-defined]
        stored = self.stored(name)
        others = any(kind in ("library", "class", "function", "module") for kind, _ in base.own)
        librarys = (not base.things or ANY in base.own) and bool(functions) and name in values.METHODS
        if stored is not None and stored.level and known - {("method", f) for f in functions}:
            self.tell(node, outside.PUT, name)
        elif base.level and (len(functions) > 1 or others or librarys):
            self.tell(node, outside.METHOD, name)

    def given(self, node: ast.Call) -> Given:
        """What a call gives."""
        stars = any(isinstance(part, ast.Starred) for part in node.args)
        parts: list[tuple[Foreign, ast.expr]] = [(... if stars else i, p) for i, p in enumerate(node.args)]
        for word in node.keywords:
            parts.append((word.arg, word.value))
            if word.arg is None:
                self.unfollowed(word)
        return Given([(at, self.known(node, self.of(part)), self.roots(part)) for at, part in parts])

    def turns(self, node: ast.expr) -> int:
        """How often a loop turns, which has to be known, or to follow from branches and smooth numbers."""
        size, given = self.around(node).size, self.of(node)
        self.note_order(node, given)
        self.note_partly(node, given)
        if size >= STEEP:
            self.tell(node, outside.TURNS)
        return size


_CHOSEN: dict[type, outside.Construct] = {
    ast.Subscript: outside.AT_A_PLACE,
    ast.Call: outside.RETURNED,
    ast.IfExp: outside.ONE_OF_TWO,
    ast.Name: outside.FUNCTION,
}
