"""What parameters of a user's code are named after, and how they are filled.

A class, a function and each method are called with what their parameters are named after. What has no known
name keeps its default; without a default it has to be given by name, with ``--set NAME=VALUE``.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.filled import note
from verifiable_dp.core.validate import Foreign, Function, InputError, Json
from verifiable_dp.targets.tables import TableEnvironment, TableWorld

ARMS = (
    *("n_arms", "arms", "k", "K", "nb_arms", "nbArms", "num_arms", "n_actions", "n_bandits", "narms"),
    *("num_actions", "number_of_arms", "n_arm"),
)
HORIZON = (
    *("horizon", "T", "n_rounds", "rounds", "n_steps", "num_rounds", "time_horizon", "num_steps"),
    *("n_iterations", "num_iterations", "total_rounds", "n_pulls", "n_timesteps", "max_steps"),
)
GENERATOR = ("rng", "generator", "random_generator")
SEED = ("seed", "random_state", "random_seed")
ENVIRONMENT = (
    *("env", "environment", "bandit", "mab", "game", "simulator", "machine", "testbed", "bandit_env"),
    *("simulation", "world", "problem", "bandits"),
)
PULLER = ("pull", "pull_arm", "reward_fn", "reward_func", "reward_function", "get_reward", "sample_reward")
CONFIG = ("config", "params", "args", "cfg", "opt", "options", "conf", "hparams", "settings", "opts")
EPSILON = ("epsilon", "eps", "dp_epsilon", "epsilon_dp", "privacy_budget", "privacy_epsilon", "dp_eps")
DELTA = ("delta", "dp_delta")
MEANS = ("means", "mu", "probs", "true_means", "arm_means", "probabilities", "reward_means", "theta")
DIMENSION = (
    *("d", "dim", "dimension", "n_features", "num_features", "n_dims", "context_dim", "context_dimension"),
    *("context_size", "feature_dim", "n_context_features", "dim_context", "ndim", "n_dim"),
)

# What parameters of methods are named after; rounds count from 0.
ROUND = ("t", "round", "step", "time", "trial", "iteration", "timestep", "time_step", "round_number", "rnd")
OFFERED = ("arm_ids", "arms", "actions")
# Names that often mean something else, which is why they keep a default.
_WEAK_ARM = (
    *("chosen", "index", "idx", "i", "j", "k"),
    *("dose", "route", "item", "option", "variant", "treatment", "slot", "lever", "ad", "page", "product"),
)
_WEAK_REWARD = (
    *("value", "gain", "x"),
    *("response", "score", "revenue", "click", "result", "profit", "utility", "y", "rating", "success"),
)
ARM = (
    *(
        "arm",
        "arm_id",
        "action",
        "chosen_arm",
        "arm_index",
        "decision",
        "choice",
        "a",
        "last_arm",
        "prev_arm",
    ),
    *("previous_arm", "last_action", "prev_action", "selected_arm", "pulled_arm", "played_arm", "arm_idx"),
    *_WEAK_ARM,
)
REWARD = (
    *("reward", "observed_reward", "payoff", "r", "last_reward", "prev_reward", "previous_reward", "rew"),
    *("outcome", "payout", "reward_value"),
    *_WEAK_REWARD,
)
CONTEXT = (
    *("context", "contexts", "features", "feature", "user", "user_features", "observation", "obs", "x_t"),
    *("ctx", "context_vector", "feature_vector", "feature_vectors", "state", "covariates", "X", "x"),
)


class Meaning(StrEnum):
    """What a parameter stands for, as it is called in messages."""

    ARM = "the arm"
    REWARD = "the reward"
    CONTEXT = "the context"
    ROUND = "the round"
    OFFERED = "the list of arms"
    GENERATOR = "a generator"
    SEED = "a seed"
    ARMS = "the arms"
    N_ARMS = "the number of arms"
    DIMENSION = "the dimension"
    HORIZON = "the horizon"
    ENVIRONMENT = "the environment"
    PULLER = "the function that pays"
    CONFIG = "the configuration"
    EPSILON = "epsilon of the claim"
    DELTA = "delta of the claim"
    MEANS = "means, all .5"
    OBJECT = "an object of parameters"  # a dataclass whose fields are filled
    SET = "--set"


_LAST_BITS = 2.0**-50
CHOOSES: Mapping[str, tuple[str, ...]] = {
    Meaning.ROUND: ROUND,
    Meaning.OFFERED: OFFERED,
    Meaning.GENERATOR: GENERATOR,
}
LEARNS: Mapping[str, tuple[str, ...]] = {
    Meaning.ARM: ARM,
    Meaning.REWARD: REWARD,
    Meaning.ROUND: ROUND,
    Meaning.GENERATOR: GENERATOR,
}
FITS: Mapping[str, tuple[str, ...]] = {
    Meaning.ARM: ("decisions", "a"),
    Meaning.REWARD: ("rewards", "r"),
}  # lists of them
LEARNT = (Meaning.ARM, Meaning.REWARD)
_ALWAYS = (*LEARNT, Meaning.GENERATOR, Meaning.CONTEXT)  # they are given even where there is a default
_WEAK = (*_WEAK_ARM, *_WEAK_REWARD)
# What a role is for bounds on what the code gives away; any other is a number that is the same in every run.
KIND_OF: Mapping[str, str] = {
    Meaning.GENERATOR: "generator",
    Meaning.SEED: "seed",
    Meaning.ARM: "drawn",
    Meaning.REWARD: "data",
    Meaning.CONTEXT: "data",
    Meaning.ENVIRONMENT: "environment",
    Meaning.PULLER: "environment",
    Meaning.CONFIG: "environment",
}
_PLACED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_REST = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def parameters_of(maker: Foreign) -> dict[str, inspect.Parameter]:
    """Parameters by name; empty if they cannot be told."""
    bound = inspect.ismethod(maker)
    code: Foreign = maker.__func__ if bound else maker
    kept = inspect.isfunction(code) or (inspect.isclass(code) and not bound)
    try:
        if kept:
            return dict(_signed(code, bound))
        return dict(inspect.signature(maker).parameters)
    except (TypeError, ValueError):
        return {}


@functools.lru_cache(maxsize=256)
def _signed(function: Foreign, bound: bool) -> Mapping[str, inspect.Parameter]:
    """Parameters of a function or class, or of a function's method; kept, as each run asks for them.

    A class that takes any and hands them on has those of the class above it, too.
    """
    found = inspect.signature(types.MethodType(function, ...) if bound else function).parameters
    if not inspect.isclass(function) or {one.kind for one in found.values()} & {*_REST} != {*_REST}:
        return found
    makers = [kind for kind in function.__mro__[1:-1] if "__init__" in vars(kind)]
    hands_on = "super" in getattr(function.__init__, "__code__", _NO_CODE).co_names
    own = {name: one for name, one in found.items() if one.kind not in _REST}
    return {**own, **_signed(makers[0], False)} if makers and hands_on else found


_NO_CODE = (lambda: None).__code__


def is_required(parameter: inspect.Parameter) -> bool:
    """Whether a call has to give it."""
    return parameter.default is parameter.empty and parameter.kind not in _REST


class MissingError(InputError, AttributeError, KeyError):
    """A key that nothing is known of; an `AttributeError` too, so that `hasattr` and defaults work."""


@dataclass(frozen=True)
class GivenRole:
    """What the audit knows and a user's code may ask for.

    Parameters
    ----------
    epsilon, delta
        Of the claim.
    parameters
        By name, as ``--set`` gives them.
    reward
        The function whose rewards the table replaces, as ``module:function``; empty for none.
    contexts
        Form of the contexts that are handed over; None for a bandit without.
    epsilon_parameter
        The parameter that is epsilon, where it is not named after it; empty for none.
    handed
        Names of parameters and keys that were handed to the code, of those that are set or are epsilon.
    """

    epsilon: float | None = None
    delta: float = 0.0
    parameters: Json = field(default_factory=dict)
    reward: str = ""
    contexts: Contexts | None = None
    epsilon_parameter: str = ""
    handed: set[str] = field(default_factory=set, compare=False, repr=False)

    def roles(self, of: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
        """Roles of parameters of methods, with that of the context if there are contexts."""
        return of if self.contexts is None else {Meaning.CONTEXT: CONTEXT, **of}


@dataclass(frozen=True)
class Supply:
    """Fills parameters for one run.

    Parameters
    ----------
    given
        What the audit knows.
    world
        Where the run is played.
    rng
        Its generator.
    """

    given: GivenRole
    world: TableWorld
    rng: Foreign

    def call(self, function: Function[Foreign]) -> Foreign:
        """`function` with its parameters filled.

        Raises
        ------
        InputError
            If one is required and not known.
        """
        placed: list[Foreign] = []
        named: dict[str, Foreign] = {}
        known = filled(function, self.given)
        note(function, {name: KIND_OF.get(role, "public") for name, (_, role) in known.items()})
        for name, (parameter, role) in known.items():
            value = self.value(role, name, parameter)
            if parameter.kind is parameter.POSITIONAL_ONLY:
                placed.append(value)
            else:
                named[name] = value
        return function(*placed, **named)

    def value(self, role: str, name: str, parameter: inspect.Parameter | None = None) -> Foreign:
        """What stands for a role."""
        world = self.world
        if role in (Meaning.SET, Meaning.EPSILON):
            self.given.handed.add(name)
        if role == Meaning.SEED:
            drawn = self.rng.integers(2**31)
            if type(drawn) is np.int64:
                return int(drawn)
            if hasattr(drawn, "is_handed"):
                drawn.is_handed = True
            return drawn  # a draw that is followed stays one
        if role == Meaning.OBJECT:
            assert parameter is not None
            return self.call(parameter.annotation)
        makers: dict[str, Callable[[], Foreign]] = {
            Meaning.SET: lambda: self.given.parameters[name],
            Meaning.ARMS: lambda: world.listed,
            Meaning.N_ARMS: lambda: world.n_arms,
            Meaning.DIMENSION: lambda: self.given.contexts.dimension if self.given.contexts else 0,
            Meaning.HORIZON: lambda: world.horizon,
            Meaning.GENERATOR: lambda: self.rng,
            Meaning.ENVIRONMENT: lambda: TableEnvironment(world, self.rng),
            Meaning.PULLER: lambda: getattr(TableEnvironment(world, self.rng), name),
            Meaning.CONFIG: lambda: Config(self),
            Meaning.EPSILON: lambda: self.given.epsilon,
            Meaning.DELTA: lambda: self.given.delta,
            Meaning.MEANS: lambda: self._means(),
        }
        found = makers[role]()
        if role == Meaning.SET and name in MEANS:
            self._note(found)
        return found

    def _means(self) -> Foreign:
        """Means of .5; of code that pays by itself their last bits differ, so that each names its arm."""
        made = np.full(self.world.n_arms, 0.5)
        if self.given.reward:
            made -= _LAST_BITS * np.arange(self.world.n_arms)
            self._note(made)
        return made

    def _note(self, means: Foreign) -> None:
        """Keep means that tell the arms apart."""
        try:
            values = [float(value) for value in means]
        except (TypeError, ValueError):
            return
        if len({*values}) == self.world.n_arms:
            self.world.means = values


def filled(
    function: Function[Foreign], given: GivenRole, *, lenient: bool = False
) -> dict[str, tuple[inspect.Parameter, str]]:
    """Parameters of a maker that are given, with the role of each.

    Raises
    ------
    InputError
        If one is required and not known, unless `lenient`: then its role is empty.
    """
    found = {}
    for name, parameter in parameters_of(function).items():
        if parameter.kind in _REST:
            continue
        role = role_of(name, parameter, given)
        if role:
            found[name] = (parameter, role)
        elif is_required(parameter):
            if not lenient:
                raise InputError(missing(name, getattr(function, "__qualname__", str(function))))
            found[name] = (parameter, "")
    return found


def missing(name: str, where: str) -> str:
    """What is said of a parameter that nothing is known of."""
    if name in EPSILON:
        return (
            f"target: parameter {name} of {where} must be given: --set {name}=VALUE (in Python parameters=)"
        )
    return (
        f"target: parameter {name} of {where} must have a default, or be named after "
        f"the number of arms ({ARMS[0]}), the horizon ({HORIZON[0]}), a generator (rng), a seed, an "
        f"environment (env), a configuration (config) or epsilon; give --set {name}=VALUE, "
        f"or --epsilon-parameter {name} if it is epsilon"
        f"{', or --contexts D if the bandit takes contexts of that dimension' if name in DIMENSION else ''}"
    )


def role_of(name: str, parameter: inspect.Parameter | None, given: GivenRole) -> str:
    """What a parameter of a maker, or a key of a configuration (None), is filled with; empty for nothing."""
    if name in given.parameters:
        return Meaning.SET
    if given.epsilon_parameter == name and given.epsilon is not None:
        return Meaning.EPSILON
    first: tuple[tuple[tuple[str, ...], str], ...] = (
        (HORIZON, Meaning.HORIZON),
        (GENERATOR, Meaning.GENERATOR),
        (SEED, Meaning.SEED),
    )
    for names, role in first:
        if name in names:
            # No run has a horizon of 0: such a field of a dataclass counts rounds.
            default = parameter.default if parameter is not None else None
            counts = names is HORIZON and type(default) in (int, float) and not default
            return "" if counts else role
    if given.contexts is not None and name in DIMENSION:
        return Meaning.DIMENSION
    if name in ARMS:
        return Meaning.ARMS if name == "arms" else Meaning.N_ARMS
    if parameter is not None and not is_required(parameter):
        # An environment is made by the code itself where its default is None.
        return Meaning.ENVIRONMENT if name in ENVIRONMENT and parameter.default is None else ""
    if name in EPSILON and given.epsilon is not None:
        return Meaning.EPSILON
    if name in DELTA:
        return Meaning.DELTA
    if parameter is not None and dataclasses.is_dataclass(parameter.annotation):
        return Meaning.OBJECT
    others: tuple[tuple[tuple[str, ...], str], ...] = (
        (ENVIRONMENT, Meaning.ENVIRONMENT),
        (PULLER, Meaning.PULLER),
        (CONFIG, Meaning.CONFIG),
        (MEANS, Meaning.MEANS),
    )
    for names, role in others:
        if name in names and (parameter is not None or role != Meaning.CONFIG):
            return role
    return ""


class Config(dict[str, Foreign]):
    """A configuration that answers known names, by key and by attribute; others have to be given.

    Parameters
    ----------
    supply
        Of the run.
    """

    def __init__(self, supply: Supply) -> None:
        super().__init__(supply.given.parameters)
        self.__dict__["_supply"] = supply

    def __getitem__(self, key: str) -> Foreign:
        self._supply.given.handed.add(key)
        return super().__getitem__(key)

    def __missing__(self, key: str) -> Foreign:
        role = role_of(key, None, self._supply.given)
        if not role:
            raise MissingError(
                f"target: its code asks the configuration for {key}, for which we have no value; give "
                f"--set {key}=VALUE"
            )
        value = self[key] = self._supply.value(role, key)
        return value

    def __getattr__(self, name: str) -> Foreign:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name: str, value: Foreign) -> None:
        self[name] = value

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or bool(role_of(str(key), None, self._supply.given))

    def get(self, key: str, default: Foreign = None) -> Foreign:
        """As of a dict, of what is known, too."""
        return self[key] if key in self else default  # noqa: SIM401 - the other is this method


def fill(
    method: Function[Foreign],
    roles: Mapping[str, tuple[str, ...]],
    usual: tuple[str, ...] = (),
    parameters: Mapping[str, inspect.Parameter] | None = None,
) -> Callable[[Mapping[str, Foreign]], Foreign]:
    """`method` as a function of values by their role, each given to the parameter that is named after it.

    Parameters
    ----------
    method
        Of a bandit.
    roles
        Names of parameters by what they stand for.
    usual
        Roles by place, for a method whose parameters cannot be told and for ``*args``.
    parameters
        Of the method, where they are known.

    Raises
    ------
    InputError
        If a parameter that must be given is named after none of them, or there is none for the reward.
    """
    placed: list[str] = []
    named: dict[str, str] = {}
    gap = False  # a parameter was left out: those that follow are given by name
    parameters = parameters_of(method) if parameters is None else parameters
    for name, parameter in parameters.items():
        role = next((role for role, names in roles.items() if name in names), "")
        if parameter.kind is parameter.VAR_POSITIONAL:
            placed += [] if gap else [role for role in usual if role not in placed]
        elif parameter.kind is parameter.VAR_KEYWORD:
            continue
        elif parameter.default is not parameter.empty and (role not in _ALWAYS or name in _WEAK):
            gap = gap or parameter.kind in _PLACED
        elif not role:
            raise _unknown(method, f"we do not recognise parameter {name}", roles)
        elif parameter.kind in _PLACED and not gap:
            placed.append(role)
        else:
            named[name] = role
    if not parameters:
        placed = list(usual)
    if usual and Meaning.REWARD not in [*placed, *named.values()]:
        raise _unknown(method, "we recognise no parameter as the reward", roles)
    by_place = zip([name for name, one in parameters.items() if one.kind in _PLACED], placed, strict=False)
    note(method, {name: KIND_OF.get(role, "public") for name, role in (*by_place, *named.items())})
    if len(placed) > 1 and not named:  # called each round
        told = operator.itemgetter(*placed)
        return lambda given: method(*told(given))
    return lambda given: method(
        *[given[role] for role in placed], **{name: given[role] for name, role in named.items()}
    )


def _unknown(method: Function[Foreign], what: str, roles: Mapping[str, tuple[str, ...]]) -> InputError:
    known = "; ".join(f"{role} ({', '.join(names)})" for role, names in roles.items())
    contexts = Meaning.CONTEXT in roles
    play = "play(contexts, rewards, rng)" if contexts else "play(rewards, rng)"
    hint = "" if contexts else "; if it takes contexts, give their dimension with --contexts D"
    return InputError(
        f"target: {getattr(method, '__qualname__', method)}: {what}; we recognise {known}; rename the "
        f"parameter, give it a default, or wrap the class in {play}{hint}"
    )
