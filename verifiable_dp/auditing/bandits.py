"""The rungs of the audit of a user's bandit: tracing, two looks or three, power."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Final

import numpy as np

from verifiable_dp.auditing import calls, design, groups, refusals, traced, variants
from verifiable_dp.auditing.execution_plan import StageSizes, duration, grounded
from verifiable_dp.auditing.plans import LEAST_RUNS, SHORT, cost_of, first_plan, second_plan, shorter
from verifiable_dp.auditing.request import AuditRequest, Inputs, Promise
from verifiable_dp.auditing.rounds_of_testing import (
    BEYOND,
    INTERACTIVE,
    Levels,
    Look,
    UserCase,
    UserCaseState,
    enough,
    go_on,
    hits_needed,
    look,
)
from verifiable_dp.core import claims, engine, validate
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.contexts import AheadError, Contexts
from verifiable_dp.core.neighbours import ContextGame, ContextPair, Pair, TablePair
from verifiable_dp.core.units import Adjacency, Observed, TrustModel
from verifiable_dp.core.validate import FloatArray, Function, InputError, IntArray, JsonDict
from verifiable_dp.evidence.acting import Acting
from verifiable_dp.evidence.blackbox.search import PairSearch
from verifiable_dp.evidence.blackbox.test import TUNE, Plan
from verifiable_dp.evidence.blackbox.users import UserSearch
from verifiable_dp.evidence.exclusions import Exclusion, Left
from verifiable_dp.evidence.tracing.replays import is_lead
from verifiable_dp.targets import horizons
from verifiable_dp.targets.adapters import epsilon_of, made_for
from verifiable_dp.targets.far import is_process
from verifiable_dp.targets.load import is_known
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.probes import DETERMINISTIC, probe_play

LARGEST = 1 << 22  # entries of a table of rewards; some dozens of tables are held
_HELD = 1 << 24  # actions that one task holds
_TRACING = 0.3  # of the time may go into tracing
_TRACED = 60  # examples of the search of tracing, at most
_TUNED = 162  # estimates of a whole search: at most 18 decisions, 18 steps each, half of them early
_TOGETHER = "play_many receives the users of all rounds and all runs at once"
_GAMES = 0.2  # of the runs that are left go to adversaries over contexts
_FINALISTS = 3
_GAME_RUNS = 2  # of each of them, on either input, show whether they can play
_AGAIN = 4  # pairs of the first look that the second one tries again
_HOPELESS = 0.02  # chance to refute below which no test goes on
_TAUGHT = 0.1  # of what a look costs goes into traced runs that a score is learnt from
_DEARER = 40  # plays that a traced run and its replay stand for
_LEAST_TRACES, _MOST_TRACES = 8, 100  # of either world
_GAPS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)  # of the last arm, as parts of the range
_LONGER = 0.15  # of the runs that are left may go into the search for a longer horizon


class _Tuner:
    """Plays tables with randomness of its own for each call, and notes whether runs ever differed."""

    def __init__(self, sampler: PlaySampler) -> None:
        self._sampler = sampler
        self.calls = self.runs = 0
        self.varied = False

    def __call__(self, table: FloatArray, runs: int) -> IntArray:
        self.calls += 1
        self.runs += runs
        actions: IntArray = self._sampler.actions(table, (TUNE, self.calls), np.arange(runs, dtype=np.int64))
        self.varied = self.varied or bool((actions != actions[0]).any())
        return actions


@dataclass(kw_only=True)
class PlayCaseState(UserCaseState):
    """What rungs change in the audit of a user's bandit.

    Attributes
    ----------
    pairs
        See `UserCase`: those that are found are added.
    dear
        Places at which tracing saw the costliest reward.
    tried
        What the search has tried, by number; empty if nothing was searched for.
    unplayed, game
        Why no adversary over contexts could play; sizes of the look at them, None if there was none.
    """

    pairs: list[Pair]
    dear: Sequence[tuple[int, int]] = ()
    tried: dict[str, int] = field(default_factory=dict)
    unplayed: str = ""
    game: Plan | None = None


@dataclass(kw_only=True)
class PlayCase(PlayCaseState, UserCase[PlaySampler]):
    """The audit of a user's bandit, `play` or `play_many`, by its actions.

    Attributes
    ----------
    n_arms, horizon, bounds, form
        Of the bandit; form of its contexts, None without.
    tune, finder
        What plays for the search, and the search.
    plain
        Neighbours that are not searched for.
    """

    pairs: list[Pair]  # of its state
    n_arms: Final[int]
    horizon: Final[int]
    bounds: Final[tuple[float, float]]
    tune: Final[_Tuner]
    finder: Final[PairSearch | UserSearch]
    form: Final[Contexts | None] = None
    plain: Final[list[Pair]] = field(default_factory=list)

    @classmethod
    def of(cls, request: AuditRequest, function: Function[object], *, many: bool) -> PlayCase:
        """What a request comes to; makes the first runs.

        Raises
        ------
        InputError
            If what is asked means nothing for a bandit, or it cannot be run.
        """
        inputs, settings, promise = request.inputs, request.settings, request.promise
        n_arms, horizon = validate.arms_and_horizon(inputs.n_arms, inputs.horizon)
        form = inputs.form
        width = form.width if form else n_arms
        if width * horizon > LARGEST:
            what = "rewards" if form is None else "rewards and contexts"
            raise InputError(
                f"horizon: a table of {what} must have at most {LARGEST} entries to fit into memory, got "
                f"{width} x {horizon}; use a shorter horizon"
            )
        bounds = validate.bounds("bounds", inputs.bounds)
        claim = claim_of(promise, inputs)
        sampler = PlaySampler(
            function,
            many,
            n_arms,
            horizon,
            settings.seed,
            shard=int(np.clip(_HELD // horizon, 1, 4096 if many else 256)),
            timeout=settings.timeout,
            joint=promise.model == "joint",
        )
        tables, sizes = _tables((horizon, n_arms), bounds, settings.seed, form), StageSizes(request.pinned)
        request.progress("first runs")
        trial = _trial(tables[0], bounds, form)
        allowed, ground = grounded(
            sampler,
            "play_many" if many else "play",
            settings.sizes,
            sizes,
            lambda target, n: target.sample(trial, 0, TUNE, 0, np.arange(n, dtype=np.int64)),
            tables,
            request.progress,
        )
        probes = sizes("probes", lambda: int(np.clip(allowed.runs // 400, 2, 12)))
        seen = probe_play(ground.sampler, tables, probes)
        allowed.spend(2 * len(tables) * probes)
        tune, given = _Tuner(ground.sampler), inputs.pairs
        finder = design.finder_of(tune, inputs, promise, int(np.clip(0.25 * allowed.runs / _TUNED, 4, 400)))
        plain = design.plain(finder, given)
        case = cls(
            request=request,
            claim=claim,
            plan=Plan(1, 1, 1),
            kind="play_many" if many else "play",
            pairs=list(plain),
            function=function,
            ground=ground.after(seen),
            allowed=allowed,
            sizes=sizes,
            levels=Levels(settings.alpha, settings.confidence, tests=3 + settings.curve, looks=2),
            seen=seen,
            varied=seen.varied,
            n_arms=n_arms,
            horizon=horizon,
            bounds=bounds,
            tune=tune,
            finder=finder,
            form=form,
            plain=plain,
        )
        if promise.model == "local" and not case.traceable:
            raise InputError(
                "model='local' works only with code that we can trace: play(rewards, rng) or a class"
            )
        return replace(case, levels=replace(case.levels, tests=case.levels.tests + case.adaptive))

    @property
    def traceable(self) -> bool:
        """Whether the code may be handed tracked arrays; tracing replaces one reward by another."""
        return self.kind == "play" and self._followed

    @property
    def boundable(self) -> bool:
        """Whether an upper bound on what its actions give away says something of the claim."""
        together = self.form and self.kind == "play_many"
        return self._followed and not (self.given or together or self.ground.unlike)

    @property
    def adaptive(self) -> bool:
        """Whether adversaries over contexts are asked to play: not where all runs are made together."""
        return self.form is not None and self.kind == "play" and not self.given

    @property
    def _followed(self) -> bool:
        promise = self.request.promise
        plain = promise.group is None and promise.adjacency in (None, "replace")
        return plain and not is_process(self.function)

    @property
    def moved(self) -> bool:
        """Whether a check saw a difference between neighbouring inputs."""
        return any(float(check.result.get("epsilon_lower", 0.0)) > 0 for check in self.checks)

    @property
    def suspected(self) -> bool:
        """Whether tracing saw something against the claim."""
        return any(c.kind == "tracing" and is_lead(c.statistics, c.result) for c in self.checks)

    def teaching(self, sampler: PlaySampler, plan: Plan, pairs: int) -> PlaySampler:
        """See `UserCase.teaching`: where tracing has a lead, at the cost of a tenth of the look's plays."""
        if not self.suspected or not self.traceable or self.form is not None:
            return sampler
        traces = int(_TAUGHT * cost_of(plan, pairs, once=True) / _DEARER / (2 * plan.finalists))
        runs = min(traces, _MOST_TRACES)
        if runs < _LEAST_TRACES:
            return sampler
        self.allowed.spend(2 * runs * plan.finalists * _DEARER)
        shape = self.n_arms, self.horizon, self.bounds
        return replace(sampler, taught=traced.Teacher(self.function, *shape, sampler.seed, runs))

    @property
    def hoped(self) -> int | None:
        """See `UserCase.hoped`."""
        return self.sizes("hoped", lambda: BEYOND * self.allowed.runs // 2) if self.suspected else None

    @property
    def promising(self) -> Look | None:
        """The look whose test goes on: its bound is above the claim, or where tracing leads its estimate.

        None where the runs that it may go on to would hardly ever refute.
        """
        near = self.near if self.suspected else None
        if near is not None and self.hope(near)[0] < _HOPELESS:
            near = None
        return self.lead or near

    @property
    def given(self) -> bool:
        """Whether the pairs were given."""
        return self.request.inputs.pairs is not None

    @property
    def needed(self) -> int:
        """Runs a side that refute where no run varies."""
        return hits_needed(self.claim.epsilon, self.levels.alpha / self.levels.tests)

    def sized(self, plan: Plan) -> Plan:
        """The plan, sequential if that is asked."""
        return replace(plan, sequential=self.request.settings.sequential)

    def grouped(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Pairs that differ in as many events as the group has, where one run pulls the arm."""
        group = self.request.promise.group
        if group is None:
            return list(pairs)
        one = np.zeros(1, np.int64)
        return [
            groups.widened(pair, group, self.sampler.actions(np.array(pair.worlds()[0]), (TUNE, 0), one)[0])
            for pair in pairs
        ]

    def words(self) -> list[str]:
        """See `Case.words`."""
        games = self.finder.games() if self.game is not None and isinstance(self.finder, UserSearch) else []
        return [*super().words(), *(game.describe() for game in games)]

    def noted(self) -> JsonDict:
        """See `Case.noted`; with what the search has tried."""
        sizes = {"challenges": 2, "population": 0, "generations": 0}  # two users; nothing is learnt
        if self.game is not None:
            sizes |= {name: getattr(self.game, name) for name in ("probe", "select", "test")}
        return {
            **super().noted(),
            **({"tried": self.tried} if self.tried else {}),
            **({"interactive": sizes} if self.game is not None else {}),
        }

    def not_covered(self) -> list[Exclusion]:
        """See `Case.not_covered`."""
        covered = [Exclusion(Left.NEIGHBOURS, self.tried)] if self.tried else []
        given = any(isinstance(pair, ContextGame) for pair in self.pairs)
        if self.form is not None and self.game is None and not given:
            why = _TOGETHER if self.kind == "play_many" else self.unplayed
            covered.append(Exclusion(Left.REACTING_USERS, {"why": why} if why else {}))
        return [*super().not_covered(), *covered]

    def parameters(self) -> JsonDict:
        """See `UserCase.parameters`."""
        return {"n_arms": self.n_arms, "horizon": self.horizon, "bounds": list(self.bounds)}


def _tables(
    shape: tuple[int, int], bounds: tuple[float, float], seed: int, form: Contexts | None
) -> list[FloatArray]:
    """Tables of the first runs: rewards mixed, all low, all middling; contexts of all directions."""
    low, high = bounds
    rng = np.random.default_rng(seed)
    mixed = np.where(rng.random(shape) < 0.5, low, high)
    tables = [mixed, np.full(shape, low), np.full(shape, (low + high) / 2)]
    if form is None:
        return tables
    vectors = rng.standard_normal((shape[0], *form.shape))
    contexts = form.norm * vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return [form.table((1 - 1e-9) * contexts, table) for table in tables]


def _trial(table: FloatArray, bounds: tuple[float, float], form: Contexts | None) -> Pair:
    """A pair on which it is measured how long runs take."""
    moved = bounds[0] if table[0, 0] == bounds[1] else bounds[1]
    if form is None:
        return TablePair(table, 0, 0, moved, bounds)
    return ContextPair.of_tables(form, table, 0, np.array([moved, *table[0][1:]]))


def claim_of(promise: Promise, inputs: Inputs) -> PrivacyClaim:
    """What is tested of a user's bandit.

    Raises
    ------
    InputError
        If pairs are given that do not fit it.
    """
    epsilon, delta = float(promise.epsilon or 0.0), promise.delta or 0.0
    fits = [isinstance(pair, ContextPair) == (inputs.contexts is not None) for pair in inputs.pairs or ()]
    if not all(fits):
        raise InputError("pairs must be ContextPairs if and only if contexts are given")
    if inputs.contexts is not None:
        model = promise.model or "central"
        return PrivacyClaim.of_users(epsilon, delta, model=model, protects=promise.protects)
    if promise.model == "local":
        return PrivacyClaim(epsilon, observe=Observed.REPORTS, trust_model=TrustModel.LOCAL)
    claim = PrivacyClaim(epsilon, delta, adjacency=Adjacency(promise.adjacency or Adjacency.REPLACE))
    if promise.group is None:
        return claim
    return claims.group(claim, promise.group, kind=groups.kind(inputs.pairs))


def _doubled(case: PlayCase) -> tuple[Function[object], str, tuple[float, float]] | None:
    """The code made for twice its epsilon, what says so, and both epsilons; None where that is not known."""
    target, given = case.request.target, case.request.given()
    found = epsilon_of(target, given)
    if found is None:
        return None
    try:
        return made_for(target, given, 2.0), found[0], (found[1], 2 * found[1])
    except InputError:
        return None


def trace(case: PlayCase) -> None:
    """Losses of traced runs, and lines at which raw data decides: a lead for the looks."""
    settings, pinned = case.request.settings, case.request.pinned
    found = traced.trace(
        case.function,
        case.request.name,
        case.claim.epsilon,
        replace(case.request.inputs, pairs=case.pairs),
        settings.seed,
        traced.Effort(
            min(settings.sizes.examples, _TRACED),
            most=max(1, case.allowed.runs // 40) if pinned is None else pinned["sizes"]["traced"],
            until=case.allowed.until(_TRACING),
            larger=_doubled(case),
        ),
        case.request.promise,
    )
    if found is None and case.request.promise.model == "local":
        raise InputError("model='local' works only with Python code whose source is available")
    if found is None:
        return
    check, seen = found
    case.allowed.capped = case.allowed.capped or seen.late
    case.found([check])
    case.allowed.spend(case.sizes("traced", lambda: seen.traces))
    if not case.given and seen.pair is not None:
        # What cost most leads the black box, then where named lines may show.
        case.pairs[:0] = [seen.pair, *seen.suspects]
        case.dear = seen.dear


def runs_of_a_call(case: PlayCase) -> None:
    """Whether runs of a call have one law where arms are about even: a lead, and what a bound rests on."""
    low, high = case.bounds
    tables = _tables((case.horizon, case.n_arms), case.bounds, case.request.settings.seed, case.form)[1:2]
    for part in _GAPS if case.form is None else ():
        table = tables[0].copy()
        table[:, -1] += part * (high - low)
        tables.append(table)
    case.found([calls.compared(case, calls.even(case.sampler, tables[::-1]))])


def bound(case: PlayCase) -> None:
    """What the code can give away at most, over all rewards; why that is not known goes into the notes."""
    form, promise = case.form, case.request.promise
    inputs = Inputs(case.n_arms, case.horizon, case.bounds)
    if form is not None:
        inputs = replace(inputs, contexts=form.shape, context_norm=form.norm)
    if case.apart:
        case.unbounded = traced.Ended(case.apart)
        return
    many = traced.CallSizes(case.sampler.together) if case.kind == "play_many" else None
    work = case.request.settings.sizes.operations
    found, case.unbounded, lead = traced.bound(
        case.function, case.request.name, inputs, case.claim.delta, promise, many, work=work
    )
    case.bounded(found)
    if case.unbounded and lead is not None:  # what the search took it for may be wrong
        said = f"{case.unbounded.what}; replays on neighbours cannot decide whether this leaks"
        case.unbounded = replace(case.unbounded, what=said)
    if lead is not None:
        case.checks = [traced.with_lead(c, lead) if c.kind == "tracing" else c for c in case.checks]


def first_look(case: PlayCase) -> None:
    """Plain neighbours, and those that tracing found."""
    found = case.pairs[: len(case.pairs) - len(case.plain)]
    case.pairs = case.grouped([*found, *design.first(case.plain, case.allowed.runs)])
    plan = first_plan(case.allowed.runs, case.needed if case.seen.deterministic else None)
    part = case.sizes("part", lambda: SHORT if case.settled and not case.refuted else 1)
    case.plan = case.sized(shorter(plan, part))
    case.take(look(case, case.pairs, case.plan, number=0))
    case.allowed.spend(cost_of(case.plan, len(case.pairs), once=True))


def longer(case: PlayCase) -> None:
    """Where no reward changes any action: the horizon from which on one does."""
    most = case.sizes("longest", lambda: int(_LONGER * case.allowed.left / horizons.PLAYS) * case.horizon)
    found = horizons.search(case.sampler, case.bounds, min(most, LARGEST // case.n_arms))
    case.sizes.found |= found.as_sizes()
    case.allowed.spend(horizons.PLAYS * found.idle / case.horizon)
    if found.idle and found.acts and case.allowed.each:
        each = case.allowed.each * found.acts / case.horizon
        case.request.progress(
            f"from --horizon {found.acts} on, some reward changes an action; at that horizon, one play takes "
            f"about {duration(each)}, and an audit of {LEAST_RUNS} plays takes {duration(LEAST_RUNS * each)}"
        )


def second_look(case: PlayCase) -> None:
    """Neighbours that are searched for."""
    allowed, sizes = case.allowed, case.sizes
    search = sizes("search", lambda: int(0.35 * allowed.left) if allowed.runs >= design.FEW_RUNS else 0)
    if not case.given and search:
        case.request.progress("search for the worst neighbours")
        case.finder.most, case.finder.dear, tune = search, case.dear, case.tune
        tuned, tune.varied, case.tried = engine.kept(
            "search", lambda: (case.finder.tuned(), tune.varied, _tried(case.finder)), case.finder.runs
        )
        case.varied = case.varied or tune.varied
        allowed.spend(sizes("searched", lambda: tune.runs))
        grouped = case.grouped(tuned)
        case.pairs += grouped
        # Of the others those that the first look ranked highest: the fewer pairs, the more runs for each.
        pairs = [*case.last.best[:_AGAIN], *grouped] if case.last and tuned else case.pairs
    else:
        pairs = case.pairs
    # What tracing saw to cost too much will not be acquitted: nearly all runs go into its refutation.
    second = sizes("second", lambda: int((0.9 if case.suspected else 0.55) * allowed.left))
    if second > _least(case):
        plan = second_plan(second, len(pairs), case.request.settings.sizes.most, once=True)
        if case.suspected and plan.finalists > 1:
            # The test may go on: what counts is that the best pair is found, and its event learnt well.
            plan = replace(
                plan,
                probe=3 * plan.probe // 5,
                select=9 * plan.select // 4,
                test=9 * plan.test // 20,
                finalists=min(4, len(pairs)),
            )
        if not case.tune.varied and not case.given:
            plan = Plan(24, 100, min(max(200, case.needed), max(50, second // 4)))
        case.plan = case.sized(plan)
        case.request.progress(f"black box: {2 * plan.test} runs")
        case.take(look(case, pairs, case.plan, number=1))
        allowed.spend(cost_of(case.plan, len(pairs), once=True))


def adversaries(case: PlayCase) -> None:
    """Adversaries who send each user by the actions seen before; one test of the most promising of them."""
    assert isinstance(case.finder, UserSearch)
    games, allowed, started = case.finder.games(), case.allowed, time.monotonic()
    case.unplayed, fault = engine.kept("playable", lambda: _unplayable(case, games))
    case.failed([fault] if fault else [])
    # They take longer than runs on tables: that counts against the cap.
    each = max(allowed.each, (time.monotonic() - started) / (2 * len(games) * _GAME_RUNS))
    slower = replace(allowed, each=each)
    runs = case.sizes("games", lambda: 0 if case.unplayed else int(_GAMES * slower.left))
    allowed.capped = slower.capped
    if case.unplayed or runs <= _least(case):
        return
    plan = second_plan(runs, len(games), case.request.settings.sizes.most, once=True)
    # A few runs do not tell which of them finds most.
    plan = replace(plan, finalists=_FINALISTS, select=max(16, plan.select * plan.finalists // _FINALISTS))
    case.request.progress(f"interactive black box: {2 * plan.test} runs")
    try:
        found = look(case, games, plan, number=INTERACTIVE)
    except AheadError as error:  # only some of its runs ask for users too soon
        case.unplayed = str(error)
        return
    case.game = plan
    case.take(found, aside=True)
    allowed.spend(cost_of(plan, len(games), once=True))


def _unplayable(case: PlayCase, games: Sequence[ContextGame]) -> tuple[str, str]:
    """Why code cannot be played against adversaries over contexts, and that some runs only fail."""
    runs, played = np.arange(_GAME_RUNS, dtype=np.int64), False
    try:
        for world in (0, 1):
            for game in games:
                case.sampler.sample(game, world, TUNE, 0, runs)
                played = True
    except InputError as error:
        # A function is not handed an array: it may fail in any way.
        if not (isinstance(error, AheadError) or is_known(case.function, "takes_contexts")):
            raise
        later = isinstance(error, AheadError) or not (played or _plays_again(case, games[0]))
        return str(error), "" if later else refusals.now_and_then("an adversary over contexts", error)
    return "", ""


def _plays_again(case: PlayCase, game: ContextGame) -> bool:
    """Whether code that failed once against an adversary plays some other run."""
    for run in range(refusals.TRIES):
        with contextlib.suppress(InputError):
            case.sampler.sample(game, 0, TUNE, 1, np.array([run], np.int64))
            return True
    return False


def _tried(finder: PairSearch | UserSearch) -> dict[str, int]:
    """What a search has tried; of users with contexts it is not counted."""
    return asdict(finder.tried) if isinstance(finder, PairSearch) else {}


def power(case: PlayCase) -> None:
    """Power, from variants that lose more; where there are none a third look takes the runs.

    Raises
    ------
    InputError
        If the code is deterministic: no run ever differed from another, and none drew random numbers.
    """
    if not (case.varied or case.ground.draws or case.given):
        acting = Acting.of(case.horizon, case.sizes.found)
        why = acting.words() or f"horizon {case.horizon} may be too short for any reward to change an action"
        raise InputError(
            f"{case.kind}: {DETERMINISTIC} (on every input that we tried, all runs gave the same output; "
            f"{why})"
        )
    promising = case.promising
    last = case.sizes(
        "last",
        lambda: case.allowed.left if promising is None else enough(promising, case.allowed.beyond(BEYOND)),
    )
    assert case.last is not None
    if promising is not None and last > _least(case):
        go_on(case, promising, last)
        return
    found, case.no_power = variants.of(case)
    if found is None and last > _least(case):
        # There are no variants: what power would have taken goes into a test of other pairs and events.
        best = case.last.best[:6]
        case.plan = case.sized(second_plan(last, len(best), case.request.settings.sizes.most, once=True))
        case.request.progress(f"third test: {2 * case.plan.test} runs")
        case.take(look(case, best, case.plan, number=2))
    elif found is not None:
        variants.state_power(case, found, last)


def _least(case: PlayCase) -> float:
    """Runs below which a look is not worth while."""
    return max(200, 0.02 * case.allowed.runs)
