"""How an audit is carried out: the ladder of evidence, its power, and the draft of a record."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from verifiable_dp import _validate
from verifiable_dp._validate import InputError
from verifiable_dp.algorithm import Algorithm
from verifiable_dp.auditing import registry
from verifiable_dp.auditing.auditor import AlteredNoise, Auditor, ExactChecks, Mutant, Prefix
from verifiable_dp.auditing.targets import (
    DETERMINISTIC,
    DataPair,
    PlaySampler,
    ReleaseSampler,
    Source,
    kind_of,
    probe_play,
    probe_release,
)
from verifiable_dp.claims import PrivacyClaim
from verifiable_dp.evidence import alignment, blackbox, exact_shuffle
from verifiable_dp.evidence import statistics as exact
from verifiable_dp.evidence.alignment import plain
from verifiable_dp.evidence.blackbox import ALPHA as ALPHA
from verifiable_dp.evidence.blackbox import CONFIDENCE as CONFIDENCE
from verifiable_dp.evidence.blackbox import POWER, TUNE, AlgorithmSampler, Plan, Sampler
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.search import Search
from verifiable_dp.neighbours import Pair, StreamPair, TablePair

Progress = Callable[[str], None]
BUDGETS = ("quick", "standard", "thorough")
POWER_PROBABILITY = 0.95
_FACTORS = (1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 6.0)

_NOT_COVERED = (
    "timing and other side channels",
    "the floating-point sampler: the noise is audited as idealised real numbers",
    "inputs, events and sample sizes beyond those stated here: an audit cannot prove privacy",
)


@dataclass(frozen=True)
class Budget:
    """Sizes by budget.

    Attributes
    ----------
    steps
        Blocks that one side of the black-box test of an algorithm may play.
    most
        Most runs a side.
    examples
        Examples of the alignment search.
    seconds
        Seconds of sampling of a user's code.
    repeats
        Audits of the mutant at which the power is stated.
    """

    steps: int
    most: int
    examples: int
    seconds: float
    repeats: int


_SIZES = {
    "quick": Budget(1 << 22, 400_000, 60, 20.0, 3),
    "standard": Budget(1 << 25, 8_000_000, 300, 180.0, 10),
    "thorough": Budget(1 << 28, 64_000_000, 1000, 1200.0, 20),
}


def sizes_of(budget: str | float) -> Budget:
    """The sizes of a named budget, or of a number of seconds of sampling.

    Raises
    ------
    InputError
        If it is neither a known name nor a positive number.
    """
    if isinstance(budget, str) and budget in _SIZES:
        return _SIZES[budget]
    try:
        seconds = float(budget)
    except (TypeError, ValueError):
        raise InputError(
            f"budget must be one of {', '.join(BUDGETS)} or a positive number of seconds, got {budget!r}"
        ) from None
    seconds = _validate.positive("budget", seconds)
    # About 2 million blocks a second, a third of them in the test, both sides.
    steps = max(1 << 14, int(seconds * 3e5))
    return Budget(steps, 64_000_000, int(np.clip(20 * seconds, 40, 1000)), seconds, 3)


def _silent(message: str) -> None:
    """Progress that is not shown."""


# ---------------------------------------------------------------- algorithms


def _plan_for(algorithm: Algorithm, pair: Pair, observe: str, size: Budget) -> Plan:
    """Runs from the number of blocks that a run plays."""
    sampler = AlgorithmSampler(algorithm, "actions", 0)
    seen = sampler.sample(pair, 0, POWER, 0, np.arange(16, dtype=np.int64))
    blocks = max((int(name.split()[-1]) for name in seen.discrete if name[-1].isdigit()), default=0) + 1
    # Where hidden noise leaves the decision to the black box, it gets twice the runs.
    steps = 2 * size.steps if observe == "actions" else size.steps
    runs = int(np.clip(steps // max(blocks, 2), 2000, size.most))
    return Plan(probe=max(1000, runs // 16), select=max(2000, runs // 2), test=runs, keep=1)


def _default_pairs(algorithm: Algorithm) -> list[Pair]:
    """First reward low against high, on constant tables: for algorithms without an auditor."""
    low, high = algorithm.search_bounds
    shape = (algorithm.horizon, algorithm.n_arms)
    levels = (low, (low + high) / 2, high)
    return [
        TablePair(np.full(shape, level), 0, 0, high if level < high else low, (low, high)) for level in levels
    ]


@dataclass(frozen=True)
class Subject:
    """An algorithm under audit, with what its auditor knows.

    Attributes
    ----------
    algorithm
        What is played: the given one, or its first rounds.
    small
        Small instance for the alignment search, and its epsilon.
    claim
        What is tested.
    pairs
        Candidate neighbours.
    exact
        See `Auditor.exact`.
    """

    algorithm: Algorithm
    small: Algorithm
    small_epsilon: float
    claim: PrivacyClaim
    pairs: Sequence[Pair]
    exact: ExactChecks | None = None

    @property
    def whole(self) -> Algorithm:
        """What is played, with all its rounds."""
        return self.algorithm.inner if isinstance(self.algorithm, Prefix) else self.algorithm

    def mutated(self, mutant: Mutant) -> Subject:
        """The same audit of a mutant."""
        broken = mutant.make(self.whole)
        if isinstance(self.algorithm, Prefix):
            broken = Prefix(broken, self.algorithm.rounds)
        return replace(self, algorithm=broken, small=mutant.make(self.small))


def _subject(
    algorithm: Algorithm,
    auditor: Auditor | None,
    epsilon: float | None,
    delta: float | None,
    observe: str | None,
) -> Subject:
    claim = algorithm.claim
    if claim is None:
        reference = epsilon if epsilon is not None else (auditor.reference_epsilon if auditor else None)
        if reference is None:
            raise InputError(
                f"epsilon must be given: {algorithm.name} makes no privacy promise to hold it against"
            )
        claim = PrivacyClaim(reference, observe="actions")
    if epsilon is not None:
        claim = replace(claim, epsilon=_validate.positive("epsilon", epsilon))
    if delta is not None:
        claim = replace(claim, delta=_validate.delta(delta))
    claim = replace(claim, observe=observe or claim.observe)
    exact = auditor.exact if auditor else None
    if (claim.observe == "shuffled") != (exact is not None):
        raise InputError(
            "observe must be shuffled: the claim of this algorithm is about shuffled reports"
            if exact
            else "observe must be actions or releases: this algorithm has no shuffled reports"
        )
    longest = auditor.longest if auditor else 1 << 16
    played = algorithm if algorithm.horizon <= longest else Prefix(algorithm, longest)
    small = played
    if auditor is not None:
        small = auditor.algorithm(**{**algorithm.parameters, **auditor.small})
    ratio = claim.epsilon / algorithm.claim.epsilon if algorithm.claim else 1.0
    small_claim = small.claim
    small_epsilon = small_claim.epsilon * ratio if small_claim else claim.epsilon
    pairs = auditor.pairs(played) if auditor else _default_pairs(played)
    return Subject(played, small, small_epsilon, claim, list(pairs), exact)


def _ladder(
    subject: Subject, plan: Plan, *, examples: int, seed: int, workers: int, alpha: float, confidence: float
) -> tuple[list[Check], alignment.Found, blackbox.Selected, list[Pair]]:
    """Both rungs, whatever the first one says."""
    check, found = _align(subject, examples, seed)
    sampler = AlgorithmSampler(subject.algorithm, subject.claim.observe, seed)
    chosen, ranked = blackbox.select(sampler, subject.pairs, plan, delta=subject.claim.delta, workers=workers)
    tests = blackbox.put_to_test(
        sampler,
        chosen,
        plan,
        epsilon=subject.claim.epsilon,
        delta=subject.claim.delta,
        seed=seed,
        workers=workers,
        alpha=alpha,
        confidence=confidence,
        observe=subject.claim.observe,
    )
    return [check, *tests], found, chosen[0], [subject.pairs[i] for i in ranked]


def _visible(claim: PrivacyClaim) -> bool:
    """Whether the adversary sees every release or report, so that the loss of a transcript refutes."""
    return claim.observe in ("releases", "reports") and claim.delta == 0


def _plan(subject: Subject, size: Budget, pinned: Mapping[str, Any] | None) -> Plan:
    """Sizes of the black box; the least where there is none."""
    if pinned:
        return _pinned(pinned)
    if subject.exact:
        return Plan(1, 1, 1)
    return _plan_for(subject.algorithm, subject.pairs[0], subject.claim.observe, size)


def _exact_ladder(
    subject: Subject, exact: ExactChecks, examples: int, seed: int
) -> tuple[list[Check], dict[str, Any] | None, list[dict[str, Any]]]:
    """Alignment of one report against the eps0 that the bounds take for granted, then the bounds.

    Alignment settles nothing about shuffled reports: it only checks what the upper bounds rest on.
    """
    batches = list(exact(subject.whole, subject.claim))
    local = exact_shuffle.local_epsilon(batches)
    align, _ = alignment.check(
        subject.algorithm,
        subject.small,
        subject.pairs[:4],
        epsilon=local if np.isfinite(local) else subject.claim.epsilon,
        small_epsilon=exact_shuffle.local_epsilon(exact(subject.small, subject.claim)),
        visible=False,
        seed=seed,
        examples=examples,
        name="alignment of one report",
    )
    found = [_shuffled_counterexample(subject, batches, c) for c in batches if c.verdict == "refuted"]
    return [align, *batches], None if found else _exact_power(subject, exact), found


def _shuffled_counterexample(subject: Subject, batches: Sequence[Check], found: Check) -> dict[str, Any]:
    """The first client of the batch has the highest reward against the lowest, all others the lowest."""
    largest = {int(c.statistics["batch"]): int(c.statistics["clients"]) for c in batches}
    start = sum(n for number, n in largest.items() if number < int(found.statistics["batch"]))
    (low, high), rows = subject.whole.bounds, subject.whole.horizon
    stream = np.full(rows, low)
    pair = StreamPair(stream, min(start, rows - 1), high, subject.whole.n_arms, (low, high))
    return exact_shuffle.counterexample(found, pair.as_dict())


def _exact_power(subject: Subject, exact: ExactChecks) -> dict[str, Any] | None:
    """The least factor by which the noise may be divided and the lower bounds refute it."""

    def broken(factor: float) -> list[Check]:
        return list(exact(AlteredNoise(subject.whole, 1 / factor), subject.claim))

    one = _least_factor(lambda factor: any(c.verdict == "refuted" for c in broken(factor)), 1e-3)
    each = _least_factor(lambda factor: all(c.verdict == "refuted" for c in broken(factor)), 0.05)
    if one is None:
        return None
    words = f"noise divided by {one:.4g}: a lower bound on delta exceeds the claim in one batch"
    return {
        "smallest_epsilon": exact_shuffle.epsilon_upper(broken(one)),
        "probability": 1.0,
        "by": "exact",
        "statement": words + (f"; by {each:.3g}: in every batch" if each else ""),
        "black_box": None,
    }


def _least_factor(caught: Callable[[float], bool], tolerance: float) -> float | None:
    """The least factor in (1, 64] that is caught, by bisection; None if none is."""
    low, high = 1.0, 2.0
    while not caught(high):
        low, high = high, 2 * high
        if high > 64:
            return None
    while high - low > tolerance:
        middle = (low + high) / 2
        low, high = (low, middle) if caught(middle) else (middle, high)
    return high


def _align(subject: Subject, examples: int, seed: int) -> tuple[Check, alignment.Found]:
    return alignment.check(
        subject.algorithm,
        subject.small,
        subject.pairs[:4],
        epsilon=subject.claim.epsilon,
        small_epsilon=subject.small_epsilon,
        visible=_visible(subject.claim),
        seed=seed,
        examples=examples,
    )


def _mutant_entry(
    subject: Subject, mutant: Mutant, plan: Plan, examples: int, seed: int, workers: int, alpha: float
) -> dict[str, Any]:
    """Audit a mutant, cheapest rung first, until one refutes it."""
    broken = subject.mutated(mutant)
    checks: list[Check] = []
    worst: Mapping[str, Any] = {}
    if broken.exact:
        checks = list(broken.exact(broken.whole, broken.claim))
    elif _visible(broken.claim):  # elsewhere a cost above epsilon settles nothing
        check, found = _align(broken, examples, seed)
        checks, worst = [check], found.worst
    if not broken.exact and all(c.verdict != "refuted" for c in checks):
        sampler = AlgorithmSampler(broken.algorithm, broken.claim.observe, seed)
        claim = broken.claim
        chosen, _ = blackbox.select(sampler, broken.pairs, plan, delta=claim.delta, workers=workers)
        checks += blackbox.put_to_test(
            sampler,
            chosen,
            plan,
            epsilon=claim.epsilon,
            delta=claim.delta,
            seed=seed,
            workers=workers,
            alpha=alpha,
            observe=claim.observe,
        )
    killer = next((c for c in checks if c.verdict == "refuted"), None)
    return {
        "name": mutant.name,
        "fault": mutant.fault,
        "breaks": "privacy",
        "verdict": "refuted" if killer else "not_refuted",
        "decided_by": killer.kind if killer else "",
        "counterexample": dict(worst) if killer and killer.kind == "alignment" else {},
        "checks": [c.as_dict() for c in checks],
    }


def _power_of(
    make: Callable[[float], Sampler],
    pairs: Sequence[Any],
    plan: Plan,
    claim: PrivacyClaim,
    *,
    true_epsilon: Callable[[float], float],
    seed: int,
    workers: int,
    alpha: float,
    repeats: int,
) -> dict[str, Any] | None:
    """The least noise reduction that the black box catches with probability .95, and what epsilon it has.

    For noise divided by c, pair and event are chosen anew on selection runs; the binomial law of its hits
    gives the power. It is checked by `repeats` fresh tests of that mutant with other seeds.
    """
    tried = []
    runs = max(100, plan.select // 4)
    cheaper = replace(plan, probe=max(24, plan.probe // 4), select=runs, finalists=1)
    for factor in _FACTORS:
        sampler = make(factor)
        [picked], _ = blackbox.select(
            _reseeded(sampler, seed + POWER), pairs, cheaper, delta=claim.delta, workers=workers
        )
        p, q = picked.event.careful_shares()
        power = exact.rejection_power(p, q, plan.test, claim.epsilon, alpha) if claim.delta == 0 else 0.0
        tried.append([factor, plain(true_epsilon(factor)), power])
        if power >= POWER_PROBABILITY:
            refuted = _repeat(sampler, picked, plan, claim, seed, workers, alpha, repeats)
            if refuted < repeats:
                continue
            return {
                "smallest_epsilon": plain(true_epsilon(factor)),
                "probability": POWER_PROBABILITY,
                "noise_divided_by": factor,
                "repeats": repeats,
                "repeats_refuted": refuted,
                "tried": tried,
            }
    return None


def _repeat(
    sampler: Sampler,
    picked: blackbox.Selected,
    plan: Plan,
    claim: PrivacyClaim,
    seed: int,
    workers: int,
    alpha: float,
    repeats: int,
) -> int:
    """How many of `repeats` tests on fresh runs refute a mutant."""
    refuted = 0
    for i in range(repeats):
        tests = blackbox.put_to_test(
            _reseeded(sampler, seed + 1 + i),
            [picked],
            plan,
            epsilon=claim.epsilon,
            delta=claim.delta,
            seed=seed + 1 + i,
            workers=workers,
            alpha=alpha,
        )
        refuted += any(c.verdict == "refuted" for c in tests)
    return refuted


def _reseeded(sampler: Any, seed: int) -> Sampler:
    changed: Sampler = replace(sampler, seed=seed)
    return changed


def _pinned(mapping: Mapping[str, Any]) -> Plan:
    return Plan(**{field.name: int(mapping.get(field.name, 1)) for field in fields(Plan)})


def audit_algorithm(
    algorithm: Algorithm,
    *,
    budget: str | float = "quick",
    seed: int = 0,
    workers: int = 1,
    epsilon: float | None = None,
    delta: float | None = None,
    observe: str | None = None,
    pairs: Sequence[Pair] | None = None,
    mutants: bool = True,
    alpha: float = ALPHA,
    confidence: float = CONFIDENCE,
    pinned: Mapping[str, Any] | None = None,
    progress: Progress = _silent,
) -> dict[str, Any]:
    """Audit an algorithm of the framework's form; return the draft of a record.

    Parameters are those of `verifiable_dp.audit`; `pinned` is the plan of an earlier record, to re-run it.
    """
    size = sizes_of(budget)
    auditor = registry.find(algorithm)
    subject = _subject(algorithm, auditor, epsilon, delta, observe)
    if pairs is not None:
        subject = replace(subject, pairs=list(pairs))
    claim = subject.claim
    if claim.observe == "reports" and (algorithm.claim is None or algorithm.claim.observe != "reports"):
        raise InputError("observe must be actions or releases: this algorithm has no local reports")
    plan = _plan(subject, size, pinned)
    examples = int(pinned["examples"]) if pinned else size.examples
    repeats = int(pinned["repeats"]) if pinned else size.repeats
    power: dict[str, Any] | None = None
    if subject.exact:
        progress("alignment and exact bounds")
        checks, power, counterexamples = _exact_ladder(subject, subject.exact, examples, seed)
    else:
        progress("alignment and black box")
        checks, found, chosen, best = _ladder(
            subject, plan, examples=examples, seed=seed, workers=workers, alpha=alpha, confidence=confidence
        )
        counterexamples = _counterexamples(checks, found.worst, chosen)
    if not subject.exact and all(c.verdict != "refuted" for c in checks):
        progress("power on mutants with less noise")

        def less_noise(factor: float) -> Sampler:
            return AlgorithmSampler(AlteredNoise(subject.algorithm, 1 / factor), claim.observe, seed)

        statistics = checks[0].statistics
        unit = float(statistics["max_cost"])
        power = _state_power(
            _power_of(
                less_noise,
                best,
                plan,
                claim,
                true_epsilon=lambda factor: factor * unit,
                seed=seed,
                workers=workers,
                alpha=alpha,
                # Where alignment is exact the black box's power is a second opinion.
                repeats=1 if statistics["visible"] else repeats,
            ),
            checks[0],
            claim,
        )
    entries = []
    if mutants and auditor is not None and algorithm.claim is not None:
        for mutant in auditor.mutants:
            if mutant.breaks == "privacy":
                progress(f"mutant: {mutant.name}")
                entries.append(_mutant_entry(subject, mutant, plan, examples, seed, workers, alpha))
    covered = list(_NOT_COVERED)
    if subject.exact:
        covered.append("batches of other sizes than the fewest and the most reports found")
    elif subject.algorithm is not algorithm:
        covered.append(f"rounds after the first {subject.algorithm.horizon} of {algorithm.horizon}")
    return {
        "target": {
            "name": algorithm.name,
            "kind": "algorithm",
            "parameters": _plain_parameters(algorithm),
            "source": asdict(Source.of(type(algorithm), type(algorithm).__qualname__)),
            "note": _note(algorithm),
            "paper": auditor.paper if auditor else "",
            "model": auditor.model if auditor else "central",
        },
        "claim": claim.as_dict(),
        "plan": {
            **plan.as_dict(),
            "budget": str(budget),
            "examples": examples,
            "repeats": repeats,
            "alpha": alpha,
            "confidence": confidence,
            "mutants": mutants,
            "given_pairs": pairs is not None,
        },
        "checks": [c.as_dict() for c in checks],
        "pairs": [{"words": pair.describe()} for pair in subject.pairs],
        "confidence": confidence,
        "power": power,
        "counterexamples": counterexamples,
        "mutants": entries,
        "not_covered": covered,
        "seed": seed,
    }


def _note(algorithm: Algorithm) -> str:
    """What a reader has to know of the target before anything else."""
    if algorithm.claim is None:
        return "non-private baseline: it makes no promise"
    printed = _plain_parameters(algorithm).get("variant") == "printed"
    return "the listing as printed, which the default variant corrects" if printed else ""


def _plain_parameters(algorithm: Algorithm) -> dict[str, Any]:
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in algorithm.parameters.items()
    }


def _state_power(
    black_box: dict[str, Any] | None, align: Check, claim: PrivacyClaim
) -> dict[str, Any] | None:
    """Power of the audit: alignment catches any excess that it sees exactly; else the black box counts."""
    if align.statistics["visible"] and align.verdict == "not_refuted":
        cost = float(align.statistics["max_cost"])
        # Noise reduced by a factor above epsilon / cost is refuted exactly, on the transcripts examined.
        return {
            "smallest_epsilon": claim.epsilon * (1 + alignment.TOLERANCE),
            "probability": 1.0,
            "by": "alignment",
            "statement": f"exact on the transcripts examined; the largest loss there is {cost:.6g}",
            "black_box": black_box,
        }
    if black_box is None:
        return None
    return {
        "smallest_epsilon": black_box["smallest_epsilon"],
        "probability": black_box["probability"],
        "by": "black_box",
        "statement": (
            f"noise divided by {black_box['noise_divided_by']:g}: refuted in "
            f"{black_box['repeats_refuted']} of {black_box['repeats']} repeated audits"
        ),
        "black_box": black_box,
    }


def _counterexamples(
    checks: Sequence[Check], worst: Mapping[str, Any], chosen: blackbox.Selected
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for check in checks:
        if check.verdict != "refuted":
            continue
        if check.kind == "alignment":
            found.append({"check": check.name, **worst})
        else:
            found.append(
                {
                    "check": check.name,
                    "pair": chosen.pair.as_dict(),
                    "event": check.statistics["event"],
                    "p_value": check.result["p_value"],
                    "epsilon_lower": check.result["epsilon_lower"],
                }
            )
    return found


# ---------------------------------------------------------------- a user's code


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
    alpha: float = ALPHA,
    confidence: float = CONFIDENCE,
    pinned: Mapping[str, Any] | None = None,
    progress: Progress = _silent,
) -> dict[str, Any]:
    """Audit a user's bandit by its actions; return the draft of a record."""
    size = sizes_of(budget)
    n_arms, horizon = _validate.arms_and_horizon(n_arms, horizon)
    low, high = _validate.bounds("bounds", bounds)
    claim = PrivacyClaim(epsilon, delta)
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
        each = _seconds_a_run(sampler, trial)
        # At most 18 decisions are tuned, in at most 18 steps, most of them with a quarter of the runs.
        tune_runs = int(np.clip(0.25 * size.seconds / each / (18 * 18 * 0.5), 8, 400))
        # Where plain tables leave all runs alike, a hundred show a difference as well as thousands.
        most = 100 if seen.deterministic else 20_000
        first = int(np.clip(0.03 * size.seconds / each, 100, most))
    tune.calls = 0
    finder = Search(tune, n_arms, horizon, (low, high), tune_runs)
    candidates: list[Any] = list(pairs) if pairs is not None else list(finder.plain())
    levels = _Levels(alpha, confidence, tests=2)
    progress("first look: plain neighbours")
    plan = _pinned(pinned) if pinned else Plan(max(24, first // 16), first, first)
    quick = Plan(max(24, first // 16), first, first)
    checks, chosen, best = _look(sampler, candidates, quick, claim, levels, seed, workers, 0)
    power = None
    if checks[0].verdict != "refuted":
        if pairs is None:
            progress("search for the worst neighbours")
            candidates += finder.tuned()
        if not pinned:
            left = max(0.5 * size.seconds, size.seconds - (time.perf_counter() - started))
            plan = _plan_by_time(_seconds_a_run(sampler, candidates[-1]), left, len(candidates), size.most)
            if not tune.varied and pairs is None:
                plan = Plan(24, 100, 200)
        progress(f"black box: {2 * plan.test} runs")
        more, chosen, best = _look(sampler, candidates, plan, claim, levels, seed, workers, 1)
        checks += more
    if all(c.verdict != "refuted" for c in checks):
        if not tune.varied and pairs is None:
            raise InputError(
                f"{'play_many' if many else 'play'}: {DETERMINISTIC} (every run was alike on every input "
                f"tried; horizon {horizon} may be too short for it to act)"
            )
        power = _user_power(sampler, best[:6], plan, claim, levels, seed, workers, 1, progress)
    notes = [*seen.notes, *_no_power(checks, power)] + ([] if tune.varied else [DETERMINISTIC])
    return _user_draft(
        function,
        kind="play_many" if many else "play",
        name=name,
        claim=claim,
        parameters={"n_arms": n_arms, "horizon": horizon, "bounds": [low, high]},
        plan={**plan.as_dict(), "tune": tune_runs, "first": first, "given_pairs": pairs is not None},
        budget=budget,
        alpha=alpha,
        confidence=confidence,
        checks=checks,
        candidates=candidates,
        chosen=chosen,
        power=power,
        notes=notes,
        seed=seed,
    )


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


@dataclass(frozen=True)
class _Levels:
    """Error rates of an audit, shared by `tests` tests."""

    alpha: float
    confidence: float
    tests: int


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
    source = _reseeded(sampler, own)
    chosen, ranked = blackbox.select(source, candidates, plan, delta=claim.delta, workers=workers)
    checks = blackbox.put_to_test(
        source,
        chosen,
        plan,
        epsilon=claim.epsilon,
        delta=claim.delta,
        seed=own,
        workers=workers,
        alpha=levels.alpha,
        confidence=levels.confidence,
        observe="actions" if isinstance(sampler, PlaySampler) else "releases",
        name=f"black box, look {number + 1}" if levels.tests > 1 else "black box",
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
    progress("power on mutants with less noise")
    power = _power_of(
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


def _no_power(checks: Sequence[Check], power: dict[str, Any] | None) -> list[str]:
    """Why an audit that refutes nothing is inconclusive."""
    if power is not None or any(c.verdict == "refuted" for c in checks):
        return []
    return [
        "power could not be stated: no reduction of the noise that the generator adds (laplace, normal, "
        "exponential, gumbel, logistic, geometric) was refuted with probability .95 at this budget"
    ]


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
        "counterexamples": _counterexamples(checks, {}, chosen),
        "mutants": [],
        "not_covered": [*_NOT_COVERED, "the code itself: it was seen only through its outputs"],
        "seed": seed,
    }


def data_pairs(
    function: Callable[..., Any], bounds: tuple[float, float], given: Sequence[tuple[Any, Any]] | None
) -> list[DataPair]:
    """Neighbouring data for a mechanism: as given, as its attribute `neighbours`, or from the bounds.

    From the bounds: a number, else a vector of one, else of five entries, of which one moves from low to
    high: the first form that the mechanism takes.

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
            return [DataPair(left, right)]
    raise last or InputError("release: no form of data fits")


def audit_release(
    function: Callable[..., Any],
    *,
    name: str,
    epsilon: float,
    delta: float = 0.0,
    bounds: tuple[float, float] = (0.0, 1.0),
    pairs: Sequence[tuple[Any, Any]] | None = None,
    budget: str | float = "quick",
    seed: int = 0,
    workers: int = 1,
    alpha: float = ALPHA,
    confidence: float = CONFIDENCE,
    pinned: Mapping[str, Any] | None = None,
    progress: Progress = _silent,
) -> dict[str, Any]:
    """Audit a mechanism by its outputs; return the draft of a record."""
    size = sizes_of(budget)
    limits = _validate.bounds("bounds", bounds)
    claim = PrivacyClaim(
        epsilon,
        delta,
        observe="releases",
        unit="as the neighbouring data given",
        adjacency="the pairs of data tested",
    )
    sampler = ReleaseSampler(function, seed)
    candidates = data_pairs(function, limits, pairs)
    progress("first runs")
    seen = probe_release(sampler, [data for pair in candidates for data in pair.worlds()])
    if pinned:
        plan = _pinned(pinned)
    else:
        worlds = candidates[0].worlds()
        each = _measure(lambda n: sampler.values(worlds[0], (TUNE,), np.arange(n, dtype=np.int64)), 256)
        # Most of the time goes into scores, not into draws: a million a side take about a second.
        most = int(min(size.most * 3, 1_200_000)) if budget == "quick" else size.most
        plan = _plan_by_time(each + 2e-7, size.seconds, len(candidates), most)
        if seen.deterministic:
            plan = Plan(24, 100, 200)
    progress(f"black box: {2 * plan.test} draws")
    levels = _Levels(alpha, confidence, tests=1)
    checks, chosen, best = _look(sampler, candidates, plan, claim, levels, seed, workers, 0)
    power = None
    if checks[0].verdict != "refuted":
        if seen.deterministic:
            raise InputError(f"release: {DETERMINISTIC} (every draw was alike on every input tried)")
        power = _user_power(sampler, best[:6], plan, claim, levels, seed, workers, 1, progress)
    return _user_draft(
        function,
        kind="release",
        name=name,
        claim=claim,
        parameters={"bounds": list(limits)},
        plan={**plan.as_dict(), "given_pairs": pairs is not None},
        budget=budget,
        alpha=alpha,
        confidence=confidence,
        checks=checks,
        candidates=candidates,
        chosen=chosen,
        power=power,
        notes=[*seen.notes, *_no_power(checks, power), *([DETERMINISTIC] if seen.deterministic else [])],
        seed=seed,
    )


def audit_function(function: Callable[..., Any], *, name: str, **options: Any) -> dict[str, Any]:
    """Audit a user's callable; what it is follows from its parameters (`kind_of`)."""
    kind = kind_of(function)
    if options.get("epsilon") is None:
        raise InputError("epsilon must be given: the claim of your own code is not known")
    if kind == "release":
        for unused in ("n_arms", "horizon"):
            options.pop(unused, None)
        return audit_release(function, name=name, **options)
    for needed, flag in (("n_arms", "--arms K"), ("horizon", "--horizon T")):
        if options.get(needed) is None:
            raise InputError(f"{needed} must be given for {kind} ({flag})")
    return audit_play(function, many=kind == "play_many", name=name, **options)


# ---------------------------------------------------------------- regret


def regret_only(
    algorithm: Algorithm,
    *,
    budget: str | float = "quick",
    seed: int = 0,
    workers: int = 1,
    mutants: bool = False,
    progress: Progress = _silent,
) -> dict[str, Any]:
    """Run the regret checks of a catalogue algorithm, and those of its regret mutants; a draft of a record.

    Raises
    ------
    InputError
        If the algorithm has no auditor.
    """
    auditor = registry.find(algorithm)
    if auditor is None:
        raise InputError(f"target: {getattr(algorithm, 'name', algorithm)} has no auditor with regret checks")
    checks = auditor.regret(algorithm, str(budget), seed, workers)
    entries: list[dict[str, Any]] = []
    for mutant in auditor.mutants if mutants else ():
        if mutant.breaks != "regret":
            continue
        progress(f"mutant: {mutant.name}")
        found = auditor.regret(mutant.make(algorithm), "mutant", seed, workers)
        wrong = [c for c in found if c.verdict == "contradicted"]
        entries.append(
            {
                "name": mutant.name,
                "fault": mutant.fault,
                "breaks": "regret",
                "verdict": "contradicted" if wrong else "not_contradicted",
                "decided_by": wrong[0].name if wrong else "",
                "counterexample": {},
                "checks": [c.as_dict() for c in found],
            }
        )
    claim = algorithm.claim
    return {
        "target": {
            "name": algorithm.name,
            "kind": "algorithm",
            "parameters": _plain_parameters(algorithm),
            "source": asdict(Source.of(type(algorithm), type(algorithm).__qualname__)),
            "note": _note(algorithm),
            "paper": auditor.paper,
            "model": auditor.model,
        },
        "claim": claim.as_dict() if claim else None,
        "plan": {"budget": str(budget)},
        "checks": [],
        "pairs": [],
        "confidence": CONFIDENCE,
        "power": None,
        "counterexamples": [],
        "mutants": entries,
        "regret": {
            "parameters": _plain_parameters(algorithm),
            "mutants_tried": mutants,
            "claims": [c.as_dict() for c in auditor.claims],
            "checks": [c.as_dict() for c in checks],
        },
        "not_covered": ["privacy: only regret was checked", *_NOT_COVERED[2:]],
        "seed": seed,
    }
