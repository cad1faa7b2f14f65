"""What an audit would make of a target, told before anything is run but its import and a few calls."""

from __future__ import annotations

import ast
import inspect
import os
import random
import secrets
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from verifiable_dp.core.validate import Foreign, Function, InputError, one_line
from verifiable_dp.evidence.judge.outside import Outside
from verifiable_dp.evidence.tracing.foreign import MODULES, bits_of, wide
from verifiable_dp.evidence.tracing.reach import reached
from verifiable_dp.targets import horizons, rewards, unbounded
from verifiable_dp.targets.adapters import PLAYED, BanditClass, settables, taken
from verifiable_dp.targets.guard import guarded
from verifiable_dp.targets.load import given_to, kind_of
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.roles import MEANS, GivenRole, Meaning, filled, role_of
from verifiable_dp.targets.source import code_of, parsed, resolved
from verifiable_dp.targets.tables import NO_MEANS, PULLS

_SOURCES = {"np.random": "numpy's global generator", "random": "the module random"}
_ROUNDS = 1 << 21  # that are played, at most
_GENERATORS = (
    *(np.random.default_rng, np.random.Generator, np.random.RandomState),
    *(random.SystemRandom, random.Random),
)
_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Inspected:
    """What was recognised of a target.

    Attributes
    ----------
    recognised
        What it is and what each parameter is given, a line each.
    guessed
        What was decided without being told, a line each.
    randomness
        Where it draws from, with the line.
    add
        The one thing to add before it can be audited; empty if nothing is missing.
    acting
        Whether rewards change actions at the horizon, in words; empty if it was not played.
    unbounded
        Lines for which there is no upper bound, and what to write instead; empty if it was not played.
    """

    recognised: tuple[str, ...]
    guessed: tuple[str, ...]
    randomness: tuple[str, ...]
    add: str
    acting: str = ""
    unbounded: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """All of it, as the command prints it."""
        parts = (("recognised", self.recognised), ("guessed", self.guessed), ("randomness", self.randomness))
        played = ("horizon", filter(None, [self.acting])), ("upper bound", self.unbounded)
        for word, found in (*parts, *played):
            for line in found:
                yield f"{word}: {line}"
        yield f"missing: {self.add}" if self.add else "the target can be audited unchanged"


def inspect_target(
    target: Foreign, given: GivenRole, n_arms: int, horizon: int, *, play: bool = False
) -> Inspected:
    """Recognise a target; an object of it is made once where its class does not tell all.

    Parameters
    ----------
    target
        A class or a function.
    given
        What the audit would know.
    n_arms, horizon
        Of the object that is made.
    play
        Whether it is also played, to say from which horizon on rewards change actions, and for which lines
        there is no upper bound.
    """
    recognised, guessed, add, acting, beyond = [_named(target)], list[str](), "", "", list[Outside]()
    plays = not inspect.isclass(target) and (inspect.isfunction(target) or callable(target))
    for name, (parameter, role) in filled(target, given, lenient=True).items():
        if role:
            recognised.append(f"parameter {name} gets {role}")
        if role == Meaning.EPSILON or name in MEANS:
            guessed.append(f"{name} means {role}; --set {name}=VALUE changes it")
        del parameter
    kept = [
        f"{name}={p.default!r}"
        for name, p in settables(target, given).items()
        if p.default is not p.empty and not role_of(name, p, given)
    ]
    if kept:
        recognised.append(f"these parameters keep their defaults: {', '.join(kept)} (--set NAME=VALUE)")
    try:
        with guarded():
            kind, called = taken(target, given)
            if isinstance(called, BanditClass):
                found, more = _played(called, given, n_arms, horizon)
                recognised += found
                guessed += more
            elif plays:
                form = f"{kind}, with contexts" if given.contexts else kind_of(called)
                recognised.append(f"an audit calls it as {form}")
                got = {} if given.contexts else given_to(called)
                given_lines = [f"parameter {name} gets {what}" for name, what in got.items()]
                recognised += [line for line in given_lines if line not in recognised]
            if given.reward:
                _, _, function = rewards.found(given.reward)
                words, add = _paid(called, function, n_arms, horizon)
                recognised.append(f"{given.reward} returns the reward; the arm is {words}")
            if play and kind in ("play", "play_many") and given.contexts is None:
                sampler = PlaySampler(called, kind == "play_many", n_arms, horizon, 0, followed=True)
                acting, beyond = _acting(sampler), unbounded.outside(sampler)
    except InputError as error:
        add = str(error)
    except Exception as error:
        add = f"target: its code raised {one_line(error)}"
    drawn, lines = tuple(_randomness(target)), tuple(map(unbounded.words, beyond))
    return Inspected(tuple(recognised), tuple(guessed), drawn, add, acting, lines)


def _paid(play: Function[Foreign], function: Function[Foreign], n_arms: int, horizon: int) -> tuple[str, str]:
    """What of a call to a function that pays is the arm, and what is missing: some runs are played."""
    if name := rewards.arm_parameter(function):
        return name, ""
    arms = {int(arm) for high in (0.0, 1.0) for arm in play(np.full((horizon, n_arms), high), _fixed())}
    if len(arms) > 1:
        return "the one whose mean the function receives, or the only whole number that it receives", ""
    return "not known", rewards.ONE_ARM.format(function.__qualname__, min(arms))


def _fixed() -> np.random.Generator:
    return np.random.default_rng(0)


