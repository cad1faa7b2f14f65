"""Audits of a privacy promise, and the request that each answers."""

from __future__ import annotations

import functools
from collections.abc import Collection
from dataclasses import replace
from os import PathLike
from typing import Unpack

from verifiable_dp.api.isolation import Made, foreign, isolated, timed_draft
from verifiable_dp.api.naming import (
    Declared,
    Target,
    fields_of,
    given_parameters,
    instance,
    listed,
    mapping,
    name_of,
    resolve,
)
from verifiable_dp.auditing import asking, rungs
from verifiable_dp.auditing.conducted import Conducted
from verifiable_dp.auditing.plans import Progress, most_seconds, silent
from verifiable_dp.auditing.request import AuditOptions, AuditRequest, Inputs, Settings, split
from verifiable_dp.auditing.rounds_of_testing import looks_of
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.validate import InputError, Json, JsonValue, named_arguments
from verifiable_dp.record import requested, requests
from verifiable_dp.record.declarations import given as read_declarations
from verifiable_dp.record.provenance import tree
from verifiable_dp.record.requests import RequestEntry
from verifiable_dp.registry import entries as registry
from verifiable_dp.report import Report
from verifiable_dp.targets import load as targets
from verifiable_dp.targets.cage import Caged
from verifiable_dp.targets.child import Ask
from verifiable_dp.targets.far import Far
from verifiable_dp.targets.heard import Heard
from verifiable_dp.targets.process import Exec

_FRESH_RUNS = 400_000  # of an audit; the start of a Python takes the time of some 8,000 plays


@named_arguments
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
    """Test a privacy promise, and record the evidence.

    Your own code runs in a child process, a copy of this one, so its changes do not affect this process. If
    the code ends the child process, there is no verdict.

    Parameters
    ----------
    target
        An algorithm (from `make`, or your own subclass of `Algorithm`), a catalogue name, a callable
        `play(rewards, rng) -> (T,)`, `play_many(rewards, n_runs, rng) -> (n_runs, T)`, `release(data, size,
        rng) -> (size, ...)` or `release_one(data, rng)`, the ``file.py:name`` or ``package.module:name`` of
        any of these, or a program that exchanges JSON lines: `Exec("command")`.
    parameters
        For a catalogue name, the parameters to change, such as ``{"variant": "printed"}``; the auditor sets
        the others. For your own code, parameters of its constructor or function, or keys of its
        configuration, by name.
    declarations
        Path of a TOML file that describes the deployment (`verifiable-dp init` writes a template), or the
        values themselves. The record contains them, marked as declared.
    checkpoint
        File that stores finished steps: after an interruption, the same call continues from it. The file
        stays until you remove it, so nothing is lost before you save the report. In a cage, we save no steps
        for an algorithm from another package, because its code would have to write the file.
    in_process
        Whether your own code runs in this process, for debugging; the record says so. If we cannot start a
        child process safely, the code also runs here, and the record says why.
    progress
        Called with a line of text at each stage.
    options
        The promise, the inputs and the tests, by name: see `AuditOptions`.

    Returns
    -------
    Report
        `verdict` is ``refuted``, ``not_refuted`` or ``inconclusive``; if ``inconclusive``, `reason` says
        why: ``lead`` (evidence without proof), ``weak`` (only larger leaks would have been caught) or
        ``unsearched`` (no input that we tried changed the output). Epsilon lies between `epsilon_lower` and
        `epsilon_upper`.

    Raises
    ------
    InputError
        If an argument is unusable; the message names the argument and the accepted values.
    """
    given, cage = options.pop("request", None), options.pop("cage", "none")
    asked, written = _requested(target, parameters, declarations, options)
    written = requested.settled(given, written)
    settings = asked.settings
    known = tuple(written.target.files.values())
    apart = not (isinstance(target, Algorithm) or listed(target))
    if cage != "none" and not apart and foreign(target):
        checkpoint = None
    task = functools.partial(_audited, target, asked, parameters, checkpoint, known)
    most = most_seconds(settings.budget, settings.timeout)
    conducted = None
    if apart:
        conducted = Conducted(
            replace(asked, target=target, name=name_of(target)),
            functools.partial(_served, target, asked, parameters, known),
            functools.partial(_asked_again, target, asked, parameters, known),
            functools.partial(_conducted, checkpoint),
            Heard(seeds_of(settings, asked.inputs)),
            isinstance(target, str) and settings.sizes.runs >= _FRESH_RUNS,
        )
    return isolated(task, [target], in_process, progress, Caged(cage, seconds=most), written, conducted)


