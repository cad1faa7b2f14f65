"""The Python API: one function for each use. `import verifiable_dp as vdp` has them all."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TypedDict, Unpack, get_args, get_type_hints

import numpy as np

from verifiable_dp.auditing import answers, asking, identity, pilot_runs, resume, rungs
from verifiable_dp.auditing import regret as claims_of_regret
from verifiable_dp.auditing.code import Code
from verifiable_dp.auditing.conducted import Conducted
from verifiable_dp.auditing.plans import BUDGETS, Progress, most_of_regret, most_seconds, silent
from verifiable_dp.auditing.regret import RegretOptions, regret_only
from verifiable_dp.auditing.request import (
    AuditOptions,
    AuditRequest,
    Inputs,
    Settings,
    check_known,
    promised,
    split,
)
from verifiable_dp.auditing.rounds_of_testing import looks_of
from verifiable_dp.core import engine, files, plugins, simulation, statefile, validate
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.contexts import Contexts, shape_of, words_of
from verifiable_dp.core.contextual import ContextualAlgorithm
from verifiable_dp.core.environments import Environment, bernoulli
from verifiable_dp.core.noise import Noise
from verifiable_dp.core.populations import Population, usual
from verifiable_dp.core.rights import MOST_BYTES, Counter, located
from verifiable_dp.core.session import Session
from verifiable_dp.core.validate import Function, Given, InputError, Json, JsonDict, JsonValue
from verifiable_dp.evidence import upper
from verifiable_dp.evidence.blackbox import learning, scores
from verifiable_dp.evidence.doors import ours
from verifiable_dp.record import how, requested, requests
from verifiable_dp.record.declarations import given as read_declarations
from verifiable_dp.record.model import CodeEntry, Record
from verifiable_dp.record.requested import Request
from verifiable_dp.record.requests import RequestEntry
from verifiable_dp.record.sealing import plain
from verifiable_dp.record.verify import examine, judged_again
from verifiable_dp.registry import entries as registry
from verifiable_dp.report import Report, finish
from verifiable_dp.targets import child, guard, players
from verifiable_dp.targets import load as targets
from verifiable_dp.targets.cage import Caged
from verifiable_dp.targets.child import Ask
from verifiable_dp.targets.far import Far
from verifiable_dp.targets.guard import check_outside
from verifiable_dp.targets.heard import Heard
from verifiable_dp.targets.players import Player, PlayerPart
from verifiable_dp.targets.process import TIMEOUT, Exec
from verifiable_dp.targets.roles import EPSILON
from verifiable_dp.targets.source import CodeSource, code_of, file_of, load

Target = Algorithm | Function[object] | Exec | str
Made = JsonDict  # arguments of `finish`
_FRESH_RUNS = 400_000  # of an audit; the start of a Python takes the time of some 8,000 plays
Task = Callable[[Progress], Made]
Declared = str | PathLike[str] | Json | None


class Sizes(TypedDict, total=False):
    """Budget, seed and workers, as `audit` takes them."""

    budget: str
    seed: int
    workers: int


def arguments(function: Function[object]) -> list[str]:
    """Names of all arguments that a function takes, its options included."""
    kinds = get_type_hints(function)
    found = []
    for name, one in inspect.signature(function).parameters.items():
        options = one.kind is one.VAR_KEYWORD and get_args(kinds.get(name))
        found += list(options[0].__annotations__) if options else [name]
    return found


def resolve(target: Target, files: Collection[str] | None = None) -> tuple[Given, str]:
    """The object that a target names, and the name under which it is reported; `files` as `source.load`.

    Raises
    ------
    InputError
        If the name is unknown or what it names cannot be audited.
    """
    check_outside()
    name = _name_of(target)
    if isinstance(target, str):
        return (load(target, files) if ":" in target else registry.auditor(target)), name
    return target, name


def _name_of(target: Target) -> str:
    """The name under which a target is reported; nothing is imported to tell it."""
    if isinstance(target, str):
        return target
    if isinstance(target, Algorithm):
        return target.name
    if isinstance(target, Exec):
        return target.command
    if callable(target):
        return str(getattr(target, "__qualname__", type(target).__name__))
    raise InputError(
        "target must be a catalogue name, file.py:name, package.module:name, an algorithm, a callable or "
        f"Exec, got {type(target).__name__}"
    )


def instance(name: str, /, **given: Given) -> Algorithm:
    """A catalogue algorithm with its auditor's default parameters, except for those given (None: default).

    Raises
    ------
    InputError
        If the name is unknown or a parameter does not fit.
    """
    auditor = registry.auditor(name)
    parameters = dict(auditor.instance)
    chosen = {key: value for key, value in given.items() if value is not None}
    takes = auditor.algorithm.__dataclass_fields__  # type: ignore[attr-defined]
    for key in chosen:
        if key not in takes:
            raise InputError(f"{name} takes no {key}; its parameters are {', '.join(takes)}")
    # A default that was tuned to another epsilon or horizon still is a legal one.
    return registry.make(name, **{**parameters, **chosen})


def audit(
    target: Target,
    *,
    parameters: Json | None = None,
    declarations: Declared = None,
    checkpoint: str | PathLike[str] | None = None,
    in_process: bool = False,
    progress: Progress = silent,
    **options: Unpack[AuditOptions],
) -> Report:
    """Test a privacy promise and write down the evidence.

    Your own code runs in a child process, a copy of this one. You do not see its
    changes here, and there is no verdict if it ends that process.

    Parameters
    ----------
    target
        An algorithm (from `make`, or your own subclass of `Algorithm`), a catalogue name, a callable
        `play(rewards, rng) -> (T,)`, `play_many(rewards, n_runs, rng) -> (n_runs, T)`,
        `release(data, size, rng) -> (size, ...)` or `release_one(data, rng)`, or ``file.py:name`` /
        ``package.module:name`` of one, or a program that speaks JSON lines: `Exec("command")`.
    parameters
        For a catalogue name, such as ``{"variant": "printed"}``; the auditor sets the others. For your own
        code: parameters of its constructor or function, or keys of its configuration, by name.
    declarations
        Path of a TOML file (`verifiable-dp init` writes one to start from), or its values. The record
        holds these statements about the deployment, marked as declared.
    checkpoint
        File for finished steps while the audit runs: after an interruption, the same call continues there.
        The file stays, so that nothing is lost before you save the report: remove it then.
    in_process
        Whether your own code runs in this process, for a debugger; the record says so. It also does if a
        child cannot be started safely; the record says why.
    progress
        Called with a line of text at each stage.
    options
        The promise, the inputs and how the promise is tested, by name: see `AuditOptions`.

    Returns
    -------
    Report
        `verdict` is ``refuted``, ``not_refuted`` or ``inconclusive``, which has a `reason`: ``lead``,
        ``weak`` or ``unsearched``. Epsilon lies between `epsilon_lower` and `epsilon_upper`.

    Raises
    ------
    InputError
        If an argument is unusable: one line that names it and what is accepted.
    """
    given, cage = options.pop("request", None), options.pop("cage", "none")
    asked, written = _requested(target, parameters, declarations, options)
    written = requested.settled(given, written)
    settings = asked.settings
    known = tuple(written.target.files.values())
    task = functools.partial(_audited, target, asked, parameters, checkpoint, known)
    most = most_seconds(settings.budget, settings.timeout)
    conducted = None
    if not (isinstance(target, Algorithm) or _listed(target)):
        conducted = Conducted(
            replace(asked, target=target, name=_name_of(target)),
            functools.partial(_served, target, asked, parameters, known),
            functools.partial(_asked_again, target, asked, parameters, known),
            functools.partial(_conducted, checkpoint),
            Heard(_seeds_of(settings, asked.inputs)),
            isinstance(target, str) and settings.sizes.runs >= _FRESH_RUNS,
        )
    caged = Caged(cage, seconds=most, written=[] if conducted else _folders_of(checkpoint))
    return _isolated(task, [target], in_process, progress, caged, written, conducted)


def ask(
    target: Target,
    *,
    parameters: Json | None = None,
    declarations: Declared = None,
    **options: Unpack[AuditOptions],
) -> RequestEntry:
    """What `audit` with these arguments asks, with the digests of all files that would run; nothing is run.

    Whoever keeps it can tell later whether a record answers this question (`verifiable-dp judge --request`).

    Raises
    ------
    InputError
        If an argument is unusable.
    """
    return _requested(target, parameters, declarations, options)[1]


def _requested(
    target: Target, parameters: Json | None, declarations: Declared, options: AuditOptions
) -> tuple[AuditRequest, RequestEntry]:
    asked = question(target, parameters, options)
    sizes = {"n_arms": asked.inputs.n_arms, "horizon": asked.inputs.horizon} if _listed(target) else {}
    given = {key: value for key, value in {**sizes, **(parameters or {})}.items() if value is not None}
    values = asking.of_audit(target, _name_of(target), asked, given)
    return asked, requests.made(values, read_declarations(declarations))


def question(target: Target | None, parameters: Json | None, options: AuditOptions) -> AuditRequest:
    """What these arguments of `audit` ask; nothing of the target is imported.

    Raises
    ------
    InputError
        If one is out of range, or does not fit another.
    """
    promise, inputs, settings = split("audit", options)
    if not _listed(target):
        inputs = replace(inputs, parameters=dict(_mapping(parameters)))
    named = target if isinstance(target, str | Algorithm) else None
    return AuditRequest(named, "", promise, inputs, settings)


def _listed(target: Target | None) -> bool:
    """Whether it is a name of the catalogue."""
    return isinstance(target, str) and ":" not in target


def _audited(
    target: Target,
    asked: AuditRequest,
    parameters: Json | None,
    checkpoint: str | PathLike[str] | None,
    files: Collection[str],
    progress: Progress,
) -> Made:
    """What an audit of `target` finds; `files` are the digests of those that may run when it is loaded."""
    request = replace(_found(target, asked, parameters, files), progress=progress)
    return _made(request, rungs.draft, checkpoint)


def _served(
    target: Target,
    asked: AuditRequest,
    parameters: Json | None,
    files: Collection[str],
    progress: Progress,
    ask: Ask,
) -> JsonValue:
    """As `rungs.served`, of the target of an audit."""
    del progress
    return rungs.served(_own(_found(target, asked, parameters, files)), ask)


def _asked_again(
    target: Target,
    asked: AuditRequest,
    parameters: Json | None,
    files: Collection[str],
    samples: bytes,
    progress: Progress,
) -> JsonValue:
    """As `rungs.asked_again`, of the target of an audit."""
    del progress
    return rungs.asked_again(_own(_found(target, asked, parameters, files)), samples)


def _own(request: AuditRequest) -> AuditRequest:
    """A request about a user's code in its own form.

    Raises
    ------
    InputError
        If its target is an algorithm of the framework's form.
    """
    if isinstance(request.target, Algorithm):
        raise InputError(
            f"target: {request.name} is an Algorithm: give the object itself to verifiable_dp.audit, whose "
            "claim, query and decide are read"
        )
    return request


def _conducted(checkpoint: str | PathLike[str] | None, request: AuditRequest, far: Far) -> Made:
    """What an audit finds that is conducted here, of a target that is asked elsewhere."""
    return _made(request, functools.partial(rungs.drafted, far=far), checkpoint)


def _seeds_of(settings: Settings, inputs: Inputs) -> list[int]:
    """Of the runs on which a verdict rests."""
    return looks_of(settings.seed) if inputs.bandit else looks_of(settings.seed)[:1]


def _folders_of(checkpoint: str | PathLike[str] | None) -> list[str]:
    """Folders that a caged process may write to, as it keeps a checkpoint there."""
    return [] if checkpoint is None else [str(files.located("checkpoint", checkpoint).absolute().parent)]


def _found(
    target: Target, asked: AuditRequest, parameters: Json | None, files: Collection[str]
) -> AuditRequest:
    """What is asked, with the target itself."""
    targets.check_imported(target, asked.settings.workers)
    thing, name = resolve(target, files)
    if isinstance(target, str) and ":" not in target:
        epsilon = asked.promise.epsilon if "epsilon" in _fields(thing.algorithm) else None
        given = {"n_arms": asked.inputs.n_arms, "horizon": asked.inputs.horizon, "epsilon": epsilon}
        thing = instance(target, **{**given, **_parameters(parameters, given)})
    if isinstance(thing, Algorithm) and (asked.inputs.reward or asked.inputs.parameters):
        raise InputError("parameters and reward work only with a catalogue name or your own code")
    if isinstance(thing, Algorithm) and asked.inputs.contexts is not None:
        raise InputError("contexts work only with your own code")
    if not (callable(thing) or isinstance(thing, Algorithm | Exec)):
        raise InputError(f"target: {name} is neither an algorithm nor callable")
    if isinstance(thing, Algorithm) and registry.find(thing) is not None and ":" in name:
        raise InputError(
            f"target: {name} is {thing.name} of the catalogue: give {thing.name}, and its parameters with "
            "--set NAME=VALUE (parameters= in Python)"
        )
    return replace(asked, target=thing, name=name)


def _mapping(parameters: Given) -> Json:
    """Parameters, none if they are None.

    Raises
    ------
    InputError
        If they are no mapping of names to values.
    """
    if parameters is None:
        return {}
    if not isinstance(parameters, Mapping) or not all(isinstance(name, str) for name in parameters):
        raise InputError(f"parameters must be a mapping of names to values, got {parameters!r}")
    return parameters


def _parameters(parameters: Json | None, given: Json) -> Json:
    """The parameters of a catalogue algorithm, none of which may be given by an argument of its own, too."""
    for name in parameters or {}:
        if given.get(name) is not None:
            raise InputError(f"parameters must not hold {name}, which is given as {name}, too")
    return parameters or {}


def _made(
    request: AuditRequest,
    make: Callable[[AuditRequest], JsonDict],
    checkpoint: str | PathLike[str] | None,
    **more: Given,
) -> Made:
    """What `make` drafts, from the steps of a checkpoint as far as they go.

    `more` is what is asked beside the request.
    """
    started, spent, cpu, resumed = time.time(), 0.0, time.process_time(), 0
    stages = engine.Stages(request.progress)

    def of() -> Json:
        return identity.of(request.target, request.name, **request.asked(), **more)

    with stages.heard(), resume.at(checkpoint, of, request.progress) as earlier:
        if earlier:
            started, spent, resumed = earlier.started, earlier.cpu_seconds, earlier.found
        draft = make(replace(request, progress=stages))
    spent += time.process_time() - cpu
    return {"draft": draft, "started": started, "cpu_seconds": spent, "resumed": resumed}


def _isolated(
    task: Task,
    code: Sequence[object],
    in_process: bool,
    progress: Progress,
    caged: Caged,
    request: RequestEntry | None,
    conducted: Conducted | None = None,
) -> Report:
    """The report of what `task` makes: in a child process, caged, if any of `code` is a user's.

    A draft that answers anything but the request is refused. Of the rest only the statistics of its checks
    count: it is concluded, sealed and verified here, where code of the child has not been. An audit that is
    `conducted` here asks the child for runs.
    """
    if not callable(progress):
        raise InputError(f"progress must be a function of a line of text, got {type(progress).__name__}")
    here = guard.Child.inside or not any(map(_foreign, code))
    why = "" if here else _kept_here(code, in_process)
    if why and caged.policy == "required":
        raise InputError(f"cage: the code would run in this process, {why}; give best, or none")
    if here or why:
        made = _checked(_condensed(task(progress)), request)
        return finish(**made, request=request, kept={"in_process": why} if why else {})
    scores.prepare()
    judging = functools.partial(plugins.judging, *_audited_code(code, request))
    if conducted is None:
        made = child.call(functools.partial(_plainly, task), progress, caged.seconds, caged)
    else:
        made = plain(conducted.made(progress, caged, judging))
    with judging():
        if conducted is None:
            made = _judged_here(made, request)
        elif request is not None:
            answers.of_strangers(made["draft"], request.as_dict())
        kept = {**made.pop("kept", {}), **({"cage": caged.taken} if caged.taken else {})}
        made = _condensed(made)
    report = finish(**_checked(made, request), request=request, kept=kept)
    examine(report.record)
    return report


def _audited_code(code: Sequence[object], request: RequestEntry | None) -> Iterator[str]:
    """Names or files of what is audited."""
    if request is not None:
        yield request.target.name
    for item in code:
        if isinstance(item, str) or callable(item):
            yield item if isinstance(item, str) else file_of(code_of(item))


def _judged_here(made: Made, request: RequestEntry | None) -> Made:
    """What a child has found, with the results that follow from the statistics of its checks.

    Raises
    ------
    InputError
        If it cannot be read, or says more than what was found.
    """
    try:
        found, regret = dict(made["draft"]), made["draft"].get("regret")
        found["checks"] = judged_again(found["checks"])
        found["mutants"] = [{**one, "checks": judged_again(one["checks"])} for one in found["mutants"]]
        if regret is not None:
            found["regret"] = {**regret, "checks": judged_again(regret["checks"])}
        if request is not None:
            answers.of_strangers(found, request.as_dict())
        times: Made = {key: made[key] for key in ("started", "cpu_seconds", "resumed") if key in made}
    except InputError:
        raise
    except Exception as error:  # values of a stranger, in whatever form
        raise InputError(f"target: its process sent a draft that cannot be read: {error!r}"[:200]) from None
    return {"draft": found, **times}


def _condensed(made: Made) -> Made:
    """The draft as a record holds it."""
    return {**made, "draft": {**made["draft"], "checks": [*map(upper.condensed, made["draft"]["checks"])]}}


def _checked(made: Made, request: RequestEntry | None) -> Made:
    if request is not None:
        answers.of_request(plain(made["draft"]), request.as_dict())
    return made


def _kept_here(code: Sequence[object], in_process: bool) -> str:
    """Why a user's code is not run in a child process; empty if it is."""
    if in_process:
        return "as was asked"
    if engine.remote():
        return "as its work goes to a cluster"
    # A child that is not a copy of this process finds code by its name only.
    objects = any(callable(item) or isinstance(item, Algorithm) for item in code)
    return child.unforkable() if objects or not child.POSSIBLE else ""


