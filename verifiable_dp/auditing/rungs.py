"""All rungs of evidence in one list, and the audit that climbs them.

To add one: write a function that takes the case, adds its checks by `case.found`, and put a `Rung` here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from joblib import parallel_config

from verifiable_dp.auditing import algorithms, bandits, mechanisms, production, rounds_of_testing
from verifiable_dp.auditing.algorithms import AlgorithmCase
from verifiable_dp.auditing.bandits import PlayCase
from verifiable_dp.auditing.contextual import ContextualCase
from verifiable_dp.auditing.curved import CurvedCase
from verifiable_dp.auditing.mechanisms import ReleaseCase
from verifiable_dp.auditing.pipeline import Case, Rung, climb
from verifiable_dp.auditing.request import AuditRequest
from verifiable_dp.auditing.rounds_of_testing import UserCase
from verifiable_dp.core import engine, validate
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.contextual import ContextualAlgorithm
from verifiable_dp.core.limits import usual
from verifiable_dp.core.validate import Given, InputError, JsonDict, JsonValue
from verifiable_dp.evidence.symbolic.states import as_now
from verifiable_dp.evidence.tracing.reach import scopes_of
from verifiable_dp.targets.adapters import taken
from verifiable_dp.targets.child import Ask
from verifiable_dp.targets.far import Far, introduced, is_process, serve, unpickled
from verifiable_dp.targets.guard import watched
from verifiable_dp.targets.process import Exec, ProcessTarget, running
from verifiable_dp.targets.randomness import as_found


def _sampled(case: Case) -> bool:
    return isinstance(case, AlgorithmCase) and not case.subject.exact


def _without_contexts(case: Case) -> bool:
    return _sampled(case) and not isinstance(case, ContextualCase)


def _curved(case: Case) -> bool:
    return case.request.settings.curve or (isinstance(case, ReleaseCase) and case.request.promise.curved)


def _played(case: Case) -> bool:
    return isinstance(case, PlayCase)


def _together(case: Case) -> bool:
    if not isinstance(case, UserCase) or is_process(case.function):
        return False
    return bool(case.sampler.together and not case.seen.deterministic)


def _idle(case: Case) -> bool:
    return isinstance(case, PlayCase) and not (case.settled or case.moved or case.form)


def _unsaid(case: Case) -> bool:
    return isinstance(case, ReleaseCase) and not (case.settled or case.stated or case.seen.deterministic)


def _mutated(case: Case) -> bool:
    if not isinstance(case, AlgorithmCase) or case.auditor is None:
        return False
    return case.request.settings.mutants and case.request.target.claim is not None


RUNGS = (
    Rung(
        "alignment and exact bounds",
        lambda case: isinstance(case, AlgorithmCase) and case.subject.exact is not None,
        algorithms.exact_bounds,
    ),
    Rung("alignment", _sampled, algorithms.align),
    Rung(
        "certificate",
        lambda case: isinstance(case, AlgorithmCase) and case.request.target.claim is not None,
        algorithms.certify,
    ),
    Rung("exact law", _without_contexts, algorithms.exact_law),
    Rung("tracing", lambda case: isinstance(case, PlayCase) and case.traceable, bandits.trace),
    Rung("runs of one call", lambda case: _together(case) and _played(case), bandits.runs_of_a_call),
    Rung("runs of one call", lambda case: _together(case) and not _played(case), mechanisms.runs_of_a_call),
    Rung(
        "upper bound by tracing",
        lambda case: isinstance(case, PlayCase) and case.boundable,
        bandits.bound,
    ),
    Rung("black box", _sampled, algorithms.black_box),
    Rung("first look: plain neighbours", _played, bandits.first_look),
    Rung("", _idle, bandits.longer),
    Rung(
        "interactive adversaries",
        lambda case: isinstance(case, PlayCase) and case.adaptive and not case.settled,
        bandits.adversaries,
    ),
    Rung("", lambda case: _played(case) and not case.settled, bandits.second_look),
    Rung("", lambda case: isinstance(case, ReleaseCase), mechanisms.only_look),
    Rung("values between the bounds", _unsaid, mechanisms.between),
    Rung("hockey-stick curve", lambda case: _sampled(case) and _curved(case), algorithms.curve),
    Rung(
        "hockey-stick curve",
        lambda case: isinstance(case, UserCase) and _curved(case),
        rounds_of_testing.curve,
    ),
    Rung(
        "interactive adversaries",
        lambda case: isinstance(case, AlgorithmCase) and case.game is not None and not case.refuted,
        algorithms.adversaries,
    ),
    Rung(
        "measuring power on variants with less noise",
        lambda case: _sampled(case) and not case.refuted,
        algorithms.power,
    ),
    Rung("", lambda case: _played(case) and not case.settled, bandits.power),
    Rung("", lambda case: isinstance(case, ReleaseCase) and not case.refuted, mechanisms.power),
    Rung(
        "",
        lambda case: isinstance(case, UserCase) and not case.refuted and bool(case.ground.doubts()),
        rounds_of_testing.doubt,
    ),
    Rung(
        "",
        lambda case: isinstance(case, UserCase) and not case.refuted and is_process(case.function),
        rounds_of_testing.restarts,
    ),
    Rung(
        "last bits of the outputs",
        lambda case: isinstance(case, ReleaseCase) and case.request.settings.numerics,
        mechanisms.last_bits,
    ),
    Rung(
        "last bits of what a live session shows",
        lambda case: isinstance(case, AlgorithmCase) and case.request.settings.numerics,
        production.last_bits,
    ),
    Rung("", _mutated, algorithms.mutants),
)


def draft(request: AuditRequest, rungs: Sequence[Rung] = RUNGS) -> JsonDict:
    """Audit what is asked, by these rungs; return the draft of a record.

    Raises
    ------
    InputError
        If what is asked means nothing for the target, or it cannot be run.
    """
    if isinstance(request.target, Algorithm):
        told, claim = isinstance(request.target, ContextualAlgorithm), request.target.claim
        plain = CurvedCase if claim is not None and claim.curved else AlgorithmCase
        return climb((ContextualCase if told else plain).of(request), rungs)
    with watched(), usual(request.settings.timeout), _opened(request) as (kind, function, again):
        return climb(_case(request, kind, function), rungs, again)


def drafted(request: AuditRequest, far: Far) -> JsonDict:
    """As `draft`, of code that runs in another process, which is asked by `served`.

    Raises
    ------
    InputError
        As `draft`, and if the code states its own neighbours, which nobody has accepted.
    """
    kind, found = far.introduced()
    named = isinstance(request.target, str | Exec) and request.pinned is None
    stated = kind == "release" and request.inputs.pairs is None and "neighbours" in found["function"].facts
    if named and stated and not request.settings.own_neighbours:
        raise InputError(
            "neighbours: the target's own code supplies the data for its test; if you have checked and "
            "accept these data, give --own-neighbours (own_neighbours=True in Python); otherwise remove the "
            "data from the code"
        )
    target = found.get("target", request.target)
    return climb(_case(replace(request, target=target), kind, found["function"]), RUNGS, found.get("again"))


def served(request: AuditRequest, ask: Ask) -> JsonValue:
    """Answer what an audit asks of a user's code, in the process where it is."""
    with _introduced(request) as (told, given):
        return serve(told, given, ask)


