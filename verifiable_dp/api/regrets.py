"""Checks of a regret claim, and simulations."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Collection, Mapping, Sequence
from typing import TypedDict, Unpack

import numpy as np

from verifiable_dp.api.isolation import Made, isolated
from verifiable_dp.api.naming import Target, given_parameters, instance, listed, mapping, name_of, resolve
from verifiable_dp.auditing import asking, pilot_runs
from verifiable_dp.auditing import regret as claims_of_regret
from verifiable_dp.auditing.plans import BUDGETS, Progress, most_of_regret, silent
from verifiable_dp.auditing.regret import RegretOptions, regret_only
from verifiable_dp.core import engine, simulation, validate
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.contexts import Contexts, shape_of, words_of
from verifiable_dp.core.environments import Environment, bernoulli
from verifiable_dp.core.populations import Population, usual
from verifiable_dp.core.validate import Given, InputError, Json, JsonDict, instead, named_arguments
from verifiable_dp.record import requested, requests
from verifiable_dp.record.requests import RequestEntry
from verifiable_dp.registry import entries as registry
from verifiable_dp.report import Report
from verifiable_dp.targets import load as targets
from verifiable_dp.targets import players
from verifiable_dp.targets.cage import Caged
from verifiable_dp.targets.players import Player, PlayerPart
from verifiable_dp.targets.process import Exec
from verifiable_dp.targets.roles import EPSILON


@named_arguments
def check_regret(
    target: Target,
    *,
    budget: str = "quick",
    seed: int = 0,
    workers: int = 1,
    in_process: bool = False,
    progress: Progress = silent,
    **claims: Unpack[RegretOptions],
) -> Report:
    """Test the regret theorems of a catalogue algorithm, or your own claims about any algorithm.

    Without `bound`, `scaling` and `better_than`, the claims are those from the catalogue algorithm's papers.

    Parameters
    ----------
    target
        An algorithm from `make`, or a catalogue name (without claims, we use the parameters of the
        algorithm's experiments). With claims, also a subclass of `Algorithm` or an instance of one, a class
        of bandits (`select`/`update` or similar methods), `make(n_arms, horizon, **parameters)` that returns
        an object of this kind, `play(rewards, rng) -> (T,)`, `play_many(rewards, n_runs, rng)`, or the
        ``file.py:name`` or ``package.module:name`` of any of these.
    budget
        ``quick``, ``standard`` or ``thorough``.
    seed, workers, in_process
        See `audit`.
    progress
        Called with a line of text at each stage.
    claims
        Your own claims and the instances on which we test them, by name: see `RegretOptions`.

    Returns
    -------
    Report
        `regret_verdict` is ``consistent``, ``contradicted``, ``vacuous`` (the claim cannot fail) or
        ``inconclusive``.

    Raises
    ------
    InputError
        If an argument is unusable (the message names the argument and the accepted values), or if you give
        no claims and the algorithm has no auditor.
    """
    validate.choice("budget", budget, BUDGETS)
    seed, workers = validate.integer("seed", seed, least=0), validate.workers(workers)
    given, cage = claims.pop("request", None), claims.pop("cage", "none")
    asked = _asked_regret(claims)
    task = functools.partial(_measured, target, asked, budget, seed, workers)
    code = [target, claims.get("bound"), claims.get("better_than")]
    new = ask_regret(target, budget=budget, seed=seed, **claims)
    written = requested.settled(given, new)
    runs = 0 if asked.runs is None else validate.integer("runs", asked.runs, least=2)
    caged = Caged(cage, seconds=most_of_regret(runs))
    return isolated(task, code, in_process, progress, caged, written)


@named_arguments
def ask_regret(
    target: Target, *, budget: str = "quick", seed: int = 0, **claims: Unpack[RegretOptions]
) -> RequestEntry:
    """Like `ask`, for `check_regret`.

    Raises
    ------
    InputError
        If an argument is unusable.
    """
    asked = _asked_regret(claims)
    mapping(asked.parameters)
    return requests.made(asking.of_regret(target, name_of(target), asked, budget, seed), None)


def _asked_regret(claims: RegretOptions) -> claims_of_regret.Asked:
    own: JsonDict = {name: value for name, value in claims.items() if name not in ("request", "cage")}
    return claims_of_regret.Asked(**own)


class Own(TypedDict, total=False):
    """Horizon and parameters of a user's own code, as `simulate` takes them."""

    horizon: int | None
    parameters: Json | None


@named_arguments
def simulate(
    algorithm: Target,
    environment: Environment | Population,
    *,
    runs: int = 30,
    seed: int = 0,
    workers: int = 1,
    points: int = 200,
    **own: Unpack[Own],
) -> simulation.Simulation:
    """Play independent runs of an algorithm in a stochastic environment, or on users with contexts.

    Parameters
    ----------
    algorithm
        An algorithm (from `make`, or your own subclass), a catalogue name, or your own code in any form that
        `check_regret` takes.
    environment
        An environment with as many arms as the algorithm or, for code that receives contexts, a population.
    runs
        Number of independent runs.
    seed
        Whole number; the same seed gives the same result, whatever `workers` is.
    workers
        Number of threads or processes (joblib's `n_jobs`).
    points
        Number of rounds at which the curve is recorded.
    own
        `horizon` and `parameters` of your own code.

    Returns
    -------
    Simulation
        Regret in units of reward.

    Raises
    ------
    InputError
        If an argument is out of range, or the environment does not fit the algorithm.
    """
    horizon, parameters = own.get("horizon"), own.get("parameters")
    if not isinstance(environment, Population) and not hasattr(environment, "gaps"):
        raise InputError(
            "environment must be one of vdp.environments, such as bernoulli([0.9, 0.5]), or of "
            f"vdp.populations, got {type(environment).__name__}"
        )
    if isinstance(algorithm, str) and listed(algorithm):
        given = {"n_arms": environment.n_arms, "horizon": horizon}
        algorithm = instance(algorithm, **{**given, **given_parameters(mapping(parameters), given)})
        horizon = parameters = None
    common = {"runs": runs, "seed": seed, "workers": workers, "points": points}
    if isinstance(algorithm, Algorithm) and not isinstance(environment, Population):
        if horizon is not None or parameters is not None:
            raise InputError("horizon and parameters must be set when the algorithm is created")
        return simulation.simulate(algorithm, environment, **common)
    form = environment.form if isinstance(environment, Population) else None
    whole = getattr(algorithm, players.TOGETHER, None) if form is not None else None
    horizon = getattr(algorithm, "horizon", horizon) if whole is not None else horizon
    target = algorithm if whole is None else whole
    subject = _subject(target, environment.n_arms, horizon, mapping(parameters), form)
    made = subject.player.made(subject.setting)
    if isinstance(made, Algorithm) and not isinstance(environment, Population):
        return simulation.simulate(made, environment, **common)
    return _simulated(subject, environment, **common)


def _simulated(
    subject: claims_of_regret.RegretSubject,
    environment: Environment | Population,
    *,
    runs: int,
    seed: int,
    workers: int,
    points: int,
) -> simulation.Simulation:
    """As `simulate`, of what is not played together."""
    runs, workers = validate.integer("runs", runs, least=1), validate.workers(workers)
    seed = validate.integer("seed", seed, least=0)
    if subject.setting.n_arms != environment.n_arms:
        raise InputError(f"environment must have {subject.setting.n_arms} arms, got {environment.n_arms}")
    rounds = simulation.checkpoints(subject.setting.horizon, validate.integer("points", points, least=2))
    size = claims_of_regret.SHARD
    parts = [
        PlayerPart(subject.player, subject.setting, environment, seed, first, min(first + size, runs))
        for first in range(0, runs, size)
    ]
    found = dict(engine.run(functools.partial(players.watched, rounds=rounds), parts, workers=workers))
    regrets, pulls, missed = (
        np.concatenate(column) for column in zip(*(found[i] for i in range(len(parts))), strict=True)
    )
    told = missed if isinstance(environment, Population) else None
    return simulation.Simulation(regrets[:, -1], pulls, rounds, regrets, None, np.zeros((runs, 0)), told)


def _measured(
    target: Target, asked: claims_of_regret.Asked, budget: str, seed: int, workers: int, progress: Progress
) -> Made:
    """What a check of claims about regret finds."""
    targets.check_imported(target, workers)
    started, cpu = time.time(), time.process_time()
    if asked.own:
        claimed = _claimed(target, asked, budget, seed, workers)
        draft = claims_of_regret.check_claims(
            *claimed, budget=budget, seed=seed, workers=workers, progress=progress
        )
    else:
        algorithm = _with_theorems(target)
        for name in asked.details():
            raise InputError(f"{name} needs a claim of your own: bound, scaling or better_than")
        progress("regret checks")
        draft = regret_only(algorithm, budget=budget, seed=seed, workers=workers)
    return {"draft": draft, "started": started, "cpu_seconds": time.process_time() - cpu}


def _with_theorems(target: Target) -> Algorithm:
    """A catalogue algorithm.

    Raises
    ------
    InputError
        If it is the user's own code, whose theorems are not known.
    """
    if isinstance(target, str) and ":" not in target:
        auditor = registry.auditor(target)
        return auditor.algorithm(**(auditor.experiment or auditor.instance))
    if not isinstance(target, Algorithm):
        raise InputError(
            "bound, scaling or better_than must be given: we do not know the claims of your own code"
        )
    return target


def _claimed(
    target: Target, asked: claims_of_regret.Asked, budget: str, seed: int, workers: int
) -> tuple[claims_of_regret.RegretSubject, claims_of_regret.Claims]:
    """What is checked of whom, and at which horizons."""
    parameters, n_arms = asked.parameters, asked.n_arms
    mapping(parameters)
    given = _instances(asked.environments) if asked.contexts is None else _populations(asked)
    if given and n_arms is None:
        n_arms = given[0].n_arms
    form = given[0].form if given and isinstance(given[0], Population) else None
    sized = isinstance(target, Algorithm) or (isinstance(target, str) and ":" not in target)
    horizon = asked.horizon if sized else pilot_runs.chosen_horizon(asked, n_arms)
    subject = _subject(target, n_arms, horizon, parameters or {}, form)
    rival = None if asked.better_than is None else _rival(asked.better_than, subject, asked.rival_parameters)
    found = claims_of_regret.claims_of(subject, asked, given, rival, budget)
    free = horizon != asked.horizon
    return pilot_runs.planned(subject, found, asked, free=free, seed=seed, workers=workers)


def _subject(
    target: Target,
    n_arms: int | None,
    horizon: int | None,
    parameters: Json,
    contexts: Contexts | None = None,
) -> claims_of_regret.RegretSubject:
    if isinstance(target, Exec):
        raise InputError("target must be Python code: we cannot measure the regret of a command")
    thing, name = resolve(target)
    if isinstance(target, str) and ":" not in target:
        given = {"n_arms": n_arms, "horizon": horizon}
        thing = instance(target, **{**given, **given_parameters(parameters, given)})
    numbers = {"n_arms": n_arms, "horizon": horizon}
    return claims_of_regret.RegretSubject.of(thing, name, **numbers, parameters=parameters, contexts=contexts)


def _rival(
    target: Target, subject: claims_of_regret.RegretSubject, own: Json | None
) -> claims_of_regret.RegretSubject:
    """The rival at the same number of arms, horizon, beta and epsilon, but for parameters of its `own`."""
    if own is not None and not isinstance(own, Mapping):
        raise InputError(f"rival_parameters must be a mapping of names to values, got {own!r}")
    thing, name = resolve(target)
    shared, contexts = subject.shared, subject.player.contexts
    numbers = {"n_arms": subject.setting.n_arms, "horizon": subject.setting.horizon}
    listed = isinstance(target, str) and ":" not in target
    fields = [f for f in dataclasses.fields(thing.algorithm) if f.init] if listed else []
    takes: Collection[str] = [f.name for f in fields]
    if not (listed or isinstance(thing, Algorithm | Exec)):
        takes = Player.of(thing, {}, contexts).names
    epsilon = [value for key, value in shared.items() if key in EPSILON]
    given = {key: epsilon[0] for key in takes if key in EPSILON and epsilon}  # it may have another name there
    given |= {key: value for key, value in shared.items() if key in takes} | dict(own or {})
    if not listed:
        return _subject(target, numbers["n_arms"], numbers["horizon"], given, contexts)
    # What its auditor's instance has in place of defaults was chosen for another horizon.
    usual = {f.name: f.default for f in fields if f.default is not dataclasses.MISSING}
    for key in given:
        if key not in takes:
            raise InputError(f"rival_parameters: {name} has no parameter {key}; {instead(key, takes)}")
    made = registry.make(name, **{**thing.instance, **usual, **given_parameters(given, numbers), **numbers})
    return claims_of_regret.RegretSubject.of(made, name, contexts=contexts)


def _instances(given: Given) -> list[Environment | Population]:
    """Environments from an environment, several, or lists of means; empty for None."""
    if given is None:
        return []
    several = [given] if hasattr(given, "gaps") or isinstance(given, Population) else given
    if not isinstance(several, Sequence) or isinstance(several, str) or not several:
        raise InputError(
            "environments must be one or more environments, or lists of means such as [[0.9, 0.5]], got "
            f"{given!r}"
        )
    if all(isinstance(mean, int | float) for mean in several):
        several = [several]
    if any(isinstance(item, str) for item in several):
        raise InputError(
            f"environments: {', '.join(map(str, several))} need contexts; give the form of the contexts"
        )
    return [
        item if hasattr(item, "gaps") or isinstance(item, Population) else bernoulli(item) for item in several
    ]


def _populations(asked: claims_of_regret.Asked) -> list[Population]:
    """Populations, given by themselves or by their names, whose contexts have the form that is asked for."""
    shape = shape_of(asked.contexts)
    n_arms = shape[0] if asked.n_arms is None and len(shape) == 2 else asked.n_arms
    if n_arms is None:
        raise InputError("n_arms must be given with contexts (--arms K)")
    Contexts(validate.integer("n_arms", n_arms, least=2), shape)
    given = "linear" if asked.environments is None else asked.environments
    several = [given] if isinstance(given, str | Population) else given
    if not isinstance(several, Sequence) or not all(isinstance(one, str | Population) for one in several):
        raise InputError(f"environments must be populations if contexts are given, got {given!r}")
    found = [usual(one, n_arms, shape) if isinstance(one, str) else one for one in several]
    for one in found:
        if one.shape != shape:
            raise InputError(f"environments must have contexts {words_of(shape)}, got {words_of(one.shape)}")
    return found
