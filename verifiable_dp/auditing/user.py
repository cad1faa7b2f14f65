"""Audits of a user's own code, which is known by its outputs only."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from joblib import parallel_config

from verifiable_dp import _validate, checkpoint, claims, engine
from verifiable_dp._validate import InputError
from verifiable_dp.auditing import drafts, groups, traced
from verifiable_dp.auditing import power as powers
from verifiable_dp.auditing.adapters import BanditClass, makes_bandits
from verifiable_dp.auditing.guard import watched
from verifiable_dp.auditing.plans import IDEALISED, NOT_COVERED, Progress, pinned_plan, silent, sizes_of
from verifiable_dp.auditing.process import Exec, ProcessTarget, running
from verifiable_dp.auditing.targets import (
    DETERMINISTIC,
    DataPair,
    PlaySampler,
    ReleaseSampler,
    Source,
    adapted,
    probe_play,
    probe_release,
)
from verifiable_dp.claims import PrivacyClaim
from verifiable_dp.evidence import blackbox, curves, search, sequential
from verifiable_dp.evidence import numerics as bits
from verifiable_dp.evidence.blackbox import ALPHA, CONFIDENCE, TUNE, Plan
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.events import LEVEL
from verifiable_dp.evidence.search import Search
from verifiable_dp.neighbours import TablePair


def _measure(run: Callable[[int], Any], least: int) -> float:
    """Seconds per run, from a warm-up and at least .3 seconds of runs."""
    run(least)
    runs, spent, start = 0, 0.0, time.perf_counter()
    while spent < 0.3 and runs < 1 << 20:
        run(least)
        runs += least
        spent = time.perf_counter() - start
        least = min(least * 2, 4096)
    return spent / runs


def _plan_by_time(seconds_per_run: float, seconds: float, pairs: int, most: int) -> Plan:
    """Sizes such that probing, selection and test take their shares of the time; power gets the rest."""
    runs = seconds / seconds_per_run
    # A quarter of the probing runs goes to every pair, the whole to the eight best (`blackbox.rank`).
    probe = int(np.clip(0.25 * runs / (2 * (pairs / 4 + 8)), 24, 20_000))
    finalists = min(pairs, 3)
    select = int(np.clip(0.2 * runs / (2 * finalists), 100, most // 2))
    test = int(np.clip(0.4 * runs / 2, 200, most))
    return Plan(probe, select, test, finalists=finalists)


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
    size = sizes_of(budget)
    n_arms, horizon = _validate.arms_and_horizon(n_arms, horizon)
    low, high = _validate.bounds("bounds", bounds)
    claim = PrivacyClaim(epsilon, delta)
    if group is not None:
        claim = claims.group(claim, group, kind=groups.kind(pairs))
    sampler = PlaySampler(function, many, n_arms, horizon, seed, shard=4096 if many else 256)
    shape = (horizon, n_arms)
    rng = np.random.default_rng(seed)
    tables = [
        np.full(shape, low),
        np.full(shape, (low + high) / 2),
        np.where(rng.random(shape) < 0.5, low, high),
    ]
    progress("first runs")
    seen = probe_play(sampler, tables)
    tune = _Tuner(sampler)
    started = time.perf_counter()
    if pinned:
        tune_runs, first = int(pinned["tune"]), int(pinned["first"])
    else:
        trial = TablePair(tables[2], 0, 0, low if tables[2][0, 0] == high else high, (low, high))
        first_sizes = functools.partial(_first_sizes, sampler, trial, size.seconds, seen.deterministic)
        tune_runs, first = checkpoint.kept("first sizes", first_sizes)
    tune.calls = 0
    finder = Search(tune, n_arms, horizon, (low, high), tune_runs)
    candidates: list[Any] = list(pairs) if pairs is not None else list(finder.plain())
    tracing = None
    examples = int(pinned.get("traced", 0)) if pinned else min(size.examples, _TRACED)
    if examples and not many and group is None:
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
            examples=examples,
        )
        if tracing and pairs is None and tracing[1].pair is not None:
            # What cost most leads the black box, then where named lines may show.
            candidates[:0] = [tracing[1].pair, *tracing[1].suspects]
            finder.dear = tracing[1].dear(claim.epsilon)
    candidates = _grouped(sampler, candidates, group)
    levels = _Levels(alpha, confidence, tests=2 + curve, looks=2)
    progress("first look: plain neighbours")
    quick = Plan(max(24, first // 16), first, first, sequential=sequential)
    plan = pinned_plan(pinned) if pinned else quick
    quick = replace(quick, sequential=plan.sequential)
    checks, chosen, best = _look(sampler, candidates, quick, claim, levels, seed, workers, 0)
    power = None
    if checks[0].verdict != "refuted":
        if pairs is None:
            progress("search for the worst neighbours")
            tuned, tune.varied = checkpoint.kept("search", lambda: (finder.tuned(), tune.varied), tune_runs)
            candidates += _grouped(sampler, tuned, group)
        if not pinned:

            def sizes() -> Plan:
                left = max(0.5 * size.seconds, size.seconds - (time.perf_counter() - started))
                each = _seconds_a_run(sampler, candidates[-1])
                return _plan_by_time(each, left, len(candidates), size.most)

            plan = checkpoint.kept("plan", sizes, len(candidates))
            if not tune.varied and pairs is None:
                plan = Plan(24, 100, 200)
            plan = replace(plan, sequential=sequential)
        progress(f"black box: {2 * plan.test} runs")
        more, chosen, best = _look(sampler, candidates, plan, claim, levels, seed, workers, 1)
        checks += more
    if curve:
        progress("hockey-stick curve")
        checks.append(_curve(sampler, chosen, plan, claim, levels, seed, workers, len(checks) > 1))
    if all(c.verdict != "refuted" for c in checks):
        if not tune.varied and pairs is None:
            raise InputError(
                f"{'play_many' if many else 'play'}: {DETERMINISTIC} (every run was alike on every input "
                f"tried; horizon {horizon} may be too short for it to act)"
            )
        power = _user_power(sampler, best[:6], plan, claim, levels, seed, workers, 1, progress)
    notes = [*seen.notes, *_no_power(checks, power, sampler, best[0], seen.repeatable)]
    notes += [] if tune.varied else [DETERMINISTIC]
    return _user_draft(
        function,
        kind="play_many" if many else "play",
        name=name,
        claim=claim,
        parameters={"n_arms": n_arms, "horizon": horizon, "bounds": [low, high]},
        plan={
            **plan.as_dict(),
            "tune": tune_runs,
            "first": first,
            "given_pairs": pairs is not None,
            **({"traced": examples} if tracing else {}),
            **groups.asked(group, epsilon, delta, curve=curve),
        },
        budget=budget,
        alpha=alpha,
        confidence=confidence,
        checks=[*([tracing[0]] if tracing else []), *checks],
        candidates=candidates,
        chosen=chosen,
        power=power,
        notes=notes,
        seed=seed,
    )


def _first_sizes(
    sampler: PlaySampler, trial: TablePair, seconds: float, deterministic: bool
) -> tuple[int, int]:
    """Runs for each estimate of the search, and of the first look."""
    each = _seconds_a_run(sampler, trial)
    # At most 18 decisions are tuned, in at most 18 steps, most of them with a quarter of the runs.
    tune_runs = int(np.clip(0.25 * seconds / each / (18 * 18 * 0.5), 8, 400))
    # Where plain tables leave all runs alike, a hundred show a difference as well as thousands.
    most = 100 if deterministic else 20_000
    return tune_runs, int(np.clip(0.03 * seconds / each, 100, most))


def _seconds_a_run(sampler: PlaySampler, pair: TablePair) -> float:
    return _measure(
        lambda n: sampler.sample(pair, 0, TUNE, 0, np.arange(n, dtype=np.int64)), 64 if sampler.many else 4
    )


class _Tuner:
    """Plays tables with randomness of its own for each call, and notes whether runs ever differed."""

    def __init__(self, sampler: PlaySampler) -> None:
        self._sampler = sampler
        self.calls = 0
        self.varied = False

    def __call__(self, table: Any, runs: int) -> Any:
        self.calls += 1
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
    """Error rates of an audit, shared by `tests` tests, of which `looks` choose a pair anew."""

    alpha: float
    confidence: float
    tests: int
    looks: int = 1


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


def _look(
    sampler: Any,
    candidates: Sequence[Any],
    plan: Plan,
    claim: PrivacyClaim,
    levels: _Levels,
    seed: int,
    workers: int,
    number: int,
) -> tuple[list[Check], blackbox.Selected, list[Any]]:
    """Choose among the candidates and test; looks of one audit draw from streams of their own."""
    own = seed if number == 0 else seed + 0x5EED
    source = powers.reseeded(sampler, own)
    # Runs of a user's bandit are few: what they are to show is a refutation, if there is one.
    level = levels.alpha if isinstance(sampler, PlaySampler) else LEVEL
    checks, chosen, ranked = sequential.conduct(
        source,
        lambda part: blackbox.select(
            source, candidates, part, delta=claim.delta, workers=workers, level=level
        ),
        plan,
        epsilon=claim.epsilon,
        delta=claim.delta,
        seed=own,
        workers=workers,
        alpha=levels.alpha,
        confidence=levels.confidence,
        observe="actions" if isinstance(sampler, PlaySampler) else "releases",
        name=f"black box, look {number + 1}" if levels.looks > 1 else "black box",
        tests=levels.tests,
    )
    return checks, chosen[0], [candidates[i] for i in ranked]


def _user_power(
    sampler: Any,
    pairs: Sequence[Any],
    plan: Plan,
    claim: PrivacyClaim,
    levels: _Levels,
    seed: int,
    workers: int,
    repeats: int,
    progress: Progress,
) -> dict[str, Any] | None:
    """Power of rung 3 on a user's code, on mutants made through its generator."""
    if not getattr(sampler.function, "scalable", True):
        return None
    progress("power on mutants with less noise")
    measure = functools.partial(
        powers.of_black_box,
        lambda factor: replace(sampler, factor=1 / factor),
        pairs,
        plan,
        claim,
        true_epsilon=lambda factor: factor * claim.epsilon,
        seed=seed,
        workers=workers,
        alpha=levels.alpha / levels.tests,
        repeats=repeats,
    )
    power = checkpoint.kept("power", measure)
    if power is None:
        return None
    return {
        "smallest_epsilon": power["smallest_epsilon"],
        "probability": power["probability"],
        "by": "black_box",
        "statement": (
            "nominal: the claim times the factor by which the noise of the generator was divided; "
            f"refuted in {power['repeats_refuted']} of {power['repeats']} repeated audits"
        ),
        "black_box": power,
    }