def asked_again(request: AuditRequest, samples: bytes) -> list[str]:
    """Digests of what comes out of some runs, in a process that has made no others, in this order."""
    with _introduced(request) as (told, given):
        introduced(told)
        return [sample.again() for sample in unpickled(samples, given)]


@contextmanager
def _introduced(request: AuditRequest) -> Iterator[tuple[JsonDict, list[Given]]]:
    """What is told of a user's code, while it can run, and the objects that whoever asks has, too."""
    with watched(), usual(request.settings.timeout), _opened(request) as (kind, function, again):
        target = request.target if callable(request.target) else None
        told = {"function": function, "kind": kind, "again": again, "target": target}
        yield {name: one for name, one in told.items() if one is not None}, objects_of(request)


def objects_of(request: AuditRequest) -> list[Given]:
    """Objects that were given before the process of the target was made, and are the same there."""
    return [side for pair in request.inputs.pairs or () if isinstance(pair, Sequence) for side in pair]


@contextmanager
def _opened(request: AuditRequest) -> Iterator[tuple[str, Given, Callable[[], None] | None]]:
    """A user's code and its kind, while its processes run, and what makes it keep and draw what it does."""
    promise, target = request.promise, request.target
    if promise.epsilon is None and not promise.curved:
        raise InputError(
            "epsilon must be given: we do not know the claim of your own code "
            "(--epsilon E; in Python epsilon=E)"
        )
    if isinstance(target, Exec):
        for name in ("parameters", "reward", "contexts", "epsilon_parameter"):
            if getattr(request.inputs, name):
                raise InputError(f"`{name}` works only with Python code, not with a command")
        process = _process(target, request)
        # Threads: the work is done in the processes, and all of them are children of this one.
        with running(process), engine.here(), parallel_config(backend="threading"):
            yield process.kind, process, None
        return
    kind, function = taken(target, request.given())
    draws, keeps = as_found(function), as_now(scopes_of(function))

    def again() -> None:
        draws()
        keeps()

    try:
        yield kind, function, again
    finally:
        again()


