"""How an algorithm is audited: the ladder of evidence, its power, its mutants; the draft of a record."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verifiable_dp import _validate, checkpoint, claims
from verifiable_dp._validate import InputError
from verifiable_dp.algorithm import Algorithm
from verifiable_dp.auditing import drafts, groups, registry
from verifiable_dp.auditing import power as powers
from verifiable_dp.auditing.auditor import AlteredNoise, Auditor, ExactChecks, Mutant, Prefix
from verifiable_dp.auditing.plans import NOT_COVERED, Budget, Progress, pinned_plan, silent, sizes_of
from verifiable_dp.claims import PrivacyClaim
from verifiable_dp.evidence import adversary, alignment, blackbox, curves, exact_shuffle, sequential
from verifiable_dp.evidence import exact as laws
from verifiable_dp.evidence.blackbox import ALPHA, CONFIDENCE, POWER, AlgorithmSampler, Plan, Sampler
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.machine import UnsupportedError
from verifiable_dp.evidence.worst import worst_pairs
from verifiable_dp.neighbours import Pair, StreamPair, TablePair

_FEW = 8  # part of the runs with which a mutant is tried at first
_TESTS = 2  # black boxes of an audit with an interactive game; they share alpha
_WALK = 16  # runs that are walked (`evidence.machine`) in the time of one that is played


def _plan_for(algorithm: Algorithm, pair: Pair, observe: str, size: Budget) -> Plan:
    """Runs from the number of blocks that a run plays."""
    sampler = AlgorithmSampler(algorithm, "actions", 0)
    seen = sampler.sample(pair, 0, POWER, 0, np.arange(16, dtype=np.int64))
    blocks = max((int(name.split()[-1]) for name in seen.discrete if name[-1].isdigit()), default=0) + 1
    # Where hidden noise leaves the decision to the black box, it gets twice the runs.
    steps = 2 * size.steps if observe == "actions" else size.steps
    if replace(sampler, observe=observe).compared:
        runs = int(np.clip(_WALK * steps // max(blocks, 2), 2000, _WALK * size.most))
        return Plan(probe=max(1000, runs // 256), select=runs // 4, test=runs, finalists=2)
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

    @property
    def game(self) -> Algorithm:
        """What the black box plays against adversaries: the small instance if it makes the same promise."""
        return self.small if self.small_epsilon == self.claim.epsilon else self.algorithm

    @property
    def instances(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What was played and the small instance; empty where it is the audited one.

        A mutant's are those of the algorithm that it was made from: mutants keep the parameters.
        """
        whole, epsilon = self.whole, self.claim.epsilon
        played = {} if self.algorithm is whole else drafts.instance(self.algorithm, epsilon)
        small = {} if self.small is whole else drafts.instance(self.small, self.small_epsilon)
        return played, small

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


def _grouped(subject: Subject, size: int, given: Sequence[Pair] | None, seed: int) -> Subject:
    """The audit of what the claim about one event implies for a group of `size` of them."""
    if subject.exact:
        raise InputError("group goes with claims about actions or releases, not about shuffled reports")
    claim = claims.group(subject.claim, size, kind=groups.kind(given))
    ratio = claim.epsilon / subject.claim.epsilon
    pairs = groups.of_algorithm(subject.algorithm, subject.pairs, size, seed)
    return replace(subject, claim=claim, small_epsilon=ratio * subject.small_epsilon, pairs=pairs)


def _ladder(
    subject: Subject,
    plan: Plan,
    *,
    examples: int,
    seed: int,
    workers: int,
    alpha: float,
    confidence: float,
    tests: int = 1,
    curve: bool = False,
) -> tuple[list[Check], alignment.Found, blackbox.Selected, list[Pair]]:
    """All rungs, whatever the first one says."""
    align = functools.partial(_align, subject, examples, seed, instances=subject.instances, timed=True)
    check, found = checkpoint.kept("alignment", align)
    law = checkpoint.kept("law", lambda: laws.check(subject.algorithm, subject.pairs, subject.claim))
    sampler = AlgorithmSampler(subject.algorithm, subject.claim.observe, seed)
    black_box, chosen, ranked = sequential.conduct(
        sampler,
        lambda part: _select(sampler, subject, part, workers),
        plan,
        epsilon=subject.claim.epsilon,
        delta=subject.claim.delta,
        seed=seed,
        workers=workers,
        alpha=alpha,
        confidence=confidence,
        observe=subject.claim.observe,
        best=_best_bound(sampler, plan, confidence),
        tests=tests,
    )
    checks = [check, *([law] if law else []), *black_box]
    if curve:
        measured = curves.check(
            sampler,
            chosen[0],
            subject.claim,
            select=plan.select,
            test=plan.test,
            tests=tests,
            alpha=alpha,
            confidence=confidence,
            workers=workers,
        )
        checks.append(measured)
    return checks, found, chosen[0], [subject.pairs[i] for i in ranked]


