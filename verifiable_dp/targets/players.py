"""Regret of a bandit in any of the forms that a target may have, at any number of arms and any horizon.

A form is an `Algorithm` or its class, a class of bandits (`adapters`), a function that makes one of these or
a `play` from the number of arms, the horizon and parameters, or `play` and `play_many` themselves. Code that
is not an `Algorithm` is handed the rewards of a run as a table, (T, K), that no other run sees.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.environments import Drawn, Environment, TwoPoint
from verifiable_dp.core.noise import key_of
from verifiable_dp.core.populations import Population, Users
from verifiable_dp.core.simulation import simulate
from verifiable_dp.core.validate import (
    FloatArray,
    Foreign,
    Function,
    InputError,
    IntArray,
    Json,
    Result,
    one_line,
)
from verifiable_dp.targets.adapters import (
    PLAYED,
    BanditClass,
    contextual,
    makes_bandits,
    parameters_of,
    taken,
)
from verifiable_dp.targets.guard import guarded
from verifiable_dp.targets.load import adapted
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.protocols import way_of
from verifiable_dp.targets.randomness import generator
from verifiable_dp.targets.roles import GivenRole

Made = tuple[bool, Function[Foreign]]  # (many, play)
LARGEST = 1 << 26  # entries of a table of rewards: 512 MiB
TOGETHER = "play_users"  # plays many runs, each with users of its own
_CHOICES, _REWARDS, _UNEARNED = (0,), (1,), (2,)  # paths of the streams of one seed


@dataclass(frozen=True)
class Setting:
    """Where a player is put.

    Attributes
    ----------
    n_arms, horizon
        K and T.
    parameters
        Of the algorithm, by name.
    """

    n_arms: int
    horizon: int
    parameters: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Player:
    """A target whose regret can be measured.

    Parameters
    ----------
    target
        In one of the forms of the module.
    form
        ``algorithm``, ``bandit``, ``maker`` (of any of them), ``play``, ``play_many`` or, with
        contexts, ``play_users``.
    contexts
        Form of the contexts that it is told; None for a bandit without.
    """

    target: Function[Foreign]
    form: str
    contexts: Contexts | None = None

    @classmethod
    def of(cls, target: Foreign, parameters: Json, contexts: Contexts | None = None) -> Player:
        """Recognise the form of a target that is given `parameters`.

        Raises
        ------
        InputError
            If it has none of them.
        """
        if inspect.isclass(target) and issubclass(target, Algorithm):
            return cls(target, "algorithm", contexts)
        if not callable(target):
            raise InputError(
                f"target must be an Algorithm, a class, a function that makes a bandit, play(rewards, rng) "
                f"or play_many(rewards, n_runs, rng), got an object of {type(target).__name__}"
            )
        if contexts is not None and getattr(target, "__name__", "") == TOGETHER:
            return cls(target, TOGETHER, contexts)
        if contexts is not None:
            given = GivenRole(parameters=parameters, contexts=contexts)
            return cls(target, taken(target, given)[0], contexts)
        if makes_bandits(target):
            return cls(target, "bandit" if inspect.isclass(target) else "maker")
        kind, _ = adapted(functools.partial(target, **parameters) if parameters else target)
        if kind == "release":
            raise InputError(
                "target must choose arms for a check of regret, got a mechanism that releases data"
            )
        return cls(target, kind)

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters that can be set beside the number of arms and the horizon, as far as they are named."""
        taken = ("self", "n_arms", "horizon", "rewards", "contexts", "rng", "n_runs", "seed")
        return tuple(name for name, p in self._parameters().items() if name not in taken and p.kind in _NAMED)

    def takes(self, name: str) -> bool:
        """Whether there is a parameter of this name."""
        rest = any(p.kind is p.VAR_KEYWORD for p in self._parameters().values())
        return name in self.names or rest

    def default(self, name: str) -> Foreign:
        """Default of a parameter; None without one."""
        found = self._parameters().get(name)
        return None if found is None or found.default is found.empty else found.default

    def _parameters(self) -> dict[str, inspect.Parameter]:
        return parameters_of(self.target)

    def made(self, setting: Setting) -> Algorithm | Made:
        """What is played: an `Algorithm`, or ``(many, play)``.

        Raises
        ------
        InputError
            If it cannot be made.
        """
        bound = functools.partial(self.target, **setting.parameters) if setting.parameters else self.target
        if self.form == "algorithm":
            given = {"n_arms": setting.n_arms, "horizon": setting.horizon}
            missing = [name for name in given if name not in self._parameters()]
            if missing:
                raise InputError(f"target must have the parameter {missing[0]} for a check of regret")
            made: Algorithm = _tried(lambda: self.target(**{**setting.parameters, **given}))
            if self.contexts is None:
                return made
            if not hasattr(made, "play_many"):
                raise InputError(
                    f"environments: {type(made).__name__} does not take contexts, but this population's "
                    "users have contexts"
                )
            return True, contextual(made.play_many, self.contexts)[1]
        if self.form == TOGETHER:
            return True, self.target
        if self.contexts is not None:
            kind, function = taken(
                self.target, GivenRole(parameters=setting.parameters, contexts=self.contexts)
            )
            return kind == "play_many", function
        if self.form in ("play", "play_many"):
            kind, function = adapted(bound)
            return kind == "play_many", function
        bandits = BanditClass(bound)
        if self.form == "bandit":
            return False, bandits
        rng = generator(key_of(0), 0)
        first = _tried(lambda: bandits.made(setting.n_arms, setting.horizon, rng))
        if isinstance(first, Algorithm):
            return first
        plays = inspect.isroutine(first) and "rewards" in parameters_of(first)
        if first is PLAYED or (not plays and way_of(first, GivenRole()) is not None):
            return False, bandits
        if callable(first):
            return adapted(first)[0] == "play_many", MadePlay(bandits)
        raise InputError(
            f"target: {bandits.name} must return an Algorithm, a bandit or a play function, got "
            f"{type(first).__name__}"
        )


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class MadePlay:
    """A play or play_many that is made afresh for every run."""

    bandits: BanditClass

    @property
    def __wrapped__(self) -> Function[Foreign]:
        """Where the source is."""
        return self.bandits.maker

    def __call__(self, rewards: Foreign, *rest: Foreign) -> Foreign:
        """What is made plays."""
        horizon, n_arms = rewards.shape
        return adapted(self.bandits.made(n_arms, horizon, rest[-1]))[1](rewards, *rest)


