"""Ways in which a bandit is played, told from its methods, and how each is driven through a run."""

from __future__ import annotations

import asyncio
import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

import numpy as np

from verifiable_dp.core.filled import note
from verifiable_dp.core.validate import FloatArray, Foreign, Function, InputError, IntArray, Json
from verifiable_dp.targets.roles import (
    ARM,
    CHOOSES,
    CONTEXT,
    FITS,
    GENERATOR,
    HORIZON,
    KIND_OF,
    LEARNS,
    LEARNT,
    REWARD,
    ROUND,
    GivenRole,
    Meaning,
    Supply,
    fill,
    is_required,
    parameters_of,
    role_of,
)
from verifiable_dp.targets.tables import TableWorld

# Methods that choose and that learn: pairs that come first, then any of the one with any of the other.
PROTOCOLS = (
    ("select_arm", "update"),
    ("select", "update"),
    ("pull", "update"),
    ("choice", "getReward"),
    ("select_action", "update_params"),
    ("predict", "partial_fit"),
    ("choose", "update"),
    ("act", "update"),
)
CHOOSING = (
    *(
        "select_arm",
        "select",
        "select_action",
        "get_arm",
        "get_action",
        "choose_arm",
        "choose_action",
        "choose",
    ),
    *(
        "pick_arm",
        "pick",
        "next_arm",
        "next_action",
        "pull_arm",
        "pull",
        "sample_arm",
        "sample_action",
        "decide",
    ),
    *("recommend", "suggest", "ask", "act", "predict", "choice", "play", "draw", "select_next_arm"),
    *("get_next_arm", "choose_next_arm", "make_decision", "take_action", "sample", "policy", "step"),
    *(
        "assign",
        "assign_arm",
        "allocate",
        "allocate_arm",
        "serve",
        "route",
        "offer",
        "propose",
        "next_choice",
    ),
)
LEARNING = (
    *("update", "observe", "learn", "feedback", "record", "update_model", "receive_reward", "add_reward"),
    *("getReward", "update_params", "tell", "receive", "get_reward", "reward", "receive_feedback"),
    *(
        "observe_reward",
        "update_arm",
        "update_estimates",
        "process_reward",
        "add_observation",
        "update_stats",
    ),
    *("give_reward", "give_feedback", "update_reward", "update_policy", "train", "report"),
    *("record_reward", "record_outcome", "log", "log_reward", "settle", "ingest", "credit", "learn_from"),
)
STEPPING = (*CHOOSING, "next", "step_round", "interact", "__call__")
RUNNING = (
    *("run", "fit", "play", "simulate", "train", "run_experiment", "run_simulation", "run_bandit", "learn"),
    *("execute", "experiment", "main", "start", "solve", "run_episode", "interact", "step", "play_round"),
    *("run_round", "run_step", "pull", "__call__"),
)
PLAIN = f"{PROTOCOLS[0][0]}/{PROTOCOLS[0][1]}"
WAYS = (
    f"one of the pairs of methods {', '.join('/'.join(pair) for pair in PROTOCOLS)}, or "
    "step(last_reward, last_arm), or run(env), fit(env), play(env), simulate(env) or train(env); see "
    "docs/targets.md for other names"
)
WITH_CONTEXTS = (
    "a method that takes a context and chooses an arm, such as select(context), and a method that "
    "learns, such as update(context, arm, reward)"
)

NO_PULL = (
    "target: {} pulled no arm of the environment that the audit passed to it; if it generates its rewards "
    "itself, give --reward file.py:function, the function or method that returns a reward"
)


@dataclass(frozen=True)
class Way:
    """How an object is played.

    Attributes
    ----------
    kind
        ``pair``, ``step`` (one method, that is told of the last reward) or ``run`` (it pulls by itself).
    methods
        Their names.
    """

    kind: str
    methods: tuple[str, ...]

    def described(self, thing: Foreign) -> str:
        """In words, with the parameters of `thing`, a class or an object."""
        shown = [f"{name}({', '.join(own_parameters(thing, name))})" for name in self.methods]
        return {
            "pair": f"{shown[0]} chooses and {shown[-1]} learns",
            "step": f"{shown[0]} receives the last reward and chooses the next arm",
            "run": f"{shown[0]} pulls arms of an environment itself",
        }[self.kind]


