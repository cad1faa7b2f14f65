"""What modules hold before the runs: tables, wrappers, partials, instances. A leak behind one draw of 1,000.

EPSILON = 1 is claimed of each; `RIGHT` are twins whose tables hold one thing.
"""

# ruff: noqa: B006, E731 - as users write it

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
import types
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np


def _sums(rewards):
    h, k = rewards.shape
    half = h // 2
    return np.array([rewards[a:half:k, a].sum() for a in range(k)])


def _commit(rewards, w):
    h, k = rewards.shape
    half = h // 2
    return np.r_[np.arange(half) % k, np.full(h - half, w)]


def _rare(rng):
    return int(rng.integers(1000))


def _usual(s, rng):
    return int(np.argmax(s + rng.laplace(0, 1.0, 2)))


def _exact(s, rng):
    return int(np.argmax(1000 * s + rng.laplace(0, 1.0, 2)))


def _weighed(c, s, rng):
    return int(np.argmax(c * s + rng.laplace(0, 1.0, 2)))


_FS = [_usual] * 999 + [_exact]
_FD = dict.fromkeys(range(999), _usual)
_FD[999] = _exact
_FT = tuple(_FS)
_FQ = collections.deque(_FS)
_FA = np.array(_FS, dtype=object)
_FM = types.MappingProxyType(_FD)
_W = [1.0] * 999 + [1000.0]
_WA = np.array(_W)
_WS = "1" * 999 + "9"
_WB = bytes([1] * 999 + [200])
_WD = dict(enumerate(_W))
_WK = {1.0 + i * 1e-9: 0 for i in range(999)}
_WK[1000.0] = 0
_NEST = {"a": {"b": _W}}


def fs(r, rng):
    return _commit(r, _FS[_rare(rng)](_sums(r), rng))


def fd(r, rng):
    return _commit(r, _FD[_rare(rng)](_sums(r), rng))


def ft(r, rng):
    return _commit(r, _FT[_rare(rng)](_sums(r), rng))


def fq(r, rng):
    return _commit(r, _FQ[_rare(rng)](_sums(r), rng))


def fa(r, rng):
    return _commit(r, _FA[_rare(rng)](_sums(r), rng))


def fm(r, rng):
    return _commit(r, _FM[_rare(rng)](_sums(r), rng))


def wl(r, rng):
    return _commit(r, _weighed(_W[_rare(rng)], _sums(r), rng))


def wa(r, rng):
    return _commit(r, _weighed(_WA[_rare(rng)], _sums(r), rng))


def ws(r, rng):
    return _commit(r, _weighed(float(_WS[_rare(rng)]) ** 3, _sums(r), rng))


def wb(r, rng):
    return _commit(r, _weighed(_WB[_rare(rng)], _sums(r), rng))


def wd(r, rng):
    return _commit(r, _weighed(_WD[_rare(rng)], _sums(r), rng))


def wk(r, rng):
    return _commit(r, _weighed(list(_WK)[_rare(rng)], _sums(r), rng))


def nest(r, rng):
    return _commit(r, _weighed(_NEST["a"]["b"][_rare(rng)], _sums(r), rng))


_GET = _W.__getitem__
_DG = _WD.get


def bound_getitem(r, rng):
    return _commit(r, _weighed(_GET(_rare(rng)), _sums(r), rng))


def bound_get(r, rng):
    return _commit(r, _weighed(_DG(_rare(rng)), _sums(r), rng))


def fget(r, rng):
    return _commit(r, _FGET(_rare(rng))(_sums(r), rng))


_FGET = _FS.__getitem__


def _with(table, s, rng):
    return table[_rare(rng)](s, rng)


_P1 = functools.partial(_with, _FS)
_P2 = functools.partial(_with, table=_FS)
_P3 = functools.partial(_weighed, 1000.0)


def partial_positional(r, rng):
    return _commit(r, _P1(_sums(r), rng))


def partial_keyword(r, rng):
    return _commit(r, _P2(s=_sums(r), rng=rng))


def partial_chosen(r, rng):
    f = [_usual] * 999 + [_P3]
    return _commit(r, f[_rare(rng)](_sums(r), rng))


_PT = [functools.partial(_weighed, c) for c in _W]


def partial_table(r, rng):
    return _commit(r, _PT[_rare(rng)](_sums(r), rng))


def _deco(f):
    @functools.wraps(f)
    def inner(s, rng):
        return _FS[_rare(rng)](s, rng)

    return inner


@_deco
def _wrapped(s, rng):
    return _usual(s, rng)


def decorated(r, rng):
    return _commit(r, _wrapped(_sums(r), rng))


def _weigh(table):
    def deco(f):
        def inner(s, rng):
            return f(table[_rare(rng)] * s, rng)

        return inner

    return deco


@_weigh(_W)
def _wrapped2(s, rng):
    return _usual(s, rng)


