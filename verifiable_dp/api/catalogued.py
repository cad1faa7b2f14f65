"""Live sessions and whole evidence of catalogue algorithms."""

from __future__ import annotations

from os import PathLike
from typing import Unpack

from verifiable_dp.api.isolation import checked, timed_draft
from verifiable_dp.api.naming import Declared, Sizes
from verifiable_dp.auditing import asking, rungs
from verifiable_dp.auditing.plans import BUDGETS, Progress, silent
from verifiable_dp.auditing.regret import regret_only
from verifiable_dp.auditing.request import AuditRequest, Settings
from verifiable_dp.core import files, statefile, validate
from verifiable_dp.core.noise import Noise
from verifiable_dp.core.rights import MOST_BYTES, Counter, located
from verifiable_dp.core.session import Session
from verifiable_dp.core.validate import InputError, JsonDict, named_arguments
from verifiable_dp.record import requested, requests
from verifiable_dp.record.declarations import given as read_declarations
from verifiable_dp.record.provenance import begun
from verifiable_dp.record.requested import Request
from verifiable_dp.record.requests import RequestEntry
from verifiable_dp.registry import entries as registry
from verifiable_dp.report import Report, finish


@named_arguments
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
        The path that you passed to `Session.save`.
    epsilon, delta
        The promise that the session must have; epsilon is None for a baseline without a promise.
    noise, seeded, key, counter
        See `Session.restore`, a method that also accepts algorithms outside the catalogue, and compares every
        parameter.

    Returns
    -------
    Session
        The session as it was when it was saved.

    Raises
    ------
    InputError
        As for `Session.restore`, or if the algorithm is not in the catalogue or makes another promise.
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
            f"epsilon, delta must be {promised[0]!r}, {promised[1]!r}, as {name} promises, whose session "
            f"is in {place!r}; got {epsilon!r}, {delta!r}"
        )
    return algorithm.restore(path, noise=noise, seeded=seeded, key=key, counter=counter)


@named_arguments
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

    Parameters are those of `audit`, with budget, seed and workers as `sizes`; with `printed`, the privacy of
    the listing as the paper prints it.

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
    begun()
    return finish(**checked(timed_draft(asked, make, checkpoint, evidence=True), written), request=written)


@named_arguments
def ask_evidence(
    name: str, *, printed: bool = False, declarations: Declared = None, **sizes: Unpack[Sizes]
) -> RequestEntry:
    """Like `ask`, for `evidence`.

    Raises
    ------
    InputError
        If an argument is unusable.
    """
    return _asked_evidence(name, printed, declarations, sizes)[1]


def _asked_evidence(
    name: str, printed: bool, declarations: Declared, sizes: Sizes
) -> tuple[Settings, RequestEntry]:
    settings = Settings(**sizes, mutants=not printed)
    validate.choice("budget", settings.budget, BUDGETS)
    declared = read_declarations(declarations)
    return settings, requests.made(asking.of_evidence(name, printed, settings), declared)