def way_of(thing: Foreign, given: GivenRole) -> Way | None:
    """How `thing`, a class or an object, is played; None if it has no known methods.

    Raises
    ------
    InputError
        If it has, but none of them can be filled: why the first one cannot.
    """
    refused: InputError | None = None
    paired: set[str] = set()
    for choose, learn in _pairs(thing):
        try:
            _filled_pair(thing, choose, learn, given)
        except InputError as error:
            refused = refused or error
            paired |= {choose, learn}
        else:
            return Way("pair", (choose, learn))
    if given.contexts is not None:
        if refused is not None:
            raise refused
        return None
    for name in STEPPING:
        if has(thing, name) and _told(own_parameters(thing, name)):
            return Way("step", (name,))
    for name in RUNNING:
        if name not in paired and has(thing, name) and _runs(thing, name, given):
            return Way("run", (name,))
    if refused is not None:
        raise refused
    return None


def has(thing: Foreign, name: str) -> bool:
    """Whether a class or an object has a method of this name."""
    if name == "__call__" and inspect.isclass(thing):
        return any(name in vars(kind) for kind in thing.__mro__[:-1])
    if name == "__call__" and inspect.isroutine(thing):
        return False  # a play, whose parameters say what it is
    return callable(getattr(thing, name, None))


_PLAIN = (int, type(None))  # what methods return most, and nobody awaits

# Asked for each run, so that it is made once.
_ORDERED = tuple(
    pair
    for pair in dict.fromkeys((*PROTOCOLS, *((choose, learn) for learn in LEARNING for choose in CHOOSING)))
    if pair[0] != pair[1]
)


_NAMES = frozenset(name for pair in _ORDERED for name in pair)


@functools.lru_cache(maxsize=256)
def _pairs_of(names: frozenset[str]) -> list[tuple[str, str]]:
    """Pairs that these names make; kept, as each run asks for them."""
    return [pair for pair in _ORDERED if names.issuperset(pair)]


def _pairs(thing: Foreign) -> list[tuple[str, str]]:
    """Pairs of methods that it may be played by; those that others of them call come last."""
    found = _pairs_of(frozenset(name for name in _NAMES if has(thing, name)))
    if len(found) < 2:
        return found
    names = {name for pair in found for name in pair}
    called = {name for name in names for other in names - {name} if name in _named_in(thing, other)}
    return sorted(found, key=lambda pair: sum(name in called for name in pair))


def _named_in(thing: Foreign, name: str) -> tuple[str, ...]:
    """Names of attributes and globals that a method uses."""
    code = getattr(inspect.unwrap(getattr(thing, name)), "__code__", None)
    return code.co_names if code is not None else ()


def own_parameters(thing: Foreign, name: str) -> dict[str, inspect.Parameter]:
    """Of a method, without its object."""
    found = parameters_of(getattr(thing, name))
    if inspect.isclass(thing) and inspect.isfunction(inspect.getattr_static(thing, name)) and found:
        del found[next(iter(found))]
    return found


def _filled_pair(
    thing: Foreign, choose: str, learn: str, given: GivenRole
) -> tuple[Function[Foreign], Function[Foreign]]:
    roles = given.roles(FITS if learn == "partial_fit" else LEARNS)
    return (
        fill(getattr(thing, choose), given.roles(CHOOSES), parameters=own_parameters(thing, choose)),
        fill(getattr(thing, learn), roles, LEARNT, parameters=own_parameters(thing, learn)),
    )


