"""The rungs of an algorithm's audit: alignment, exact law, black box, adversaries, power, mutants."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from verifiable_dp.auditing import power as powers
from verifiable_dp.auditing import record_parts
from verifiable_dp.auditing.pipeline import Case, CaseState
from verifiable_dp.auditing.plans import SHORT, shorter
from verifiable_dp.auditing.request import AuditRequest
from verifiable_dp.auditing.subject import (
    WALK,
    Subject,
    aligned_pairs,
    grouped,
    plan_of,
    searched,
    subject_of,
    visible,
)
from verifiable_dp.core import engine
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.contextual import ContextualAlgorithm
from verifiable_dp.core.neighbours import AnyPair, StreamPair, pair_of
from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.evidence.alignment import checking, searching
from verifiable_dp.evidence.blackbox import adversary, curves, sequential
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.blackbox.algorithm_runs import AlgorithmSampler
from verifiable_dp.evidence.blackbox.machine import UnsupportedError
from verifiable_dp.evidence.blackbox.statistics import least_factor
from verifiable_dp.evidence.blackbox.test import Plan, Terms
from verifiable_dp.evidence.certify import certificate
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.doors import ours
from verifiable_dp.evidence.exact import law as laws
from verifiable_dp.evidence.exact import shuffle as exact_shuffle
from verifiable_dp.evidence.exclusions import Exclusion, Left
from verifiable_dp.evidence.upper import UpperBound
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.auditor import AlteredNoise, Auditor, ExactChecks, Mutant

_FEW = 8  # part of the runs with which a mutant is tried at first
_TESTS = 2  # black boxes of an audit with an interactive game; they share alpha


@dataclass(kw_only=True)
class AlgorithmCaseState(CaseState):
    """What rungs change in the audit of an algorithm.

    Attributes
    ----------
    game
        Sizes of the interactive game; None where none is played.
    worst
        The costliest transcript that alignment saw.
    chosen
        The pair and the event of the black box.
    best
        The candidates of the black box, best first.
    spoken
        The neighbours of interactive games, in words.
    part
        Of how many parts of its runs the black box makes one; see `certify`. Mutants get all of them.
    """

    game: adversary.AdversarySizes | None
    worst: Json = field(default_factory=dict)
    chosen: blackbox.Selected | None = None
    best: list[AnyPair] = field(default_factory=list)
    spoken: list[str] = field(default_factory=list)
    part: int = 1


@dataclass(kw_only=True)
class AlgorithmCase(AlgorithmCaseState, Case):
    """The audit of an algorithm of the framework's form.

    Attributes
    ----------
    auditor
        Of the algorithm; None for one that is not in the catalogue.
    subject
        What is played.
    event
        The claim about one event.
    searched
        The worst neighbours that were found by a search, or that an earlier record names.
    examples, repeats
        Of the search of alignment, and of the tests that confirm the power.
    """

    auditor: Final[Auditor | None]
    subject: Final[Subject]
    event: Final[PrivacyClaim]
    searched: Final[Sequence[AnyPair]]
    examples: Final[int]
    repeats: Final[int]

    visible = staticmethod(visible)

    @classmethod
    def of(cls, request: AuditRequest) -> AlgorithmCase:
        """What a request comes to.

        Raises
        ------
        InputError
            If what is asked means nothing for this algorithm.
        """
        algorithm, settings, pinned = request.target, request.settings, request.pinned
        if request.promise.model == "local":
            raise InputError("`model` works only with your own code; a catalogue algorithm has its own model")
        if settings.runs is not None:
            raise InputError(
                "`runs` works only with your own code; for a catalogue algorithm, `budget` sets the number "
                "of runs"
            )
        if request.promise.curved:
            raise InputError(
                f"`{request.promise.native}` works only with your own mechanism; a catalogue algorithm comes "
                "with its own promise"
            )
        if request.promise.adjacency is not None:
            raise InputError(
                "`adjacency` works only with your own code; a catalogue algorithm has its own adjacency"
            )
        live = algorithm.claim is not None and not isinstance(algorithm, ContextualAlgorithm)
        if settings.numerics and not live:
            raise InputError(
                "`numerics` works only with your own mechanism, or with an algorithm that promises epsilon "
                "and has live sessions"
            )
        if settings.numerics and algorithm.claim.delta > 0:
            raise InputError(
                f"numerics tests each draw against epsilon, but {algorithm.name} also has a delta, so a "
                "single report or draw may cost more than epsilon; audit it without numerics"
            )
        auditor, given = registry.find(algorithm), request.inputs.pairs
        subject = subject_of(algorithm, auditor, request.promise)
        if given is not None:
            subject = replace(subject, pairs=list(given))
        plan = plan_of(subject, settings.sizes, pinned)
        for name in ("sequential", "curve"):
            if subject.exact and getattr(settings, name):
                raise InputError(f"{name} must be False: exact bounds decide this claim without samples")
        plan = replace(plan, sequential=settings.sequential)
        worst: list[AnyPair] = []
        if given is None:
            known = (pinned or {}).get("searched")
            worst = (
                [pair_of(pair) for pair in known]
                if known is not None
                else engine.kept("worst pairs", lambda: searched(subject, plan))
            )
            subject = replace(subject, pairs=[*subject.pairs, *worst])
        event, group = subject.claim, request.promise.group
        if group is not None:
            subject = grouped(subject, group, given, settings.seed)
        # A game has one challenge: it says little about a group.
        apart = given is not None or group is not None
        return cls(
            request=request,
            claim=subject.claim,
            plan=plan,
            auditor=auditor,
            subject=subject,
            event=event,
            searched=worst,
            examples=int(pinned["examples"]) if pinned else settings.sizes.examples,
            repeats=int(pinned["repeats"]) if pinned else settings.sizes.repeats,
            game=None if apart else _game_sizes(subject, request),
        )

    @property
    def tests(self) -> int:
        """Tests that share alpha."""
        played = self.game is not None and not self.subject.exact
        return (_TESTS if played else 1) + self.request.settings.curve

    @property
    def terms(self) -> Terms:
        """Of each of these tests."""
        settings = self.request.settings
        levels = settings.alpha, settings.confidence
        return Terms(self.claim, settings.seed, settings.workers, *levels, self.tests)

    @property
    def sampler(self) -> AlgorithmSampler:
        """What the black box samples."""
        return AlgorithmSampler(self.subject.algorithm, self.claim.observe, self.request.settings.seed)

    def aligned(self, subject: Subject, *, timed: bool = False, enough: bool = False) -> tuple[Check, Json]:
        """The alignment check of a subject, and the costliest transcript."""
        seed, instances = self.request.settings.seed, self.subject.instances
        check, found = _align(subject, self.examples, seed, instances, timed=timed, enough=enough)
        return check, found.worst

    def certificate(self) -> UpperBound | None:
        """The certificate of the whole instance, whatever part of it is played."""
        return certificate(self.subject.whole, self.claim, self.checks[0].name)

    def interactive(self, sizes: adversary.AdversarySizes) -> adversary.PlayedGame:
        """The interactive game."""
        subject, settings = self.subject, self.request.settings
        if subject.exact:
            local, small_local = subject.local
            check, _, _ = adversary.align(
                subject.small,
                adversary.pairs(subject.small, sizes.challenges),
                epsilon=local,
                small_epsilon=small_local,
                visible=False,
                seed=settings.seed,
                name="interactive alignment of one report",
            )
            return adversary.PlayedGame([check], [], [])
        small, game = (subject.small, subject.small_epsilon), (subject.game, subject.claim.epsilon)
        return adversary.play(
            checking.Instance(*small, record_parts.instance(*small)),
            checking.Instance(*game, record_parts.instance(*game)),
            sizes,
            self.terms,
            visible=visible(subject.claim),
        )

    def reduced(self, factor: float) -> float:
        """What the costliest transcript costs where the noise is divided by a factor."""
        return factor * float(self.checks[0].statistics["max_cost"])

    def found(self, checks: Sequence[Check]) -> None:
        """Add checks, and the counterexamples of those that refute."""
        self.checks += checks
        self.counterexamples += record_parts.counterexamples(
            checks, self.worst, self.chosen, self.subject.pairs, played=self.subject.instances[0]
        )

    def target(self) -> JsonDict:
        """See `Case.target`."""
        return {**record_parts.target(self.request.target, self.auditor), "name": self.request.name}

    def noted(self) -> JsonDict:
        """See `Case.noted`."""
        return {
            "examples": self.examples,
            "repeats": self.repeats,
            "mutants": self.request.settings.mutants,
            **({"part": self.part} if self.part > 1 else {}),
            **self.request.noted(self.event.epsilon, self.event.delta),
            **({"searched": [pair.as_dict() for pair in self.searched]} if self.searched else {}),
            **({"interactive": self.game.as_dict()} if self.game else {}),
            **({"numerics": True} if self.request.settings.numerics else {}),
        }

    def not_covered(self) -> list[Exclusion]:
        """See `Case.not_covered`."""
        played, whole = self.subject.algorithm, self.request.target
        numerics = self.request.settings.numerics
        covered = [one for one in super().not_covered() if not (numerics and one.id is Left.SAMPLER)]
        if self.subject.exact:
            covered.append(Exclusion(Left.BATCH_SIZES))
        elif played is not whole:
            rounds = {"played": played.horizon, "horizon": whole.horizon}
            covered.append(Exclusion(Left.LATER_ROUNDS, rounds))
        if not ours(whole):
            covered.append(Exclusion(Left.OWN_CLASSES))
        return covered

    def words(self) -> list[str]:
        """See `Case.words`."""
        return [*(pair.describe() for pair in self.subject.pairs), *self.spoken]


def _game_sizes(subject: Subject, request: AuditRequest) -> adversary.AdversarySizes | None:
    """Sizes of the interactive game; None where there is none to play: one arm, no promise."""
    if subject.whole.n_arms < 2 or subject.whole.claim is None:
        return None
    if request.pinned:  # records from before there was one have none
        pinned = request.pinned.get("interactive")
        return adversary.AdversarySizes.read(pinned) if pinned else None
    played, size = subject.small if subject.exact else subject.game, request.settings.sizes
    return adversary.AdversarySizes.of(played.horizon, size.steps, size.most)


# ---------------------------------------------------------------- alignment, and the exact law


def exact_bounds(case: AlgorithmCase) -> None:
    """Alignment of one report against the eps0 that the bounds take for granted, then the bounds.

    Alignment settles nothing about shuffled reports: it only checks what the upper bounds rest on.
    """
    subject, exact = case.subject, _exact(case.subject)
    batches, (local, small_local) = subject.batches, subject.local
    align, _ = checking.check(
        checking.Instance(subject.algorithm, local),
        checking.Instance(subject.small, small_local),
        subject.pairs[:4],
        checking.Search(case.request.settings.seed, case.examples),
        visible=False,
        name="alignment of one report",
    )
    found = [_shuffled_counterexample(subject, batches, c) for c in batches if c.verdict == "refuted"]
    case.checks, case.counterexamples = [align, *batches], found
    case.power = None if found else _exact_power(subject, exact)


def _exact(subject: Subject) -> ExactChecks:
    assert subject.exact is not None
    return subject.exact


def align(case: AlgorithmCase) -> None:
    """Losses of replayed transcripts, on given and on searched neighbours."""
    check, case.worst = case.aligned(case.subject, timed=True)
    case.found([check])


def certify(case: AlgorithmCase) -> None:
    """What is proved of the whole instance.

    Where alignment sees each loss exactly and a certificate covers the rest, frequencies give a second
    opinion.
    """
    case.bounded(case.certificate())
    pinned = case.request.pinned
    if pinned:
        case.part = int(pinned.get("part", 1))  # of sizes that are the look's own
    elif case.settled and not case.refuted and case.visible(case.claim):
        case.part, case.plan = SHORT, shorter(case.plan, SHORT)
        case.game = case.game and case.game.shorter(SHORT)


def exact_law(case: AlgorithmCase) -> None:
    """The exact law of the actions, where it is known."""
    subject = case.subject
    law = laws.check(subject.algorithm, subject.pairs, subject.claim)
    case.found([law] if law else [])


def _align(
    subject: Subject,
    examples: int,
    seed: int,
    instances: tuple[Json, Json],
    *,
    timed: bool = False,
    enough: bool = False,
) -> tuple[Check, searching.Found]:
    return checking.check(
        checking.Instance(subject.algorithm, subject.claim.epsilon, instances[0]),
        checking.Instance(subject.small, subject.small_epsilon, instances[1]),
        aligned_pairs(subject),
        checking.Search(seed, examples, subject.claim.relation.size, enough),
        visible=visible(subject.claim),
        timed=timed,
    )


def _shuffled_counterexample(subject: Subject, batches: Sequence[Check], found: Check) -> JsonDict:
    """The first client of the batch has the highest reward against the lowest, all others the lowest."""
    largest = {int(c.statistics["batch"]): int(c.statistics["clients"]) for c in batches}
    start = sum(n for number, n in largest.items() if number < int(found.statistics["batch"]))
    (low, high), rows = subject.whole.bounds, subject.whole.horizon
    stream = np.full(rows, low)
    pair = StreamPair(stream, min(start, rows - 1), high, subject.whole.n_arms, (low, high))
    return exact_shuffle.counterexample(found, pair.as_dict())


# ---------------------------------------------------------------- black box


def black_box(case: AlgorithmCase) -> None:
    """Frequencies of the strongest event, on the strongest of the neighbours."""
    settings, sampler = case.request.settings, case.sampler
    checks, chosen, ranked = sequential.conduct(
        sampler,
        functools.partial(_select, sampler, case.subject, workers=settings.workers),
        case.plan,
        case.terms,
        best=_best_bound(sampler, case.plan, settings.confidence),
    )
    case.chosen, case.best = chosen[0], [case.subject.pairs[i] for i in ranked]
    case.found(checks)


def curve(case: AlgorithmCase) -> None:
    """The hockey-stick curve on the pair of the black box."""
    assert case.chosen is not None
    case.found([curves.check(case.sampler, case.chosen, case.plan, case.terms)])


def _law(sampler: AlgorithmSampler, pair: AnyPair) -> laws.ActionLaw | None:
    """The law of what a test of actions sees; None where it is not known."""
    if not sampler.compared:
        return None
    try:
        return laws.law(sampler.algorithm, pair)
    except UnsupportedError:
        return None


def _best_bound(
    sampler: AlgorithmSampler, plan: Plan, confidence: float
) -> Callable[[AnyPair], float | None] | None:
    """What the best event gives on a pair at this size: the yardstick of the black box."""

    def bound(pair: AnyPair) -> float | None:
        law = _law(sampler, pair)
        return law.best_event(plan.test, 1 - confidence).bound if law else None

    return bound if sampler.compared else None


def _promising(
    sampler: AlgorithmSampler, pairs: Sequence[AnyPair], plan: Plan, delta: float
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


def adversaries(case: AlgorithmCase) -> None:
    """Adversaries that choose rewards from the actions so far; of shuffled reports alignment of one alone."""
    assert case.game is not None
    played = case.interactive(case.game)
    case.checks += played.checks
    case.counterexamples += played.counterexamples
    case.spoken = list(played.words)


# ---------------------------------------------------------------- power, and the auditor's mutants


_SETTLED = 4  # the power of what a certificate decides is a second opinion


def power(case: AlgorithmCase) -> None:
    """The least noise reduction that would have been refuted."""
    settings, claim, statistics = case.request.settings, case.claim, case.checks[0].statistics

    def less_noise(factor: float) -> AlgorithmSampler:
        return replace(case.sampler, algorithm=AlteredNoise(case.subject.algorithm, 1 / factor))

    plan = case.plan
    # The power at a share of the runs is a careful statement for all of them.
    share = WALK if case.sampler.compared else _SETTLED if case.settled and case.part == 1 else 1
    if share > 1:
        plan = replace(plan, select=plan.select // share, test=plan.test // share)
    measured = powers.of_black_box(
        less_noise,
        case.best,
        plan,
        Terms(claim, settings.seed, settings.workers, settings.alpha / case.tests),
        true_epsilon=case.reduced,
        # Where alignment is exact the black box's power is a second opinion.
        repeats=1 if statistics["visible"] else case.repeats,
    )
    law = None if claim.observe == "releases" else _law_power(case.subject)
    case.power = powers.stated(measured, case.checks[0], claim, law)


def _exact_power(subject: Subject, exact: ExactChecks) -> JsonDict | None:
    """The least factor by which the noise may be divided and the lower bounds refute it."""

    def broken(factor: float) -> list[Check]:
        return list(exact(AlteredNoise(subject.whole, 1 / factor), subject.claim))

    one = least_factor(lambda factor: any(c.verdict == "refuted" for c in broken(factor)), 1e-3)
    each = least_factor(lambda factor: all(c.verdict == "refuted" for c in broken(factor)), 0.05)
    if one is None:
        return None
    return {
        "smallest_epsilon": exact_shuffle.epsilon_upper(broken(one)),
        "probability": 1.0,
        "by": "shuffle",
        "noise_divided_by": one,
        "every_batch_at": each,
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

    least = least_factor(caught, 1e-3)
    found = law(least) if least else None
    return (least, float(found.result["epsilon_lower"])) if least and found else None


def mutants(case: AlgorithmCase) -> None:
    """The auditor's own mutants, each until a rung refutes it."""
    assert case.auditor is not None
    for mutant in case.auditor.mutants:
        if mutant.breaks == "privacy":
            case.request.progress(f"mutant: {mutant.name}")
            entry = functools.partial(_mutant_entry, case, mutant)
            case.mutants.append(engine.kept("mutant", entry, mutant.name))