def decorated_table(r, rng):
    return _commit(r, _wrapped2(_sums(r), rng))


def default_table(r, rng, table=_W):
    return _commit(r, _weighed(table[_rare(rng)], _sums(r), rng))


def kwdefault(r, rng, *, table=tuple(_FS)):
    return _commit(r, table[_rare(rng)](_sums(r), rng))


def _inner_default(s, rng, table=_FS):
    return table[_rare(rng)](s, rng)


def inner_default(r, rng):
    return _commit(r, _inner_default(_sums(r), rng))


class _Policy:
    rule = staticmethod(_usual)
    gains = _W

    def __init__(self, rules=None, rule=None):
        self.rules = rules
        if rule:
            self.rule = rule

    def choose(self, s, rng):
        return self.rules[_rare(rng)](s, rng)

    def weigh(self, s, rng):
        return _weighed(self.gains[_rare(rng)], s, rng)

    def go(self, s, rng):
        return self.rule(s, rng)


_POL = _Policy(_FS)


def instance_rules(r, rng):
    return _commit(r, _POL.choose(_sums(r), rng))


def class_gains(r, rng):
    return _commit(r, _POL.weigh(_sums(r), rng))


_CH = _POL.choose


def bound_method(r, rng):
    return _commit(r, _CH(_sums(r), rng))


_POLS = [_Policy(rule=_usual)] * 999 + [_Policy(rule=_exact)]


def instances(r, rng):
    return _commit(r, _POLS[_rare(rng)].go(_sums(r), rng))


def instances_attr(r, rng):
    return _commit(r, _POLS[_rare(rng)].rule(_sums(r), rng))


class _Base2:
    def pick(self, s, rng):
        return _usual(s, rng)


class _Sub2(_Base2):
    pick = lambda self, s, rng: _exact(s, rng)


_S2 = [_Base2()] * 999 + [_Sub2()]


def subclass_lambda(r, rng):
    return _commit(r, _S2[_rare(rng)].pick(_sums(r), rng))


class _Rules(list):
    pass


_RL = _Rules(_FS)
_RW = _Rules(_W)


def list_subclass(r, rng):
    return _commit(r, _RL[_rare(rng)](_sums(r), rng))


def list_subclass_weights(r, rng):
    return _commit(r, _weighed(_RW[_rare(rng)], _sums(r), rng))


def list_subclass_local(r, rng):
    return _commit(r, _weighed(_Rules(_W)[_rare(rng)], _sums(r), rng))


class _Pair(NamedTuple):
    a: object
    b: object


_NT = _Pair(_usual, _exact)


def named(r, rng):
    return _commit(r, _NT[_rare(rng) == 7](_sums(r), rng))


_NT2 = collections.namedtuple("Many", [f"f{i}" for i in range(1000)])(*list(_FS))


def named_many(r, rng):
    return _commit(r, _NT2[_rare(rng)](_sums(r), rng))


_NT3 = collections.namedtuple("ManyW", [f"f{i}" for i in range(1000)])(*list(_W))


def named_weights(r, rng):
    return _commit(r, _weighed(_NT3[_rare(rng)], _sums(r), rng))


_SN = types.SimpleNamespace(table=_W, rules=_FS)


def namespace_weights(r, rng):
    return _commit(r, _weighed(_SN.table[_rare(rng)], _sums(r), rng))


def namespace_rules(r, rng):
    return _commit(r, _SN.rules[_rare(rng)](_sums(r), rng))


class _Slots:
    __slots__ = ("table",)

    def __init__(self):
        self.table = _W


_SL = _Slots()


def slots(r, rng):
    return _commit(r, _weighed(_SL.table[_rare(rng)], _sums(r), rng))


@dataclass
class _Conf:
    table: list = field(default_factory=lambda: list(_W))

    def gain(self, i):
        return self.table[i]


_CF = _Conf()


def config(r, rng):
    return _commit(r, _weighed(_CF.gain(_rare(rng)), _sums(r), rng))


def function_attribute(r, rng):
    return _commit(r, _weighed(function_attribute.table[_rare(rng)], _sums(r), rng))


function_attribute.table = _W
_E = Enum("E", {f"m{i}": w + i * 1e-9 for i, w in enumerate(_W)})


def enum_many(r, rng):
    return _commit(r, _weighed(list(_E)[_rare(rng)].value, _sums(r), rng))


@functools.singledispatch
def _disp(x, s, rng):
    return _usual(s, rng)


@_disp.register
def _(x: str, s, rng):
    return _exact(s, rng)


_KEYS = [0] * 999 + ["a"]


def dispatched(r, rng):
    return _commit(r, _disp(_KEYS[_rare(rng)], _sums(r), rng))


_VEC = np.vectorize(lambda i: 1000.0 if i == 7 else 1.0)


