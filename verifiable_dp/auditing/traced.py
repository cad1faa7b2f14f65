"""Tracing as the first thing that an audit of a user's bandit tries."""

from __future__ import annotations

import inspect
import math
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import PurePath
from typing import Annotated, Any, NamedTuple, Self

import msgspec
import numpy as np

from verifiable_dp.auditing.request import Inputs, Promise
from verifiable_dp.core import validate
from verifiable_dp.core.filled import note_placed
from verifiable_dp.core.neighbours import InteractivePair, Pair, TablePair, pair_of
from verifiable_dp.core.validate import Function, Given, Json, JsonDict, JsonValue
from verifiable_dp.evidence.blackbox import positions
from verifiable_dp.evidence.blackbox.scores import MetScore, Rounds, Score
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.premises import Premise, Taken
from verifiable_dp.evidence.symbolic.bounded_programs import NeighbourProgram, Program
from verifiable_dp.evidence.symbolic.bounded_programs import PathFound as Explored
from verifiable_dp.evidence.symbolic.contextual_programs import Crowd
from verifiable_dp.evidence.symbolic.coverage import conditions_at
from verifiable_dp.evidence.symbolic.ends import SETS_SCALE, Ends
from verifiable_dp.evidence.symbolic.paths import behind, explore, unsettled
from verifiable_dp.evidence.symbolic.witness import confirmed
from verifiable_dp.evidence.tracing.examining import examine
from verifiable_dp.evidence.tracing.ledger import DATA, Lead
from verifiable_dp.evidence.tracing.losses import learn_losses
from verifiable_dp.evidence.tracing.replays import TRACING, check, lead_as_dict, without
from verifiable_dp.evidence.tracing.subjects import TracedBandit, TracedUsers
from verifiable_dp.evidence.upper import Method, UpperBound
from verifiable_dp.targets import opened
from verifiable_dp.targets.adapters import BanditClass, was_handed
from verifiable_dp.targets.far import there
from verifiable_dp.targets.guard import guarded
from verifiable_dp.targets.load import Adapted, is_known
from verifiable_dp.targets.seeds import Origins, origins_of
from verifiable_dp.targets.source import CodeSource, file_of

_CENTRAL = Promise()
_SPREAD = 5  # entries of data that paths favour in turn


class Entries(NamedTuple):
    """Which values entries of data have, and how far one can move, if less than from bound to bound."""

    low: float
    high: float
    furthest: float = math.inf


@dataclass(frozen=True)
class Effort:
    """How long tracing goes on: examples of its search, runs that are traced, and until when.

    `larger` is the code made for a larger epsilon, the parameter that says so (empty for a key), and the
    epsilons of both; None if that is not known.
    """

    examples: int
    most: int = sys.maxsize
    until: float = math.inf  # of `time.monotonic`
    larger: tuple[Function[object], str, tuple[float, float]] | None = None


@dataclass(frozen=True)
class TracingOutcome:
    """What tracing came to, for what comes after it.

    Attributes
    ----------
    traces
        Pairs of runs that were traced.
    late
        Whether fewer than else, as time had gone.
    pair, suspects
        The costliest neighbours, and those on which leads may show; None and none if nothing was traced.
    dear
        Where the costliest reward stands, as (round, arm), if it costs more than the claim.
    """

    traces: int
    late: bool
    pair: Pair | None
    suspects: tuple[Pair, ...]
    dear: tuple[tuple[int, int], ...]


def _told_of_tracing(found: tuple[Check, TracingOutcome] | None) -> JsonDict | None:
    """What `trace` gives, as plain values."""
    if found is None:
        return None
    made, seen = found
    pairs = [] if seen.pair is None else [seen.pair, *seen.suspects]
    return {
        "name": made.name,
        "statistics": made.statistics,
        "pairs": [{**pair.as_dict(), "joint": getattr(pair, "joint", False)} for pair in pairs],
        **{name: getattr(seen, name) for name in ("traces", "late", "dear")},
    }


