"""What calls do to values: of the user's functions, of libraries, of generators."""

from __future__ import annotations

import ast
import collections
import heapq
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.judge import outside, values
from verifiable_dp.evidence.judge.chances import GROWN, LOTTERY
from verifiable_dp.evidence.judge.factors import Factors
from verifiable_dp.evidence.judge.flow import Function, parameters
from verifiable_dp.evidence.judge.marks import Root, where
from verifiable_dp.evidence.judge.values import (
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
    Tags,
    Value,
    joined,
)

# Draws that runs follow as noise, whatever becomes of it; any other is a number that everybody may know.
_FOLLOWED_DRAWS = frozenset(
    (
        *("laplace", "normal", "gumbel", "logistic", "exponential", "gamma", "geometric"),
        *("negative_binomial", "standard_normal", "standard_exponential", "standard_gamma"),
        *("standard_cauchy", "standard_t", "random", "random_sample", "uniform", "rand", "randn"),
        *("gauss", "normalvariate", "expovariate"),
    )
)
# What puts nothing beside anything else.
_EACH = (zip, map, filter, enumerate, iter, list, tuple, dict, sorted, reversed, max, min)
_ENDS_DATA = (
    *(np.floor, np.ceil, np.rint, np.round, math.floor, math.ceil, round, np.trunc, math.trunc, divmod),
    *(len, int, bool, any, all, isinstance, np.argmax, np.argmin, np.argsort, hasattr, callable),
)


class Given(NamedTuple):
    """What a call gives, by place or name, `...` for what may reach any, and whose entries it shares."""

    parts: list[tuple[Foreign, Value, set[Root]]]

    @property
    def every(self) -> Value:
        """All of it together."""
        return joined(value for _, value, _ in self.parts)

    @property
    def anywhere(self) -> Given:
        """The same, to any parameter, as code that is not seen hands it on."""
        refs, every = self.every.refs, {root for *_, roots in self.parts for root in roots}
        roots = every | {root.entry() for root in every}
        made = self.every.steep()._replace(own=refs, inner=refs)
        made = made._replace(turn=max(made.turn, SMOOTH))
        if not all(value.raw for _, value, _ in self.parts):  # it is not known of which what is said
            made = made._replace(tossed=True, unseen=True)
        return Given([(..., made, roots)])


def drawing(made: Value, given: Value, *also: str) -> Value:
    """What a library makes with a generator: anything may come out once in a thousand runs."""
    draws = any(tag in ("generator", "draws", *also) for tag, _ in given.refs)
    return made._replace(level=STEEP, size=STEEP) if draws else made


def how_many(name: str, given: Given) -> Value | None:
    """How many draws a generator is asked for, some of which may be alike; None if for one."""
    if name in ("permutation", "permuted", "shuffle", "sample"):
        return None
    known = {at: value for at, value, _ in given.parts}
    placed = {"integers": 2, "choice": 1, "random": 0, "uniform": 2, "binomial": 2}
    placed |= {"poisson": 1, "geometric": 1}
    if name == "choices":
        return given.every
    return known.get("size", known.get(placed.get(name, 2)))