def _no_power(
    checks: Sequence[Check], power: dict[str, Any] | None, sampler: Any, pair: Any, repeatable: bool
) -> list[str]:
    """Why an audit that refutes nothing is inconclusive, and what to try."""
    if power is not None or any(c.verdict == "refuted" for c in checks):
        return []
    if not getattr(sampler.function, "scalable", True):
        return [_NOT_SCALED]
    if not repeatable:
        return [_NOT_GIVEN]
    return [_TOO_LITTLE if checkpoint.kept("reached", lambda: _reached(sampler, pair)) else _NOT_REACHED]


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
        return [DataPair(left, right) for left, right in stated]
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
    seed: int = 0,
    workers: int = 1,
    sequential: bool = False,
    rho: float | None = None,
    curve: bool = False,
    alpha: float = ALPHA,
    confidence: float = CONFIDENCE,
    pinned: Mapping[str, Any] | None = None,
    state_power: bool = True,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Audit a mechanism by its outputs; return the draft of a record.

    Without `state_power` the audit says less and is cheaper: what it does not refute is inconclusive.
    """
    size = sizes_of(budget)
    limits = _validate.bounds("bounds", bounds)
    claim = _promise(epsilon, delta, rho)
    curve = curve or rho is not None
    sampler = ReleaseSampler(function, seed)
    candidates = data_pairs(function, limits, pairs)
    progress("first runs")
    seen = probe_release(sampler, [data for pair in candidates for data in pair.worlds()])
    if pinned:
        plan = pinned_plan(pinned)
    else:

        def sizes() -> Plan:
            worlds = candidates[0].worlds()
            each = _measure(lambda n: sampler.values(worlds[0], (TUNE,), np.arange(n, dtype=np.int64)), 256)
            # Most of the time goes into scores, not into draws: a million a side take about a second.
            most = int(min(size.most * 3, 1_200_000)) if budget == "quick" else size.most
            plan = _plan_by_time(each + 2e-7, size.seconds, len(candidates), most)
            kept = min(sampler.draws_kept(candidates[0], plan.test), plan.test // 2)
            return replace(plan, select=max(plan.select, kept))

        plan = checkpoint.kept("plan", sizes)
        if seen.deterministic:
            plan = Plan(24, 100, 200)
        plan = replace(plan, sequential=sequential)
    progress(f"black box: {2 * plan.test} draws")
    levels = _Levels(alpha, confidence, tests=1 + curve)
    checks, chosen, best = _look(sampler, candidates, plan, claim, levels, seed, workers, 0)
    if curve:
        progress("hockey-stick curve")
        checks.append(_curve(sampler, chosen, plan, claim, levels, seed, workers, False))
    power = None
    if all(c.verdict != "refuted" for c in checks):
        if seen.deterministic:
            raise InputError(f"release: {DETERMINISTIC} (every draw was alike on every input tried)")
        if state_power:
            power = _user_power(sampler, best[:6], plan, claim, levels, seed, workers, 1, progress)
    return _user_draft(
        function,
        kind="release",
        name=name,
        claim=claim,
        parameters={"bounds": list(limits)},
        plan={
            **plan.as_dict(),
            "given_pairs": pairs is not None,
            **groups.asked(None, 0.0, delta, curve=curve, rho=rho),
        },
        budget=budget,
        alpha=alpha,
        confidence=confidence,
        checks=checks,
        candidates=candidates,
        chosen=chosen,
        power=power,
        notes=[
            *seen.notes,
            *_no_power(checks, power, sampler, best[0], seen.repeatable),
            *([DETERMINISTIC] if seen.deterministic else []),
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