def _read_of_tracing(told: Given, arguments: Sequence[Given]) -> tuple[Check, TracingOutcome] | None:
    """What `_told_of_tracing` tells; the result of the check follows from its statistics here."""
    if told is None:
        return None
    inputs: Inputs = arguments[3]
    dear = msgspec.convert(told["dear"], tuple[tuple[int, int], ...])
    columns = inputs.form.width if inputs.form is not None else inputs.n_arms or 0
    if any(not (0 <= t < (inputs.horizon or 0) and 0 <= a < columns) for t, a in dear):
        raise ValueError
    pairs = [pair for one in told["pairs"] if not isinstance(pair := pair_of(one), InteractivePair)]
    seen = TracingOutcome(
        msgspec.convert(told["traces"], int),
        msgspec.convert(told["late"], bool),
        pairs[0] if pairs else None,
        tuple(pairs[1:]),
        dear,
    )
    return Check.of(str(told["name"]), TRACING.name, told["statistics"]), seen


@there(_read_of_tracing, _told_of_tracing)
def trace(
    function: Function[object],
    name: str,
    epsilon: float,
    inputs: Inputs,
    seed: int,
    effort: Effort,
    promise: Promise = _CENTRAL,
) -> tuple[Check, TracingOutcome] | None:
    """Trace `play(rewards, rng)` on neighbouring tables; None where its source is not Python code.

    Files are written as the target names them, and so are those beside it; those of libraries begin with
    the name of the library: the check does not depend on folders.
    """
    file, cut = _file_of(function), False
    if file is None:
        return None

    def late() -> bool:
        nonlocal cut
        cut = cut or time.monotonic() > effort.until
        return cut

    with guarded():
        n_arms, horizon = validate.arms_and_horizon(inputs.n_arms, inputs.horizon)
        answers = choosing(function, n_arms, horizon)
        form, users = inputs.form, None
        if form is not None:
            users = TracedUsers(form, promise.model == "joint", promise.protects == "reward")
        subject = TracedBandit(function, n_arms, horizon, inputs.bounds, frozenset([file]), answers, users)
        pairs = inputs.pairs or []
        found = examine(
            subject, epsilon, pairs, seed=seed, examples=effort.examples, most=effort.most, late=late
        )
        if effort.larger is not None and found.worst is not None and found.pair is not None:
            code, parameter, epsilons = effort.larger
            other = replace(subject, function=code).trace(found.pair, found.seed)
            if was_handed(code, parameter):
                found = without(found, other, epsilons)
        local = promise.model == "local"
        if local and found.pair is not None:
            subject.check_reports(found.pair, found.seed)
            found = replace(found, repeats=subject.repeats(found.pair, found.seed))
    made = check(found, epsilon, local=local, delta=promise.delta or 0.0)
    source = CodeSource.of(function, name)
    told = Check.of(made.name, made.kind, renamed(made.statistics, file, source.path or file))
    pair = found.pair
    return told, TracingOutcome(
        found.traces, cut, pair, () if pair is None else found.suspects, found.dear(epsilon)
    )


def _read_score(told: Given, arguments: Sequence[Given]) -> Score | None:
    if told is None:
        return None
    slopes = np.array(told["slopes"], np.float64)
    if slopes.ndim != 2 or not np.isfinite(slopes).all():
        raise ValueError
    return MetScore(Rounds(slopes, str(told["made"])))


@dataclass(frozen=True)
class Teacher:
    """Learns scores from traced runs of a pair, `runs` of either world."""

    function: Function[object]
    n_arms: int
    horizon: int
    bounds: tuple[float, float]
    seed: int
    runs: int

    @there(
        _read_score, lambda score: score and {"slopes": score.score.slopes.tolist(), "made": score.score.made}
    )
    def __call__(self, pair: Given) -> Score | None:
        """The score; None if a run cannot be traced or the pair is no table's."""
        file = _file_of(self.function)
        if file is None or not isinstance(pair, TablePair):
            return None
        with guarded():
            subject = TracedBandit(self.function, self.n_arms, self.horizon, self.bounds, frozenset([file]))
            return learn_losses(subject, pair, self.runs, self.seed)