def _game_sizes(
    subject: Subject, size: Budget, pinned: Mapping[str, Any] | None, given: bool
) -> adversary.Sizes | None:
    """Sizes of the interactive game; None where there is none to play: one arm, no promise, pairs given."""
    if subject.whole.n_arms < 2 or subject.whole.claim is None or given:
        return None
    if pinned:  # records from before there was one have none
        return adversary.Sizes.read(pinned["interactive"]) if "interactive" in pinned else None
    played = subject.small if subject.exact else subject.game
    return adversary.Sizes.of(played.horizon, size.steps, size.most)


def _interactive(
    subject: Subject,
    sizes: adversary.Sizes,
    *,
    seed: int,
    workers: int,
    alpha: float,
    confidence: float,
    tests: int,
) -> adversary.Played:
    """Adversaries that choose rewards from the actions so far; of shuffled reports alignment of one alone."""
    if subject.exact:
        local = exact_shuffle.local_epsilon(subject.exact(subject.whole, subject.claim))
        check, _, _ = adversary.align(
            subject.small,
            adversary.pairs(subject.small, sizes.challenges),
            epsilon=local if np.isfinite(local) else subject.claim.epsilon,
            small_epsilon=exact_shuffle.local_epsilon(subject.exact(subject.small, subject.claim)),
            visible=False,
            seed=seed,
            name="interactive alignment of one report",
        )
        return adversary.Played([check], [], [])
    return adversary.audit(
        subject.small,
        subject.game,
        subject.claim,
        sizes,
        small_epsilon=subject.small_epsilon,
        visible=_visible(subject.claim),
        tests=tests,
        seed=seed,
        workers=workers,
        alpha=alpha,
        confidence=confidence,
        instances=(
            drafts.instance(subject.small, subject.small_epsilon),
            drafts.instance(subject.game, subject.claim.epsilon),
        ),
    )


def _law(sampler: AlgorithmSampler, pair: Pair) -> laws.Law | None:
    """The law of what a test of actions sees; None where it is not known."""
    if not sampler.compared:
        return None
    try:
        return laws.law(sampler.algorithm, pair)
    except UnsupportedError:
        return None


def _best_bound(
    sampler: AlgorithmSampler, plan: Plan, confidence: float
) -> Callable[[Pair], float | None] | None:
    """What the best event gives on a pair at this size: the yardstick of the black box."""

    def bound(pair: Pair) -> float | None:
        law = _law(sampler, pair)
        return law.best_event(plan.test, 1 - confidence).bound if law else None

    return bound if sampler.compared else None


def _searched(subject: Subject, plan: Plan) -> list[Pair]:
    """The neighbours that cost most by the exact law, where it is known: they join those of the auditor."""
    if subject.exact is not None:
        return []
    try:
        return list(worst_pairs(subject.algorithm, subject.claim, plan.test))
    except UnsupportedError:
        return []


def _promising(
    sampler: AlgorithmSampler, pairs: Sequence[Pair], plan: Plan, delta: float
) -> list[int] | None:
    """Where laws are known, the pairs on which a test of this size can show most; else None."""
    known = {i: law for i, pair in enumerate(pairs) if (law := _law(sampler, pair))}
    bounds = {i: law.best_event(plan.test, delta=delta).bound for i, law in known.items()}
    ranked = sorted(bounds, key=bounds.__getitem__, reverse=True)
    return ranked[: plan.finalists] or None


def _select(
    sampler: AlgorithmSampler, subject: Subject, plan: Plan, workers: int
) -> tuple[list[blackbox.Selected], list[int]]:
    """Pair and event of the black box."""
    delta = subject.claim.delta
    among = _promising(sampler, subject.pairs, plan, delta)
    return blackbox.select(sampler, subject.pairs, plan, delta=delta, workers=workers, among=among)


def _visible(claim: PrivacyClaim) -> bool:
    """Whether the adversary sees every release or report, so that the loss of a transcript refutes."""
    return claim.observe in ("releases", "reports") and claim.delta == 0


