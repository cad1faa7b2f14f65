"""Repeating audits from their records."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from verifiable_dp.api.audits import seeds_of
from verifiable_dp.api.isolation import Made, isolated
from verifiable_dp.api.naming import Target
from verifiable_dp.auditing import asking, rungs
from verifiable_dp.auditing import regret as claims_of_regret
from verifiable_dp.auditing.code import Code
from verifiable_dp.auditing.conducted import Conducted
from verifiable_dp.auditing.plans import Progress, most_of_regret, most_seconds, silent
from verifiable_dp.auditing.regret import regret_only
from verifiable_dp.auditing.request import AuditRequest, Inputs, Settings, promised
from verifiable_dp.core import engine, validate
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.contextual import ContextualAlgorithm
from verifiable_dp.core.validate import Given, InputError, Json, JsonDict, JsonValue
from verifiable_dp.evidence.blackbox import learning
from verifiable_dp.record import how
from verifiable_dp.record.model import CodeEntry, Record
from verifiable_dp.registry import entries as registry
from verifiable_dp.targets import load as targets
from verifiable_dp.targets import opened
from verifiable_dp.targets.cage import Caged
from verifiable_dp.targets.child import Ask
from verifiable_dp.targets.far import Far
from verifiable_dp.targets.heard import Heard
from verifiable_dp.targets.process import TIMEOUT, Exec
from verifiable_dp.targets.source import CodeSource


def rerun(
    record: Json,
    *,
    workers: int = 1,
    in_process: bool = False,
    cage: str = "none",
    progress: Progress = silent,
) -> JsonDict:
    """Repeat the audit of a record from its target, plan and seed; this imports and runs the target's code.

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
            Heard(seeds_of(_settings_of(parsed, 1), inputs), "" if made is None else made.key or ""),
        )
    # What a cage refuses is noted again: it is a finding.
    root = asking.root_at(Path(parsed.target.source.path)) if cage != "none" else ""
    # What the machine of then kept from it is taken from the record: another one may have it.
    read = (parsed.provenance.target.opened or {}).items()
    kept = {name: one for name, one in read if one in opened.MISSED and one != opened.REFUSED}
    caged = Caged(cage, seconds=most, root=root, opened=kept)
    return dict(isolated(task, code, in_process, progress, caged, None, conducted).record)


def _served_again(record: Record, workers: int, ask: Ask) -> JsonValue:
    return rungs.served(_request_again(record, workers, silent), ask)


def _rerun_again(record: Record, samples: bytes, progress: Progress) -> JsonValue:
    return rungs.asked_again(_request_again(record, 1, progress), samples)


def _conducted_again(request: AuditRequest, far: Far) -> Made:
    return _timed(lambda progress: rungs.drafted(replace(request, progress=progress), far), request.progress)


def _check_learning(record: Record) -> None:
    """Refuse to make a record again where other scores would be learnt, and so other events counted."""
    made_with, here = how.learnt_fully(record), learning.trees_grow()
    if made_with and not here:
        raise InputError(
            'record: scikit-learn was used; install it (pip install "verifiable-dp[learn]"), then rerun'
        )
    if here and not made_with:
        raise InputError(
            "record: it was made without scikit-learn; rerun it where scikit-learn is not installed"
        )


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
        raise InputError("record: its pairs were given as Python objects; rerun it from Python")
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
    """Whether `rerun` would find, in another process, the code of an audit of `target`.

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
    """What `rerun` imports or starts, one line each; nothing is run to find out."""
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