def _plainly(task: Task, progress: Progress) -> JsonValue:
    return plain(task(progress))


def _foreign(code: object) -> bool:
    """Whether code of a user or of another package is run for it in this process."""
    if isinstance(code, str):
        return ":" in code or registry.outside(code)
    if isinstance(code, Algorithm):
        return not ours(code)
    return callable(code)


def _fields(algorithm: type[Algorithm]) -> Json:
    fields: Json = algorithm.__dataclass_fields__  # type: ignore[attr-defined]
    return fields


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
    """Test theorems about regret: those of a catalogue algorithm, or your own claims about any algorithm.

    Without `bound`, `scaling` and `better_than` the claims are those of the catalogue algorithm's papers.

    Parameters
    ----------
    target
        An algorithm from `make`, or a catalogue name (without claims of your own: with the parameters of its
        experiments). With claims of your own also a subclass of `Algorithm` or an object of it, a class of
        bandits (`select`/`update` and the like), `make(n_arms, horizon, **parameters)` that returns one of
        these, `play(rewards, rng) -> (T,)`, `play_many(rewards, n_runs, rng)`, or ``file.py:name`` /
        ``package.module:name`` of one.
    budget
        ``quick``, ``standard`` or ``thorough``.
    seed, workers, in_process
        See `audit`.
    progress
        Called with a line of text at each stage.
    claims
        Your own claims and the instances on which they are tested, by name: see `RegretOptions`.

    Returns
    -------
    Report
        `regret_verdict` is ``consistent``, ``contradicted``, ``vacuous`` or ``inconclusive``.

    Raises
    ------
    InputError
        If an argument is unusable: one line that names it and what is accepted; without claims of your own,
        if the algorithm has no auditor.
    """
    validate.choice("budget", budget, BUDGETS)
    seed, workers = validate.integer("seed", seed, least=0), validate.workers(workers)
    check_known("check_regret", claims, RegretOptions)
    given, cage = claims.pop("request", None), claims.pop("cage", "none")
    asked = _asked_regret(claims)
    task = functools.partial(_measured, target, asked, budget, seed, workers)
    code = [target, claims.get("bound"), claims.get("better_than")]
    new = ask_regret(target, budget=budget, seed=seed, **claims)
    written = requested.settled(given, new)
    runs = 0 if asked.runs is None else validate.integer("runs", asked.runs, least=2)
    caged = Caged(cage, seconds=most_of_regret(runs))
    return _isolated(task, code, in_process, progress, caged, written)