def _plan(subject: Subject, size: Budget, pinned: Mapping[str, Any] | None) -> Plan:
    """Sizes of the black box; the least where there is none."""
    if pinned:
        return pinned_plan(pinned)
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

    one = powers.least_factor(lambda factor: any(c.verdict == "refuted" for c in broken(factor)), 1e-3)
    each = powers.least_factor(lambda factor: all(c.verdict == "refuted" for c in broken(factor)), 0.05)
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


def _law_power(subject: Subject) -> tuple[float, float] | None:
    """The least factor by which the noise may be divided and the exact law refutes it; its epsilon."""

    def law(factor: float) -> Check | None:
        return laws.check(AlteredNoise(subject.algorithm, 1 / factor), subject.pairs, subject.claim)

    if law(1.0) is None:
        return None

    def caught(factor: float) -> bool:
        found = law(factor)
        return found is not None and found.verdict == "refuted"

    least = powers.least_factor(caught, 1e-3)
    found = law(least) if least else None
    return (least, float(found.result["epsilon_lower"])) if least and found else None


def aligned_pairs(subject: Subject) -> list[Pair]:
    """The strongest of the auditor's neighbours, and plain ones that it may not have thought of."""
    return [*subject.pairs[:4], *_default_pairs(subject.algorithm), *_far_pairs(subject)]


def _far_pairs(subject: Subject) -> list[Pair]:
    """Where any reward is allowed: changes that reach beyond the truncation.

    First and last reward of the first block, beyond the search bounds; and the two strongest pairs with
    their change nearly doubled, which shows a truncation at twice the limit.
    """
    algorithm = subject.algorithm
    if np.isfinite(algorithm.bounds).all():
        return []
    low, high = algorithm.search_bounds
    block = algorithm.query(algorithm.start(np.zeros(1, np.int64)))
    pairs: list[Pair] = [_stretched(pair) for pair in subject.pairs[:2]]
    for step in dict.fromkeys((0, int(block.rounds[0]) - 1)):
        arm = int(block.arm(np.array([step]))[0])
        for factor in (1.9, 5.0, 20.0):
            table = np.zeros((algorithm.horizon, algorithm.n_arms))
            table[step, arm] = factor * low
            pairs.append(TablePair(table, step, arm, factor * high, (factor * low, factor * high)))
    return pairs


def _stretched(pair: Pair) -> Pair:
    """The same pair with the two rewards that differ 1.9 times as far from 0."""
    if not isinstance(pair, TablePair | StreamPair):
        return pair
    left, place = pair.left.copy(), (pair.round, pair.arm) if isinstance(pair, TablePair) else pair.round
    left[place] *= 1.9
    value = 1.9 * pair.value
    most = float(max(np.abs(left).max(), abs(value)))
    return replace(pair, left=left, value=value, bounds=(-most, most))