def _contexts_for(thing: Foreign, way: Way, given: GivenRole) -> list[Callable[[Foreign], Foreign]]:
    """How each method is handed the context of a round: as it is, as a row of a list, or as a dictionary."""
    if given.contexts is None:
        return [lambda context: None] * 2
    known = [own_parameters(thing, name) for name in way.methods]
    named = [[one for word, one in parameters.items() if word in CONTEXT] for parameters in known]
    if any("dict" in str(parameter.annotation) for parameters in named for parameter in parameters):
        if len(given.contexts.shape) > 1:
            raise InputError(
                f"target: {way.methods[0]} takes one context as a dictionary; give --contexts D, not KxD"
            )
        return [lambda context: dict(enumerate(context))] * 2
    # A plural names a list of users' contexts, unless it is one context for each arm.
    single = len(given.contexts.shape) == 1
    rows = [single and any(p.name in _LISTS for p in parameters) for parameters in named]
    return [(lambda context: context[None]) if row else (lambda context: context) for row in rows]


_LISTS = ("contexts", "X", "feature_vectors")


def _told(parameters: dict[str, inspect.Parameter]) -> bool:
    """Whether these are those of a method that is told of the last round."""
    known = (*ARM, *REWARD, *ROUND, *GENERATOR)
    return any(name in REWARD for name in parameters) and all(
        name in known for name, parameter in parameters.items() if is_required(parameter)
    )


def _runs(thing: Foreign, name: str, given: GivenRole) -> bool:
    """Whether a method can be called with what the audit knows."""
    parameters = own_parameters(thing, name).items()
    return all(
        role_of(word, parameter, given) or word in ROUND
        for word, parameter in parameters
        if is_required(parameter)
    )


# ---------------------------------------------------------------- playing


class Loop:
    """An event loop for one run, made where something is awaited; ends what is left of it."""

    def __init__(self) -> None:
        self._runner: asyncio.Runner | None = None

    def __enter__(self) -> Loop:
        return self

    def __exit__(self, *error: object) -> None:
        if self._runner is not None:
            self._runner.close()

    def done(self, value: Foreign) -> Foreign:
        """`value`, or what it comes to if it has to be awaited."""
        if type(value) in _PLAIN or not inspect.isawaitable(value):
            return value
        self._runner = self._runner or asyncio.Runner()
        return self._runner.run(_awaited(value))


async def _awaited(value: Foreign) -> Foreign:
    return await value


def play(thing: Foreign, way: Way, supply: Supply, loop: Loop, first: Callable[[], Json]) -> None:
    """Play `thing` until all rounds are recorded; `first` is asked what its first call is told of the last.

    Raises
    ------
    InputError
        If it cannot be played to the end.
    """
    if way.kind == "step":
        _play_steps(thing, way, supply, loop, first())
    else:
        {"pair": _play_pair, "run": _play_runs}[way.kind](thing, way, supply, loop)


def _play_pair(thing: Foreign, way: Way, supply: Supply, loop: Loop) -> None:
    world = supply.world
    ask, tell = _filled_pair(thing, way.methods[0], way.methods[1], supply.given)
    lists = way.methods[1] == "partial_fit"
    # One-letter names are those of contextualbandits, which takes arrays alone.
    arrays = lists and "a" in own_parameters(thing, "partial_fit")
    shown = _contexts_for(thing, way, supply.given)
    start = getattr(thing, "startGame", None)
    if start is not None:
        start()
    if lists and callable(getattr(thing, "fit", None)):
        # It is fitted before its first choice, to one pull of every arm (MABWiser).
        arms = list(range(min(world.rewards.shape)))
        paid = [world.paid(arm) for arm in arms]
        first: dict[str, Foreign] = dict(
            zip(LEARNT, _last(world, len(arms)) if arrays else (arms, paid), strict=True)
        )
        first |= {} if world.contexts is None else {Meaning.CONTEXT: world.contexts[: len(arms)]}
        fill(thing.fit, supply.given.roles(FITS), LEARNT)(first)
    given: dict[str, Foreign] = {Meaning.OFFERED: world.listed, Meaning.GENERATOR: supply.rng}
    for t in range(len(world.pulled), world.horizon):
        context = None if world.contexts is None else world.contexts[t]
        given |= {Meaning.ROUND: t, Meaning.CONTEXT: shown[0](context)}
        arm = loop.done(ask(given))
        _check_alone(world.pulled, t, way)
        paid = world.paid(arm)
        told = _last(world, 1) if arrays else ([arm], [paid]) if lists else (arm, paid)
        given |= {Meaning.CONTEXT: shown[1](context), Meaning.ARM: told[0], Meaning.REWARD: told[1]}
        loop.done(tell(given))