CONDUCT = ("checkpoint", "request", "in_process", "cage")  # arguments of `audit` that say how, and not what


@named_arguments
def ask(
    target: Target,
    *,
    parameters: Json | None = None,
    declarations: Declared = None,
    **options: Unpack[AuditOptions],
) -> RequestEntry:
    """The request of `audit` with these arguments, with digests of all files that would run; runs nothing.

    If you keep it, you can check later whether a record answers this request (`verifiable-dp judge
    --request`).

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
    sizes = {"n_arms": asked.inputs.n_arms, "horizon": asked.inputs.horizon} if listed(target) else {}
    given = {key: value for key, value in {**sizes, **(parameters or {})}.items() if value is not None}
    values = asking.of_audit(target, name_of(target), asked, given)
    files = values["target"]["files"]
    if isinstance(target, Exec) and files:
        files |= tree(*target.files) | target.programs
    return asked, requests.made(values, read_declarations(declarations))


def question(target: Target | None, parameters: Json | None, options: AuditOptions) -> AuditRequest:
    """The question that these arguments of `audit` ask; the target is not imported.

    Raises
    ------
    InputError
        If one is out of range, or does not fit another.
    """
    promise, inputs, settings = split(options)
    if not listed(target):
        inputs = replace(inputs, parameters=dict(mapping(parameters)))
    named = target if isinstance(target, str | Algorithm) else None
    return AuditRequest(named, "", promise, inputs, settings)


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
    return timed_draft(request, rungs.draft, checkpoint)


def _served(
    target: Target,
    asked: AuditRequest,
    parameters: Json | None,
    files: Collection[str],
    ask: Ask,
) -> JsonValue:
    """As `rungs.served`, of the target of an audit."""
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
            f"target: {request.name} is an Algorithm; pass the object itself to verifiable_dp.audit, "
            "which uses its claim and its methods"
        )
    return request


def _conducted(checkpoint: str | PathLike[str] | None, request: AuditRequest, far: Far) -> Made:
    """What an audit finds that is conducted here, of a target that is asked elsewhere."""
    return timed_draft(request, functools.partial(rungs.drafted, far=far), checkpoint, far.questions.caged)


def seeds_of(settings: Settings, inputs: Inputs) -> list[int]:
    """Seeds of the runs on which a verdict rests."""
    return looks_of(settings.seed) if inputs.bandit else looks_of(settings.seed)[:1]


def _found(
    target: Target, asked: AuditRequest, parameters: Json | None, files: Collection[str]
) -> AuditRequest:
    """What is asked, with the target itself."""
    targets.check_imported(target, asked.settings.workers)
    thing, name = resolve(target, files)
    if isinstance(target, str) and ":" not in target:
        epsilon = asked.promise.epsilon if "epsilon" in fields_of(thing.algorithm) else None
        given = {"n_arms": asked.inputs.n_arms, "horizon": asked.inputs.horizon, "epsilon": epsilon}
        thing = instance(target, **{**given, **given_parameters(parameters, given)})
    if isinstance(thing, Algorithm) and (asked.inputs.reward or asked.inputs.parameters):
        raise InputError("`parameters` and `reward` work only with a catalogue name or your own code")
    if isinstance(thing, Algorithm) and asked.inputs.contexts is not None:
        raise InputError("`contexts` works only with your own code")
    if not (callable(thing) or isinstance(thing, Algorithm | Exec)):
        raise InputError(f"target: {name} is neither an algorithm nor callable")
    if isinstance(thing, Algorithm) and registry.find(thing) is not None and ":" in name:
        raise InputError(
            f"target: {name} is the catalogue algorithm {thing.name}; give {thing.name}, and its "
            "parameters with --set NAME=VALUE (parameters= in Python)"
        )
    return replace(asked, target=thing, name=name)