def _mutant_entry(case: AlgorithmCase, mutant: Mutant) -> JsonDict:
    """Audit a mutant, cheapest rung first, until one refutes it."""
    broken = case.subject.mutated(mutant)
    checks: list[Check] = []
    worst: Json = {}
    if broken.exact:
        checks = broken.batches
    elif case.visible(broken.claim):  # elsewhere a cost above epsilon settles nothing
        check, worst = case.aligned(broken, enough=True)
        checks = [check]
    if not broken.exact and all(c.verdict != "refuted" for c in checks):
        law = laws.check(broken.algorithm, broken.pairs, broken.claim)
        checks += [law] if law else []
    if not broken.exact and all(c.verdict != "refuted" for c in checks):
        checks += _mutant_looks(case, broken)
    killer = next((c for c in checks if c.verdict == "refuted"), None)
    by = killer.kind if killer else ""
    return record_parts.mutant(mutant, checks, by, worst if by == "alignment" else {})


def _mutant_looks(case: AlgorithmCase, broken: Subject) -> list[Check]:
    """The black box at a mutant: most fall to few runs. The two looks share the level."""
    settings, claim, plan, checks = case.request.settings, broken.claim, case.plan, list[Check]()
    whole = {name: getattr(plan, name) * case.part for name in ("probe", "select", "test")}
    for look, share in enumerate((_FEW, 1)):
        seed = settings.seed + look
        own = AlgorithmSampler(broken.algorithm, claim.observe, seed)
        parts = {name: max(1, size // share) for name, size in whole.items()}
        tests, _, _ = sequential.conduct(
            own,
            functools.partial(_select, own, broken, workers=settings.workers),
            replace(plan, **parts),
            Terms(claim, seed, settings.workers, settings.alpha / 2),
        )
        checks += tests
        if any(check.verdict == "refuted" for check in tests):
            break
    return checks