def _last(world: TableWorld, count: int) -> tuple[IntArray, FloatArray]:
    """Arms and rewards of the last pulls, as plain arrays, into which tracing does not follow."""
    arms = np.array(world.pulled[-count:])
    paid = world.rewards[np.arange(len(world.pulled) - count, len(world.pulled)), arms]
    return arms, np.asarray(paid, dtype=np.float64)


def _check_alone(pulled: list[int], t: int, way: Way) -> None:
    if len(pulled) > t:
        raise InputError(
            f"target: {way.methods[0]} pulls an arm of the environment itself; rename the method to run, "
            "or return the arm without pulling it"
        )


def _play_steps(thing: Foreign, way: Way, supply: Supply, loop: Loop, first: Json) -> None:
    world, method = supply.world, getattr(thing, way.methods[0])
    last = dict(first)
    names = _kinds(own_parameters(thing, way.methods[0]))
    note(method, {name: KIND_OF.get(kind, "public") for name, kind in names.items()})
    for t in range(world.horizon):
        given: dict[str, Foreign] = {Meaning.ROUND: t, Meaning.GENERATOR: supply.rng}
        arm = loop.done(
            method(**{name: last[name] if name in last else given[kind] for name, kind in names.items()})
        )
        paid = world.paid(arm)
        last = {name: arm if kind == Meaning.ARM else paid for name, kind in names.items() if kind in LEARNT}


def _kinds(parameters: dict[str, inspect.Parameter]) -> dict[str, str]:
    roles = {Meaning.ARM: ARM, Meaning.REWARD: REWARD, Meaning.GENERATOR: GENERATOR, Meaning.ROUND: ROUND}
    found = {}
    for name in parameters:
        kind = next((kind for kind, names in roles.items() if name in names), "")
        if kind:
            found[name] = kind
    return found


def first_told(make: Callable[[], Foreign], name: str, loop: Loop) -> dict[str, Foreign]:
    """What the first call of a method that is told of the last round is given as reward and arm.

    That is the default, else None where the code goes another way with None than with a reward of 0 of arm 0,
    and goes on: it asks whether there is a reward yet. Else these are told, as if they had been there.

    Parameters
    ----------
    make
        Makes a fresh bandit.
    name
        Of the method.
    loop
        Of the calls.
    """
    parameters = own_parameters(make(), name)
    kinds = {word: kind for word, kind in _kinds(parameters).items() if kind in LEARNT}
    known = {word: parameters[word].default for word in kinds if not is_required(parameters[word])}
    asked = {word: kind for word, kind in kinds.items() if word not in known}
    plain = {word: 0 if kind == Meaning.ARM else 0.0 for word, kind in asked.items()}
    rewards = [word for word, kind in asked.items() if kind == Meaning.REWARD]
    for words in dict.fromkeys((tuple(asked), tuple(rewards))):
        absent = plain | dict.fromkeys(words)
        if words and _asks(make, name, known | absent, known | plain, loop):
            return {word: absent.get(word, known.get(word)) for word in kinds}
    return {word: plain.get(word, known.get(word)) for word in kinds}


_TRIALS = 3  # of a first call: what random numbers decide is not the same in all of them


def _asks(make: Callable[[], Foreign], name: str, absent: Json, plain: Json, loop: Loop) -> bool:
    """Whether code that is told of no reward goes on, and another way than with a plain one."""
    seen: list[list[frozenset[object]]] = []
    for told in (absent, plain):
        try:
            seen.append([_gone(make(), name, told, loop) for _ in range(_TRIALS)])
        except Exception:
            seen.append([])
    none, some = seen
    if not none:
        return False
    return not some or any(
        frozenset.intersection(*one) - frozenset.union(*other) for one, other in (seen, seen[::-1])
    )