def _acting(sampler: PlaySampler) -> str:
    """From which horizon on rewards in [0, 1] change actions, in words."""
    found = horizons.search(sampler, (0.0, 1.0), _ROUNDS // horizons.PLAYS)
    return found.words() or f"within {sampler.horizon} rounds, some reward changes an action"


def _named(target: Foreign) -> str:
    """What a target is."""
    code = code_of(target)
    what = "a class" if inspect.isclass(target) else "a function"
    for test, kind in (
        (inspect.isasyncgenfunction, "an asynchronous generator of arms"),
        (inspect.isgeneratorfunction, "a generator of arms"),
        (inspect.iscoroutinefunction, "a coroutine function"),
    ):
        what = kind if test(code) else what
    return f"{getattr(code, '__qualname__', code)} is {what}"


def _played(play: BanditClass, given: GivenRole, n_arms: int, horizon: int) -> tuple[list[str], list[str]]:
    """How it is played, and what is guessed."""
    recognised, guessed = list[str](), list[str]()
    code = code_of(play.maker)
    made = play.maker if inspect.isclass(play.maker) else None
    if made is not None:
        play.made(n_arms, horizon, np.random.default_rng(0))  # a constructor that fails shows here
    elif _makes(play):
        made = play.made(n_arms, horizon, np.random.default_rng(0))
    if made is not None and made is not PLAYED:
        way = play.way(made)
        recognised.append(way.described(made))
        if way.kind == "step":
            told = play.first(way, horizon, n_arms)
            words = ", ".join(f"{name}={value!r}" for name, value in told.items())
            (guessed if any(value is not None for value in told.values()) else recognised).append(
                f"the first call of {way.methods[0]} receives {words}"
            )
    elif not (inspect.isgeneratorfunction(code) or inspect.isasyncgenfunction(code)):
        recognised.append(f"{play.name} plays a whole run by itself")
    for method, usage in play.usages.items():
        if usage.names and method in PULLS:
            words = ", ".join(usage.names)
            guessed.append(f"{method} returns ({words}); {usage.names[usage.place(method)]} is the reward")
    asked = sorted(_attributes(play) & set(NO_MEANS))
    if asked:
        guessed.append(f"{', '.join(asked)} of the environment: we set every mean to .5")
    return recognised, guessed


def _makes(play: BanditClass) -> bool:
    """Whether a function makes a bandit, rather than playing one: it does not pull and is not a generator."""
    code = code_of(play.maker)
    runs = inspect.isgeneratorfunction(code) or inspect.isasyncgenfunction(code)
    roles = [role for _, role in filled(play.maker, play.given, lenient=True).values()]
    pulls = Meaning.ENVIRONMENT in roles or Meaning.PULLER in roles
    return not (runs or pulls or play.given.reward)


def _attributes(play: BanditClass) -> set[str]:
    trees = [tree for file in play.files if (tree := parsed(file)) is not None]
    return {
        node.attr
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "np", "numpy"))
    }


def _randomness(target: Foreign) -> Iterator[str]:
    """Where the code that the target reaches draws from, as far as its text shows."""
    scopes, objects = reached(target)
    kept, told = {id(value) for value in objects}, set[str]()
    for file, scope in scopes.items():
        tree = parsed(file)
        names = {**_imported(tree), **scope}
        for part in getattr(tree, "body", ()):
            if kept.isdisjoint(id(scope.get(name)) for name in _bound(part)):
                continue  # other code of the same file
            for node in (one for one in ast.walk(part) if isinstance(one, ast.Call)):
                source = _source(node, names)
                if source and source not in told:
                    told.add(source)
                    yield f"{source}, {Path(file).name}:{node.lineno}"
    if not told:
        yield "only the generator that the audit passes"


def _bound(part: ast.AST) -> Iterator[str]:
    """Names that a statement of a module binds."""
    for node in [part] if isinstance(part, _DEFINITIONS) else ast.walk(part):
        if isinstance(node, _DEFINITIONS):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _imported(tree: ast.AST | None) -> dict[str, Foreign]:
    """What functions import for themselves."""
    found: dict[str, Foreign] = {}
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Import):
            names = ((a.asname or a.name.partition(".")[0], a.name if a.asname else "") for a in node.names)
            found |= {word: sys.modules.get(name or word) for word, name in names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = sys.modules.get(node.module or "")
            found |= {a.asname or a.name: getattr(module, a.name, None) for a in node.names}
    return found


def _source(call: ast.Call, names: Mapping[str, Foreign]) -> str:
    """What a call draws from, or which generator it makes, told by the object that is called."""
    function = resolved(call.func, names)
    if function is None:
        return ""
    if any(function is maker for maker in _GENERATORS):
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        seeded = f"seeded with {ast.unparse(given[0])}" if given else "with a seed from the system"
        return f"its own generator ({function.__name__}, {seeded})"
    owner, name = getattr(function, "__self__", None), str(getattr(function, "__name__", ""))
    if function is os.urandom:
        return "os.urandom"
    if any(function == value for value in vars(secrets).values()):
        return "secrets"
    for module, source in wide().items():
        if function == getattr(MODULES[module], name, None) and source in (owner, _bits(owner)):
            return _SOURCES[module]
    if isinstance(owner, np.random.Generator | np.random.RandomState | random.Random):
        return f"a generator kept between runs ({ast.unparse(call.func).rpartition('.')[0] or name})"
    if str(getattr(function, "__module__", "")).partition(".")[0] == "torch":
        return "torch's generator"
    own = any(keyword.arg == "random_state" for keyword in call.keywords)
    return _SOURCES["np.random"] if name == "rvs" and not own else ""


def _bits(owner: Foreign) -> np.random.BitGenerator | None:
    return bits_of(owner) if isinstance(owner, np.random.RandomState) else None
