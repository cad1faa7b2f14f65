"""A user's code, played as `play(rewards, rng)` wants it.

Classes, functions and generators are played as they are (`protocols`), with what their parameters are named
after (`roles`), in an environment whose rewards are those of the table (`tables`). A parameter that must be
given and has no known name ends the audit: what to give is not known here. Where the audit gives contexts,
they stand in the table beside the rewards (`core.contexts`), and the code is handed both apart.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import ModuleType

import numpy as np

from verifiable_dp.core import paths
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.filled import note
from verifiable_dp.core.outputs import TypedArms
from verifiable_dp.core.validate import Foreign, Function, InputError, Json
from verifiable_dp.evidence.tracing.foreign import reproducible_globals
from verifiable_dp.targets import protocols
from verifiable_dp.targets.far import exactly, function, function_of_kind, there
from verifiable_dp.targets.load import Wrapper, adapted
from verifiable_dp.targets.protocols import PROTOCOLS, WAYS, WITH_CONTEXTS, Loop, Way, way_of
from verifiable_dp.targets.rewards import ONE_ARM, Replacement
from verifiable_dp.targets.roles import (
    ARMS,
    CONFIG,
    DELTA,
    ENVIRONMENT,
    EPSILON,
    PULLER,
    GivenRole,
    Meaning,
    Supply,
    filled,
    is_required,
    parameters_of,
)
from verifiable_dp.targets.source import code_of, file_of
from verifiable_dp.targets.tables import Finished, TableWorld, Usage, usages_of

__all__ = ["PROTOCOLS", "BanditClass", "makes_bandits", "modules_of", "parameters_of", "taken"]
# What bandits compute with: tracing has its own view of it.
_NUMERICAL = frozenset(
    ("numpy", "scipy", "pandas", "sklearn", "numba", "joblib", "matplotlib", "torch", "jax", "verifiable_dp")
)
_MOST_PARTS = 1000  # objects of one bandit that are looked into
_TABLES = ("rewards", "data", "contexts")  # what functions that are called with a table name it first
_NOTHING_GIVEN = GivenRole()


def makes_bandits(maker: Foreign, given: GivenRole = _NOTHING_GIVEN) -> bool:
    """Whether `maker` is a class that can be played, or a function that plays or makes what can be."""
    if inspect.isclass(maker):
        try:
            return way_of(maker, given) is not None
        except InputError:
            return True  # the first run tells why it cannot be played
    code = code_of(maker)
    if not inspect.isfunction(code) and not inspect.ismethod(code):
        return False
    parameters = parameters_of(maker)
    names = list(parameters)
    if names and names[0] in _TABLES:
        return False
    if inspect.isgeneratorfunction(code) or inspect.isasyncgenfunction(code) or given.reward:
        return True
    required = [name for name, parameter in parameters.items() if is_required(parameter)]
    plays = any(name in (*ENVIRONMENT, *PULLER, *CONFIG) for name in required)
    return bool(names) and (names[0] in ARMS or plays)


@there(function_of_kind)
def taken(target: Foreign, given: GivenRole) -> tuple[str, Function[Foreign]]:
    """Kind of a target, and the target as the samplers call it, with what is given filled in.

    Raises
    ------
    InputError
        If it cannot be played, or has no parameter of a name that is given.
    """
    if makes_bandits(target, given):
        bandits = BanditClass(target, given)
        _check_names(given, bandits.settable, bandits.name)
        return "play", bandits
    if inspect.isclass(target):
        ways = WAYS if given.contexts is None else WITH_CONTEXTS
        raise InputError(f"target: {target.__qualname__} must have {ways}")
    if given.reward:
        raise InputError(
            "`reward` works only with code that generates its own rewards, not with a function that "
            "takes a table of rewards"
        )
    settable = parameters_of(target)
    rest = any(parameter.kind is parameter.VAR_KEYWORD for parameter in settable.values())
    name = str(getattr(code_of(target), "__qualname__", target))
    _check_names(given, None if rest else [word for word in settable if word not in _FILLED], name)
    filled = dict(given.parameters)
    for word, parameter in settable.items():
        if is_required(parameter) and word not in filled:
            filled |= {word: given.epsilon} if word in EPSILON and given.epsilon is not None else {}
            filled |= {word: given.delta} if word in DELTA else {}
    if given.epsilon_parameter:
        filled.setdefault(given.epsilon_parameter, given.epsilon)
    is_async = inspect.iscoroutinefunction(code_of(target))
    bound = BoundTarget(target, filled) if filled or is_async else target
    if given.contexts is not None:
        return contextual(bound, given.contexts)
    if "contexts" in settable:
        raise InputError(f"contexts must be given for {name} (--contexts D; in Python contexts=D)")
    return adapted(bound)


_FILLED = ("rewards", "data", "rng", "size", "n_runs", "contexts")


def contextual(function: Function[Foreign], form: Contexts) -> tuple[str, Function[Foreign]]:
    """``play`` or ``play_many``, and `function(contexts, rewards, rng)` as a function of one table.

    Raises
    ------
    InputError
        If the function has no such parameters.
    """
    names = [name for name, one in parameters_of(function).items() if is_required(one) or one.name == "rng"]
    many = len(names) == 4 and "n_runs" in names
    kinds = ["contexts", "rewards", *(["n_runs"] if many else []), "rng"]
    if len(names) != len(kinds) or ("rewards" in names and names.index("rewards") == 0):
        raise InputError(
            "target must be play(contexts, rewards, rng) or play_many(contexts, rewards, n_runs, rng) if "
            f"contexts are given, got parameters ({', '.join(names)})"
        )
    free = [kind for kind in kinds if kind not in names]
    places = {name: kinds.index(name if name in kinds else free.pop(0)) for name in names}
    return ("play_many" if many else "play"), Contextual(function, form, places)


class Contextual(Wrapper):
    """`play(table, rng)` around a function that takes contexts and rewards apart.

    Parameters
    ----------
    function
        The target.
    form
        Of the contexts.
    places
        Which of contexts, rewards, (number of runs,) generator each parameter is, by name.
    """

    driven = takes_contexts = True

    def __init__(self, function: Function[Foreign], form: Contexts, places: Mapping[str, int]) -> None:
        self.__wrapped__, self.form, self.places = function, form, dict(places)

    def __call__(self, table: Foreign, *rest: Foreign) -> Foreign:
        """What the function returns."""
        given = (*self.form.split(table), *rest)
        kinds = ["data", "data", *["public"] * (len(rest) - 1), "generator"]
        note(self.__wrapped__, {name: kinds[place] for name, place in self.places.items()})
        return self.__wrapped__(**{name: given[place] for name, place in self.places.items()})


def _check_names(given: GivenRole, accepted: Iterable[str] | None, name: str) -> None:
    asked = [("parameters", word) for word in given.parameters]
    asked += [("epsilon_parameter", given.epsilon_parameter)] if given.epsilon_parameter else []
    for option, word in asked:
        if accepted is not None and word not in accepted:
            known = ", ".join(accepted) or "none"
            raise InputError(f"{option}: {name} has no parameter {word}; accepted: {known}")


@there(exactly(tuple[str, float] | None))
def epsilon_of(target: Foreign, given: GivenRole) -> tuple[str, float] | None:
    """The parameter that says for which epsilon the code is made, and its value; None if none is known.

    The name is empty where it is a key of a configuration.
    """
    if given.epsilon is None:
        return None
    settable = settables(target, given)
    known = (given.epsilon_parameter,) if given.epsilon_parameter else EPSILON
    for name in known:
        if name not in settable and name not in given.parameters:
            continue
        asked = name == given.epsilon_parameter or name not in settable or is_required(settable[name])
        value = given.parameters.get(name, given.epsilon if asked else settable[name].default)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return name, float(value)
    roles = [role for _, role in filled(target, given, lenient=True).values()]
    return ("", given.epsilon) if Meaning.CONFIG in roles else None


def settables(maker: Foreign, given: GivenRole) -> dict[str, inspect.Parameter]:
    """Parameters of a maker, and fields of the objects of parameters that are made for it."""
    found = parameters_of(maker)
    for parameter, role in filled(maker, given, lenient=True).values():
        if role == Meaning.OBJECT:
            found = {**settables(parameter.annotation, given), **found}
    return found


def was_handed(function: Foreign, epsilon: str) -> bool:
    """Whether code has received the epsilon that it is made for; the name is empty for any key."""
    if not isinstance(function, BanditClass):
        return True  # parameters of a function are bound
    names = {epsilon} if epsilon else {*EPSILON}
    return not names.isdisjoint(function.given.handed)


@there(function)
def made_for(target: Foreign, given: GivenRole, factor: float) -> Function[Foreign]:
    """The target as the samplers call it, made for `factor` times its epsilon.

    Raises
    ------
    InputError
        As `taken`; if nothing says for which epsilon it is made.
    """
    found = epsilon_of(target, given)
    if found is None or given.epsilon is None:
        raise InputError(
            "epsilon_parameter: we recognise no parameter of the target as its epsilon; name one with "
            "--epsilon-parameter NAME"
        )
    name, value = found
    own = {name: factor * value} if name else {}
    own = {**given.parameters, **own}
    larger = replace(given, epsilon=factor * given.epsilon, parameters=own, handed=set())
    return taken(target, larger)[1]


class BoundTarget(Wrapper):
    """A function with some parameters filled, that is run to its end if it has to be awaited.

    Parameters
    ----------
    function
        The target.
    parameters
        By name.
    """

    driven = True  # coroutine functions are run to their end

    def __init__(self, function: Function[Foreign], parameters: Json) -> None:
        self.__wrapped__, self.parameters = function, dict(parameters)
        if hasattr(function, "neighbours"):
            self.neighbours = function.neighbours

    @property
    def __signature__(self) -> inspect.Signature:
        """What is left to fill."""
        whole = inspect.signature(self.__wrapped__)
        left = [parameter for name, parameter in whole.parameters.items() if name not in self.parameters]
        if len(left) < len(whole.parameters):  # what follows a filled one is given by name
            left = [
                parameter.replace(kind=parameter.KEYWORD_ONLY)
                if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and number
                else parameter
                for number, parameter in enumerate(left)
            ]
        return whole.replace(parameters=left)

    def __call__(self, *args: Foreign, **named: Foreign) -> Foreign:
        """The result of the function."""
        note(self.__wrapped__, dict.fromkeys(self.parameters, "public"))
        with Loop() as loop:
            return loop.done(self.__wrapped__(*args, **named, **self.parameters))


_GUESSES = 32  # runs that show whether what was guessed to be the arm ever changes
_FIRSTS: weakref.WeakKeyDictionary[Foreign, dict[Way, Json]] = weakref.WeakKeyDictionary()
PLAYED = object()  # what a call comes to that has played the whole run


@dataclass(frozen=True)
class BanditClass:
    """`play(rewards, rng)` around a class or a function that makes a bandit, or that plays one.

    Parameters
    ----------
    maker
        Called for every run.
    given
        What the audit knows.

    Raises
    ------
    InputError
        When played, if a parameter of `maker` is not known, or what it makes cannot be played.
    """

    maker: Function[Foreign]
    given: GivenRole = _NOTHING_GIVEN

    @property
    def __wrapped__(self) -> Function[Foreign]:
        """Where the source is."""
        return self.maker

    @property
    def name(self) -> str:
        """Of the maker."""
        return str(getattr(self.maker, "__qualname__", self.maker))

    @property
    def settable(self) -> list[str] | None:
        """Parameters that can be given by name; None for any, as of a configuration."""
        found = dict(parameters_of(self.maker))
        if inspect.isclass(self.maker):
            for name in protocols.RUNNING:
                found |= protocols.own_parameters(self.maker, name) if protocols.has(self.maker, name) else {}
        any_name = any(name in CONFIG or p.kind is p.VAR_KEYWORD for name, p in found.items())
        nested = any(dataclasses.is_dataclass(p.annotation) for p in found.values())
        return None if any_name or nested else list(found)

    @property
    def modules(self) -> tuple[ModuleType, ...]:
        """Installed modules that the code of its bandits is in, which tracing follows; none if it fails."""
        try:
            return modules_of(self.made(2, 64, np.random.default_rng(0)))
        except Exception:  # the first run tells why
            return ()

    @property
    def files(self) -> tuple[str, ...]:
        """Files with its code: that of the maker, and those of the classes it derives from."""
        code = code_of(self.maker)
        kinds = code.__mro__[:-1] if inspect.isclass(code) else (code,)
        return tuple(dict.fromkeys(file for kind in kinds if (file := file_of(kind))))

    @functools.cached_property
    def usages(self) -> dict[str, Usage]:
        """How the code calls an environment."""
        code = code_of(self.maker)
        kinds = code.__mro__[:-1] if inspect.isclass(code) else (code,)
        payer = self.given.reward.rpartition(":")[2].rpartition(".")[2]
        return usages_of(self.files, [str(getattr(kind, "__name__", "")) for kind in kinds], payer)

    def __call__(self, rewards: Foreign, rng: Foreign) -> Foreign:
        """Play one run: rewards (T, K), with contexts beside them if there are any; arms (T,)."""
        supply = self._supply(rewards, rng)
        with Loop() as loop, Replacement.of(self.given.reward, supply.world):
            try:
                bandit = self._called(supply, loop)
                if not supply.world.pulled:
                    way = self.way(bandit)
                    protocols.play(bandit, way, supply, loop, lambda: self.first(way, *rewards.shape))
            except Finished:
                pass
        world = supply.world
        if world.refused is not None:
            raise world.refused
        protocols.check_whole(supply, self.name)
        self._check_arms(world)
        if world.followed:
            return (
                world.pulled
                if any(hasattr(type(one), "is_own") for one in world.pulled)
                else np.array(world.pulled)
            )
        return TypedArms.of(world.pulled, world.forms) if world.forms else np.array(world.pulled)

    def _check_arms(self, world: TableWorld) -> None:
        """Refuse code whose first runs pull one arm only, if it was a guess that it is one."""
        if world.guessed and len(self._guesses) < _GUESSES:
            self._guesses.append(world.guessed)
            arms = set().union(*self._guesses)
            if len(self._guesses) == _GUESSES and len(arms) == 1:
                raise InputError(ONE_ARM.format(self.given.reward, *arms))

    @functools.cached_property
    def _guesses(self) -> list[set[int]]:
        return []

    def first(self, way: Way, horizon: int, n_arms: int) -> Json:
        """What the first call of a method that is told of the last round is told; found out once."""
        # For other parameters, too: their first run may be one that is traced.
        known = _FIRSTS.setdefault(code_of(self.maker), {})
        if way not in known:
            with Loop() as loop, reproducible_globals():
                known[way] = protocols.first_told(
                    lambda: self.made(n_arms, horizon, np.random.default_rng(0)), way.methods[0], loop
                )
        return known[way]

    def made(self, n_arms: int, horizon: int, rng: Foreign) -> Foreign:
        """A fresh bandit; `PLAYED` if the call has played a whole run of zeros by itself."""
        width = self.given.contexts.width if self.given.contexts else n_arms
        supply = self._supply(np.zeros((horizon, width)), rng)
        with Loop() as loop, Replacement.of(self.given.reward, supply.world):
            try:
                return self._called(supply, loop)
            except Finished:
                return PLAYED

    def _supply(self, rewards: Foreign, rng: Foreign) -> Supply:
        contexts, form = None, self.given.contexts
        if form is not None:
            contexts, rewards = form.split(rewards)
        return Supply(self.given, TableWorld(rewards, self.usages, contexts), rng)

    def _called(self, supply: Supply, loop: Loop) -> Foreign:
        made = protocols.finish(supply.call(self.maker), supply, loop)
        if supply.world.pulled:
            protocols.check_whole(supply, self.name)
            raise Finished
        return made

    def way(self, bandit: Foreign) -> Way:
        """How what was made is played.

        Raises
        ------
        InputError
            If it cannot be.
        """
        found = None if bandit is None else way_of(bandit, self.given)
        if found is None and bandit is None:
            raise InputError(protocols.NO_PULL.format(self.name))
        if found is None:
            ways = WAYS if self.given.contexts is None else WITH_CONTEXTS
            of_class = inspect.isclass(self.maker)
            made = "" if of_class else f"{self.name} must return a bandit: "
            raise InputError(f"target: {made}{type(bandit).__name__} must have {ways}")
        return found

    def choosers(self, n_arms: int, horizon: int) -> tuple[Function[Foreign], ...]:
        """The functions whose results are actions, as far as it has any; none if it fails."""
        try:
            bandit = self.made(n_arms, horizon, np.random.default_rng(0))
            way = self.way(bandit)
        except Exception:  # the audit tells of it where it plays
            return ()
        choose = getattr(type(bandit), way.methods[0], None)
        return (choose,) if inspect.isfunction(choose) and way.kind != "run" else ()


def modules_of(bandit: Foreign) -> tuple[ModuleType, ...]:
    """Installed modules with the classes of `bandit` and its parts, and with the functions these import."""
    found: dict[str, ModuleType] = {}
    queue, seen = [bandit], {id(bandit)}
    while queue and len(seen) < _MOST_PARTS:
        value = queue.pop()
        found |= _installed(kind.__module__ for kind in type(value).__mro__)
        parts = [part for part in _parts(value) if id(part) not in seen]
        seen |= {id(part) for part in parts}
        queue += parts
    for module in list(found.values()):
        found |= _installed(f.__module__ for f in vars(module).values() if inspect.isfunction(f))
    return tuple(found[name] for name in sorted(found))


def _parts(value: Foreign) -> Iterator[Foreign]:
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, list | tuple | set):
        yield from value
    yield from getattr(value, "__dict__", {}).values()


def _installed(names: Iterable[str | None]) -> dict[str, ModuleType]:
    """Those of these modules that are Python files of an installed library of bandits."""
    found = {}
    for name in names:
        module = sys.modules.get(name or "")
        file = str(getattr(module, "__file__", None) or "")
        library = file.endswith(".py") and paths.installed(file) and not paths.of_python(file)
        if name and module and library and name.split(".")[0] not in _NUMERICAL:
            found[name] = module
    return found