def _case(request: AuditRequest, kind: str, function: Given) -> PlayCase | ReleaseCase:
    promise, inputs = request.promise, request.inputs
    seen, what = ("releases", "a mechanism") if kind == "release" else ("actions", "a bandit")
    if promise.observe not in (None, seen):
        raise InputError(
            f"observe must be {seen!r} for {what} of your own, got {promise.observe!r}; to audit other "
            f"values that {what} publishes, write a mechanism that returns these values"
        )
    if kind == "release":
        if promise.model == "local":
            raise InputError(
                "model='local' works only with a bandit; the output of a mechanism is already its report"
            )
        if inputs.contexts is not None:
            raise InputError(
                "`contexts` works only with a bandit, not with a mechanism that releases numbers"
            )
        if inputs.bandit:
            raise InputError("`n_arms` and `horizon` work only with a bandit; leave them out for a mechanism")
        if promise.group is not None:
            raise InputError(
                "`group` works only with bandits; for a mechanism, the pairs of data determine how far they "
                "differ"
            )
        return ReleaseCase.of(request, function)
    if promise.curved:
        raise InputError(
            f"`{promise.native}` works only with a mechanism that releases numbers; a bandit's promise is "
            "epsilon, so give --epsilon, and --delta for a bandit with normal noise"
        )
    if request.settings.numerics:
        raise InputError(f"`numerics` works only with a mechanism that releases numbers, got {kind}")
    for needed, flag in (("n_arms", "--arms K"), ("horizon", "--horizon T")):
        if getattr(inputs, needed) is None:
            raise InputError(
                f"{needed} must be given for the bandit {request.name} ({flag}; in Python "
                f"{needed}={flag[-1]}); if {request.name} is a mechanism, call its first parameter `data`"
            )
    return PlayCase.of(request, function, many=kind == "play_many")


def _process(command: Exec, request: AuditRequest) -> ProcessTarget:
    """A program, which is a bandit if arms or a horizon are given."""
    inputs, numerics = request.inputs, request.settings.numerics
    limits = validate.bounds("bounds", inputs.bounds)
    if inputs.n_arms is None and inputs.horizon is None:
        return ProcessTarget(command, "release", limits)
    if numerics:
        raise InputError(
            "`numerics` works only with a mechanism that releases numbers, got a command that plays a bandit"
        )
    for needed, flag in (("n_arms", "--arms K"), ("horizon", "--horizon T")):
        if getattr(inputs, needed) is None:
            raise InputError(f"{needed} must be given for a command that plays a bandit ({flag})")
    arms, rounds = validate.arms_and_horizon(inputs.n_arms, inputs.horizon)
    return ProcessTarget(command, "play", limits, arms, rounds)
