"""Bandits written as classes, played as `play(rewards, rng)` wants it.

An object that chooses and learns in turn is recognised by its pair of methods: `select`/`update` and its
variants, river's `pull`/`update`, SMPyBandits' `choice`/`getReward`, MABWiser's `predict`/`partial_fit`,
`select_action`/`update_params`. A class, or a function that makes such an object, is called with what its
parameters are named after: the number of arms, the horizon, a generator or a seed. So are its methods: with
the round, the arms, a generator, the arm that was chosen and its reward. Any other parameter that must be
given, such as a context, ends the audit: what to give is not known here.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from verifiable_dp.core.validate import InputError

# Methods that choose and that learn, in the order in which they are looked for.
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
_ARMS = ("n_arms", "arms", "k", "K", "nb_arms", "nbArms", "num_arms", "n_actions", "n_bandits")
_HORIZON = ("horizon", "T", "n_rounds", "rounds", "n_steps")
_GENERATOR = ("rng", "generator", "random_generator")
_SEED = ("seed", "random_state", "random_seed")
# What parameters of methods are named after; rounds count from 0.
_ROUND = ("t", "round", "step", "time", "trial", "iteration", "timestep", "time_step", "round_number")
_OFFERED = ("arm_ids", "arms", "actions")
_ARM = ("arm", "arm_id", "action", "chosen_arm", "arm_index", "decision", "choice", "a")
_REWARD = ("reward", "observed_reward", "payoff", "r")
_CHOOSES = {"the round": _ROUND, "the list of arms": _OFFERED, "a generator": _GENERATOR}
_LEARNS = {"the arm": _ARM, "the reward": _REWARD, "the round": _ROUND, "a generator": _GENERATOR}
_FITS = {"the arm": ("decisions",), "the reward": ("rewards",)}  # lists of them
_ALWAYS = ("the arm", "the reward", "a generator")  # they are given even where there is a default
# What bandits compute with: tracing has its own view of it.
_NUMERICAL = frozenset(
    ("numpy", "scipy", "pandas", "sklearn", "numba", "joblib", "matplotlib", "torch", "jax", "verifiable_dp")
)
_MOST_PARTS = 1000  # objects of one bandit that are looked into


def parameters_of(maker: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Parameters by name; empty if they cannot be told."""
    try:
        return dict(inspect.signature(maker).parameters)
    except (TypeError, ValueError):
        return {}


def makes_bandits(maker: Any) -> bool:
    """Whether `maker` is a class with a known pair of methods, or a function that names `n_arms` first."""
    if inspect.isclass(maker):
        return any(hasattr(maker, choose) and hasattr(maker, learn) for choose, learn in PROTOCOLS)
    names = list(parameters_of(maker))
    return bool(names) and names[0] in _ARMS