class Calls(Factors):
    """Follows calls."""

    def enter(self, node: Foreign, given: Given, *, unbound: bool = False) -> Value:
        """What a function of the user's returns; what it is given reaches its parameters.

        The first parameter of a method is its object, whatever it is called; `unbound` calls name it.
        """
        self.bound.add(node)
        self.add(
            (node, "control"),
            self.context.tossed._replace(level=self.control.level),
        )
        self.callers.setdefault(node, set()).add(self.calling)
        self.called_in.setdefault(node, set()).update(self.varying(outer=True))
        if len(self.callers[node]) > 1 or self.repeated():
            self.note(self.repeats, node)
        method = self.is_method(node)
        shift = int(method and unbound)
        parts = [(at - shift if type(at) is int else at, value, roots) for at, value, roots in given.parts]
        placed = [one.arg for one in (*node.args.posonlyargs, *node.args.args)][method:]
        every, again = [one.arg for one in parameters(node)][method:], self.goes_round(node)
        self.begun |= {(node, name) for name in every}  # what holds something when it is handed over
        written: dict[Foreign, ast.expr] = {word.arg: word.value for word in self.calling.keywords}
        written |= dict(enumerate(self.calling.args, -shift))
        for at, value, roots in parts:
            if at == -1:
                continue
            name = placed[at] if isinstance(at, int) and at < len(placed) else at
            for target in every if at is ... else [name] if name in every else []:
                value = self.chosen_there(node, target, written.get(at), value, again=again)
                self.add((node, target), value, above=self.above(written.get(at)))
                self.share((node, target), roots)
        self.calls.setdefault(self.function_of(self.scope), set()).add(node)
        returned = self.marks.get((node, "return of"), Value())
        kept = (one for one in returned.kept if one is not node and self.inside[one] is not node)
        return returned._replace(kept=frozenset(kept))

    def chosen_there(
        self, node: Foreign, target: str, part: ast.expr | None, value: Value, *, again: bool = False
    ) -> Value:
        """What a parameter is given, where conditions say by which of several calls, or in which turn."""
        known = self.given_at.setdefault((node, target), set())
        if self.placed and self.is_fixed(part, value):
            self.note(self.given_public, (node, target))
        if again:
            value = self.handed_on(part, value)
        self.note(known, self.written_as(part))
        value = value._replace(turn=max(value.turn, SMOOTH if len(known) > 1 else PUBLIC))
        return value._replace(level=max(value.level, self.control.level if value.turn else PUBLIC))

    def written_as(self, part: ast.expr | None) -> Foreign:
        """What tells an argument from others: a constant, a name that is given one meaning, or its place."""
        if isinstance(part, ast.Constant):
            return type(part.value), part.value
        owner = self.names.owner(self.scope, part.id) if isinstance(part, ast.Name) else None
        if isinstance(owner, Function | ast.Module) and self.once(owner, part.id):  # type: ignore[union-attr]
            return owner, part.id  # type: ignore[union-attr]
        return where(part) if part is not None else ()

    def is_single(self, base: Value, name: str) -> bool:
        """Whether an attribute is one number, whichever object has it.

        One statement sets it, to what is the same whenever that is reached: it follows no draw and no turn,
        and whatever calls give is the same (`written_as`), or follows the turn. What else could give it to
        an object is a class, a library's class above one, or what was there before.
        """
        value, objects = self.stored(name) or Value(), all(kind == "instance" for kind, _ in base.own)
        number = objects and value._replace(many=False, truth=False) == Value()
        if not number or len(self.kept.get(name, ())) != 1:
            return False
        classes = [one for found in self.names.classes.values() for one in found]
        return not self.has_before(name) and all(map(self.is_plain, classes))

    def is_plain(self, kind: ast.ClassDef) -> bool:
        """Whether all classes above a class are the user's."""
        before, self.scope = self.scope, self.names.outer[kind]
        above = [self.of(base).own for base in kind.bases]
        self.scope = before
        return all(own and all(tag == "class" for tag, _ in own) for own in above)

    def is_method(self, node: Foreign) -> bool:
        """Whether the first parameter of a function is an object, or a class."""
        return isinstance(self.names.outer[node], ast.ClassDef) and not self.is_(node, staticmethod)

    def back(self, refs: Tags, given: Given, *, once: bool = False) -> None:
        """Functions that others are handed may be called by them, with parts of what they are given.

        Unless they are called `once` for each part, with what they have returned, too.
        """
        for kind, node in refs:
            if kind in ("function", "method", "applied"):
                made = Value() if once else self.marks.get((node, "return of"), Value())
                self.enter(node, Given([*given.parts, (..., made, set())]).anywhere)
                self.note(self.repeats, node)
            elif kind == "instance":
                for one in self.methods_of(node, "__call__"):
                    self.enter(one, given.anywhere)

    def chain(self, kind: ast.ClassDef) -> list[ast.ClassDef]:
        """A class of the user's and those above it."""
        if kind not in self.chains:
            self.chains[kind] = [kind]  # should it be above itself
            self.chains[kind] = self.chained(kind)
        return self.chains[kind]

    def chained(self, kind: ast.ClassDef) -> list[ast.ClassDef]:
        """As `chain`, found anew."""
        before, self.scope = self.scope, self.names.outer[kind]
        above = [ref for base in kind.bases for tag, ref in self.of(base).own if tag == "class"]
        self.scope = before
        return [kind, *(one for base in above if base is not kind for one in self.chain(base))]

    def methods_of(self, kind: Foreign, name: str) -> Sequence[Foreign]:
        """What a method of an instance may be: of its class, above or below; any where it is not seen."""
        every = self.names.methods.get(name, [])
        if kind is None:
            return every
        above = self.chain(kind)
        home: Mapping[Foreign, Foreign] = self.names.outer
        own = [method for one in above for method in every if home[method] is one][:1]
        return own + [m for m in every if m not in own and kind in self.chain(home[m])[1:]]

    def is_(self, node: Foreign, *objects: Foreign) -> bool:
        """Whether a function has one of these decorators."""
        if node not in self.decorators:
            before, self.scope = self.scope, self.names.outer[node]
            tags = [tag for d in getattr(node, "decorator_list", ()) for tag in self.of(d).own]
            self.decorators[node] = [self.names.objects[ref] for kind, ref in tags if kind == "library"]
            self.scope = before
        return any(values.same(one, objects) for one in self.decorators[node])

    def make(self, kind: ast.ClassDef, given: Given) -> Value:
        """An instance of a class of the user's."""
        for init in self.methods_of(kind, "__init__"):
            self.enter(init, given)
        if not self.methods_of(kind, "__init__"):
            fields = [
                s for one in reversed(self.chain(kind)) for s in one.body if isinstance(s, ast.AnnAssign)
            ]
            names = [s.target.id for s in fields if isinstance(s.target, ast.Name)]
            for at, value, roots in given.parts:
                name = names[at] if isinstance(at, int) and at < len(names) else at
                for target in [name] if name in names else names:
                    self.add(("attribute", target), value)
                    self.share(("attribute", target), roots)
        made, every = self.names.instance(kind), given.every
        if made.inner:  # which holds what it is given, as a tuple does
            return every._replace(own=made.own, inner=made.inner | every.own | every.inner, rough=made.rough)
        return made._replace(turn=every.turn)

    def draw(self, name: str, given: Given) -> Value:
        """What a generator gives: fresh, and of steep parameters steep."""
        every = given.every
        public = name not in _FOLLOWED_DRAWS
        level = STEEP if public and any(v.level >= STEEP and v.bare for _, v, _ in given.parts) else SMOOTH
        several = how_many(name, given)
        size = max(every.size, every.level if not every.data else several.level if several else PUBLIC)
        if name in ("spawn", "default_rng", "jumped"):
            return Value(own=frozenset((GENERATOR,)), inner=frozenset((GENERATOR,)))
        if public:
            for _, value, roots in given.parts[:1]:
                mixed = STEEP if value.unlike >= STEEP and RECORD not in value.own else SMOOTH
                level = max(level, mixed)
                if name in ("shuffle", "permuted"):  # in place
                    self.hold(roots, Value(mixed, inner=value.inner, draws=2))
        data = not public or every.data
        noisy = not public or every.noisy
        self.written({root for at, _, roots in given.parts if at == "out" for root in roots}, UNKNOWN)
        made = Value(level, PUBLIC, size, PUBLIC, every.inner, every.inner, data)
        more = several or every.draws or self.repeated() or name in ("permutation", "permuted", "shuffle")
        draws = 0 if not public else 2 if more else 1
        made = made._replace(noisy=noisy, raw=every.raw, tossed=True, passed=every.passed, draws=draws)
        return made._replace(truth=every.truth)

    def library(self, node: ast.Call, value: Foreign, given: Given) -> Value:
        """What a function of a library gives."""
        kind, every = values.kind_of(value), given.every
        refs, name = every.refs, str(getattr(value, "__name__", "it"))
        if value is getattr or kind == "reflection":
            self.tell(node, outside.REFLECTION, name)
            self.back(refs, Given([(..., UNKNOWN, set())]))
            return UNKNOWN
        if values.dates(value):
            self.tell(node, outside.READS, "the clock (through dates of pandas)")
        if values.same(value, values.WRAPS):
            self.tell(node, outside.UNKNOWN_CALL)
            return UNKNOWN
        if value is super:
            return Value(own=frozenset((("instance", None),)))
        if not given.parts and values.is_state(value):
            self.tell(node, outside.READS, f"what {name} gives without an argument")
        if values.same(value, (np.shape, np.size, np.ndim)):
            return Value(every.size, every.turn)
        if kind in ("makes_draws", "draws"):
            return self.draw("default_rng" if kind == "makes_draws" else name, given)
        if kind == "makes" and not refs - {OPAQUE}:
            return MADE._replace(level=every.steep().level)
        if kind in ("unknown", "makes"):
            self.back(refs, Given([(..., UNKNOWN, set())]))
            return UNKNOWN
        functions = frozenset(tag for tag in refs if tag[0] in values.CODE)
        if values.same(value, (isinstance, hasattr, callable)) and GENERATOR in refs:
            self.tell(node, outside.READS, "the type of its generator")
        if not values.same(value, values.ANY_ORDER) or any(at == "key" for at, *_ in given.parts):
            for _, one, _ in given.parts:
                self.note_order(node, one)
        if values.same(value, values.TEXTS):
            self.note_shown(node, every)
        if not values.same(value, values.CALLS_NOTHING):
            self.back(refs, given, once=values.same(value, values.ONCE))
        if values.same(value, (dict.fromkeys,)) and given.parts:
            (_, keys, _), *rest = given.parts
            kept = joined(v for _, v, _ in rest)
            size = max(keys.size, keys.level, STEEP if keys.draws > 1 else PUBLIC)
            return kept._replace(size=size, rough=PUBLIC, own=frozenset((values.LIST,)), inner=kept.own)
        picks = values.same(value, values.PICKS) and all(at != "key" for at, *_ in given.parts)
        if picks or values.same(value, (*values.APART, dict.fromkeys)):
            self.compared(node, every)
        known = [self.names.objects[ref] for tag, ref in every.own | every.inner if tag == "library"]
        hands = not all(map(values.leaves_alone, known))  # what it is given it may call
        handed = [one for one in known if callable(one)]
        for one in [] if values.same(value, values.CALLS_NOTHING) else handed:
            if values.kind_of(one) == "reflection":
                self.tell(node, outside.REFLECTION, str(getattr(one, "__name__", "it")))
            elif values.kind_of(one) == "unknown":
                return UNKNOWN
        parts = [roots for at, _, roots in given.parts if hands or values.writes(value, at)]
        if given.parts and values.same(value, values.IN_FIRST):
            self.holds(given.parts[0][2], {root for *_, others in given.parts[1:] for root in others})
        self.written({root for roots in parts for root in roots}, every)
        sorts = values.same(value, (*values.LARGEST, sorted, heapq.nlargest, heapq.nsmallest))
        lottery = sorts and LOTTERY in every.passed and every.unlike >= STEEP
        if every.data and (lottery or (value is next and GROWN in every.passed)):
            self.picks(node, outside.TAKEN)
        if value is not len and self.thinned(every):
            self.picks(node, outside.SURVIVES)
        if value is len:
            size = self.around(node.args[0]).size if len(node.args) == len(given.parts) == 1 else every.size
            return Value(size, every.turn, many=True)
        for at, one, roots in given.parts:  # what comes next follows from what says how much is taken
            others = [v.level for place, v, _ in given.parts if place != at and not v.data]
            if one.stream and (taken := max([self.control.level, *others])):
                self.hold(roots, Value(taken))
        keeps, sized = values.same(value, values.ENTRYWISE), values.same(value, values.SIZED)
        if not values.same(value, _ENDS_DATA):
            averages = values.same(value, values.AVERAGES) or not values.same(value, values.ENTRYWISE)
            self.mixes(node, name, [v for _, v, _ in given.parts], averages=averages)
            if every.data and every.apart and values.same(value, values.MULTIPLIES):
                self.picks(node, outside.GIVEN, name)
        made = every.whole() if values.same(value, _ENDS_DATA) else every
        keeps = keeps and not (value is np.bincount and every.many)
        if value is collections.Counter and every.level == PUBLIC:  # which has 0 of what is not in it
            keeps = False
        operation = next((op for one, op in values.OPERATIONS.items() if value is one), None)
        if operation is not None and len(given.parts) == 2:
            made = self.combined(node, operation, *(v for _, v, _ in given.parts))
            self.arithmetic[self.names.home[self.scope], where(node)] = [v for _, v, _ in given.parts]
        if value is np.where and len(given.parts) == 3:
            made = self.selected(node, made, given.parts[0][1])
        factors = sum(v.noisy for _, v, _ in given.parts) + values.same(value, (np.prod, math.prod))
        multiplies = values.same(value, values.MULTIPLIES)
        peaks = multiplies and made.level and (not made.data or factors > 1)
        made = made if (keeps or sized) and not peaks else made.steep()
        said = next((at for one, at in values.AS_MANY_AS.items() if value is one), None)
        arrays = values.same(value, values.SHAPED)
        beside = [v.level for at, v, _ in given.parts if arrays and values.shapes(value, at)]
        shaped = keeps or isinstance(value, np.ufunc) or said is not None
        shaped = shaped or (arrays and not any(beside))
        if values.same(value, values.TO_ONE):
            made = made._replace(level=max(made.level, every.size))
        alone = isinstance(value, np.ufunc) or values.same(value, _EACH)
        alone = alone and not any(at == "default" for at, *_ in given.parts)
        summed = every.noisy and every.size and values.same(value, values.SUMS)
        counts = [v for _, v, _ in given.parts if not v.data]
        repeated = every.data and values.same(value, values.REPEATS)
        repeated = repeated or (
            value is itertools.product and every.data and any(v.size or v.level for v in counts)
        )
        if summed or repeated or (not alone and self.beside(v for _, v, _ in given.parts)):
            made = made._replace(partial=True)
        text = values.same(value, values.TEXTS)  # as long as what it says
        entrywise = (values.same(one, values.ENTRYWISE) for one in handed if not isinstance(one, type))
        made = made if all(entrywise) else made.steep()
        size = max(every.size, made.steep().level if text else PUBLIC if shaped else made.level)
        sizes = values.same(value, (range, np.arange, np.linspace, itertools.islice, itertools.repeat))
        size = STEEP if sizes and any(one.draws > 1 and not one.size for _, one, _ in given.parts) else size
        alone = len(given.parts) == 1
        size = PUBLIC if alone and values.same(value, values.SCALARS) else size  # one number
        says = [v for at, v, _ in given.parts if said is not None and (type(at) is not int or at == said)]
        size = max([size, *(STEEP if one.draws > 1 and not one.size else one.level for one in says)])
        made_up = not (keeps or sized or every.level or every.data)  # as an identity matrix
        rough = PUBLIC if values.same(value, values.FILLED) else STEEP if made_up else made.rough
        picks, returned = values.same(value, values.PICKS), self.returned_to(functions)
        draws = 2 if values.together([*(one for _, one, _ in given.parts), self.returned_to(refs)]) else 0
        if every.level == PUBLIC:
            rough, made = self.of_public(value, given, Value() if picks else returned, made)
            size = max(size, made.level) if functions and not picks else size
        if draws > 1 and (values.same(value, values.APART) or (functions and not picks)):
            size = STEEP
        if picks:  # what is returned says which
            level = max(made.level, min(returned.level, SMOOTH))
            tossed, raw = made.tossed or returned.tossed, made.raw or returned.raw
            made = made._replace(level=level, tossed=tossed, raw=raw)
        rough = max(rough, SMOOTH) if values.same(value, values.COUNTED) else rough
        hidden = ("class", "instance", "any", "opaque")  # what is read out of these is not seen
        unseen = any(tag in hidden for tag, _ in every.own)
        rough = STEEP if (RECORD in every.own and not sized) or unseen else rough
        home = values.home_of(value).partition(".")[0]
        functions = functions if home in values.WRAPPING else NONE
        applied = frozenset(("applied", ref) for tag, ref in functions if tag != "class")
        applied |= frozenset(tag for tag in functions if tag[0] == "class")
        arrays = home in ("numpy", "scipy", "math")  # what these give
        number = alone and values.same(value, values.SCALARS)
        container = NONE if arrays or number else every.container
        container |= {values.TEXT} if values.same(value, (str, repr, format)) else NONE
        made_set = values.same(value, values.SETS)
        container = container | {values.LIST, values.SET} if made_set else container - {values.SET}
        own = (every.inner & refs) | applied | container
        unclear = not (keeps or sized or shaped or operation)
        inner = refs if arrays or number else refs | every.texts
        result = Value(made.level, made.turn, size, rough, own, inner, *made[6:])
        truth, stream = result.truth or unclear, value is next and every.stream
        result = result._replace(truth=truth, stream=stream or values.streams(value), draws=draws)
        return drawing(result, every) if home in ("numpy", "scipy", "pandas") else result

    def returned_to(self, functions: Tags) -> Value:
        """What users' functions that a library is handed return to it."""
        return joined(self.marks.get((ref, "return of"), Value()) for _, ref in functions)

    def of_public(self, value: Foreign, given: Given, returned: Value, made: Value) -> tuple[int, Value]:
        """How entries that a library makes of public things follow from their positions, and what it makes.

        They are alike only by what is known to keep them alike. What users' functions return, and what does
        not grow with one number that turns, may be special in one turn.
        """
        steady = values.same(value, (*values.ALIKE, *values.COUNTED, *values.FILLED))
        turn = STEEP if (made.turn or returned.turn) and not steady else PUBLIC
        made = made._replace(turn=max(made.turn, turn), level=max(made.level, returned.level))
        if values.same(value, (np.full, np.full_like)):
            filling = [one for at, one, _ in given.parts if at in (1, "fill_value")]
            return joined(filling).unlike, made
        if values.same(value, (*values.FILLED, *values.COUNTED)):
            return PUBLIC, made
        first = values.same(value, values.ALIKE) and not values.same(value, (zip, itertools.product))
        parts = given.parts[:1] if first else given.parts  # others say of which shape
        unlike = max((one.unlike for _, one, _ in parts), default=PUBLIC)
        named = value is dict and any(isinstance(at, str) for at, *_ in given.parts)
        named = named or (value is collections.defaultdict and len(given.parts) > 1)  # and what is not there
        kept = values.keeps_alike(value) and not named and not returned.turn
        return max(unlike, returned.rough) if kept else STEEP, made

    def mixes(self, node: ast.Call, name: str, given: list[Value], *, averages: bool) -> None:
        """Data and a steep number, or as many data, are given to what may do anything with them."""
        many = averages and any(v.size >= STEEP and v.data for v in given)
        steep = [v.level >= STEEP and v.bare for v in given]
        if many or any(
            v.data and any(steep[:at] + steep[at + 1 :]) for at, v in enumerate(given)
        ):  # of what is mixed itself, another tells
            self.picks(node, outside.GIVEN, name)

    def plainly(self, node: ast.Call, base: Value, given: Given) -> Value:
        """What a method of a container, an array or a number of a library gives."""
        name, every = node.func.attr, given.every  # type: ignore[attr-defined]
        refs = base.refs | every.refs
        for one in (base, *(value for _, value, _ in given.parts)):
            if values.SET not in base.own or name not in values.OF_SETS:
                self.note_order(node, one)
        if name not in values.ADDS:
            self.compared(node, *(value for _, value, _ in given.parts[:1]))
        if name == "sort" and not given.parts:
            self.compared(node, base)
        if name == "format":
            self.note_shown(node, every)
        if name == "sort" or name not in values.METHODS:
            self.back(every.refs, Given([*given.parts, (..., base, set())]), once=name == "sort")
        if name not in values.CHANGES:
            unseen = values.may_write(name)
            last = int(name in values.LOOKS_UP) if name in values.FILLS else math.inf
            parts = [self.roots(node.func.value)] if unseen else []  # type: ignore[attr-defined]
            for at, _, roots in given.parts:
                parts += [roots] if unseen or at in ("out", ...) or (type(at) is int and at > last) else []
            self.written({root for roots in parts for root in roots}, every)
        known = name in values.METHODS or any(hasattr(kind, name) for kind in values.KINDS)
        smooth = name in values.METHODS and not (name == "count" and (base | every).many)
        if name in values.CHANGES or values.may_write(name):
            self.replaces_in(node.func.value)  # type: ignore[attr-defined]
        if name in values.CHANGES:
            uneven = bool(given.parts) and self.beside((base, every))
            every = every._replace(partial=every.partial or uneven or bool(every.kept and every.raw))
            grown = max(
                every.size * (bool(every.own - {NUMBER}) or name in ("extend", "update")), self.control.level
            )
            base_at = node.func.value  # type: ignore[attr-defined]
            at = self.of(base_at.slice) if isinstance(base_at, ast.Subscript) else Value()  # which of several
            draws = values.together((every, at))
            if at.draws or name in ("add", "update", "discard"):  # which are alike says how many there are
                grown = max(grown, STEEP if draws > 1 else every.level)
            if at.level or any(one.way > 0 and not one.fixed for one in self.behind(self.roots(base_at))):
                grown = max(grown, SMOOTH)  # each of several, as often as draws say
            elif isinstance(base_at, ast.Subscript) and self.placed:
                self.hold(self.roots(base_at.value), Value(rough=at.turn or STEEP))
            slope = max(every.rough, self.slope(every))
            entry = self.reached(every)._replace(size=grown, rough=slope, draws=draws)
            if name == "send":
                self.add("sent", entry._replace(size=every.size))
            roots = self.roots(node.func.value)  # type: ignore[attr-defined]
            self.holds(roots, {root for *_, others in given.parts for root in others})
            for root in roots if name in values.ADDS else ():
                several = self.several(root.key, node)
                there = root.key in self.begun and not every.level  # to which something public is added
                entry = entry._replace(rough=STEEP) if several or there else entry
            if name in ("update", "setdefault"):
                entry = entry._replace(rough=STEEP)
            if self.context.tossed.by_chance and self.repeated():
                entry = entry._replace(passed=entry.passed | {GROWN})
            self.hold(roots, entry)
            behind = self.behind(roots) if name in values.ADDS else ()
            self.hold(behind, entry._replace(rough=STEEP))
        if name in values.MOVES:
            said = every | self.returned_to(every.refs)
            level = max(said.level, self.control.level)
            moved = Value(level, self.reached(Value()).turn, draws=said.draws)
            self.hold(self.roots(node.func.value), moved)  # type: ignore[attr-defined]
        if name in values.LOOKS_UP and given.parts:
            (_, at, _), *rest = given.parts
            # What is found where nothing is, which may be of one position among many.
            missing = [Value(max(STEEP, at.level))] if at.level and (rest or name == "get") else []
            if missing and base.data:
                self.picks(node, outside.TAKEN)
            others = [v for _, v, _ in rest]
            found = joined([self.entry(node, base, at), *missing, *others])
            return found._replace(partial=found.partial or self.beside((base, *others)))
        if not smooth or name == "mean":
            self.mixes(node, name, [base, *(v for _, v, _ in given.parts)], averages=True)
        squares = name in ("dot", "prod") and base.noisy and (every.noisy or not given.parts)
        made = base | every if smooth and not squares else (base | every).steep()
        if base.container and not base.things:  # a table, which draws with what it is given alone
            made = made if known else drawing(made, every, "function", "method", "applied", "any")
        elif not known:
            made = made._replace(level=max(made.level, SMOOTH))  # it may draw
        size = max(
            base.size, every.size, PUBLIC if smooth and name != "repeat" else (base | every).steep().level
        )
        size = PUBLIC if name in values.REDUCES and not given.parts else size
        data = made.data and name not in ("argmax", "argmin", "argsort", "index", "count")
        own = frozenset(tag for tag in refs if tag[0] in ("instance", "any", "function", "applied", "method"))
        alike = made.level > PUBLIC or (name in values.REDUCES and not given.parts)
        partial = name in values.REDUCES and made.noisy and base.size > PUBLIC
        partial = partial or (name == "repeat" and made.data and made.level > PUBLIC)
        return made._replace(
            size=size,
            rough=made.rough if alike else STEEP,
            own=(own - base.own) | (base.inner & refs) | base.container,
            inner=refs | (base | every).texts,
            data=data,
            noisy=made.noisy and data,
            many=False,
            truth=made.truth or not smooth or name == "astype",
            stream=False,
            draws=values.together((base, every)),
            partial=made.partial or partial,
        )