def _align(
    subject: Subject,
    examples: int,
    seed: int,
    *,
    instances: tuple[Mapping[str, Any], Mapping[str, Any]],
    timed: bool = False,
    enough: bool = False,
) -> tuple[Check, alignment.Found]:
    return alignment.check(
        subject.algorithm,
        subject.small,
        aligned_pairs(subject),
        epsilon=subject.claim.epsilon,
        small_epsilon=subject.small_epsilon,
        visible=_visible(subject.claim),
        seed=seed,
        examples=examples,
        group=subject.claim.relation.size,
        timed=timed,
        enough=enough,
        instances=instances,
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
        check, found = _align(broken, examples, seed, instances=subject.instances, enough=True)
        checks, worst = [check], found.worst
    if not broken.exact and all(c.verdict != "refuted" for c in checks):
        law = laws.check(broken.algorithm, broken.pairs, broken.claim)
        checks += [law] if law else []
    if not broken.exact and all(c.verdict != "refuted" for c in checks):
        sampler, claim = AlgorithmSampler(broken.algorithm, broken.claim.observe, seed), broken.claim
        # Most mutants fall to few runs: the two looks share the level.
        for look, share in enumerate((_FEW, 1)):
            own = replace(sampler, seed=seed + look)
            parts = {name: max(1, getattr(plan, name) // share) for name in ("probe", "select", "test")}
            tests, _, _ = sequential.conduct(
                own,
                functools.partial(_select, own, broken, workers=workers),
                replace(plan, **parts),
                epsilon=claim.epsilon,
                delta=claim.delta,
                seed=seed + look,
                workers=workers,
                alpha=alpha / 2,
                observe=claim.observe,
            )
            checks += tests
            if any(c.verdict == "refuted" for c in tests):
                break
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
    sequential: bool = False,
    group: int | None = None,
    curve: bool = False,
    alpha: float = ALPHA,
    confidence: float = CONFIDENCE,
    pinned: Mapping[str, Any] | None = None,
    progress: Progress = silent,
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
    if sequential and not pinned:
        if subject.exact:
            raise InputError("sequential must be False: exact bounds decide this claim, nothing is sampled")
        plan = replace(plan, sequential=True)
    examples = int(pinned["examples"]) if pinned else size.examples
    repeats = int(pinned["repeats"]) if pinned else size.repeats
    if pairs is None:
        searched = checkpoint.kept("worst pairs", lambda: _searched(subject, plan))
        subject = replace(subject, pairs=[*subject.pairs, *searched])
    event = subject.claim
    if group is not None:
        subject = _grouped(subject, group, pairs, seed)
        claim = subject.claim
    if curve and subject.exact:
        raise InputError("curve must be False: exact bounds decide this claim, nothing is sampled")
    # A game has one challenge: it says little about a group.
    game = _game_sizes(subject, size, pinned, pairs is not None or group is not None)
    tests = (_TESTS if game and not subject.exact else 1) + curve
    power: dict[str, Any] | None = None
    if subject.exact:
        progress("alignment and exact bounds")
        rungs = functools.partial(_exact_ladder, subject, subject.exact, examples, seed)
        checks, power, counterexamples = checkpoint.kept("exact bounds", rungs)
    else:
        progress("alignment and black box")
        checks, found, chosen, best = _ladder(
            subject,
            plan,
            examples=examples,
            seed=seed,
            workers=workers,
            alpha=alpha,
            confidence=confidence,
            tests=tests,
            curve=curve,
        )
        counterexamples = drafts.counterexamples(
            checks, found.worst, chosen, subject.pairs, played=subject.instances[0]
        )
    words = [pair.describe() for pair in subject.pairs]
    if game and all(c.verdict != "refuted" for c in checks):
        progress("interactive adversaries")
        play_games = functools.partial(
            _interactive,
            subject,
            game,
            seed=seed,
            workers=workers,
            alpha=alpha,
            confidence=confidence,
            tests=tests,
        )
        played = checkpoint.kept("interactive adversaries", play_games)
        checks, counterexamples = [*checks, *played.checks], [*counterexamples, *played.counterexamples]
        words += played.words
    if not subject.exact and all(c.verdict != "refuted" for c in checks):
        progress("power on mutants with less noise")

        def less_noise(factor: float) -> Sampler:
            return AlgorithmSampler(AlteredNoise(subject.algorithm, 1 / factor), claim.observe, seed)

        statistics = checks[0].statistics
        unit = float(statistics["max_cost"])
        walked = AlgorithmSampler(subject.algorithm, claim.observe, seed).compared
        measure = functools.partial(
            powers.of_black_box,
            less_noise,
            best,
            # The power at a sixteenth of the runs is a careful statement for all of them.
            plan if not walked else replace(plan, select=plan.select // _WALK, test=plan.test // _WALK),
            claim,
            true_epsilon=lambda factor: factor * unit,
            seed=seed,
            workers=workers,
            alpha=alpha / tests,
            # Where alignment is exact the black box's power is a second opinion.
            repeats=1 if statistics["visible"] else repeats,
        )
        power = powers.stated(
            checkpoint.kept("power", measure),
            checks[0],
            claim,
            None
            if claim.observe == "releases"
            else checkpoint.kept("power of the law", lambda: _law_power(subject)),
        )
    entries = []
    if mutants and auditor is not None and algorithm.claim is not None:
        for mutant in auditor.mutants:
            if mutant.breaks == "privacy":
                progress(f"mutant: {mutant.name}")
                entry = functools.partial(
                    _mutant_entry, subject, mutant, plan, examples, seed, workers, alpha
                )
                entries.append(checkpoint.kept("mutant", entry, mutant.name))
    covered = list(NOT_COVERED)
    if subject.exact:
        covered.append("batches of other sizes than the fewest and the most reports found")
    elif subject.algorithm is not algorithm:
        covered.append(f"rounds after the first {subject.algorithm.horizon} of {algorithm.horizon}")
    return {
        "target": drafts.target(algorithm, auditor),
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
            **groups.asked(group, event.epsilon, event.delta, curve=curve),
            **({"interactive": game.as_dict()} if game else {}),
        },
        "checks": [c.as_dict() for c in checks],
        "pairs": [{"words": line} for line in words],
        "confidence": confidence,
        "power": power,
        "counterexamples": counterexamples,
        "mutants": entries,
        "not_covered": covered,
        "seed": seed,
    }