def _file_of(function: Function[object]) -> str | None:
    return file_of(inspect.unwrap(function)) or None


@dataclass
class _Known:
    """Why a generator hides nothing, by its identity; looked into once a run has drawn from a kept one.

    That is done between runs: the modules are imported again in a process of their own, which must not be
    one that is traced.
    """

    origins: Origins
    found: Mapping[int, str] | None = None
    asked: bool = False

    def __call__(self, number: int) -> str:
        """The reason; empty for a secret, and as long as nothing was looked into."""
        self.asked = True
        return (self.found or {}).get(number, "")


def _known(function: Function[object]) -> _Known:
    return _Known(origins_of(function))  # before anything stands in for a generator


def _searched(program: Program, arms: int, work: float, delta: float) -> Explored:
    """What paths come to, in view of what is known of the generators that they draw from, and replayed."""
    found, known = explore(program, arms, work=work), program.known
    if isinstance(known, _Known) and known.asked and known.found is None:
        known.found = known.origins.known
        found = explore(program, arms, work=work) if known.found else found
    if isinstance(known, _Known) and known.asked:
        found = replace(found, taken=(*found.taken, Taken.NEVER_FORKED))
    return confirmed(program, arms, found, delta)


@dataclass(frozen=True)
class Runs:
    """What `play_many(rewards, n_runs, rng)` plays in a call for so many runs."""

    function: Function[Given]
    runs: int = 1

    @property
    def __wrapped__(self) -> Function[object]:
        """Where the source is."""
        return self.function

    @property
    def larger(self) -> Self:
        """A call for one run more."""
        return replace(self, runs=self.runs + 1)

    def __call__(self, data: Given, rng: Given) -> Given:
        """The actions of the run, or of all of them."""
        made = self._all(data, rng)
        return made[0] if self.runs == 1 else made

    def _all(self, data: Given, rng: Given) -> Given:
        note_placed(self.function, "data", "public", "generator")
        return self.function(data, self.runs, rng)


@dataclass(frozen=True)
class Ended:
    """Why there is no upper bound, and at which line, if at one.

    Attributes
    ----------
    what
        In words.
    file, line
        Where; empty and 0 without a line.
    """

    what: str
    file: str = ""
    line: Annotated[int, msgspec.Meta(ge=0, le=1 << 20)] = 0

    @classmethod
    def of(cls, found: Explored, data: str = DATA) -> Ended:
        """Of a search that found none; `data` are what is raw."""
        what = found.failure.said(data) if found.failure else "the noise does not hide what is released"
        at = found.at if found.failure and found.at and found.at.line else None
        return cls(what, at.file, at.line) if at else cls(what)

    def named(self, function: Function[Given], name: str, file: str) -> Ended:
        """With files as the target names them."""
        source = CodeSource.of(function, name)
        return Ended(**renamed(asdict(self), file, source.path or file))


_NOT_PYTHON = Ended("its source is not Python code")


def _unbounded() -> Ended | None:
    """Why no run of the code of this process is bounded; None if some may be."""
    place = opened.outside()
    what = f"the code reads {place!r}, which is not a file of its repository and may differ elsewhere"
    return Ended(what) if place else None


