"""What statements of users' code do, one by one; a form that is not here is unknown."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import outside, values
from verifiable_dp.evidence.judge.calls import Given
from verifiable_dp.evidence.judge.expressions import Expressions
from verifiable_dp.evidence.judge.flow import (
    INITIAL,
    Function,
    name_of,
    names_in,
    names_set,
    own_nodes,
    parameters,
    reached,
    walk,
)
from verifiable_dp.evidence.judge.marks import ControlMark, Root, where
from verifiable_dp.evidence.judge.values import NONE, PUBLIC, SMOOTH, STEEP, UNKNOWN, WIDE, Value, joined

_NO_PLAIN = (ast.Yield, ast.YieldFrom, ast.Await)
_OPENED = frozenset(("__init__", "__post_init__", "__call__", "__repr__", "__str__"))


class Statements(Expressions):
    """Follows statements."""

    def run(self) -> None:
        """Until nothing changes: what is called and where data are, then what draws do; then tell."""
        self.settle()
        for key, value in self.marks.items():
            self.marks[key] = Value(own=value.own, inner=value.inner, data=value.data)
        self.outermost |= self.marks
        self.left.clear()
        self.fill_roles()
        self.firm = True
        self.settle()
        for node in self.ran - self.bound:
            for one in parameters(node)[self.is_method(node) :]:  # who calls it, and with what, is not seen
                self.add((node, one.arg), UNKNOWN)
        self.settle()
        self.placed = True
        self.settle()
        self.telling = True
        self.once()

    def settle(self) -> None:
        """Until nothing changes."""
        self.changed = True
        while self.changed:
            self.changed = False
            self.once()

    def once(self) -> None:
        """All functions that ran or that these call."""
        self.chains.clear()
        self.decorators.clear()
        for node in (node for nodes in self.names.coded.values() for node in nodes):
            if node in self.ran or node in self.bound:  # nobody calls any other
                self.function(node)

    def function(self, node: Function) -> None:
        """Its defaults in the scope around it, and what it does."""
        self.scope, given = self.names.outer[node], node.args
        if self.is_method(node) and (first := [*given.posonlyargs, *given.args][:1]):
            kind = "class" if self.is_(node, classmethod) else "instance"
            if self.scope in self.names.kinds:
                self.names.of_object(self.names.kinds[self.scope])
            self.add((node, first[0].arg), Value(own=frozenset(((kind, self.scope),))))
        name = getattr(node, "name", "")
        if isinstance(self.scope, ast.ClassDef) and name.startswith("__") and name not in _OPENED:
            self.scope = node
            self.tell(node, outside.BY_PYTHON, name)
            self.scope = self.names.outer[node]
        placed = [*given.posonlyargs, *given.args]
        pairs = [*zip(reversed(placed), reversed(given.defaults), strict=False)]
        pairs += [(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d is not None]
        running = self.function_of(self.scope) in self.ran | self.bound  # else they were there before
        for one, default in pairs if running else ():
            self.add((node, one.arg), self.of(default))
            self.share((node, one.arg), self.roots(default))
        control = self.marks.get((node, "control"), Value())
        stopped = SMOOTH if self.catches and node in self.names.waits else PUBLIC  # what it calls may raise
        called = ControlMark(max(control.level, stopped), inner=stopped).under(node, control)
        if isinstance(node, ast.Lambda):
            self.scope, self.context = node, called
            self.add((node, "return of"), self.of(node.body))
            self.share((node, "return of"), self.roots(node.body))
        else:
            self.body(node, node.body, called)

    def body(self, scope: ast.AST, steps: list[ast.stmt], context: ControlMark) -> None:
        """Statements of a scope of their own."""
        before = self.scope, self.context, self.after, self.loops, self.turning, self.leaving
        self.scope, self.context, self.after, self.loops = scope, context, False, []
        self.turning, self.leaving = [], Value()
        self.block(steps)
        self.scope, self.context, self.after, self.loops, self.turning, self.leaving = before

    def block(
        self,
        steps: list[ast.stmt],
        condition: Value = Value(),  # noqa: B008
        site: ast.stmt | None = None,
        kept: frozenset[str] = frozenset(),
    ) -> None:
        """Statements that are reached on a condition at a site, of which nothing of some names is left."""
        before, self.context = self.context, self.within(condition).under(site, condition, kept)
        for at, step in enumerate(steps):
            getattr(self, f"_do_{type(step).__name__}", self.other)(step)
            if self.leaving.tossed and at + 1 < len(steps):  # a draw may have left before the rest
                self.context = self.context.under(step, self.leaving, self.renewed(steps[at + 1 :], ()))
        self.context = before

    def other(self, step: ast.stmt) -> None:
        """Of a form that is not known."""
        self.tell(step, outside.STATEMENT, type(step).__name__.lower())

    def _do_Pass(self, step: ast.stmt) -> None:
        """Nothing."""

    _do_Global = _do_Nonlocal = _do_Pass

    def _do_Expr(self, step: ast.Expr) -> None:
        self.of(step.value)

    def _do_Assert(self, step: ast.Assert) -> None:
        self.ask(self.of(step.test), step.test)

    def _do_Raise(self, step: ast.Raise) -> None:
        self.of(step.exc)
        self.share("raised", self.roots(step.exc))
        self.leaves(self.loops)

    def _do_Return(self, step: ast.Return) -> None:
        value = self.parted(self.reached(self.of(step.value), own=True))
        before = self.marks.get((self.scope, "return of"))
        if before is not None and self.control.inner:
            value = self.one_of(before, value)
        self.add((self.scope, "return of"), value)
        self.share((self.scope, "return of"), self.roots(step.value))
        if isinstance(step.value, ast.Tuple):
            for at, part in enumerate(step.value.elts):
                key = self.scope, "return of", at, len(step.value.elts)
                self.add(key, self.parted(self.reached(self.of(part), own=True)))
                self.share(key, self.roots(part))
        self.leaves(self.loops)

    def parted(self, value: Value) -> Value:
        """What a function returns, where chance may say which of several."""
        return self.selected(self.scope, value, self.parting.get(self.scope, Value()))

    def leaves(self, loops: list[ast.AST]) -> None:
        """Loops, and the function, may end here as a draw says."""
        if self.control.level:
            self.after = self.after or loops is self.loops
            self.changed = self.changed or not self.left.issuperset(loops)
            self.left |= {*loops}
        inside = ControlMark(chance=tuple(one for one in self.context.chance if one.site is not self.scope))
        if inside.chance:
            left = [*loops] if loops is not self.loops else [*loops, self.scope]
            self.leaving |= inside.tossed
            for one in left:
                known = self.parting.get(one, Value())
                self.changed = self.changed or known | inside.tossed != known
                self.parting[one] = known | inside.tossed

    def _do_Break(self, step: ast.stmt) -> None:
        self.leaves(self.loops[-1:])

    _do_Continue = _do_Break

    def _do_Delete(self, step: ast.Delete) -> None:
        for target in step.targets:
            at = self.of(target.slice) if isinstance(target, ast.Subscript) else Value()
            level = max(at.level, self.control.level)
            size = STEEP if at.draws > 1 else level
            self.hold(self.roots(target), Value(level, self.reached(Value()).turn, size, draws=at.draws))

    def _do_Assign(self, step: ast.Assign) -> None:
        read = {part.id for part in walk(step.value) if isinstance(part, ast.Name)}
        self.before = {name: self.first(name, step) for name in names_set([step]) & read if self.is_own(name)}
        self.carries(step)
        for target in step.targets:
            for part in walk(target):
                if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                    self.sets(part.attr, step, step.value)
            parts, given = getattr(target, "elts", []), getattr(step.value, "elts", [])
            returned = self.returned(step.value, len(parts)) if parts else []
            if returned:
                self.of(step.value)
                for at, part in enumerate(parts):
                    keys = [(node, "return of", at, len(parts)) for node in returned]
                    self.store(part, joined(self.marks.get(key, Value()) for key in keys), {*map(Root, keys)})
            else:
                split = parts and len(parts) == len(given)
                for part, value in zip(parts, given, strict=True) if split else [(target, step.value)]:
                    self.store(part, self.of(value), self.roots(value), value)
        for target in step.targets[1:]:  # all are the same thing
            for root in self.roots(step.targets[0]):
                self.share(root.key, self.roots(target))
            for root in self.roots(target):
                self.share(root.key, self.roots(step.targets[0]))
        self.before = {}

    def returned(self, node: ast.expr, parts: int) -> list[Function]:
        """The functions of a call, if all there can be return tuples of so many parts, written out."""
        own = self.of(node.func).own if isinstance(node, ast.Call) else NONE
        found = [ref for kind, ref in own if kind in ("function", "method")]
        ends = [end.value for one in found for end in own_nodes(one) if isinstance(end, ast.Return)]
        plain = not any(isinstance(part, _NO_PLAIN) for one in found for part in own_nodes(one))
        alike = all(isinstance(end, ast.Tuple) and len(end.elts) == parts for end in ends)
        starred = any(isinstance(part, ast.Starred) for end in ends for part in getattr(end, "elts", ()))
        return found if len(found) == len(own) and ends and plain and alike and not starred else []

    def _do_AnnAssign(self, step: ast.AnnAssign) -> None:
        if step.value is not None:
            self.carries(step)
            if isinstance(step.target, ast.Attribute):
                self.sets(step.target.attr, step, step.value)
            self.store(step.target, self.of(step.value), self.roots(step.value), step.value)

    def _do_AugAssign(self, step: ast.AugAssign) -> None:
        telling, self.telling = self.telling, False  # what is read there is written there again
        held = self.of(step.target)
        self.telling = telling
        sides = [held, self.of(step.value)]
        self.arithmetic[self.names.home[self.scope], where(step)] = sides
        self.note_often(step, sides)
        self.carries(step)
        made = self.combined(step, step.op, *sides)
        made = made._replace(turn=max(made.turn, SMOOTH), own=made.container)
        if isinstance(step.target, ast.Attribute) and not self.control.level:
            self.sets(step.target.attr, step, step.value)  # of one object, in every run
        if isinstance(step.target, ast.Attribute) and not sides[1].draws:
            self.tallies.add(("attribute", step.target.attr))
        if isinstance(step.target, ast.Subscript):
            added = self.reached(made._replace(own=NONE))
            if not sides[1].draws:
                self.tallies |= {root.key for root in self.roots(step.target.value)}
            self.put(step.target, added, set(), self.slope(sides[1]), there=True)
        else:
            self.store(step.target, made, set())
            self.holds(self.roots(step.target), self.roots(step.value))
            changed = self.reached(made._replace(own=NONE))._replace(rough=STEEP)  # an array, in place
            self.hold(self.behind(self.roots(step.target)), changed)

    def store(self, target: Foreign, value: Value, roots: set[Root], written: ast.expr | None = None) -> None:
        """A target is given a value, which shares its entries with others; `written` is what stands there."""
        if isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self.store(part, value._replace(own=value.inner), {root.entry() for root in roots})
            return
        own = isinstance(target, ast.Name) and self.is_own(target.id)
        if isinstance(target, ast.Name | ast.Attribute):
            self.begins(target, written)
            value = self.left_out(name_of(target), value if own else value._replace(kept=frozenset()))
        slope, value = self.slope(value), self.reached(value, own=own, once=self.initial(target))
        if isinstance(target, ast.Starred):
            self.store(target.value, value._replace(own=NONE), roots)
        elif isinstance(target, ast.Name):
            owner = self.names.owner(self.scope, target.id)
            key = ("attribute", target.id) if isinstance(owner, ast.ClassDef) else (owner, target.id)
            self.add(key, value)
            self.share(key, roots)
            self.replaces(key, target.id)
        elif isinstance(target, ast.Attribute):
            self.named_whole(target)
            base = self.of(target.value)
            if any(kind in ("library", "module", "function") for kind, _ in base.own):
                self.tell(target, outside.SETS, target.attr)
            level = max(value.level, SMOOTH if base.level else PUBLIC)
            self.add(("attribute", target.attr), value._replace(level=level))
            self.share(("attribute", target.attr), roots)
            self.replaces(("attribute", target.attr), f".{target.attr}")
        elif isinstance(target, ast.Subscript):
            self.put(target, value, roots, slope)

    def initial(self, target: Foreign) -> bool:
        """Whether a new object is given an attribute that nothing else sets, nor has set before."""
        function: Foreign = self.function_of(self.scope)
        if not isinstance(target, ast.Attribute) or getattr(function, "name", "") not in INITIAL:
            return False
        first = [one.arg for one in parameters(function)[:1]]
        own = isinstance(target.value, ast.Name) and [target.value.id] == first
        single = len(self.kept.get(target.attr, ())) < 2 and target.attr not in self.names.attributes
        return own and single and not self.names.begins_again

    def put(
        self, target: ast.Subscript, value: Value, roots: set[Root], slope: int, *, there: bool = False
    ) -> None:
        """An entry is set: at a fixed place it makes the table rough, at others as the place says."""
        _, at, whole, before = self.of(target.value), self.of(target.slice), False, self.context
        if isinstance(target.slice, ast.Slice) and not isinstance(target.value, ast.Subscript | ast.Call):
            whole = not (target.slice.lower or target.slice.upper or target.slice.step)
        fixed = not at.level and not whole and (self.placed or not at.turn)
        rough = STEEP if fixed else PUBLIC if at.level or not (whole or self.placed) else slope
        written = WIDE if at.level == WIDE else min(at.level, SMOOTH)  # of many places few were written in
        level, size = max(value.level, written), value.size if value.own else PUBLIC
        size = size if there else max(size, at.level, self.control.level)
        keys = self.roots(target.value)
        draws = value.draws if there else max(value.draws, at.draws)
        seldom = at.level or at.size or self.varying(outer=True)
        partly = value.noisy and seldom and any(root.key in self.begun for root in keys)
        value = value._replace(level=level, size=size, draws=draws, partial=value.partial or bool(partly))
        self.hold(keys, value._replace(rough=max(rough, value.rough)))
        self.hold(self.behind(keys) if whole else (), value._replace(rough=STEEP))
        if value.noisy and not value.raw:  # of places that no draw comes to
            self.context = self.context.under(target, at)
        for root in keys:
            self.share(root.key, {one.inside() for one in roots})
        if not there:
            self.replaces_in(target.value)
        self.context = before

    def _do_If(self, step: ast.If) -> None:
        test = self.ask(self.of(step.test), step.test, step)
        self.recurs(step, step.test)
        for steps, otherwise in ((step.body, step.orelse), (step.orelse, step.body)):
            kept = self.renewed(steps, otherwise, step.test) if test.tossed else frozenset[str]()
            self.block(steps, test, step, kept)

    def recurs(self, step: ast.stmt, test: ast.expr) -> None:
        """A function that calls itself goes on as often as its conditions say."""
        if self.telling and self.steep_in(test):
            here = self.function_of(self.scope)
            if here in reached(self.calls, here):
                self.tell(step, outside.RECURSION)

    def steep_in(self, test: ast.expr) -> bool:
        """Whether a condition compares what may be special for rare draws."""
        if isinstance(test, ast.BoolOp):
            return any(map(self.steep_in, test.values))
        if isinstance(test, ast.UnaryOp):
            return self.steep_in(test.operand)
        parts = [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
        return any(v.level >= STEEP and not v.data for v in map(self.of, parts))

    def _do_While(self, step: ast.While) -> None:
        test = self.ask(self.of(step.test), step.test, step)
        self.uneven |= {step} if test.level or self.caught else set()
        if self.steep_in(step.test) or (test.draws > 1 and test.turn):
            self.tell(step, outside.TURNS)
        self.loop(step, test, self.renewed(step.body, (), step.test))

    def _do_For(self, step: ast.For) -> None:
        rows, size = self.of(step.iter), self.turns(step.iter)
        left = SMOOTH if step in self.left and not self.endless(step.iter) else PUBLIC
        ended = Value(max(size, left), rows.turn if self.control.level else PUBLIC)
        self.ask(ended, step.iter, step)
        self.loops, self.turning = [*self.loops, step], [*self.turning, step]
        self.store(step.target, rows.each, {root.entry() for root in self.roots(step.iter)})
        for name in names_in(step.target, ast.Store):
            self.counted.setdefault(self.key(name), set()).add(step)
        self.uneven |= {step} if size or self.caught else set()
        self.loops, self.turning = self.loops[:-1], self.turning[:-1]
        self.loop(step, Value(size))

    _do_AsyncFor = _do_For

    def endless(self, node: ast.expr) -> bool:
        """Whether what is looped over has no end: a count, or a cycle through what is always as long."""
        made = self.of(node.func).own if isinstance(node, ast.Call) else NONE
        known = [self.names.objects[ref] for kind, ref in made if kind == "library"]
        all_are = 0 < len(known) == len(made) and all(values.same(one, values.ENDLESS) for one in known)
        return all_are and len(node.args) < 2 and not node.keywords  # type: ignore[attr-defined]

    def loop(self, step: ast.For | ast.While, test: Value, kept: frozenset[str] = frozenset()) -> None:
        """The body of a loop, as often as it turns."""
        left = SMOOTH if step in self.left else PUBLIC
        before, self.leaving = self.leaving, Value()
        self.loops, self.turning = [*self.loops, step], [*self.turning, step]
        self.block(step.body, test._replace(level=max(test.level, left), turn=PUBLIC), step, kept)
        self.loops, self.turning = self.loops[:-1], self.turning[:-1]
        self.leaving = before | self.parting.get(self.scope, Value())
        parted = self.parting.get(step, Value())._replace(level=max(test.level, left))
        self.block(step.orelse, parted, step, self.renewed(step.orelse, ()))

    def _do_With(self, step: ast.With) -> None:
        for item in step.items:
            made = self.of(item.context_expr)
            if item.optional_vars is not None:
                self.store(item.optional_vars, made | UNKNOWN, self.roots(item.context_expr))
        self.block(step.body, Value(SMOOTH))

    def _do_Try(self, step: ast.Try) -> None:
        for name in (handler.name for handler in step.handlers if handler.name):
            self.share(self.key(name), {Root("raised")})
        before, self.caught = self.caught, self.caught or bool(step.handlers)
        self.changed = self.changed or self.caught > self.catches
        self.catches = self.catches or self.caught
        self.block(step.body, Value(SMOOTH))
        self.caught = before
        for part in (*(h.body for h in step.handlers), step.orelse, step.finalbody):
            self.block(part, Value(SMOOTH))

    def _do_FunctionDef(self, step: Foreign) -> None:
        made = Value(own=frozenset((("function", step),)))
        for decorator in reversed(step.decorator_list):
            made = joined(self.decorated(decorator, made))
        if not isinstance(self.scope, ast.ClassDef):
            self.add(self.key(step.name), made)

    _do_AsyncFunctionDef = _do_FunctionDef

    def decorated(self, decorator: ast.expr, made: Value) -> Iterator[Value]:
        """What a decorator makes of a function."""
        call = ast.copy_location(ast.Call(decorator, [], []), decorator)
        own = self.of(decorator).own
        if not own and not self.firm:
            yield made
        for kind, ref in own or (UNKNOWN.own if self.firm else NONE):
            yield self.called(call, kind, ref, Given([(0, made, set())]), bound=True)

    def _do_ClassDef(self, step: ast.ClassDef) -> None:
        if not isinstance(self.scope, ast.ClassDef):
            self.add(self.key(step.name), Value(own=frozenset((("class", step),))))
        outer, self.scope = self.scope, step
        self.block([s for s in step.body if not isinstance(s, ast.Pass)])
        self.scope = outer

    def _do_Import(self, step: Foreign) -> None:
        for name in step.names:
            if name.name != "*":
                known = (name.asname or name.name).partition(".")[0]
                self.add(self.key(known), self.names.imported(step, name, self.names.home[self.scope]))

    _do_ImportFrom = _do_Import

    def _do_Match(self, step: ast.Match) -> None:
        subject = self.of(step.subject)
        for case in step.cases:
            parts = [p for p in walk(case.pattern) if isinstance(p, ast.pattern)]
            self.ask(subject, *parts, step.subject, step)
            held = subject | subject._replace(own=subject.inner)
            for part in parts:
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                if name:
                    self.add(self.key(name), self.reached(held))
                    roots = self.roots(step.subject)
                    self.share(self.key(name), {root for one in roots for root in (one, one.entry())})
            test = subject | (self.ask(self.of(case.guard), case.guard) if case.guard else Value())
            self.block(case.body, Value(SMOOTH if test.level else PUBLIC, STEEP if test.turn else PUBLIC))
