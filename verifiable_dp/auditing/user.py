"""Audits of a user's own code, which is known by its outputs only."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from joblib import delayed, parallel_config

from verifiable_dp import _validate, checkpoint, claims, engine
from verifiable_dp._validate import InputError
from verifiable_dp.auditing import drafts, groups, independence, traced
from verifiable_dp.auditing import power as powers
from verifiable_dp.auditing.adapters import BanditClass, makes_bandits
from verifiable_dp.auditing.guard import watched
from verifiable_dp.auditing.plans import (
    IDEALISED,
    LEAST_RUNS,
    NOT_COVERED,
    ROWS,
    Allowance,
    Budget,
    Progress,
    cost_of,
    first_plan,
    pinned_plan,
    second_plan,
    silent,
    sizes_of,
)
from verifiable_dp.auditing.process import TIMEOUT, Exec, ProcessTarget, running
from verifiable_dp.auditing.targets import (
    DETERMINISTIC,
    DataPair,
    PlaySampler,
    Probe,
    ReleaseSampler,
    Source,
    adapted,
    probe_play,
    probe_release,
)
from verifiable_dp.claims import PrivacyClaim
from verifiable_dp.evidence import blackbox, curves, search, sequential
from verifiable_dp.evidence import numerics as bits
from verifiable_dp.evidence.alignment import plain
from verifiable_dp.evidence.blackbox import ALPHA, CONFIDENCE, TUNE, Plan
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.events import LEVEL
from verifiable_dp.evidence.search import Search
from verifiable_dp.evidence.tracing.foreign import GIVEN
from verifiable_dp.neighbours import TablePair


def _seconds(run: Callable[[int], Any], most: int) -> float:
    """Seconds that one run takes, the best of some calls that make at most `most` runs together.

    Slow code is called once or twice: what it loads or compiles at first is not counted if that is quick.
    """
    count, made, best, start = 1, 0, math.inf, time.perf_counter()
    while True:
        begun = time.perf_counter()
        run(count)
        now, made = time.perf_counter(), made + count
        best, first = min(best, (now - begun) / count), best == math.inf
        if made + count > most or (now - start > 0.3 and not (first and now - start < 2.0)):
            return best
        count = min(4 * count if best < 0.02 else 1, most - made)


class _Sizes:
    """Sizes of stages: computed once, kept in a checkpoint, noted for the record, which a re-run reads."""

    def __init__(self, pinned: Mapping[str, Any] | None) -> None:
        if pinned is not None and "sizes" not in pinned:
            raise InputError("record: an earlier version made it; re-run it with that version")
        self._pinned = None if pinned is None else pinned["sizes"]
        self.capped = bool(pinned and pinned.get("capped"))
        self.found: dict[str, int] = {}
        self.prefix = ""

    def __call__(self, name: str, compute: Callable[[], int]) -> int:
        name = f"{self.prefix}{name}"
        size = int(checkpoint.kept(f"size {name}", compute) if self._pinned is None else self._pinned[name])
        self.found[name] = size
        return size


def _allowance(
    size: Budget, kind: str, sizes: _Sizes, run: Callable[[int], Any], progress: Progress, what: str
) -> Allowance:
    """How many runs the audit may make, said before they are made.

    Raises
    ------
    InputError
        If the cap on time leaves too few runs.
    """
    started = time.monotonic()
    allowed = Allowance(0, math.inf)

    def compute() -> int:
        nonlocal allowed
        allowed = Allowance.of(
            size, kind, _seconds(run, max(2, min(64, size.runs // 20)) * ROWS[kind]), started
        )
        about = _duration(allowed.each * allowed.runs)
        if allowed.each * allowed.runs > 5:
            progress(
                f"one {what} takes {_duration(allowed.each)}: this audit makes up to {allowed.runs} of them, "
                f"about {about}"
            )
        if allowed.runs < LEAST_RUNS:
            raise InputError(
                f"budget: one {what} takes {_duration(allowed.each)}, so that {size.seconds:g} seconds are "
                f"enough for {allowed.runs}; an audit needs at least {LEAST_RUNS}, give --budget "
                f"{math.ceil(LEAST_RUNS * allowed.each * 1.2)} or more"
            )
        return allowed.runs

    runs = sizes("runs", compute)
    return allowed if allowed.runs else Allowance(runs)


def _duration(seconds: float) -> str:
    """In words."""
    for unit, scale, least in (("h", 3600, 6000), ("min", 60, 100), ("s", 1, 0.1), ("ms", 1e-3, 1e-3)):
        if seconds >= least:
            return f"{seconds / scale:.2g} {unit}"
    return f"{seconds * 1e6:.2g} µs"


def _hits_needed(epsilon: float, level: float) -> int:
    """Runs a side that refute `epsilon` at `level` if all of one side are in an event and none of the other.

    An epsilon-DP program gives n such runs with probability at most (e^epsilon / (1 + e^epsilon))^n. Sides
    are tossed by a coin, so that some more are needed.
    """
    hits = math.log(1 / level) / math.log1p(math.exp(-epsilon)) if epsilon < 30 else math.inf
    return math.ceil(hits + 6 * math.sqrt(hits)) if hits < 1e9 else 1 << 30


def audit_play(
    function: Callable[..., Any],
    *,
    many: bool,
    name: str,
    epsilon: float,
    delta: float = 0.0,
    n_arms: int,
    horizon: int,
    bounds: tuple[float, float] = (0.0, 1.0),
    pairs: Sequence[TablePair] | None = None,
    budget: str | float = "quick",
    runs: int | None = None,
    timeout: float = TIMEOUT,
    seed: int = 0,
    workers: int = 1,
    sequential: bool = False,
    group: int | None = None,
    curve: bool = False,
    alpha: float = ALPHA,
    confidence: float = CONFIDENCE,
    pinned: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Audit a user's bandit by its actions; return the draft of a record."""
    size = sizes_of(budget, runs)
    sequential = bool(sequential or (pinned or {}).get("sequential"))
    n_arms, horizon = _validate.arms_and_horizon(n_arms, horizon)
    if n_arms * horizon > LARGEST:
        raise InputError(
            f"horizon: a table of rewards has {n_arms} x {horizon} entries and is held in memory, "
            f"at most {LARGEST} are accepted; use a shorter horizon"
        )
    low, high = _validate.bounds("bounds", bounds)
    claim = PrivacyClaim(epsilon, delta)
    if group is not None:
        claim = claims.group(claim, group, kind=groups.kind(pairs))
    shard = int(np.clip(_HELD // horizon, 1, 4096 if many else 256))
    sampler = PlaySampler(function, many, n_arms, horizon, seed, shard=shard, timeout=timeout)
    shape = (horizon, n_arms)
    rng = np.random.default_rng(seed)
    tables = [
        np.where(rng.random(shape) < 0.5, low, high),
        np.full(shape, low),
        np.full(shape, (low + high) / 2),
    ]
    sizes, levels = _Sizes(pinned), _Levels(alpha, confidence, tests=3 + curve, looks=2)
    progress("first runs")
    trial = TablePair(tables[0], 0, 0, low if tables[0][0, 0] == high else high, (low, high))
    allowed, ground = _grounded(
        sampler,
        "play_many" if many else "play",
        size,
        sizes,
        lambda target, n: target.sample(trial, 0, TUNE, 0, np.arange(n, dtype=np.int64)),
        tables,
        progress,
    )
    sampler, workers = ground.sampler, workers if ground.parallel else 1
    seen = probe_play(sampler, tables, sizes("probes", lambda: int(np.clip(allowed.runs // 400, 2, 12))))
    allowed.spend(2 * len(tables) * sizes.found["probes"])
    ground = ground.after(seen)
    workers = workers if ground.parallel else 1
    tune = _Tuner(sampler)
    tune_runs = int(np.clip(0.25 * allowed.runs / _TUNED, 4, 400))
    finder = Search(tune, n_arms, horizon, (low, high), tune_runs)
    candidates: list[Any] = list(pairs) if pairs is not None else list(finder.plain())
    tracing = None
    if not many and group is None and not isinstance(function, ProcessTarget):
        progress("tracing")
        tracing = traced.trace(
            function,
            name,
            claim,
            candidates,
            n_arms=n_arms,
            horizon=horizon,
            bounds=(low, high),
            seed=seed,
            examples=min(size.examples, _TRACED),
            most=max(1, allowed.runs // 40) if pinned is None else pinned["sizes"]["traced"],
            late=lambda: allowed.over(0.3),
        )
        if tracing:
            allowed.spend(sizes("traced", lambda: tracing[1].traces))
        if tracing and pairs is None and tracing[1].pair is not None:
            # What cost most leads the black box, then where named lines may show.
            candidates[:0] = [tracing[1].pair, *tracing[1].suspects]
            finder.dear = tracing[1].dear(claim.epsilon)
    candidates = _grouped(sampler, candidates[: 4 if allowed.runs < _FEW_RUNS else None], group)
    progress("first look: plain neighbours")
    needed = _hits_needed(claim.epsilon, alpha / levels.tests)
    plan = replace(first_plan(allowed.runs, needed if seen.deterministic else None), sequential=sequential)
    look = functools.partial(_look, claim=claim, levels=levels, seed=seed, workers=workers)
    result = look(sampler, candidates, plan, number=0)
    allowed.spend(cost_of(plan, len(candidates)))
    checks, power, least = list(result.checks), None, max(200, 0.02 * allowed.runs)
    if not result.refuted:
        search = sizes("search", lambda: int(0.35 * allowed.left) if allowed.runs >= _FEW_RUNS else 0)
        if pairs is None and search:
            progress("search for the worst neighbours")
            finder.most = search
            tuned, tune.varied = checkpoint.kept("search", lambda: (finder.tuned(), tune.varied), tune_runs)
            allowed.spend(sizes("searched", lambda: tune.runs))
            candidates += _grouped(sampler, tuned, group)
        second = sizes("second", lambda: int(0.55 * allowed.left))
        if second > least:
            plan = second_plan(second, len(candidates), size.most)
            if not tune.varied and pairs is None:
                plan = Plan(24, 100, min(max(200, needed), max(50, second // 4)))
            plan = replace(plan, sequential=sequential)
            progress(f"black box: {2 * plan.test} runs")
            result = look(sampler, candidates, plan, number=1)
            allowed.spend(cost_of(plan, len(candidates)))
            checks += result.checks
    if curve:
        progress("hockey-stick curve")
        checks.append(_curve(sampler, result.chosen, plan, claim, levels, seed, workers, len(checks) > 1))
    reason = ""
    if all(c.verdict != "refuted" for c in checks):
        if not (tune.varied or seen.varied or ground.draws) and pairs is None:
            raise InputError(
                f"{'play_many' if many else 'play'}: {DETERMINISTIC} (every run was alike on every input "
                f"tried; horizon {horizon} may be too short for it to act)"
            )
        last = sizes("last", lambda: allowed.left)
        reason = ground.no_power or _unreached(sampler, result.best[0])
        if reason and last > least:
            # Nothing can be reduced: what power would have taken goes into a test of other pairs and events.
            plan = replace(second_plan(last, len(result.best[:6]), size.most), sequential=sequential)
            progress(f"third look: {2 * plan.test} runs")
            result = look(sampler, result.best[:6], plan, number=2)
            checks += result.checks
        elif not reason:
            power = _user_power(sampler, result, plan, claim, levels, seed, workers, last, progress)
            reason = "" if power else _TOO_LITTLE
    return _user_draft(
        function,
        kind="play_many" if many else "play",
        name=name,
        claim=claim,
        parameters={"n_arms": n_arms, "horizon": horizon, "bounds": [low, high]},
        plan={
            **plan.as_dict(),
            **_noted(sizes, allowed, timeout),
            "given_pairs": pairs is not None,
            **groups.asked(group, epsilon, delta, curve=curve),
        },
        budget=budget,
        alpha=alpha,
        confidence=confidence,
        checks=[*([tracing[0]] if tracing else []), *checks],
        candidates=candidates,
        chosen=result.chosen,
        power=power,
        notes=[
            *ground.notes,
            *([] if tune.varied or seen.varied else [ALIKE if ground.draws else DETERMINISTIC]),
            *result.notes,
            *([reason] if reason and all(c.verdict != "refuted" for c in checks) else []),
            *([_CAPPED.format(size.seconds)] if allowed.capped else []),
        ],
        seed=seed,
    )


LARGEST = 1 << 22  # entries of a table of rewards; some dozens of tables are held
_HELD = 1 << 24  # actions that one task holds
_TUNED = 162  # estimates of a whole search: at most 18 decisions, 18 steps each, half of them early
_FEW_RUNS = 1500  # below, nothing is searched for
_CAPPED = (
    "the cap of {:g} seconds made this audit smaller than its budget: on a faster or slower machine its "
    "sizes and its verdict may differ"
)


def _noted(sizes: _Sizes, allowed: Allowance, timeout: float) -> dict[str, Any]:
    """What a re-run takes from the record; it has no cap, so that sizes which one has cut stay cut."""
    allowed.capped = allowed.capped or sizes.capped
    return {
        "sizes": sizes.found,
        "timeout": timeout,
        **({"capped": True} if allowed.capped else {}),
    }


@dataclass(frozen=True)
class _Ground:
    """What an audit of a user's code may rely on.

    Attributes
    ----------
    sampler
        With one run a call where runs of one call depend on each other.
    parallel
        Whether workers may share the runs: only where nothing but the given generator decides them.
    notes
        For the record.
    no_power
        Why no power can be stated by scaling the noise; empty if it may be possible.
    draws
        Whether a run was seen to draw random numbers, be it that no two runs differ.
    """

    sampler: Any
    parallel: bool = True
    notes: tuple[str, ...] = ()
    no_power: str = ""
    draws: bool = False

    def after(self, seen: Probe) -> _Ground:
        """With what some runs have shown."""
        notes = tuple(dict.fromkeys([*self.notes, *seen.notes]))
        if seen.repeatable:
            return replace(self, notes=notes)
        return replace(self, parallel=False, notes=notes, no_power=self.no_power or _NOT_GIVEN)


def _grounded(
    sampler: Any,
    kind: str,
    size: Budget,
    sizes: _Sizes,
    run: Callable[[Any, int], Any],
    inputs: Sequence[Any],
    progress: Progress,
) -> tuple[Allowance, _Ground]:
    """How many runs may be made, and whether runs are independent of each other however they are made."""
    what = "draw" if kind.startswith("release") else "play"
    allowed = _allowance(size, kind, sizes, functools.partial(run, sampler), progress, what)
    fixed = "" if getattr(sampler.function, "scalable", True) else _NOT_SCALED
    if isinstance(sampler.function, ProcessTarget):
        return allowed, _Ground(sampler, no_power=fixed)
    notes: list[str] = []
    if sampler.together:
        progress("are the runs of one call independent?")
        apart = sizes("apart", lambda: int(independence.dependent(sampler, inputs)))
        if apart:
            notes.append(ROWS_DEPEND)
            sampler = replace(sampler, rows=1)
            single = "release_one" if kind == "release" else "play"
            sizes.prefix = "apart "
            allowed = _allowance(size, single, sizes, functools.partial(run, sampler), progress, what)
            sizes.prefix = ""
    used = independence.used(sampler, inputs[0])
    others = [source for source in used if source != GIVEN]
    if others:
        notes.append(f"draws from {' and '.join(others)}: all runs are made in one process")
    return allowed, _Ground(sampler, not others, tuple(notes), fixed, bool(used))


def _unreached(sampler: Any, pair: Any) -> str:
    """Why scaling the noise says nothing; empty if it changes what comes out."""
    return "" if checkpoint.kept("reached", lambda: _reached(sampler, pair)) else _NOT_REACHED


class _Tuner:
    """Plays tables with randomness of its own for each call, and notes whether runs ever differed."""

    def __init__(self, sampler: PlaySampler) -> None:
        self._sampler = sampler
        self.calls = self.runs = 0
        self.varied = False

    def __call__(self, table: Any, runs: int) -> Any:
        self.calls += 1
        self.runs += runs
        actions = self._sampler.actions(table, (TUNE, self.calls), np.arange(runs, dtype=np.int64))
        self.varied = self.varied or bool((actions != actions[0]).any())
        return actions


_TRACED = 60  # examples of the search of tracing, at most
_REDUCED = 6  # factor of the noise reduction by which it is told whether reductions reach the code
_RUNS = 16
_SCALED = "laplace, normal, exponential, gumbel, logistic, geometric"
_NO_POWER = "power could not be stated: "
_ACCEPTED = "an undecided audit is accepted by expect=None in pytest and by fail-on: refuted in CI"
_TOO_LITTLE = (
    f"{_NO_POWER}no reduction of the noise that the generator adds ({_SCALED}) was refuted with probability "
    ".95 at this budget; try a larger --budget, for a bandit a shorter --horizon such as 60, or the same "
    f"code made for a larger epsilon; {_ACCEPTED}"
)
_NOT_REACHED = (
    f"{_NO_POWER}noise divided by {_REDUCED} changed nothing in {2 * _RUNS} runs, so that no budget helps: "
    f"what is reduced are {_SCALED} as drawn from the generator that the code is given, or from "
    f"np.random.default_rng with a seed that is made from it; {_ACCEPTED}"
)
_NOT_GIVEN = (
    f"{_NO_POWER}it is measured by reducing the noise of the generator that the code is given, and this code "
    f"draws from elsewhere; take all randomness from that generator; {_ACCEPTED}"
)
_NOT_SCALED = f"{_NO_POWER}the process does not declare noise_factor, by which it is measured; {_ACCEPTED}"


@dataclass(frozen=True)
class _Levels:
    """Error rates of an audit, shared by `tests` tests, of which `looks` choose a pair anew.

    `trusted` says that runs of one call are known to be independent.
    """

    alpha: float
    confidence: float
    tests: int
    looks: int = 1
    trusted: bool = False


def _grouped(sampler: PlaySampler, pairs: Sequence[Any], group: int | None) -> list[Any]:
    """Pairs that differ in as many events as the group has, where one run pulls the arm."""
    if group is None:
        return list(pairs)
    one = np.zeros(1, np.int64)
    return [
        groups.widened(pair, group, sampler.actions(np.array(pair.worlds()[0]), (TUNE, 0), one)[0])
        for pair in pairs
    ]


def _curve(
    sampler: Any,
    chosen: blackbox.Selected,
    plan: Plan,
    claim: PrivacyClaim,
    levels: _Levels,
    seed: int,
    workers: int,
    second: bool,
) -> Check:
    """The curve on the pair of the last look, its events chosen on the selection runs of that look."""
    return curves.check(
        powers.reseeded(sampler, seed + 0x5EED if second else seed),
        chosen,
        claim,
        select=plan.select,
        test=plan.test,
        tests=levels.tests,
        alpha=levels.alpha,
        confidence=levels.confidence,
        workers=workers,
    )


@dataclass(frozen=True)
class _Look:
    """What a look came to: its checks, the pair and event tested, and the candidates, best first."""

    checks: list[Check]
    chosen: blackbox.Selected
    best: list[Any]
    notes: tuple[str, ...] = ()

    @property
    def refuted(self) -> bool:
        """Whether a check refutes the claim."""
        return any(check.verdict == "refuted" for check in self.checks)


def _look(
    sampler: Any,
    candidates: Sequence[Any],
    plan: Plan,
    *,
    claim: PrivacyClaim,
    levels: _Levels,
    seed: int,
    workers: int,
    number: int,
) -> _Look:
    """Choose among the candidates and test; looks of one audit draw from streams of their own.

    A refutation by runs that were made together is made again by runs that share no call, at the same level:
    only where both refute is the claim refuted. Else the whole look is made again, one run a call.
    """
    own = seed + 0x5EED * number
    source: Any = powers.reseeded(sampler, own)
    # Runs of a user's bandit are few: what they are to show is a refutation, if there is one.
    level = levels.alpha if isinstance(sampler, PlaySampler) else LEVEL
    options: dict[str, Any] = {
        "epsilon": claim.epsilon,
        "delta": claim.delta,
        "seed": own,
        "workers": workers,
        "alpha": levels.alpha,
        "confidence": levels.confidence,
        "observe": "actions" if isinstance(sampler, PlaySampler) else "releases",
        "tests": levels.tests,
    }
    name = f"black box, look {number + 1}" if levels.looks > 1 else "black box"
    checks, chosen, ranked = sequential.conduct(
        source,
        lambda part: blackbox.select(
            source, candidates, part, delta=claim.delta, workers=workers, level=level
        ),
        plan,
        name=name,
        **options,
    )
    found = _Look(checks, chosen[0], [candidates[i] for i in ranked])
    if not found.refuted:
        return found
    if source.together and not levels.trusted:
        single = replace(source, rows=1)
        size = _confirming(found.chosen, plan, claim, levels)
        [alone] = blackbox.put_to_test(
            single, [found.chosen], replace(plan, test=size), name=f"{name}, one run a call", **options
        )
        if alone.verdict == "refuted":
            return replace(found, checks=[*checks, alone])
        fewer = replace(plan, probe=min(plan.probe, size), select=min(plan.select, size), test=size)
        again = _look(
            single, candidates, fewer, claim=claim, levels=levels, seed=seed, workers=workers, number=number
        )
        return replace(again, notes=(*again.notes, UNCONFIRMED))
    if workers > 1 and not _same_here(source, found.chosen):
        again = _look(
            sampler, candidates, plan, claim=claim, levels=levels, seed=seed, workers=1, number=number
        )
        return replace(again, notes=(*again.notes, WORKERS_DIFFER))
    return found


ALIKE = "the few runs compared were alike, although random numbers were drawn: a larger budget may tell more"
ROWS_DEPEND = (
    "runs of one call depend on each other, as if they shared a draw: every run is made by a call of its own"
)
UNCONFIRMED = (
    "runs of one call refuted the claim, runs that share no call did not: every run of that look was made "
    "by a call of its own"
)
WORKERS_DIFFER = (
    "runs made in another process came out differently here: the look was made again in one process"
)


def _confirming(chosen: blackbox.Selected, plan: Plan, claim: PrivacyClaim, levels: _Levels) -> int:
    """Runs a side that confirm a refutation with probability .999, at most those of the plan."""
    p, q = chosen.event.careful_shares()
    fixed, size = replace(plan, sequential=False), 500
    while size < plan.test:
        if powers.rejection(p, q, replace(fixed, test=size), claim, levels.alpha / levels.tests) > 0.999:
            return size
        size *= 2
    return plan.test


def _same_here(sampler: Any, chosen: blackbox.Selected) -> bool:
    """Whether some runs of the test come out in this process as in another one."""
    runs = np.arange(min(sampler.shard, _SAME), dtype=np.int64)
    task = functools.partial(sampler.sample, chosen.pair, 0, TUNE, chosen.number, runs)
    # The first pass may load or fill what a program keeps between its runs: the second is compared.
    here = [chosen.event.hits(task()) for _ in range(2)]
    there = engine.ordered(engine.called, [delayed(_hits_of)(task, chosen.event)] * 2, workers=2)
    return bool(here[1] == there[0] == there[1])


_SAME = 128


def _hits_of(task: Callable[[], Any], event: Any) -> int:
    hits: int = event.hits(task())
    return hits


def _user_power(
    sampler: Any,
    look: _Look,
    plan: Plan,
    claim: PrivacyClaim,
    levels: _Levels,
    seed: int,
    workers: int,
    runs: int,
    progress: Progress,
) -> dict[str, Any] | None:
    """Power of rung 3 on a user's code, on variants with less noise made through its generator.

    With delta, what epsilon a variant has at that delta is not known: stated is the least loss at the event
    tested that would have been refuted.
    """
    pairs = look.best[:6]
    progress("power on variants with less noise")
    measure = functools.partial(
        powers.of_black_box,
        lambda factor: replace(sampler, factor=1 / factor),
        pairs,
        plan,
        claim,
        true_epsilon=lambda factor: factor * claim.epsilon if claim.delta == 0 else math.nan,
        seed=seed,
        workers=workers,
        alpha=levels.alpha / levels.tests,
        repeats=1,
        runs=runs,
    )
    power = checkpoint.kept("power", measure)
    if power is None:
        return None
    statement = (
        f"refuted in {power['repeats_refuted']} of {power['repeats']} repeated audits: "
        f"noise of the generator divided by {power['noise_divided_by']:g}"
    )
    if claim.delta == 0:
        statement = f"nominal: the claim times the factor of the noise; {statement}"
    else:
        share = look.chosen.event.careful_shares()[1]
        least = powers.detectable(share, plan, claim, levels.alpha / levels.tests)
        power = {**power, "smallest_epsilon": plain(least)}
        statement = (
            f"a loss of that much at delta {claim.delta:g}, at the event tested, by the binomial law; "
            f"{statement}"
        )
    return {
        "smallest_epsilon": power["smallest_epsilon"],
        "probability": power["probability"],
        "by": "black_box",
        "statement": statement,
        "black_box": power,
    }


def _reached(sampler: Any, pair: Any) -> bool:
    """Whether less noise makes any difference to runs that are alike in all else."""
    runs, less = np.arange(_RUNS, dtype=np.int64), replace(sampler, factor=1 / _REDUCED)
    return any(
        not np.array_equal(sampler.draws(data, runs), less.draws(data, runs), equal_nan=True)
        for data in pair.worlds()
    )


def _user_draft(
    function: Any,
    *,
    kind: str,
    name: str,
    claim: PrivacyClaim,
    parameters: dict[str, Any],
    plan: dict[str, Any],
    budget: str | float,
    alpha: float,
    confidence: float,
    checks: Sequence[Check],
    candidates: Sequence[Any],
    chosen: blackbox.Selected,
    power: dict[str, Any] | None,
    notes: Sequence[str],
    seed: int,
) -> dict[str, Any]:
    return {
        "target": {
            "name": name,
            "kind": kind,
            "parameters": parameters,
            "source": asdict(Source.of(function, name)),
            "note": "; ".join(notes),
            "paper": "",
            "model": "central",
        },
        "claim": claim.as_dict(),
        "plan": {
            **plan,
            "budget": str(budget),
            "alpha": alpha,
            "confidence": confidence,
        },
        "checks": [c.as_dict() for c in checks],
        "pairs": [{"words": pair.describe()} for pair in candidates],
        "confidence": confidence,
        "power": power,
        "counterexamples": drafts.counterexamples(checks, {}, chosen),
        "mutants": [],
        "not_covered": [*NOT_COVERED, "the code itself: it was seen only through its outputs"],
        "seed": seed,
    }


def data_pairs(
    function: Callable[..., Any], bounds: tuple[float, float], given: Sequence[tuple[Any, Any]] | None
) -> list[DataPair]:
    """Neighbouring data for a mechanism: as given, as its attribute `neighbours`, or from the bounds.

    From the bounds: a number, else a vector of one, else of five entries, of which one moves from low to
    high: the first form that the mechanism takes, and its variants (`search.data_pairs`).

    Raises
    ------
    InputError
        If the mechanism takes none of them.
    """
    stated = given if given is not None else getattr(function, "neighbours", None)
    if stated is not None:
        try:
            found = [DataPair(left, right) for left, right in stated]
        except (TypeError, ValueError):
            found = []
        if not found:
            raise InputError(f"neighbours must be a list of pairs (left, right) of data, got {stated!r}")
        return found
    low, high = bounds
    five = np.full(5, low)
    forms: list[tuple[Any, Any]] = [
        (low, high),
        (np.array([low]), np.array([high])),
        (five, np.concatenate([[high], five[1:]])),
    ]
    last: InputError | None = None
    for left, right in forms:
        try:
            ReleaseSampler(function, 0).values(left, (0,), np.arange(2, dtype=np.int64))
        except InputError as error:
            last = last or error
        else:
            return [DataPair(*pair) for pair in search.data_pairs(left, right, bounds)]
    raise last or InputError("release: no form of data fits")


def audit_release(
    function: Callable[..., Any],
    *,
    name: str,
    epsilon: float | None,
    delta: float = 0.0,
    bounds: tuple[float, float] = (0.0, 1.0),
    pairs: Sequence[tuple[Any, Any]] | None = None,
    budget: str | float = "quick",
    runs: int | None = None,
    timeout: float = TIMEOUT,
    seed: int = 0,
    workers: int = 1,
    sequential: bool = False,
    rho: float | None = None,
    curve: bool = False,
    alpha: float = ALPHA,
    confidence: float = CONFIDENCE,
    pinned: Mapping[str, Any] | None = None,
    plan: Plan | None = None,
    trusted: bool = False,
    state_power: bool = True,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Audit a mechanism by its outputs; return the draft of a record.

    With a `plan` its sizes are taken. Where draws of one call are `trusted` to be independent, a refutation
    is not made again by single calls. Without `state_power` the audit says less and is cheaper: what it does
    not refute is inconclusive.
    """
    size = sizes_of(budget, runs)
    sequential = bool(sequential or (pinned or {}).get("sequential"))
    limits = _validate.bounds("bounds", bounds)
    claim = _promise(epsilon, delta, rho)
    curve = curve or rho is not None
    sampler = ReleaseSampler(function, seed, timeout=timeout)
    candidates = data_pairs(function, limits, pairs)
    sizes, allowed, ground = _Sizes(pinned), Allowance(1 << 60), _Ground(sampler)
    data = [item for pair in candidates for item in pair.worlds()]
    progress("first runs")
    if pinned is not None and "runs" not in pinned["sizes"]:
        plan, state_power = pinned_plan(pinned), False
    if plan is None:
        kind = "release_one" if getattr(function, "one_at_a_time", False) else "release"
        allowed, ground = _grounded(
            sampler,
            kind,
            size,
            sizes,
            lambda target, n: target.values(data[0], (TUNE,), np.arange(n, dtype=np.int64)),
            data,
            progress,
        )
        sampler = ground.sampler
    seen = probe_release(sampler, data, sizes("probes", lambda: int(np.clip(allowed.runs // 400, 2, 64))))
    ground = ground.after(seen)
    workers = workers if ground.parallel else 1
    if plan is None:
        # Scores take most of the time, not draws.
        made = second_plan(allowed.runs // 2, len(candidates), max(size.most, 1_200_000))
        kept = sizes("kept", lambda: min(sampler.draws_kept(candidates[0], made.test), made.test // 2))
        plan = replace(made, select=max(made.select, kept))
        if seen.deterministic:
            needed = _hits_needed(claim.epsilon, alpha / 2)
            plan = Plan(24, 100, int(np.clip(needed, 200, plan.test)))
        plan = replace(plan, sequential=sequential)
    progress(f"black box: {2 * plan.test} draws")
    levels = _Levels(alpha, confidence, tests=1 + curve, trusted=trusted)
    look = _look(sampler, candidates, plan, claim=claim, levels=levels, seed=seed, workers=workers, number=0)
    checks = list(look.checks)
    allowed.spend(cost_of(plan, len(candidates)))
    if curve:
        progress("hockey-stick curve")
        checks.append(_curve(sampler, look.chosen, plan, claim, levels, seed, workers, False))
    power, reason = None, ""
    if all(c.verdict != "refuted" for c in checks):
        if seen.deterministic and not ground.draws:
            raise InputError(f"release: {DETERMINISTIC} (every draw was alike on every input tried)")
        reason = ground.no_power or _unreached(sampler, look.best[0])
        if state_power and not reason:
            left = sizes("last", lambda: max(allowed.left, allowed.runs // 2))
            power = _user_power(sampler, look, plan, claim, levels, seed, workers, left, progress)
            reason = "" if power else _TOO_LITTLE
    return _user_draft(
        function,
        kind="release",
        name=name,
        claim=claim,
        parameters={"bounds": list(limits)},
        plan={
            **plan.as_dict(),
            **_noted(sizes, allowed, timeout),
            "given_pairs": pairs is not None,
            **groups.asked(None, 0.0, delta, curve=curve, rho=rho),
        },
        budget=budget,
        alpha=alpha,
        confidence=confidence,
        checks=checks,
        candidates=candidates,
        chosen=look.chosen,
        power=power,
        notes=[
            *ground.notes,
            *look.notes,
            *([reason] if reason else []),
            *([ALIKE if ground.draws else DETERMINISTIC] if seen.deterministic else []),
            *([_CAPPED.format(size.seconds)] if allowed.capped else []),
        ],
        seed=seed,
    )


def _promise(epsilon: float | None, delta: float, rho: float | None) -> PrivacyClaim:
    """What a mechanism is held to: (epsilon, delta), or rho with a delta to state it at."""
    words = {
        "observe": "releases",
        "unit": "as the neighbouring data given",
        "adjacency": "the pairs of data tested",
    }
    if rho is not None:
        return PrivacyClaim.zcdp(rho, delta or claims.STATED_DELTA, **words)
    return PrivacyClaim(epsilon, delta, **words)  # type: ignore[arg-type]


def _fitting(options: Mapping[str, Any], plays: bool) -> dict[str, Any]:
    """The options without those that mean nothing for a bandit, or for a mechanism.

    Raises
    ------
    InputError
        If one of them was asked for.
    """
    if plays and options.get("rho") is not None:
        raise InputError("rho goes with a mechanism that releases numbers; a bandit's promise is epsilon")
    if not plays and options.get("group") is not None:
        raise InputError("group goes with bandits: the data pairs of a mechanism say how far they differ")
    return {key: value for key, value in options.items() if key != ("rho" if plays else "group")}


@watched()
def audit_function(function: Callable[..., Any], *, name: str, **options: Any) -> dict[str, Any]:
    """Audit a user's callable, or a class of bandits; what it is follows from its parameters (`kind_of`)."""
    options = {"numerics": False, **options}
    if options.get("epsilon") is None and options.get("rho") is None:
        raise InputError("epsilon must be given: the claim of your own code is not known")
    if isinstance(function, Exec):
        return _audit_command(function, name=name, **options)
    if makes_bandits(function):
        kind, function = "play", BanditClass(function)
    else:
        kind, function = adapted(function)
    if kind == "release":
        for unused in ("n_arms", "horizon"):
            options.pop(unused, None)
        return _audit_mechanism(function, name=name, **_fitting(options, plays=False))
    options = _fitting(options, plays=True)
    if options.pop("numerics"):
        raise InputError(f"numerics goes with a mechanism that releases numbers, got {kind}")
    for needed, flag in (("n_arms", "--arms K"), ("horizon", "--horizon T")):
        if options.get(needed) is None:
            raise InputError(f"{needed} must be given for {name} ({flag}; in Python {needed}={flag[-1]})")
    return audit_play(function, many=kind == "play_many", name=name, **options)


def _audit_mechanism(function: Any, *, numerics: bool, **options: Any) -> dict[str, Any]:
    """Audit a mechanism, with `numerics` as the floats that its sampler gives: both tests share the level."""
    if not numerics:
        return audit_release(function, **options)
    alpha, confidence = options.get("alpha", ALPHA), options.get("confidence", CONFIDENCE)
    shares = {"alpha": alpha / 2, "confidence": 1 - (1 - confidence) / 2}
    draft = audit_release(function, **{**options, **shares})
    options.get("progress", silent)("last bits of the outputs")
    claim, seed = draft["claim"], draft["seed"]

    def measure() -> tuple[dict[str, Any], list[dict[str, Any]]]:
        check, chosen = bits.check(
            ReleaseSampler(function, seed),
            data_pairs(function, options.get("bounds", (0.0, 1.0)), options.get("pairs")),
            bits.sizes(draft["plan"]["select"], draft["plan"]["test"]),
            epsilon=claim["epsilon"],
            delta=claim["delta"],
            seed=seed,
            workers=options.get("workers", 1),
            tests=1,
            **shares,
        )
        return check.as_dict(), drafts.counterexamples([check], {}, chosen)

    row, found = checkpoint.kept("last bits", measure)
    draft["checks"].append(row)
    draft["counterexamples"] += found
    draft["plan"] |= {"alpha": alpha, "confidence": confidence, "numerics": True}
    draft["confidence"] = confidence
    draft["not_covered"] = [line for line in draft["not_covered"] if line != IDEALISED]
    return draft


def _audit_command(command: Exec, *, name: str, **options: Any) -> dict[str, Any]:
    """Audit a program, which is a bandit if arms or a horizon are given; it runs as long as the audit."""
    limits = _validate.bounds("bounds", options.get("bounds", (0.0, 1.0)))
    plays = options.get("n_arms") is not None or options.get("horizon") is not None
    if plays and options.pop("numerics"):
        raise InputError("numerics goes with a mechanism that releases numbers, got a command that plays")
    options = _fitting(options, plays)
    target = ProcessTarget(command, "release", limits)
    if plays:
        for needed, flag in (("n_arms", "--arms K"), ("horizon", "--horizon T")):
            if options.get(needed) is None:
                raise InputError(f"{needed} must be given for a command that plays ({flag})")
        arms, rounds = _validate.arms_and_horizon(options["n_arms"], options["horizon"])
        target = ProcessTarget(command, "play", limits, arms, rounds)
    # Threads: the work is done in the processes, and all of them are children of this one.
    with running(target), engine.here(), parallel_config(backend="threading"):
        if plays:
            draft = audit_play(target, many=False, name=name, **options)  # type: ignore[arg-type]
        else:
            rest = {key: value for key, value in options.items() if key not in ("n_arms", "horizon")}
            draft = _audit_mechanism(target, name=name, **rest)
        notes = [draft["target"]["note"]]
        if target.restarted:
            notes.append(f"the process {target.restarted}, was started again and went on")
    draft["target"]["parameters"] |= {"exec": command.command, "exec_timeout": command.timeout}
    draft["target"]["note"] = "; ".join(note for note in notes if note)
    return draft
