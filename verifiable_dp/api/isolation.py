"""Where an audit runs, and how its results are checked."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from verifiable_dp.auditing import answers, asking, identity, resume
from verifiable_dp.auditing.conducted import Conducted
from verifiable_dp.auditing.plans import Progress
from verifiable_dp.auditing.request import AuditRequest
from verifiable_dp.core import engine, plugins
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.validate import Given, InputError, Json, JsonDict, JsonValue
from verifiable_dp.evidence import origins, upper
from verifiable_dp.evidence.doors import ours
from verifiable_dp.record.provenance import begun, tracked
from verifiable_dp.record.requests import RequestEntry
from verifiable_dp.record.sealing import plain
from verifiable_dp.record.verify import examine, judged_again
from verifiable_dp.registry import entries as registry
from verifiable_dp.report import Report, finish
from verifiable_dp.targets import child, guard, loaded, opened, variables
from verifiable_dp.targets.cage import Caged
from verifiable_dp.targets.process import Exec
from verifiable_dp.targets.source import code_of, file_of

Made = JsonDict  # arguments of `finish`
Task = Callable[[Progress], Made]


def timed_draft(
    request: AuditRequest,
    make: Callable[[AuditRequest], JsonDict],
    checkpoint: str | PathLike[str] | None,
    caged: Caged | None = None,
    **more: Given,
) -> Made:
    """The draft that `make` returns, which continues from the steps in a checkpoint.

    `caged` knows what code reads that runs elsewhere. `more` holds what is asked in addition to the request.
    """
    started, spent, cpu, resumed = time.time(), 0.0, time.process_time(), 0
    stages = engine.Stages(request.progress)

    def of() -> Json:
        cage = {} if caged is None else {"cage": caged.policy}
        return identity.of(request.target, request.name, **request.asked(), **cage, **more)

    read = opened.here() if caged is None else (caged.root, caged.opened)
    with stages.heard(), resume.at(checkpoint, of, request.progress, *read) as earlier:
        if earlier:
            started, spent, resumed = earlier.started, earlier.cpu_seconds, earlier.found
        draft = make(replace(request, progress=stages))
    spent += time.process_time() - cpu
    return {"draft": draft, "started": started, "cpu_seconds": spent, "resumed": resumed}


def isolated(
    task: Task,
    code: Sequence[object],
    in_process: bool,
    progress: Progress,
    caged: Caged,
    request: RequestEntry | None,
    conducted: Conducted | None = None,
) -> Report:
    """The report of the draft that `task` makes, in a caged child process if any of `code` is a user's.

    A draft that answers anything but the request is refused. From other drafts, only the statistics of the
    checks count. The verdict is computed, sealed and verified here, where the child's code has not run. An
    audit that is `conducted` here asks the child for runs.
    """
    if not callable(progress):
        raise InputError(
            f"progress must be a function that takes a line of text, got {type(progress).__name__}"
        )
    if request is not None:
        caged.root = asking.root_of(*code)
    caged.tracked = tracked(Path(caged.root)) if caged.root else ()
    begun(caged.root)  # also what a child inherits
    tells = request is not None and caged.root != ""
    here = guard.Child.inside or not any(map(foreign, code))
    why = "" if here else _kept_here(code, in_process)
    if why and caged.policy == "required":
        raise InputError(f"cage: the code would run in this process, {why}; use --cage best or --cage none")
    if here or why:
        with opened.noted(caged.root if why else "", tracked=caged.tracked) as read, variables.heard():
            made = checked(_condensed(task(progress)), request)
        kept: JsonDict = {"in_process": why} if why else {}
        return finish(**made, request=request, kept=kept, opened=read if why and tells else None)
    before = "" if child.unforkable() else loaded.ran_before()
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
        made = _doubted(made, caged.opened)
        kept = {**made.pop("kept", {}), **({"cage": caged.taken} if caged.taken else {})}
        kept |= {"ran_before": before} if before else {}
        made = _condensed(made)
    heard = caged.opened if tells else None
    report = finish(**checked(made, request), request=request, kept=kept, opened=heard)
    examine(report.record)
    return report


def _doubted(made: Made, read: Mapping[str, str]) -> Made:
    """The draft with what the code asked for and did not get, if it is one of an audit of privacy."""
    doubts = (origins.refused_by_cage, origins.withheld, origins.unloaded, origins.beside_program)
    parts = ((doubt, opened.missed(read, kind)) for doubt, kind in zip(doubts, opened.MISSED, strict=True))
    more = [doubt(names).as_dict() for doubt, names in parts if names]
    checks = made["draft"]["checks"]
    return {**made, "draft": {**made["draft"], "checks": [*checks, *more]}} if checks else made


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
        raise InputError(
            f"target: its process sent a draft of the record that we cannot read: {error!r}"[:200]
        ) from None
    return {"draft": found, **times}


def _condensed(made: Made) -> Made:
    """The draft as a record holds it."""
    return {**made, "draft": {**made["draft"], "checks": [*map(upper.condensed, made["draft"]["checks"])]}}


def checked(made: Made, request: RequestEntry | None) -> Made:
    """The draft that was made, if it answers the request.

    Raises
    ------
    InputError
        If it answers another one.
    """
    if request is not None:
        answers.of_request(plain(made["draft"]), request.as_dict())
    return made


def _kept_here(code: Sequence[object], in_process: bool) -> str:
    """Why a user's code is not run in a child process; empty if it is."""
    if in_process:
        return "as was asked"
    if engine.remote():
        return "because a cluster does the work"
    # A child that is not a copy of this process finds code by its name only.
    objects = any(callable(item) or isinstance(item, Algorithm) for item in code)
    return child.unforkable() if objects or not child.POSSIBLE else ""


def _plainly(task: Task, progress: Progress) -> JsonValue:
    return plain(task(progress))


def foreign(code: object) -> bool:
    """Whether a request runs code of a user or of another package in this process."""
    if isinstance(code, str):
        return ":" in code or registry.outside(code)
    if isinstance(code, Algorithm):
        return not ours(code)
    return callable(code) or isinstance(code, Exec)