def _tried(make: Callable[[], Result]) -> Result:
    """What is made; unusable input where the code raises."""
    try:
        with guarded():
            return make()
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"target raised {one_line(error)}") from None


@dataclass(frozen=True)
class PlayerPart:
    """Runs first .. last - 1 of a player in an environment; they follow from `seed` and their numbers."""

    player: Player
    setting: Setting
    environment: Environment | Population
    seed: int
    first: int
    last: int


def regret(part: PlayerPart) -> FloatArray:
    """Pseudo-regret at the horizon of the runs of a part, (last - first,), in units of reward.

    Raises
    ------
    InputError
        If the player cannot be played, or returns no arms.
    """
    made, environment = part.player.made(part.setting), part.environment
    if isinstance(made, Algorithm):
        assert not isinstance(environment, Population)  # then `made` plays tables
        # An algorithm's runs are played together: a part holds all of them.
        return simulate(made, environment, runs=part.last - part.first, seed=part.seed, points=1).regret
    if isinstance(environment, Population):
        return np.array([environment.regret(users, arms) for users, arms in _met(made, part)])
    return np.array([_gaps(environment, arms) for arms in _played(made, part)])


def regrets(part: PlayerPart, rounds: IntArray) -> FloatArray:
    """Pseudo-regret after some rounds of the same runs, (last - first, len(rounds)).

    It plays up to the largest of them, so that it is the regret at shorter horizons of code alone that does
    not ask for the horizon.
    """
    return watched(part, rounds)[0]


def watched(part: PlayerPart, rounds: IntArray) -> tuple[FloatArray, IntArray, FloatArray]:
    """Of each run: pseudo-regret after some rounds, pulls by arm, and regret against hindsight or NaN."""
    made, environment = part.player.made(part.setting), part.environment
    assert not isinstance(made, Algorithm)  # those are simulated
    regrets, pulls, missed = [], [], []
    if isinstance(environment, Population):
        for users, arms in _met(made, part):
            regrets.append(users.regret(arms)[rounds - 1])
            pulls.append(np.bincount(arms, minlength=environment.n_arms))
            missed.append(environment.hindsight_regret(users, arms))
    else:
        for arms in _played(made, part):
            regrets.append(np.cumsum(environment.gaps[arms])[rounds - 1])
            pulls.append(np.bincount(arms, minlength=environment.n_arms))
            missed.append(np.nan)
    return np.array(regrets), np.array(pulls, dtype=np.int64), np.array(missed)