def _gone(thing: Foreign, name: str, told: Json, loop: Loop) -> frozenset[object]:
    """The instructions of a first call; another round is played after it."""
    method, gone = getattr(thing, name), set[object]()
    kinds = _kinds(own_parameters(thing, name))
    rest: dict[str, Foreign] = {Meaning.ROUND: 0, Meaning.GENERATOR: np.random.default_rng(0)}

    def step(frame: FrameType, event: str, _: Foreign) -> Foreign:
        frame.f_trace_opcodes = True
        if event == "opcode":
            gone.add((frame.f_code, frame.f_lasti))
        return step

    def call(last: Json) -> Foreign:
        given = {word: last[word] if word in last else rest[kind] for word, kind in kinds.items()}
        return loop.done(method(**given))

    outer = sys.gettrace()
    sys.settrace(step)
    try:
        arm = call(told)
    finally:
        sys.settrace(outer)
    rest[Meaning.ROUND] = 1
    call({word: arm if kinds[word] == Meaning.ARM else 0.5 for word in told})
    return frozenset(gone)


def _play_runs(thing: Foreign, way: Way, supply: Supply, loop: Loop) -> None:
    world, method = supply.world, getattr(thing, way.methods[0])
    parameters = own_parameters(thing, way.methods[0])
    turns = [name for name in ROUND if name in parameters and name not in HORIZON]
    note(method, dict.fromkeys(turns, "public"))
    while True:
        before = len(world.pulled)
        bound = _with_round(method, dict.fromkeys(turns, before))
        finish(supply.call(bound), supply, loop)
        made = len(world.pulled) - before
        if made != 1 or len(world.pulled) >= world.horizon:
            break
    check_whole(supply, f"{way.methods[0]} of {type(thing).__name__}")


def _with_round(method: Foreign, given: dict[str, int]) -> Foreign:
    """A method whose round is filled."""
    if not given:
        return method

    def bound(**named: Foreign) -> Foreign:
        return method(**given, **named)

    signature = inspect.signature(method)
    kept = [
        parameter.replace(kind=parameter.KEYWORD_ONLY)
        for name, parameter in signature.parameters.items()
        if name not in given and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    bound.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
    return bound


def check_whole(supply: Supply, what: str) -> None:
    """Refuse a run that ended before its last round.

    Raises
    ------
    InputError
        If it did.
    """
    rounds, horizon = len(supply.world.pulled), supply.world.horizon
    if rounds == 0:
        raise InputError(NO_PULL.format(what))
    if rounds < horizon:
        raise InputError(
            f"target: {what} ended after {rounds} of {horizon} rounds; give --horizon {rounds}, or let a "
            f"parameter called {HORIZON[0]} or T set the number of rounds"
        )


@dataclass(frozen=True)
class TwoFunctions:
    """A bandit of closures: one that chooses, and one that learns."""

    select: Function[Foreign]
    update: Function[Foreign]


def finish(value: Foreign, supply: Supply, loop: Loop) -> Foreign:
    """What a call comes to: awaited, two functions as one object, a generator of arms played to its end."""
    value = loop.done(value)
    if type(value) is tuple and len(value) == 2 and all(map(callable, value)):
        return TwoFunctions(*value)
    if inspect.isgenerator(value) or inspect.isasyncgen(value):
        _play_generator(value, supply, loop)
        return None
    return value


def _play_generator(arms: Foreign, supply: Supply, loop: Loop) -> None:
    world = supply.world

    def send(value: Foreign) -> Foreign:
        return arms.send(value) if inspect.isgenerator(arms) else loop.done(arms.asend(value))

    try:
        arm = send(None)
        while True:
            paid = world.paid(arm)
            if len(world.pulled) == world.horizon:
                break
            arm = send(paid)
            if arm is None:  # `yield arm`, then `reward = yield`
                arm = send(None)
    except (StopIteration, StopAsyncIteration):
        check_whole(supply, getattr(arms, "__qualname__", "the generator"))
    finally:
        if inspect.isgenerator(arms):
            arms.close()
        else:
            loop.done(arms.aclose())