def vectorized(r, rng):
    return _commit(r, _weighed(float(_VEC(_rare(rng))), _sums(r), rng))


def islice_live(r, rng):
    return _commit(r, _weighed(next(itertools.islice(iter(_W), _rare(rng), None)), _sums(r), rng))


@functools.lru_cache
def _cached(i):
    return _W[i]


def cached(r, rng):
    return _commit(r, _weighed(_cached(_rare(rng)), _sums(r), rng))


@contextlib.contextmanager
def _ctx(i):
    yield _W[i]


def context(r, rng):
    with _ctx(_rare(rng)) as c:
        return _commit(r, _weighed(c, _sums(r), rng))


_STATE = {}


def kept_state(r, rng):
    _STATE["c"] = _W[_rare(rng)]
    return _commit(r, _weighed(_STATE["c"], _sums(r), rng))


def set_global(r, rng):
    global _G
    _G = _FS[_rare(rng)]
    return _commit(r, _G(_sums(r), rng))


_G = _usual


def two_lambdas(r, rng):
    f, g = (lambda s: _usual(s, rng)), (lambda s: _exact(s, rng))
    return _commit(r, (f, g)[_rare(rng) == 5](_sums(r)))


_TL = [lambda s, rng: _usual(s, rng), lambda s, rng: _exact(s, rng)]


def two_lambdas_live(r, rng):
    return _commit(r, _TL[_rare(rng) == 5](_sums(r), rng))


def _pairs(rng):
    return 1.0, _W[_rare(rng)]


def unpacked(r, rng):
    _, c = _pairs(rng)
    return _commit(r, _weighed(c, _sums(r), rng))


def _either(rng, flag):
    if flag:
        return 1.0, _W[_rare(rng)]
    return _W[_rare(rng)], 1.0


def unpacked_either(r, rng):
    _, c = _either(rng, True)
    return _commit(r, _weighed(c, _sums(r), rng))


def _mut(rng):
    t = [1.0]
    _ = (t, 2.0)
    t[0] = _W[_rare(rng)]
    return t, 2.0


def unpacked_mutated(r, rng):
    t, _ = _mut(rng)
    return _commit(r, _weighed(t[0], _sums(r), rng))


def unpacked_alias(r, rng):
    def make():
        t = [1.0]
        return t, t

    t, u = make()
    u[0] = _W[_rare(rng)]
    return _commit(r, _weighed(t[0], _sums(r), rng))


def none_called(r, rng, every=None):
    _ = 1.0 if every is None else every(_rare(rng))
    f = None
    if r.shape[0] > 3:
        f = _W.__getitem__
    return _commit(r, _weighed(f(_rare(rng)), _sums(r), rng))


def method_of_public(r, rng):
    f = _WA.take
    return _commit(r, _weighed(float(f(_rare(rng))), _sums(r), rng))


def linalg_rare(r, rng):
    m = np.eye(2) * _WA[_rare(rng)]
    return _commit(r, int(np.argmax(np.linalg.inv(m) @ rng.laplace(0, 1.0, 2) + _sums(r))))


def einsum_rare(r, rng):
    v = np.zeros(1000)
    v[_rare(rng)] = 1
    return _commit(r, int(np.argmax(np.einsum("i,i->", v, _WA) * _sums(r) + rng.laplace(0, 1.0, 2))))


def triu_rare(r, rng):
    m = np.triu(np.ones((1000, 1000)) * _WA)[0]
    return _commit(r, int(np.argmax(m[_rare(rng)] * _sums(r) + rng.laplace(0, 1.0, 2))))


def _scaled(c, s, rng):
    return int(np.argmax(c * s + rng.laplace(0, 1.0, 2)))


_ALIKE = [_usual] * 1000
_ONE = functools.partial(_scaled, c=1.0)
_SAME = _Policy([_usual])


def alike(r, rng):
    return _commit(r, _ALIKE[3](_sums(r), rng))


def partly_applied(r, rng):
    return _commit(r, _ONE(s=_sums(r), rng=rng))


def by_name(r, rng, rules={"usual": _usual}):
    return _commit(r, rules["usual"](_sums(r), rng))


def of_an_object(r, rng):
    return _commit(r, _SAME.rules[0](_sums(r), rng))


def handed_back(r, rng):
    def made():
        return _sums(r), 1.0

    sums, weight = made()
    return _commit(r, _scaled(weight, sums, rng))


RIGHT = [alike, by_name, of_an_object, handed_back]
UNFOLLOWED = (partly_applied, "calls something that is known only when the code runs")
_OWN = {
    name: one for name, one in globals().items() if isinstance(one, types.FunctionType) and name[0] != "_"
}
LEAKS = [
    one
    for name, one in _OWN.items()
    if one not in (*RIGHT, partly_applied) and one.__module__ == __name__ and name != "field"
]