@dataclass(frozen=True)
class CallSizes:
    """How a bound of a call for one run comes to speak of others.

    Calls for two runs and three are traced whole: they must not give away more than so many calls for one.
    Larger ones are covered only by a check that compares runs by their place, if runs share calls at all.

    Parameters
    ----------
    together
        Whether the runs of the audit share calls.
    """

    together: bool = True

    @classmethod
    def of(cls, function: Function[Given], together: bool) -> CallSizes | None:
        """Of a mechanism; None where it makes one draw a call."""
        return None if is_known(function, "one_at_a_time") else cls(together)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Runs of the calls that are traced."""
        return (1, 2, 3) if self.together else (1,)

    def exceeded(self, one: UpperBound, found: Mapping[int, Explored], delta: float) -> Ended | None:
        """Why larger calls are not so many calls for one run; None if they may be."""
        for size, whole in found.items():
            if whole.failure:
                ended = Ended.of(whole)
                return replace(ended, what=f"in a call for {size} runs: {ended.what}")
            if whole.epsilon(delta) > size * one.epsilon * (1 + 1e-9):
                return Ended(f"a call for {size} runs reveals more than {size} calls for one run")
        return None

    def stated(self, bound: UpperBound, *more: Premise) -> UpperBound:
        """The bound with what it says of calls."""
        alike = Premise(Taken.RUNS_ALIKE, tested_by=positions.NAME)
        premise = alike if self.together else Premise(Taken.RUNS_ALONE)
        certificate = {**bound.certificate, "calls": list(self.sizes)}
        return replace(bound, premises=(*bound.premises, *more, premise), certificate=certificate)


def _told_of_bound(
    found: tuple[UpperBound | None, Ended | None, *tuple[JsonDict | None, ...]],
) -> list[Given]:
    """What a search for a bound gives, as plain values."""
    return [one and (one if isinstance(one, dict) else asdict(one)) for one in found]


def _read_bound(told: Given, arguments: Sequence[Given]) -> tuple[UpperBound | None, Ended | None]:
    """What `_told_of_bound` tells of two; epsilon follows from the certificate here."""
    made, ended = told
    return _bound_of(made), msgspec.convert(ended, Ended | None)


def _read_bound_and_lead(
    told: Given, arguments: Sequence[Given]
) -> tuple[UpperBound | None, Ended | None, JsonDict | None]:
    """As `_read_bound`, of three."""
    made, ended, lead = told
    return _bound_of(made), msgspec.convert(ended, Ended | None), msgspec.convert(lead, dict[str, Any] | None)


def _bound_of(told: Json | None) -> UpperBound | None:
    if told is None:
        return None
    if not Method(told["method"]).traced:
        raise ValueError
    premises = tuple(Premise(**one) for one in told["premises"])
    return UpperBound(**{**told, "premises": premises, "method": Method(told["method"])})


@there(_read_bound_and_lead, _told_of_bound)
def bound(
    function: Function[object],
    name: str,
    inputs: Inputs,
    delta: float,
    promise: Promise = _CENTRAL,
    many: CallSizes | None = None,
    *,
    work: float = math.inf,
) -> tuple[UpperBound | None, Ended | None, JsonDict | None]:
    """An upper bound on epsilon over all inputs within the bounds; without one, why.

    Then also the lead, as it stands in a check, where raw data decides something that replays on neighbours
    cannot settle, or rare draws may do something that we cannot follow. With `many` the function is
    `play_many`, of which one run is bounded. The search gives up after `work` operations.
    """
    file = _file_of(function)
    if file is None or (why := _unbounded()):
        return None, _NOT_PYTHON if file is None else why, None
    n_arms, horizon = validate.arms_and_horizon(inputs.n_arms, inputs.horizon)
    known = _known(function)
    form, played = inputs.form, Runs(function) if many else function
    if form is None:
        local = promise.model == "local"
        program = Program(played, (horizon, n_arms), inputs.bounds, known=known, local=local)
    else:
        shape, seen = (horizon, form.width), (promise.model == "joint", promise.protects == "reward")
        program = Crowd(played, shape, inputs.bounds, None, form, *seen, known=known)
    larger: dict[int, Explored] = {}
    with guarded():
        found = _searched(program, n_arms, work, delta)
        if many and not found.failure:
            for size in many.sizes[1:]:
                runs = replace(program, function=Runs(function, size))
                larger[size] = _searched(runs, n_arms, work, delta)
        seeds = found.failure.why is Ends.SEEDS
        forced = None if seeds else behind(found)
        at = forced or (found.at if seeds or found.unseen or unsettled(program, found) else None)
        # No replay has followed it: it is open whether noise stands before it, or whether anything decides.
        what = "seeds" if seeds else "unfollowed" if found.unseen and not forced else "unsettled"
        open_lead = None if at is None else Lead(what, at)
    made = found.bound(delta)
    ended = None if made else Ended.of(found)
    if many and made is not None:
        ended = many.exceeded(made, larger, delta)
        made = None if ended else many.stated(made)
    lead = None if open_lead is None else {**lead_as_dict(open_lead), "open": True}
    told = renamed({"lead": lead}, file, CodeSource.of(function, name).path or file)
    return made, ended and ended.named(function, name, file), told["lead"]


@dataclass(frozen=True)
class OneDraw(Runs):
    """What a mechanism releases in a call for one draw: `release(data, size, rng)`, or an `adapters.Adapted`.

    Parameters
    ----------
    scalar
        Whether the data are a number: the only entry of what is handed over.
    """

    scalar: bool = field(kw_only=True)

    def __call__(self, data: Given, rng: Given) -> Given:
        """The output of the draw."""
        if self.scalar:
            data = float(data[0]) if type(data) is np.ndarray else data.reshape(()).copy()  # a number stays
        if isinstance(self.function, Adapted) and self.function.one_at_a_time:
            return self.function.one(data, rng)
        return self._all(data, rng)


@there(_read_bound_and_lead, _told_of_bound)
def bound_of_release(
    function: Function[Given],
    name: str,
    shapes: Sequence[tuple[int, ...]],
    entries: Entries,
    delta: float,
    *,
    together: bool = True,
    work: float = math.inf,
    larger: Sequence[tuple[int, ...]] = (),
) -> tuple[UpperBound | None, Ended | None, JsonDict | None]:
    """An upper bound on epsilon over all data of these shapes, () for a number, of which one entry changes.

    It holds for the costliest shape; without one, why, and what no sample can show, as in `bound`: raw data
    decide a branch, or set the scale of noise. For each shape the search gives up
    after `work` operations. A `larger` shape counts only if it has a bound, too: code may ask how many
    entries there are, and no run at the others shows what it does with more of them.
    """
    file = _file_of(function)
    if file is None or (why := _unbounded()):
        return None, _NOT_PYTHON if file is None else why, None
    made, calls, bounded = list[UpperBound](), CallSizes.of(function, together), list[tuple[int, ...]]()
    for shape in (*shapes, *larger):
        program = Program(
            OneDraw(function, scalar=not shape),
            shape or (1,),
            (entries.low, entries.high),
            furthest=entries.furthest,
            known=_known(function),
        )
        with guarded():
            found = _searched(program, min(_SPREAD, max(1, math.prod(shape))), work, delta)
        one = found.bound(delta)
        if one is None and shape in shapes:
            branches = found.failure.why is Ends.BRANCH and found.at and conditions_at(found.at)
            hidden = (branches and unsettled(program, found)) or found.failure.words == SETS_SCALE
            lead = lead_as_dict(Lead("unsettled", found.at), "data") if hidden and found.at else None
            return None, Ended.of(found, "data").named(function, name, file), lead
        if one is None:
            continue
        bounded.append(shape)
        for draws in calls.sizes[1:] if calls and shape == shapes[0] else ():
            whole = replace(program, function=OneDraw(function, draws, scalar=not shape))
            with guarded():
                beyond = _searched(whole, min(_SPREAD, max(1, math.prod(shape))), work, delta)
            if calls and (ended := calls.exceeded(one, {draws: beyond}, delta)):
                return None, ended.named(function, name, file), None
        made.append(one)
    fixed = Premise(Taken.SIZES_OF_DATA, {"shapes": [list(shape) for shape in bounded]})
    most = replace(max(made, key=lambda one: one.epsilon), method=Method.TRACING_DATA)
    most = calls.stated(most, fixed) if calls else replace(most, premises=(*most.premises, fixed))
    return most, None, None


@there(_read_bound, _told_of_bound)
def bound_of_neighbours(
    function: Function[Given],
    name: str,
    pairs: Sequence[tuple[Given, Given]],
    delta: float,
    *,
    together: bool = True,
    work: float = math.inf,
) -> tuple[UpperBound | None, Ended | None]:
    """An upper bound on epsilon of the costliest of some neighbouring data; without one, why.

    What is moved in several entries moves together, but each entry counts as if it moved by itself: the bound
    may be loose then.
    """
    file, made, calls = _file_of(function), list[UpperBound](), CallSizes.of(function, together)
    if file is None or (why := _unbounded()):
        return None, _NOT_PYTHON if file is None else why
    for sides in pairs:
        left, right = (np.atleast_1d(np.asarray(side, np.float64)) for side in sides)
        if left.shape != right.shape or not (np.isfinite(left).all() and np.isfinite(right).all()):
            return None, Ended("the given neighbours are not finite, or differ in size")
        limits = float(min(left.min(), right.min())), float(max(left.max(), right.max()))
        scalar, one = np.ndim(sides[0]) == 0, None
        for draws in calls.sizes if calls else (1,):
            released = OneDraw(function, draws, scalar=scalar)
            program = NeighbourProgram(
                released, left.shape, limits, known=_known(function), left=left, right=right
            )
            with guarded():
                found = _searched(program, min(_SPREAD, left.size), work, delta)
            if one is None:
                one = found.bound(delta)
                if one is None:
                    return None, Ended.of(found, "data").named(function, name, file)
            elif calls and (ended := calls.exceeded(one, {draws: found}, delta)):
                return None, ended.named(function, name, file)
        assert one is not None
        made.append(one)
    most = replace(max(made, key=lambda one: one.epsilon), method=Method.TRACING_PAIRS)
    stated = Premise(Taken.STATED_DATA)
    return calls.stated(most, stated) if calls else replace(most, premises=(*most.premises, stated)), None


def with_lead(check: Check, lead: JsonDict) -> Check:
    """A check of tracing with one more lead, in place of one of the same line that replays had settled."""
    where = ("file", "line")
    leads = [x for x in check.statistics["leads"] if x["open"] or any(x[k] != lead[k] for k in where)]
    return Check.of(check.name, check.kind, {**check.statistics, "leads": [*leads, lead]})


def choosing(function: Function[object], n_arms: int, horizon: int) -> tuple[Function[object], ...]:
    """The methods that choose the arms of a class that plays as a function; none of a plain function."""
    return function.choosers(n_arms, horizon) if isinstance(function, BanditClass) else ()


def renamed(statistics: Json, file: str, name: str) -> JsonDict:
    """Statistics in which `file` is called `name`, and files in its folder accordingly; source as it is."""
    libraries = [os.path.join(p, "") for p in sys.path if p.endswith(("site-packages", "dist-packages"))]
    folder, beside = os.path.join(os.path.dirname(file), ""), PurePath(name).parent.as_posix()
    beside = "" if beside == "." else f"{beside.rstrip('/')}/"

    def shown(value: JsonValue) -> JsonValue:
        if isinstance(value, Mapping):
            kept = ("source", "lines")
            return {key: item if key in kept else shown(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [shown(item) for item in value]
        if not isinstance(value, str):
            return value
        value = value.replace(file, name)
        for library in libraries:
            value = value.replace(library, "")
        return value.replace(folder, beside) if folder != os.sep else value

    return {key: shown(value) for key, value in statistics.items()}