def ask_regret(
    target: Target, *, budget: str = "quick", seed: int = 0, **claims: Unpack[RegretOptions]
) -> RequestEntry:
    """As `ask`, of `check_regret`.

    Raises
    ------
    InputError
        If an argument is unusable.
    """
    asked = _asked_regret(claims)
    _mapping(asked.parameters)
    return requests.made(asking.of_regret(target, _name_of(target), asked, budget, seed), None)


def _asked_regret(claims: RegretOptions) -> claims_of_regret.Asked:
    own: JsonDict = {name: value for name, value in claims.items() if name not in ("request", "cage")}
    return claims_of_regret.Asked(**own)


class Own(TypedDict, total=False):
    """Horizon and parameters of a user's own code, as `simulate` takes them."""

    horizon: int | None
    parameters: Json | None


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
        Whole number; the same seed gives the same result whatever `workers`.
    workers
        Number of threads or processes (joblib's `n_jobs`).
    points
        Number of recorded times of the curve.
    own
        `horizon` and `parameters` of your own code.

    Returns
    -------
    Simulation
        Regret in units of reward.

    Raises
    ------
    InputError
        If an argument is out of range or the environment does not fit.
    """
    check_known("simulate", own, Own)
    horizon, parameters = own.get("horizon"), own.get("parameters")
    if not isinstance(environment, Population) and not hasattr(environment, "gaps"):
        raise InputError(
            "environment must be one of vdp.environments, such as bernoulli([0.9, 0.5]), or of "
            f"vdp.populations, got {type(environment).__name__}"
        )
    if isinstance(algorithm, str) and _listed(algorithm):
        given = {"n_arms": environment.n_arms, "horizon": horizon}
        algorithm = instance(algorithm, **{**given, **_parameters(_mapping(parameters), given)})
        horizon = parameters = None
    common = {"runs": runs, "seed": seed, "workers": workers, "points": points}
    if isinstance(algorithm, Algorithm) and not isinstance(environment, Population):
        if horizon is not None or parameters is not None:
            raise InputError("horizon and parameters must be given to the algorithm itself")
        return simulation.simulate(algorithm, environment, **common)
    form = environment.form if isinstance(environment, Population) else None
    whole = getattr(algorithm, players.TOGETHER, None) if form is not None else None
    horizon = getattr(algorithm, "horizon", horizon) if whole is not None else horizon
    target = algorithm if whole is None else whole
    subject = _subject(target, environment.n_arms, horizon, _mapping(parameters), form)
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
            raise InputError(f"{name} needs bound, scaling or better_than: claims of your own")
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
            "bound, scaling or better_than must be given: the claims of your own code are not known"
        )
    return target


def _claimed(
    target: Target, asked: claims_of_regret.Asked, budget: str, seed: int, workers: int
) -> tuple[claims_of_regret.RegretSubject, claims_of_regret.Claims]:
    """What is checked of whom, and at which horizons."""
    parameters, n_arms = asked.parameters, asked.n_arms
    _mapping(parameters)
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
        raise InputError("target must be Python code: the regret of a command is not measured")
    thing, name = resolve(target)
    if isinstance(target, str) and ":" not in target:
        given = {"n_arms": n_arms, "horizon": horizon}
        thing = instance(target, **{**given, **_parameters(parameters, given)})
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
            raise InputError(
                f"rival_parameters: {name} takes no {key}; its parameters are {', '.join(takes)}"
            )
    made = registry.make(name, **{**thing.instance, **usual, **_parameters(given, numbers), **numbers})
    return claims_of_regret.RegretSubject.of(made, name, contexts=contexts)


def _instances(given: Given) -> list[Environment | Population]:
    """Environments from an environment, several, or lists of means; empty for None."""
    if given is None:
        return []
    several = [given] if hasattr(given, "gaps") or isinstance(given, Population) else given
    if not isinstance(several, Sequence) or isinstance(several, str) or not several:
        raise InputError(
            "environments must be an environment, several, or lists of means such as [[0.9, 0.5]], "
            f"got {given!r}"
        )
    if all(isinstance(mean, int | float) for mean in several):
        several = [several]
    if any(isinstance(item, str) for item in several):
        raise InputError(f"environments: {', '.join(map(str, several))} need contexts, their form")
    return [
        item if hasattr(item, "gaps") or isinstance(item, Population) else bernoulli(item) for item in several
    ]


def _populations(asked: claims_of_regret.Asked) -> list[Population]:
    """Populations, given by themselves or by their names, whose contexts have the form that is asked for."""
    shape = shape_of(asked.contexts)
    n_arms = shape[0] if asked.n_arms is None and len(shape) == 2 else asked.n_arms
    if n_arms is None:
        raise InputError("n_arms must be given where contexts are (--arms K)")
    Contexts(validate.integer("n_arms", n_arms, least=2), shape)
    given = "linear" if asked.environments is None else asked.environments
    several = [given] if isinstance(given, str | Population) else given
    if not isinstance(several, Sequence) or not all(isinstance(one, str | Population) for one in several):
        raise InputError(f"environments must be populations where contexts are given, got {given!r}")
    found = [usual(one, n_arms, shape) if isinstance(one, str) else one for one in several]
    for one in found:
        if one.shape != shape:
            raise InputError(f"environments must have contexts {words_of(shape)}, got {words_of(one.shape)}")
    return found


def restore(
    path: str | PathLike[str],
    *,
    epsilon: float | None,
    delta: float = 0.0,
    noise: Noise | None = None,
    seeded: bool = False,
    key: bytes | None = None,
    counter: Counter | None = None,
) -> Session:
    """Continue a live session of a catalogue algorithm from its file.

    Parameters
    ----------
    path
        As given to `Session.save`.
    epsilon, delta
        What the session has to promise; epsilon is None for a baseline, which promises nothing.
    noise, seeded, key, counter
        See `Session.restore`, which also accepts algorithms that are not in the catalogue, and compares every
        parameter.

    Returns
    -------
    Session
        As it was when it was saved.

    Raises
    ------
    InputError
        Like `Session.restore`; also if its algorithm is not in the catalogue, or promises something else.
    """
    place = located("path", path)
    stored = statefile.read(place, files.content("session", place, MOST_BYTES), key)
    name, parameters = stored["algorithm"], stored["parameters"]
    if not (isinstance(name, str) and isinstance(parameters, dict)):
        raise InputError("session: the file must name an algorithm and its parameters")
    algorithm = registry.make(name, **parameters)
    claim = algorithm.claim
    promised = (None, 0.0) if claim is None else (claim.epsilon, claim.delta)
    if promised != (epsilon, delta):
        raise InputError(
            f"epsilon, delta: {place!r} is a session of {name} that promises {promised[0]!r}, "
            f"{promised[1]!r}, not {epsilon!r}, {delta!r}"
        )
    return algorithm.restore(path, noise=noise, seeded=seeded, key=key, counter=counter)


def evidence(
    name: str,
    *,
    printed: bool = False,
    declarations: Declared = None,
    checkpoint: str | PathLike[str] | None = None,
    request: Request = None,
    progress: Progress = silent,
    **sizes: Unpack[Sizes],
) -> Report:
    """The whole evidence for one catalogue algorithm: privacy, mutants and regret in one record.

    Parameters are those of `audit`, with budget, seed and workers as `sizes`; with `printed`, privacy of the
    listing as the paper prints it.

    Raises
    ------
    InputError
        If the name is unknown or an argument is unusable.
    """
    settings, written = _asked_evidence(name, printed, declarations, sizes)
    written = requested.settled(request, written)
    auditor = registry.auditor(name)
    algorithm = auditor.algorithm(**(auditor.printed_instance if printed else auditor.instance))

    def make(request: AuditRequest) -> JsonDict:
        draft = rungs.draft(request)
        if printed:
            return draft
        request.progress("regret checks")
        played = auditor.algorithm(**(auditor.experiment or auditor.instance))
        regret = regret_only(
            played,
            budget=settings.budget,
            seed=settings.seed,
            workers=settings.workers,
            mutants=True,
            progress=request.progress,
        )
        draft["regret"] = regret["regret"]
        draft["mutants"] = [*draft["mutants"], *regret["mutants"]]
        return draft

    asked = AuditRequest(algorithm, name, settings=settings, progress=progress)
    return finish(**_checked(_made(asked, make, checkpoint, evidence=True), written), request=written)


def ask_evidence(
    name: str, *, printed: bool = False, declarations: Declared = None, **sizes: Unpack[Sizes]
) -> RequestEntry:
    """As `ask`, of `evidence`.

    Raises
    ------
    InputError
        If an argument is unusable.
    """
    return _asked_evidence(name, printed, declarations, sizes)[1]


def _asked_evidence(
    name: str, printed: bool, declarations: Declared, sizes: Sizes
) -> tuple[Settings, RequestEntry]:
    check_known("evidence", sizes, Sizes)
    settings = Settings(**sizes, mutants=not printed)
    validate.choice("budget", settings.budget, BUDGETS)
    declared = read_declarations(declarations)
    return settings, requests.made(asking.of_evidence(name, printed, settings), declared)


def rerun(
    record: Json,
    *,
    workers: int = 1,
    in_process: bool = False,
    cage: str = "none",
    progress: Progress = silent,
) -> JsonDict:
    """Make a record again from its target, plan and seed; imports and runs the target's code.

    Raises
    ------
    InputError
        If the target can no longer be found, or its code has changed.
    """
    parsed = Record.of(record)
    _check_learning(parsed)
    named = _code_of(parsed)
    # As `audit` is given them: a user's code by its file or module and its name.
    code = [":" if isinstance(part, CodeSource) else part for part in (named.target, *named.others)]
    task, plan = functools.partial(_rerun, parsed, workers), parsed.plan
    most = (
        most_of_regret(plan.regret.runs)
        if plan.regret
        else most_seconds(plan.budget, TIMEOUT if plan.timeout is None else plan.timeout)
    )
    conducted = None
    if not (parsed.regret or parsed.target.kind == "algorithm"):
        made, inputs = parsed.provenance.counted, _inputs_of(parsed)
        command = named.target if isinstance(named.target, Exec) else None
        conducted = Conducted(
            _request_of(parsed, command, inputs, workers, silent),
            functools.partial(_served_again, parsed, workers),
            functools.partial(_rerun_again, parsed),
            _conducted_again,
            # What was left to chance then is not now.
            Heard(_seeds_of(_settings_of(parsed, 1), inputs), "" if made is None else made.key or ""),
        )
    caged = Caged(cage, seconds=most)
    return dict(_isolated(task, code, in_process, progress, caged, None, conducted).record)


def _served_again(record: Record, workers: int, progress: Progress, ask: Ask) -> JsonValue:
    return rungs.served(_request_again(record, workers, progress), ask)


def _rerun_again(record: Record, samples: bytes, progress: Progress) -> JsonValue:
    return rungs.asked_again(_request_again(record, 1, progress), samples)


def _conducted_again(request: AuditRequest, far: Far) -> Made:
    return _timed(lambda progress: rungs.drafted(replace(request, progress=progress), far), request.progress)


def _check_learning(record: Record) -> None:
    """Refuse to make a record again where other scores would be learnt, and so other events counted."""
    made_with, here = how.learnt_fully(record), learning.trees_grow()
    if made_with and not here:
        raise InputError(
            'record: it was made with scikit-learn: pip install "verifiable-dp[learn]", then re-run'
        )
    if here and not made_with:
        raise InputError("record: it was made without scikit-learn: re-run where that is not installed")


def _rerun(record: Record, workers: int, progress: Progress) -> Made:
    return _timed(functools.partial(_drafted_again, record, workers), progress)


def _timed(draft: Callable[[Progress], JsonDict], progress: Progress) -> Made:
    """What `draft` makes of a record again; of its time only the start is told."""
    started, stages = time.time(), engine.Stages(progress)
    with stages.heard():
        made = draft(stages)
    return {"draft": made, "started": started, "cpu_seconds": 0.0}


def _drafted_again(record: Record, workers: int, progress: Progress) -> JsonDict:
    target, plan = record.target, record.plan
    if plan.regret:
        return claims_of_regret.again(
            target.as_dict(),
            plan.regret.as_dict(),
            budget=plan.budget,
            seed=record.seed,
            workers=validate.workers(workers),
            progress=progress,
        )
    draft = JsonDict()
    if target.kind == "algorithm":
        if record.audited:
            algorithm = registry.make(target.name, **target.parameters)
            draft = rungs.draft(_request_of(record, algorithm, Inputs(), workers, progress))
        if record.regret and record.regret.checks:
            again = regret_only(
                registry.make(target.name, **record.regret.parameters),
                budget=plan.budget,
                seed=record.seed,
                workers=validate.workers(workers),
                mutants=record.regret.mutants_tried,
                progress=progress,
            )
            draft = {**again, **draft, "regret": again["regret"]}
            draft["mutants"] = [m for m in draft["mutants"] if m["breaks"] == "privacy"] + [
                m for m in again["mutants"] if m["breaks"] == "regret"
            ]
    else:
        draft = rungs.draft(_request_again(record, workers, progress))
    return draft


def _request_again(record: Record, workers: int, progress: Progress) -> AuditRequest:
    """What was asked of the audit of a user's code that a record is of, with the code."""
    target = record.target
    if record.plan.given_pairs:
        raise InputError("record: its pairs were given as Python objects; it can be re-run from Python only")
    function = _again(_code_of(record).target, target.source, progress)
    return _request_of(record, function, _inputs_of(record), workers, progress)


def _inputs_of(record: Record) -> Inputs:
    """On what a user's code was run."""
    apart, parameters = ("exec", "exec_timeout"), record.target.parameters
    return Inputs.read({key: value for key, value in parameters.items() if key not in apart})


def _request_of(
    record: Record, thing: Given, inputs: Inputs, workers: int, progress: Progress
) -> AuditRequest:
    """What was asked of the audit that a record is of."""
    plan, claim = record.plan, record.claimed
    promise = promised(plan.as_dict(), claim.as_dict())
    if isinstance(thing, Algorithm):
        model = promise.model if isinstance(thing, ContextualAlgorithm) else None
        promise = replace(promise, observe=claim.observe, adjacency=None, model=model)
    settings = _settings_of(record, workers)
    return AuditRequest(thing, record.target.name, promise, inputs, settings, plan.as_dict(), progress)


def _settings_of(record: Record, workers: int) -> Settings:
    """How the audit was made that a record is of."""
    plan = record.plan
    assert plan.alpha, "an audit of privacy has its levels"
    assert plan.confidence, "an audit of privacy has its levels"
    return Settings(
        budget=plan.budget,
        timeout=TIMEOUT if plan.timeout is None else plan.timeout,
        seed=record.seed,
        workers=workers,
        alpha=plan.alpha,
        confidence=plan.confidence,
        detect=record.detect,
        sequential=bool(plan.sequential),
        curve=bool(plan.curve),
        mutants=plan.mutants is not False,
        numerics=bool(plan.numerics),
    )


def can_rerun(record: Json, target: Target) -> bool:
    """Whether `rerun` finds what the record of an audit of `target` was made of, in another process.

    It finds names of modules, not closures, instances and other values that were made at run time.
    """
    parsed = Record.of(record)
    plan, thing = parsed.plan, type(target) if isinstance(target, Algorithm) else target
    if plan.given_pairs or (plan.regret and not plan.regret.instances):
        return False
    if parsed.target.kind != "algorithm" and not (isinstance(target, str | Exec) or targets.names(thing)):
        return False
    try:
        return bool(will_run(parsed))
    except InputError:
        return False


def will_run(record: Json | Record) -> list[str]:
    """What `rerun` imports or starts, a line each; nothing is run to tell it."""
    return _code_of(Record.of(record)).announced()


def _code_of(record: Record) -> Code:
    regret = record.plan.regret
    return Code.of(record.target.as_dict(), regret.as_dict() if regret else None)


def _again(code: CodeSource | Exec | str, recorded: CodeEntry, progress: Progress) -> Given:
    """The code or the command of a record.

    Raises
    ------
    InputError
        If it is another one than in the record.
    """
    if isinstance(code, CodeSource):
        return code.load()
    assert isinstance(code, Exec)
    if CodeSource.of(code, code.command).sha256 != recorded.sha256:
        raise InputError(f"record: {recorded.path} has changed since the audit")
    progress(f"runs the command of the record: {code.command}")
    return code