@dataclass(frozen=True)
class BanditClass:
    """`play(rewards, rng)` around a class or a function that makes a bandit.

    Parameters
    ----------
    maker
        Called for every run.

    Raises
    ------
    InputError
        When played, if a parameter of `maker` is not known, or the object has no known pair of methods.
    """

    maker: Callable[..., Any]

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """Where the source is."""
        return self.maker

    @property
    def name(self) -> str:
        """Of the maker."""
        return str(getattr(self.maker, "__qualname__", self.maker))

    @property
    def modules(self) -> tuple[ModuleType, ...]:
        """Installed modules that the code of its bandits is in, which tracing follows; none if it fails."""
        try:
            return modules_of(self.made(2, 64, np.random.default_rng(0)))
        except Exception:  # the first run tells why
            return ()

    def __call__(self, rewards: Any, rng: Any) -> Any:
        """Play one run: rewards (T, K), arms (T,)."""
        horizon, n_arms = rewards.shape
        bandit = self.made(n_arms, horizon, rng)
        choose, learn = self._methods(bandit)
        lists = learn.__name__ == "partial_fit"
        ask, tell = _filled(choose, _CHOOSES), _filled(learn, _FITS if lists else _LEARNS, _LEARNT)
        start = getattr(bandit, "startGame", None)
        if start is not None:
            start()
        arms = _fitted(bandit, rewards) if lists else []
        given = {"the list of arms": list(range(n_arms)), "a generator": rng}
        for t in range(len(arms), horizon):
            given["the round"] = t
            arm = ask(given)
            paid = rewards[t, int(arm)]
            told = ([arm], [paid]) if lists else (arm, paid)
            tell({**given, "the arm": told[0], "the reward": told[1]})
            arms.append(int(arm))
        return np.array(arms)

    def made(self, n_arms: int, horizon: int, rng: Any) -> Any:
        """A fresh bandit."""
        given: dict[str, Any] = {}
        for name, parameter in parameters_of(self.maker).items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            if name in _ARMS:
                given[name] = list(range(n_arms)) if name == "arms" else n_arms
            elif name in _HORIZON:
                given[name] = horizon
            elif name in _GENERATOR:
                given[name] = rng
            elif name in _SEED:
                given[name] = int(rng.integers(2**31))
            elif parameter.default is parameter.empty:
                raise InputError(
                    f"target: parameter {name} of {self.name} must have a default, or be named after "
                    f"the number of arms ({_ARMS[0]}), the horizon ({_HORIZON[0]}), "
                    "a generator (rng) or a seed"
                )
        return self.maker(**given)

    def _methods(self, bandit: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
        for choose, learn in PROTOCOLS:
            if callable(getattr(bandit, choose, None)) and callable(getattr(bandit, learn, None)):
                return getattr(bandit, choose), getattr(bandit, learn)
        known = ", ".join("/".join(pair) for pair in PROTOCOLS)
        raise InputError(f"target: {type(bandit).__name__} must have one of the pairs of methods {known}")


def modules_of(bandit: Any) -> tuple[ModuleType, ...]:
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


def _parts(value: Any) -> Iterator[Any]:
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
        library = file.endswith(".py") and ("site-packages" in file or "dist-packages" in file)
        if name and module and library and name.split(".")[0] not in _NUMERICAL:
            found[name] = module
    return found


def _fitted(bandit: Any, rewards: Any) -> list[int]:
    """Arms that are played in turn before the first choice of a bandit that is fitted first (MABWiser)."""
    if not callable(getattr(bandit, "fit", None)):
        return []
    arms = list(range(min(rewards.shape)))
    fit = _filled(bandit.fit, _FITS, _LEARNT)
    fit({"the arm": arms, "the reward": [rewards[t, arm] for t, arm in enumerate(arms)]})
    return arms


_LEARNT = ("the arm", "the reward")
_PLACED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _filled(
    method: Callable[..., Any], roles: Mapping[str, tuple[str, ...]], usual: tuple[str, ...] = ()
) -> Callable[[Mapping[str, Any]], Any]:
    """`method` as a function of values by their role, each given to the parameter that is named after it.

    Parameters
    ----------
    method
        Of a bandit.
    roles
        Names of parameters by what they stand for.
    usual
        Roles by place, for a method whose parameters cannot be told and for ``*args``.

    Raises
    ------
    InputError
        If a parameter that must be given is named after none of them, or there is none for the reward.
    """
    placed: list[str] = []
    named: dict[str, str] = {}
    gap = False  # a parameter was left out: those that follow are given by name
    parameters = parameters_of(method)
    for name, parameter in parameters.items():
        role = next((role for role, names in roles.items() if name in names), "")
        if parameter.kind is parameter.VAR_POSITIONAL:
            placed += [] if gap else [role for role in usual if role not in placed]
        elif parameter.kind is parameter.VAR_KEYWORD:
            continue
        elif parameter.default is not parameter.empty and role not in _ALWAYS:
            gap = gap or parameter.kind in _PLACED
        elif not role:
            raise _unknown(method, f"parameter {name} is not recognised", roles)
        elif parameter.kind in _PLACED and not gap:
            placed.append(role)
        else:
            named[name] = role
    if not parameters:
        placed = list(usual)
    if usual and "the reward" not in [*placed, *named.values()]:
        raise _unknown(method, "no parameter is recognised as the reward", roles)
    return lambda given: method(
        *[given[role] for role in placed], **{name: given[role] for name, role in named.items()}
    )


def _unknown(method: Callable[..., Any], what: str, roles: Mapping[str, tuple[str, ...]]) -> InputError:
    known = "; ".join(f"{role} ({', '.join(names)})" for role, names in roles.items())
    return InputError(
        f"target: {getattr(method, '__qualname__', method)}: {what}; recognised are {known}; rename it, give "
        "it a default, or write play(rewards, rng) around the class"
    )