def _met(made: Made, part: PlayerPart) -> Iterator[tuple[Users, IntArray]]:
    """The users of each run of a part, and the arms that they got."""
    sampler, environment = _sampler(made, part), part.environment
    assert isinstance(environment, Population)
    streams = (generator(key_of(part.seed, _REWARDS), run) for run in range(part.first, part.last))
    if part.player.form == TOGETHER:
        yield from _together(part, [environment.draw(rng, part.setting.horizon) for rng in streams])
        return
    for run, rng in enumerate(streams, part.first):
        users = environment.draw(rng, part.setting.horizon)
        table = environment.form.table(users.contexts, users.rewards)
        yield users, _arms(sampler, table, run)


def _together(part: PlayerPart, users: Sequence[Users]) -> Iterator[tuple[Users, IntArray]]:
    """The same of a target that plays all runs of a part in one call."""
    contexts, rewards = (np.array([getattr(one, name) for one in users]) for name in ("contexts", "rewards"))
    rng = generator(key_of(part.seed, _CHOICES), part.first)
    arms = np.asarray(_tried(lambda: part.player.target(contexts, rewards, rng)))
    if arms.shape != rewards.shape[:2]:
        raise InputError(f"play_users must return arms of shape {rewards.shape[:2]}, got shape {arms.shape}")
    yield from zip(users, arms, strict=True)


def _played(made: Made, part: PlayerPart) -> Iterator[IntArray]:
    """The arms of each run of a part."""
    sampler = _sampler(made, part)
    for run in range(part.first, part.last):
        table = rewards(part.environment, part.setting.horizon, generator(key_of(part.seed, _REWARDS), run))
        yield _arms(sampler, table, run)


def _sampler(made: Made, part: PlayerPart) -> PlaySampler:
    setting, form = part.setting, part.player.contexts
    width = setting.n_arms if form is None else form.width
    if width * setting.horizon > LARGEST:
        raise InputError(
            f"horizon must be at most {LARGEST // width} for {setting.n_arms} arms, because your own code "
            f"receives the rewards as a table; got {setting.horizon}"
        )
    return PlaySampler(made[1], made[0], setting.n_arms, setting.horizon, part.seed)


def _arms(sampler: PlaySampler, table: FloatArray, run: int) -> IntArray:
    return np.asarray(sampler.actions(table, _CHOICES, np.array([run], dtype=np.int64))[0], dtype=np.int64)


def _gaps(environment: Environment, arms: IntArray) -> float:
    pulls = np.bincount(arms, minlength=environment.n_arms)
    return float(pulls @ environment.gaps)


def rewards(environment: Environment | Population, horizon: int, rng: np.random.Generator) -> FloatArray:
    """A table of rewards (T, K), with contexts beside them where users have any.

    Raises
    ------
    InputError
        If rewards of the environment cannot be drawn one by one.
    """
    if isinstance(environment, Population):
        users = environment.draw(rng, horizon)
        return environment.form.table(users.contexts, users.rewards)
    shape = (horizon, environment.n_arms)
    if isinstance(environment, TwoPoint):
        hit = rng.random(shape) < environment.probabilities
        return np.where(hit, environment.high, environment.low)
    if isinstance(environment, Drawn):
        return np.column_stack([environment.draw(rng, arm, horizon) for arm in range(environment.n_arms)])
    raise InputError(
        "environments must have rewards that are drawn one by one (bernoulli, Pareto, StudentT, Huber, "
        f"Discrete, …), got {type(environment).__name__}"
    )


def whole(player: Player, setting: Setting) -> bool:
    """Whether all runs of a cell are one part."""
    return isinstance(player.made(setting), Algorithm)


def notes(player: Player, setting: Setting, environment: Environment | Population, seed: int) -> list[str]:
    """What one run of a user's code tells: is it repeatable, does it look only at rewards that it earns?"""
    made = player.made(setting)
    if isinstance(made, Algorithm) or player.form == TOGETHER:
        return []
    sampler = _sampler(made, PlayerPart(player, setting, environment, seed, 0, 1))
    table = rewards(environment, setting.horizon, generator(key_of(seed, _REWARDS), 0))
    first = _arms(sampler, table, 0)
    if not np.array_equal(first, _arms(sampler, table, 0)):
        return ["not repeatable: the same generator gave different actions, so a rerun may differ"]
    other = rewards(environment, setting.horizon, generator(key_of(seed, _UNEARNED), 0))
    rounds = np.arange(setting.horizon)
    other[rounds, first] = table[rounds, first]
    other[:, setting.n_arms :] = table[:, setting.n_arms :]  # contexts stay
    if not np.array_equal(first, _arms(sampler, other, 0)):
        return [
            "the actions depend on rewards that the code does not earn, so it sees more than a bandit does"
        ]
    return []
