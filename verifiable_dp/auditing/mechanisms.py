"""The rungs of the audit of a user's mechanism: one look, power, the last bits of its outputs."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from verifiable_dp.auditing import calls, design, record_parts, traced, variants
from verifiable_dp.auditing.execution_plan import Ground, StageSizes, grounded
from verifiable_dp.auditing.ladder import SIZES, Ladder, climb
from verifiable_dp.auditing.plans import SHORT, Allowance, cost_of, pinned_plan, second_plan, shorter
from verifiable_dp.auditing.refusals import sorted_out
from verifiable_dp.auditing.request import AuditRequest, Promise
from verifiable_dp.auditing.rounds_of_testing import (
    BEYOND,
    Levels,
    UserCase,
    enough,
    go_on,
    hits_needed,
    look,
)
from verifiable_dp.core import claims, validate
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.units import Adjacency, Observed, Unit
from verifiable_dp.core.validate import FloatArray, Function, Given, InputError, JsonDict
from verifiable_dp.evidence import origins
from verifiable_dp.evidence.alignment.replay import exceeds
from verifiable_dp.evidence.blackbox import numerics as bits
from verifiable_dp.evidence.blackbox import trials
from verifiable_dp.evidence.blackbox.test import TUNE, Plan
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.exclusions import Exclusion, Left
from verifiable_dp.evidence.upper import UpperBound
from verifiable_dp.targets.far import is_process
from verifiable_dp.targets.load import is_known
from verifiable_dp.targets.probes import DETERMINISTIC, probe_release
from verifiable_dp.targets.releases import DataPair, ReleaseSampler

_BETWEEN = 4  # part of the runs that values between the bounds get
_INSIDE = 256  # runs that show whether such values are always refused
_ON = 8  # times its size that a test may go on
_SIZED = 20  # part of the runs with which sizes that the code names are tried
_FOLLOWED = 64  # entries of the largest data that are traced because their size is tried
_FEW = 6  # sizes that the code names, the smallest, which are traced
_MORE = 33  # entries that are traced besides, for code that asks how many there are
SURE = 0.999  # confidence of a lead by values between: it is none of the level's tests


def data_pairs(
    function: Function[object],
    bounds: tuple[float, float],
    given: Sequence[tuple[Given, Given]] | None,
    adjacency: str | None = None,
    faults: list[str] | None = None,
) -> list[DataPair]:
    """Neighbouring data for a mechanism: as given, as its attribute `neighbours`, or from the bounds.

    From the bounds: a number, else a vector of one, else of five entries, of which one moves from low to
    high: the first form that the mechanism takes, and its variants (`trials.data_pairs`). What gives as many
    outputs for five entries as for one takes data sets, and gets those of five, too. What gives others gets
    those of five alone, unless it takes numbers and five are to it five of them. With an adjacency one entry
    becomes 0, or is left out, in place of that; only vectors of five have one entry less.

    A form that the code refuses in some runs only is noted in `faults`, if those are given.

    Raises
    ------
    InputError
        If the mechanism takes none of them.
    """
    stated = given if given is not None else getattr(function, "neighbours", None)
    if stated is not None and adjacency is not None:
        raise InputError(
            "`adjacency` must be left out if `neighbours` is given; the neighbours determine how the data "
            "differ"
        )
    if stated is not None:
        try:
            found = [DataPair(left, right) for left, right in stated]
        except (TypeError, ValueError):
            found = []
        if not found:
            raise InputError(f"neighbours must be a list of pairs (left, right) of data, got {stated!r}")
        return found
    kind = adjacency or "replace"
    forms = design.forms_of(bounds, kind)
    taken: list[tuple[design.Form, int]] = []  # and how many outputs each gives
    refused: list[InputError] = []
    sampler = ReleaseSampler(function, 0)
    for form in forms:
        if taken and form is not forms[-1]:
            continue
        try:
            seen = sampler.values(form[0], (0,), np.arange(2, dtype=np.int64))
        except InputError as error:
            refused.append(error)
            if faults is not None:
                faults += sorted_out(sampler, [DataPair(*form)], lambda side: True, error).doubts()
        else:
            taken.append((form, seen.shape[1]))
    if not taken:
        raise refused[0]
    first, outputs = taken[0]
    if taken[-1][1] != outputs and not (np.ndim(first[0]) == 0 and _apart(function, bounds)):
        taken, outputs = taken[-1:], taken[-1][1]  # one entry cannot show what another one does
    return design.around([form for form, many in taken if many == outputs], bounds, kind)


def _apart(function: Function[object], bounds: tuple[float, float]) -> bool:
    """Whether each of five entries gives, with the same draws, what it gives as a number.

    So it is if code for numbers is handed a vector: all entries share its noise, which says nothing against
    it. Also where the same draws cannot be had again, as of the operating system's.
    """
    low, high = bounds
    five = low + (high - low) * np.array([0.0, 1.0, 0.0, 1.0, 1.0])

    def given(data: Given) -> FloatArray:
        return ReleaseSampler(function, 0).values(data, (0,), np.arange(2, dtype=np.int64))

    each, again = (np.stack([given(float(value)) for value in five]) for _ in range(2))  # (5, runs, outputs)
    if not np.array_equal(each, again, equal_nan=True):
        return True
    entries, runs, outputs = each.shape
    whole = given(five)
    if whole.shape[1] != entries * outputs:
        return False
    layouts = (whole.reshape(runs, entries, outputs), whole.reshape(runs, outputs, entries).swapaxes(1, 2))
    return any(np.array_equal(each, layout.swapaxes(0, 1), equal_nan=True) for layout in layouts)


@dataclass(kw_only=True)
class ReleaseCase(UserCase[ReleaseSampler]):
    """The audit of a user's mechanism by its outputs.

    Attributes
    ----------
    bounds
        Of the entries of the data.
    ladder
        Data of several sizes that were tried; None where the data are a number, or were stated.
    """

    pairs: list[DataPair]
    bounds: Final[tuple[float, float]]
    ladder: Final[Ladder | None] = None

    @property
    def stated(self) -> bool:
        """Whether somebody said which data are neighbours."""
        return _stated(self.request, self.function)

    @classmethod
    def of(cls, request: AuditRequest, function: Function[object]) -> ReleaseCase:
        """What a request comes to; makes the first draws.

        Raises
        ------
        InputError
            If what is asked means nothing for a mechanism, or it cannot be run.
        """
        settings, pinned = request.settings, request.pinned
        bounds = validate.bounds("bounds", request.inputs.bounds)
        claim = claim_of(request.promise)
        sampler = ReleaseSampler(function, settings.seed, timeout=settings.timeout)
        faults: list[str] = []
        pairs = data_pairs(function, bounds, request.inputs.pairs, request.promise.adjacency, faults)
        data = [item for pair in pairs for item in pair.worlds()]
        sizes, allowed, ground = StageSizes(pinned), Allowance(1 << 60), Ground(sampler)
        request.progress("first runs")
        plan = settings.plan
        if pinned is not None and "runs" not in pinned["sizes"]:
            plan = pinned_plan(pinned)
        if plan is None:
            allowed, ground = grounded(
                sampler,
                "release_one" if is_known(function, "one_at_a_time") else "release",
                settings.sizes,
                sizes,
                lambda target, n: target.values(data[0], (TUNE,), np.arange(n, dtype=np.int64)),
                data,
                request.progress,
            )
        probes = sizes("probes", lambda: int(np.clip(allowed.runs // 400, 2, 64)))
        seen = probe_release(ground.sampler, data, probes)
        ladder, vectors = None, [pair for pair in pairs if np.ndim(pair.left) == 1]
        if vectors and not _stated(request, function):
            request.progress("data of several sizes")
            kind, most = (
                request.promise.adjacency or "replace",
                sizes("sized", lambda: allowed.runs // _SIZED),
            )
            ladder = climb(function, ground.sampler, vectors, bounds, kind, most)
            pairs += ladder.pairs
            faults += ladder.doubts()
        # The two tests of an audit of last bits share the level.
        parts = 1 + settings.numerics
        case = cls(
            request=request,
            claim=claim,
            plan=plan or Plan(1, 1, 1),
            pairs=list(pairs),
            function=function,
            ground=ground.after(seen),
            allowed=allowed,
            sizes=sizes,
            levels=Levels(
                settings.alpha / parts,
                1 - (1 - settings.confidence) / parts if parts > 1 else settings.confidence,
                tests=1 + _curved(request),
                trusted=settings.trusted,
            ),
            seen=seen,
            varied=not seen.deterministic,
            bounds=bounds,
            ladder=ladder,
        )
        if plan is None:
            case.plan = _plan(case)
        case.failed(faults)
        return case

    @property
    def boundable(self) -> bool:
        """Whether the code can be traced."""
        return not is_process(self.function) and not self.ground.unlike

    def parameters(self) -> JsonDict:
        """See `UserCase.parameters`."""
        return {"bounds": list(self.bounds)}

    def noted(self) -> JsonDict:
        """See `Case.noted`."""
        noted = super().noted()
        curve = {"curve": True} if _curved(self.request) else {}
        return {**noted, **curve, **({"numerics": True} if self.request.settings.numerics else {})}

    def not_covered(self) -> list[Exclusion]:
        """See `Case.not_covered`."""
        numerics = self.request.settings.numerics
        left = [one for one in super().not_covered() if not (numerics and one.id is Left.SAMPLER)]
        left += self.ladder.not_covered() if self.ladder else []
        left += [Exclusion(Left.REFUSED_VALUES)] if self.narrow else []
        if self.stated:  # their types, too
            return [*(one for one in left if one.id is not Left.DATA_TYPES), Exclusion(Left.OTHER_DATA)]
        return left


def _stated(request: AuditRequest, function: Function[object]) -> bool:
    return request.inputs.pairs is not None or getattr(function, "neighbours", None) is not None


def _curved(request: AuditRequest) -> bool:
    return request.settings.curve or request.promise.curved


def claim_of(promise: Promise) -> PrivacyClaim:
    """What a mechanism is held to: (epsilon, delta), or rho or mu with a delta to state it at."""
    named = promise.adjacency
    words = {
        "observe": Observed.RELEASES,
        "unit": Unit.ENTRY if named else Unit.PAIRS,
        "adjacency": Adjacency(named or Adjacency.PAIRS),
    }
    delta = promise.delta or claims.STATED_DELTA
    if promise.rho is not None:
        return PrivacyClaim.zcdp(promise.rho, delta, **words)
    if promise.mu is not None:
        return PrivacyClaim.gdp(promise.mu, delta, **words)
    return PrivacyClaim(promise.epsilon, promise.delta or 0.0, **words)  # type: ignore[arg-type]


def _plan(case: ReleaseCase) -> Plan:
    """Sizes from the budget: scores take most of the time, not draws."""
    settings, allowed, sampler = case.request.settings, case.allowed, case.sampler
    made = second_plan(allowed.runs // 2, len(case.pairs), max(settings.sizes.most, 1_200_000))
    kept = case.sizes("kept", lambda: min(sampler.draws_kept(case.pairs[0], made.test), made.test // 2))
    plan = replace(made, select=max(made.select, kept))
    if case.seen.deterministic:
        needed = hits_needed(case.claim.epsilon, settings.alpha / 2)
        plan = Plan(24, 100, int(np.clip(needed, 200, plan.test)))
    return replace(plan, sequential=settings.sequential)


def _bound(case: ReleaseCase) -> UpperBound | None:
    """What the code can give away at most, over all data in bounds; why that is not known is kept."""
    why = case.apart or _unfollowed(case)
    found, ended = None, traced.Ended(why) if why else None
    if not ended:
        low, high = case.bounds
        entries = traced.Entries(low, high)
        if case.request.promise.adjacency == "zero-out":
            entries = traced.Entries(min(low, 0.0), max(high, 0.0), max(-low, high))
        shapes = list(dict.fromkeys(np.shape(pair.left) for pair in case.pairs))
        if case.ladder is not None:
            some = [size for size in sorted(case.ladder.tried) if 0 < size <= _FOLLOWED]
            more = ((size,) for size in some if size in SIZES or size in case.ladder.named[:_FEW])
            shapes = list(dict.fromkeys([*shapes, *more]))
        largest = max((shape[0] for shape in shapes if len(shape) == 1), default=_MORE)
        found, ended, lead = traced.bound_of_release(
            case.function,
            case.request.name,
            shapes,
            entries,
            case.claim.delta,
            together=case.sampler.together,
            work=case.request.settings.sizes.operations / len(shapes),
            larger=[(_MORE,)] if largest < _MORE and not case.stated else [],
        )
        if lead is not None and ended is not None and not case.stated:
            case.found([origins.decided_by_data(ended.what, ended.line)])
    found = found and found.under(case.claim)
    if case.stated and not case.apart and (found is None or exceeds(found.epsilon, case.claim.epsilon)):
        # Data within the bounds: those that were stated may cost less.
        one = _of_stated(case)
        if one is not None and (found is not None or not exceeds(one.epsilon, case.claim.epsilon)):
            found = one
    case.unbounded = ended if found is None else None
    return found


def _of_stated(case: ReleaseCase) -> UpperBound | None:
    """What the code gives away on the stated neighbours alone; None if that is not known."""
    pairs = [pair.worlds() for pair in case.pairs]
    if not all(type(side) is float or _is_floats(side) for pair in pairs for side in pair):
        return None
    found, _ = traced.bound_of_neighbours(
        case.function,
        case.request.name,
        pairs,
        case.claim.delta,
        together=case.sampler.together,
        work=case.request.settings.sizes.operations / len(pairs),
    )
    return found and found.under(case.claim)


def _unfollowed(case: ReleaseCase) -> str:
    """Why replacing any entry by any value in bounds is not what makes data neighbours; empty if it is."""
    if case.request.promise.adjacency == "add-remove":
        return "we cannot prove a bound if the number of entries changes"
    low, high = case.bounds
    for pair in case.pairs if case.stated else ():
        left, right = pair.worlds()
        if not all(type(side) is float or _is_floats(side) for side in (left, right)):
            return "we can trace data only if they are floats or arrays of floats"
        both = np.asarray(left), np.asarray(right)
        if both[0].shape != both[1].shape or np.count_nonzero(both[0] != both[1]) > 1:
            return "the given neighbours differ in more than one entry"
        if not all(((low <= side) & (side <= high)).all() for side in both):
            return "the given neighbours are outside the bounds"
    return ""


def _is_floats(data: Given) -> bool:
    return type(data) is np.ndarray and data.dtype == np.float64 and data.size > 0


def runs_of_a_call(case: ReleaseCase) -> None:
    """Whether draws of a call have one law: a lead, and what a bound rests on."""
    case.found([calls.compared(case, case.pairs[0].left)])


def only_look(case: ReleaseCase) -> None:
    """All the neighbours; the strongest pair and event are put to the test.

    What an upper bound within the claim acquits is looked at for a short time only; the look comes first in
    the record all the same.
    """
    found = None
    if case.boundable:
        case.request.progress("upper bound by tracing")
        found = _bound(case)
    within = found is not None and not exceeds(found.epsilon, case.claim.epsilon)
    if "runs" in case.sizes.found:  # the sizes are ours: no plan was given
        case.plan = shorter(case.plan, case.sizes("part", lambda: 4 * SHORT if within else 1))
    case.request.progress(f"black box: {2 * case.plan.test} draws")
    case.take(look(case, case.pairs, case.plan))
    case.allowed.spend(cost_of(case.plan, len(case.pairs)))
    if not case.refuted:
        case.bounded(found)


def between(case: ReleaseCase) -> None:
    """Values strictly between the bounds, where nobody said which data are taken: they only lead.

    Code that refuses all of them has said it, and the record says so; one that refuses some of them, or in
    some runs only, is not acquitted.
    """
    kind, plan = case.request.promise.adjacency or "replace", case.plan
    forms = {np.shape(pair.left): pair.left for pair in case.pairs}.values()
    pairs = [DataPair(*pair) for form in forms for pair in trials.inner_pairs(form, case.bounds, kind)]
    sizes = {name: max(1, getattr(plan, name) // _BETWEEN) for name in ("probe", "select", "test")}
    plan = replace(plan, sequential=False, **sizes)
    try:
        *_, last = look(case, pairs, plan, number=1).checks
    except InputError as error:
        inside = functools.partial(_inside, bounds=case.bounds)
        doubts = sorted_out(case.sampler, pairs, inside, error, _INSIDE).doubts()
        case.failed(doubts)
        case.narrow = not doubts
        return
    statistics = {**last.statistics, "confidence": max(case.levels.confidence, SURE)}
    case.checks.append(Check.of("values between the bounds", "between", statistics))


def _inside(data: Given, bounds: tuple[float, float]) -> bool:
    """Whether an entry lies strictly between the bounds."""
    return bool(((bounds[0] < np.asarray(data)) & (np.asarray(data) < bounds[1])).any())


def power(case: ReleaseCase) -> None:
    """Power, from variants that lose more; a test whose bound lies above the claim goes on in its place.

    Raises
    ------
    InputError
        If no draw ever differed from another, and none took random numbers.
    """
    settings, pinned = case.request.settings, case.request.pinned
    if case.seen.deterministic and not case.ground.draws:
        raise InputError(
            f"release: {DETERMINISTIC} (on every input that we tried, all draws gave the same output)"
        )
    promising = case.lead
    if promising is not None:
        most = 2 * _ON * case.plan.test
        last = case.sizes("last", lambda: enough(promising, min(most, case.allowed.beyond(BEYOND))))
        go_on(case, promising, last)
        return
    found, case.no_power = variants.of(case)
    stated = settings.power and not (pinned is not None and "runs" not in pinned["sizes"])
    if stated and found is not None:
        allowed = case.allowed
        # That of the look that was made, which is short where a bound settles the audit.
        last = case.sizes(
            "last", lambda: max(allowed.left, allowed.runs // 2) // case.sizes.found.get("part", 1)
        )
        variants.state_power(case, found, last)


def last_bits(case: ReleaseCase) -> None:
    """The floats that the sampler gives: their last bits may tell inputs apart."""
    settings, sampler = case.request.settings, ReleaseSampler(case.function, case.request.settings.seed)
    # Another process is asked for one part after the other.
    workers = settings.workers if sampler.far is None else 1
    check, chosen = bits.check(
        sampler,
        data_pairs(case.function, case.bounds, case.request.inputs.pairs, case.request.promise.adjacency),
        bits.sizes(case.plan.select, case.plan.test),
        replace(case.terms, workers=workers, tests=1),
    )
    case.checks.append(check)
    case.counterexamples += record_parts.counterexamples([check], {}, chosen)
