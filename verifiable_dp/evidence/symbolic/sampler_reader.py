"""Reads the law of what a sampler makes off its source, statement by statement.

Names hold plain numbers and sums of draws (`sampler_laws`), each way with its weight. What comes back to the
same values is added up, so that a loop that starts anew is summed in closed form.
"""

from __future__ import annotations

import ast
import inspect
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from verifiable_dp.core.validate import Foreign, Function
from verifiable_dp.evidence.symbolic.answers import original
from verifiable_dp.evidence.symbolic.draws import FollowedGenerator
from verifiable_dp.evidence.symbolic.randoms import FollowedRandom
from verifiable_dp.evidence.symbolic.sampler_laws import (
    LEARNT,
    OPERATORS,
    PLAIN,
    Env,
    Sum,
    UnreadError,
    all_draws,
    below,
    clipped,
    compared,
    computed,
    drawn,
    logarithm,
    operated,
    put_in,
    share,
    truth,
)
from verifiable_dp.evidence.symbolic.source import body_of

GENERATORS = (FollowedGenerator, FollowedRandom)
_NOTHING = 1e-30
_MOST_STEPS, _MOST_VALUES = 200_000, 1 << 12
_ONES: dict[type, Callable[[Foreign], Foreign]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
_BUILTINS: dict[str, Function[Foreign]] = {
    f.__name__: f for f in (int, float, bool, abs, min, max, round, range, Fraction)
}
_MATH = ("exp", "log", "sqrt", "expm1", "log1p", "floor", "ceil", "log2", "pow")

# ---------------------------------------------------------------- reading

Ways = list[tuple[Foreign, Env, float]]


class SamplerGenerator:
    """What a generator's name stands for."""


@dataclass(frozen=True, eq=False)
class KeptObject:
    """What ``self`` stands for."""

    value: Foreign


class Reader:
    """Reads a function.

    Parameters
    ----------
    scope
        Globals of the function.

    Attributes
    ----------
    codes
        Of the functions that were read.
    reads
        Attributes and globals that were looked up, with what they held: owner, name, value.
    """

    def __init__(self, scope: Mapping[str, Foreign]) -> None:
        self._scope, self._steps = scope, 0
        self.codes: set[Foreign] = set()
        self.reads: list[tuple[Foreign, str, Foreign]] = []
        self._known: dict[Foreign, list[tuple[Foreign, float]]] = {}

    def call(self, function: Foreign, args: list[Foreign]) -> list[tuple[Foreign, float]]:
        """What a function returns, each value with its chance."""
        plain = all(isinstance(a, (*PLAIN, SamplerGenerator)) for a in args)
        key = (function, tuple((type(a), a) for a in args)) if plain else None
        if key is not None and key in self._known:
            return self._known[key]
        node, code = body_of(function.__code__), function.__code__
        usual = function.__defaults__ or ()
        own = isinstance(node, ast.FunctionDef) and not node.decorator_list and not code.co_freevars
        if not own or function.__globals__ is not self._scope or len(self.codes) > 50:
            raise UnreadError
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
        others = node.args.vararg or node.args.kwarg or node.args.kwonlyargs
        if others or not len(names) - len(usual) <= len(args) <= len(names):
            raise UnreadError
        given = [*args, *map(read, usual[len(usual) - len(names) + len(args) :])]
        self.codes.add(code)
        found = self.law(node.body, dict(zip(names, given, strict=True)))
        if key is not None and not any(isinstance(value, Sum) for value, _ in found):
            self._known[key] = found
        return found

    def law(self, body: list[ast.stmt], env: Env) -> list[tuple[Foreign, float]]:
        """What statements return, each value with its chance."""
        returned: list[tuple[Foreign, float]] = []
        self._block(body, [(env, 1.0)], returned, [], [])
        merged: dict[Foreign, list[Foreign]] = {}
        for value, weight in returned:
            spot = value if isinstance(value, Sum) else (type(value), value)
            merged.setdefault(spot, [value, 0.0])[1] += weight
        found = [(value, weight) for value, weight in merged.values()]
        raw = next((d.raw for v, _ in found if isinstance(v, Sum) for d in all_draws(v) if d.raw), (0.0,))
        for x in raw:  # a part of a draw that gets lost takes its share with it
            if not abs(math.fsum(w * share(v, x) for v, w in found) - 1) < 1e-9:
                raise UnreadError
        return found

    # ------------------------------------------------------------ statements

    def _block(
        self, body: list[ast.stmt], envs: list[Foreign], returned: Foreign, broken: Foreign, ahead: Foreign
    ) -> list[Foreign]:
        """What names hold after some statements; what returns, breaks or continues goes into the lists."""
        for node in body:
            if not envs:
                break
            self._steps += len(envs)
            if self._steps > _MOST_STEPS:
                raise UnreadError
            envs = _merged(self._statement(node, envs, returned, broken, ahead))
        return envs

    def _statement(
        self, node: Foreign, envs: list[Foreign], returned: Foreign, broken: Foreign, ahead: Foreign
    ) -> list[Foreign]:
        if isinstance(node, ast.Return):
            for env, weight in envs:
                returned += [(v, weight * w) for v, _, w in self._of(node.value, env)]
            return []
        if isinstance(node, ast.Break | ast.Continue):
            (broken if isinstance(node, ast.Break) else ahead).extend(envs)
            return []
        if isinstance(node, ast.If):
            yes, no = self._split(node.test, envs)
            after = self._block(node.body, _merged(yes), returned, broken, ahead)
            return after + self._block(node.orelse, _merged(no), returned, broken, ahead)
        if isinstance(node, ast.While) and not node.orelse:
            return self._loop(node, envs, returned)
        if isinstance(node, ast.Pass) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            return envs
        if isinstance(node, ast.For) and not node.orelse:
            return self._repeated(node, envs, returned)
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            return [found for env, weight in envs for found in self._assigned(node, env, weight)]
        raise UnreadError

    def _assigned(self, node: Foreign, env: Env, weight: float) -> Iterator[Foreign]:
        value = node.value
        if isinstance(node, ast.AugAssign):
            value = ast.BinOp(ast.Name(getattr(node.target, "id", " "), ast.Load()), node.op, node.value)
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for found, after, w in self._of(value, env):
            after = dict(after)
            for target in targets:
                several = isinstance(target, ast.Tuple)
                names, values = (getattr(target, "elts", []), found) if several else ([target], (found,))
                if not isinstance(values, tuple) or len(names) != len(values):
                    raise UnreadError
                for name, one in zip(names, values, strict=True):
                    if not isinstance(name, ast.Name):
                        raise UnreadError
                    after[name.id] = one
            yield after, weight * w

    def _repeated(self, node: ast.For, envs: list[Foreign], returned: Foreign) -> list[Foreign]:
        done: list[Foreign] = []
        if not isinstance(node.target, ast.Name):
            raise UnreadError
        for env, weight in envs:
            for values, after, w in self._of(node.iter, env):
                if not isinstance(values, range) or len(values) > _MOST_VALUES:
                    raise UnreadError
                inside = [(after, weight * w)]
                for value in values:
                    inside = [({**e, node.target.id: value}, x) for e, x in inside]
                    ahead: list[Foreign] = []
                    inside = _merged(self._block(node.body, inside, returned, done, ahead) + ahead)
                done += inside
        return done

    def _loop(self, node: ast.While, envs: list[Foreign], returned: Foreign) -> list[Foreign]:
        """A loop until hardly anything is left in it; what repeats itself is summed at once."""
        done: list[Foreign] = []
        gone = _anew(node)
        envs = _without(gone, envs)
        while math.fsum(w for _, w in envs) > _NOTHING:
            out: list[Foreign] = []
            back: list[Foreign] = []
            yes, no = self._split(node.test, envs)
            left: list[Foreign] = []
            following = _without(gone, self._block(node.body, _merged(yes), out, left, back) + back)
            again = _ratio(envs, following)
            if again is not None:
                done += [(env, w / (1 - again)) for env, w in no + left]
                returned += [(value, w / (1 - again)) for value, w in out]
                return done
            done += no + left
            returned += out
            envs = following
        return done

    def _split(self, test: ast.expr, envs: list[Foreign]) -> tuple[list[Foreign], list[Foreign]]:
        """Where a condition holds, and where not."""
        sides: tuple[list[Foreign], list[Foreign]] = ([], [])
        for env, weight in envs:
            for value, after, w in self._of(test, env):
                if isinstance(value, Sum) or not isinstance(value, PLAIN):
                    raise UnreadError
                sides[not value].append((after, weight * w))
        return sides

    # ------------------------------------------------------------ expressions

    def _of(self, node: Foreign, env: Env) -> Ways:
        """The values of an expression."""
        self._steps += 1
        if isinstance(node, ast.Constant):
            return [(node.value, env, 1.0)]
        if isinstance(node, ast.Name):
            return [(self._named(node.id, env), env, 1.0)]
        if isinstance(node, ast.Attribute):
            if _is_module(node.value, self._scope) and node.attr in ("pi", "e", "inf"):
                return [(getattr(math, node.attr), env, 1.0)]
            return [(self._attribute(node, env), env, 1.0)]
        if isinstance(node, ast.UnaryOp):
            return [(self._turned(node.op, v), e, w) for v, e, w in self._of(node.operand, env)]
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            pairs = self._all([node.left, node.right], env)
            return [(operated(type(node.op), *values), e, w) for values, e, w in pairs]
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPERATORS:
            if (size := self._whole_draw(node.left, env)) is not None and isinstance(node.ops[0], ast.Lt):
                ways = self._all([size, node.comparators[0]], env)
                return [way for v, e, w in ways for way in below(v, e, w)]
            pairs = self._all([node.left, node.comparators[0]], env)
            return [way for v, e, w in pairs for way in compared(type(node.ops[0]), v, e, w)]
        if isinstance(node, ast.BoolOp):
            return self._logical(node, env)
        if isinstance(node, ast.IfExp):
            return [
                (value, e, w * x)
                for holds, after, w in self._of(node.test, env)
                for value, e, x in self._of(node.body if truth(holds) else node.orelse, after)
            ]
        if isinstance(node, ast.Tuple | ast.List):
            return [(tuple(values), e, w) for values, e, w in self._all(node.elts, env)]
        if isinstance(node, ast.Call) and not node.keywords:
            return self._called(node, env)
        raise UnreadError

    def _whole_draw(self, node: Foreign, env: Env) -> Foreign:
        """The first of how many whole numbers is drawn by an expression; None of anything else."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int":
            node = node.args[0] if len(node.args) == 1 else None
        made = node.func if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords else None
        if not isinstance(made, ast.Attribute) or made.attr not in ("integers", "randrange"):
            return None
        return node.args[0] if isinstance(self._owner(made, env), SamplerGenerator) else None

    def _owner(self, node: ast.Attribute, env: Env) -> Foreign:
        """That of which an attribute is looked up."""
        return self._of(node.value, env)[0][0] if isinstance(node.value, ast.Name | ast.Attribute) else None

    def _named(self, name: str, env: Env) -> Foreign:
        if name in env:
            return env[name]
        found = self._scope.get(name, MISSING)
        self.reads.append((None, name, found))
        return read(found)

    def _attribute(self, node: ast.Attribute, env: Env) -> Foreign:
        """What an attribute of ``self`` holds, or a part of a fraction."""
        owner = self._owner(node, env)
        if isinstance(owner, Fraction) and node.attr in ("numerator", "denominator"):
            return getattr(owner, node.attr)
        if type(owner) is not KeptObject:
            raise UnreadError
        found = inspect.getattr_static(owner.value, node.attr, MISSING)
        self.reads.append((owner.value, node.attr, found))
        return read(found)

    def _turned(self, kind: Foreign, value: Foreign) -> Foreign:
        if isinstance(value, Sum):
            if isinstance(kind, ast.USub):
                return value.times(-1.0)
            raise UnreadError
        return _ONES[type(kind)](value)

    def _all(self, nodes: list[Foreign], env: Env) -> Ways:
        """The values of several expressions, one after the other."""
        ways: Ways = [([], env, 1.0)]
        for node in nodes:
            ways = [
                ([*(put_in(v, e) for v in values), value], e, w * x)
                for values, before, w in ways
                for value, e, x in self._of(node, before)
            ]
        return ways

    def _logical(self, node: ast.BoolOp, env: Env) -> Ways:
        first, *rest = node.values
        ways = self._of(first, env)
        for other in rest:
            ends = isinstance(node.op, ast.Or)
            ways = [
                way
                for value, e, w in ways
                for way in (
                    [(value, e, w)]
                    if truth(value) is ends
                    else [(v, after, w * x) for v, after, x in self._of(other, e)]
                )
            ]
        return ways

    def _called(self, node: ast.Call, env: Env) -> Ways:
        made = node.func
        ways = self._all(node.args, env)
        if isinstance(made, ast.Attribute):
            if _is_module(made.value, self._scope) and made.attr in ("log", "log1p"):
                return [(*logarithm(v, e, made.attr), w) for v, e, w in ways]
            if _is_module(made.value, self._scope) and made.attr == "clip":
                return [(clipped(*v), e, w) for v, e, w in ways]
            if _is_module(made.value, self._scope) and made.attr in _MATH:
                return [(computed(getattr(math, made.attr), v), e, w) for v, e, w in ways]
            owner = self._owner(made, env)
            if isinstance(owner, SamplerGenerator):
                return [way for values, e, w in ways for way in drawn(made.attr, values, e, w)]
            if type(owner) is not KeptObject:
                raise UnreadError
            method = original(inspect.getattr_static(owner.value, made.attr, None))
            if not inspect.isfunction(method) or made.attr in vars(owner.value):
                raise UnreadError
            return [(v, e, w * x) for values, e, w in ways for v, x in self.call(method, [owner, *values])]
        if not isinstance(made, ast.Name) or made.id in env:
            raise UnreadError
        function = original(self._scope.get(made.id))
        if inspect.isfunction(function) and made.id not in _STANDING:
            return [(v, e, w * x) for values, e, w in ways for v, x in self.call(function, values)]
        own = _BUILTINS.get(made.id)
        if own is None or (
            made.id in self._scope and made.id not in _STANDING and self._scope[made.id] is not own
        ):
            raise UnreadError
        return [(computed(own, v), e, w) for v, e, w in ways]


_STANDING = ("min", "max", "int", "float")  # builtins for which tracing puts functions into the globals
GIVEN, MISSING = SamplerGenerator(), object()


def read(value: Foreign) -> Foreign:
    """What a reader makes of a value of the program."""
    if type(value) in READ:
        return value
    if issubclass(type(value), GENERATORS):
        return GIVEN
    if type(value) is tuple and all(type(v) in READ for v in value):
        return value
    home = type(value).__module__.partition(".")[0]
    if home not in ("builtins", "numpy", "random", "verifiable_dp") and type(vars_of(value)) is dict:
        return KeptObject(value)
    raise UnreadError


def vars_of(value: Foreign) -> Foreign:
    """The attributes of an object that has a dictionary of them."""
    usual = inspect.getattr_static(type(value), "__getattribute__") is object.__getattribute__
    plain = usual and not hasattr(type(value), "__slots__")
    return value.__dict__ if plain and hasattr(value, "__dict__") else None


READ = (int, float, bool, str, type(None), Fraction, np.float64, np.int64, np.bool_)


def _anew(node: ast.While) -> set[str]:
    """Names that each round of a loop sets before it looks at them."""
    seen = {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}
    found = set()
    for step in node.body:
        if isinstance(step, ast.Assign):
            seen |= {n.id for n in ast.walk(step.value) if isinstance(n, ast.Name)}
            found |= {n.id for n in ast.walk(step) if isinstance(n, ast.Name)} - seen
        seen |= {n.id for n in ast.walk(step) if isinstance(n, ast.Name)}
    return found


def _is_module(node: Foreign, scope: Mapping[str, Foreign]) -> bool:
    name = node.id if isinstance(node, ast.Name) else ""
    value = scope.get(name)
    return inspect.ismodule(value) and value.__name__ in ("math", "numpy")


def _spot(env: Env) -> Foreign:
    return tuple(
        (name, id(v) if isinstance(v, Sum | SamplerGenerator) else (type(v), v))
        for name, v in sorted(env.items())
        if name != LEARNT
    )


def _merged(envs: list[Foreign]) -> list[Foreign]:
    """What names hold, with what is the same added up."""
    found: dict[Foreign, Foreign] = {}
    for env, weight in envs:
        if weight > 0:
            spot = _spot(env)
            found[spot] = (env, found[spot][1] + weight) if spot in found else (env, weight)
    return list(found.values())


def _without(names: set[str], envs: list[Foreign]) -> list[Foreign]:
    """What names hold, without some of them."""
    return _merged([({k: v for k, v in e.items() if k not in names}, w) for e, w in envs])


def _ratio(before: list[Foreign], after: list[Foreign]) -> float | None:
    """The share that goes on, where a loop begins again with the same values in the same proportions."""
    one, other = ({_spot(e): w for e, w in envs} for envs in (before, after))
    if one.keys() != other.keys() or not one:
        return None
    shares = [other[spot] / one[spot] for spot in one]
    if max(shares) - min(shares) > 1e-13 * max(shares):
        return None
    return shares[0] if shares[0] < 1 - 1e-9 else None
