"""What is audited of an algorithm: the instances played, the claim, the neighbours, the sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from verifiable_dp.auditing import groups, record_parts
from verifiable_dp.auditing.plans import Budget, pinned_plan
from verifiable_dp.auditing.request import Promise
from verifiable_dp.core import claims
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.contextual import ContextualAlgorithm
from verifiable_dp.core.neighbours import AnyPair, StreamPair, TablePair
from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.evidence.blackbox.algorithm_runs import AlgorithmSampler
from verifiable_dp.evidence.blackbox.machine import UnsupportedError
from verifiable_dp.evidence.blackbox.test import POWER, Plan
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.exact import shuffle as exact_shuffle
from verifiable_dp.evidence.exact.worst import worst_pairs
from verifiable_dp.registry.auditor import Auditor, ExactChecks, Mutant, Prefix

WALK = 16  # runs that are walked (`evidence.blackbox.machine`) in the time of one that is played


def plan_for(algorithm: Algorithm, pair: AnyPair, observe: str, size: Budget) -> Plan:
    """Runs from the number of blocks that a run plays."""
    sampler = AlgorithmSampler(algorithm, "actions", 0)
    seen = sampler.sample(pair, 0, POWER, 0, np.arange(16, dtype=np.int64))
    blocks = max((int(name.split()[-1]) for name in seen.discrete if name[-1].isdigit()), default=0) + 1
    # Where hidden noise leaves the decision to the black box, it gets twice the runs.
    steps = 2 * size.steps if observe == "actions" else size.steps
    if replace(sampler, observe=observe).compared:
        runs = int(np.clip(WALK * steps // max(blocks, 2), 2000, WALK * size.most))
        return Plan(probe=max(1000, runs // 256), select=runs // 4, test=runs, finalists=2)
    runs = int(np.clip(steps // max(blocks, 2), 2000, size.most))
    return Plan(probe=max(1000, runs // 16), select=max(2000, runs // 2), test=runs, keep=1)


def _default_pairs(algorithm: Algorithm) -> list[AnyPair]:
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
    pairs: Sequence[AnyPair]
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
    def instances(self) -> tuple[JsonDict, JsonDict]:
        """What was played and the small instance; empty where it is the audited one.

        A mutant's are those of the algorithm that it was made from: mutants keep the parameters.
        """
        whole, epsilon = self.whole, self.claim.epsilon
        played = {} if self.algorithm is whole else record_parts.instance(self.algorithm, epsilon)
        small = {} if self.small is whole else record_parts.instance(self.small, self.small_epsilon)
        return played, small

    @cached_property
    def batches(self) -> list[Check]:
        """The exact bounds on batches of shuffled reports; none where releases or actions are seen."""
        return list(self.exact(self.whole, self.claim)) if self.exact else []

    @property
    def local(self) -> tuple[float, float]:
        """Epsilon of a shuffled report, as played and of the small instance; the claim's if it is exact."""
        assert self.exact is not None
        small = exact_shuffle.local_epsilon(self.exact(self.small, self.claim))
        local = exact_shuffle.local_epsilon(self.batches)
        return local if np.isfinite(local) else self.claim.epsilon, small

    def mutated(self, mutant: Mutant) -> Subject:
        """The same audit of a mutant."""
        broken = mutant.make(self.whole)
        if isinstance(self.algorithm, Prefix):
            broken = Prefix(broken, self.algorithm.rounds)
        return replace(self, algorithm=broken, small=mutant.make(self.small))


def _claim(algorithm: Algorithm, auditor: Auditor | None, promise: Promise) -> PrivacyClaim:
    """What is tested of an algorithm: its own promise, but for what is asked."""
    claim, epsilon = algorithm.claim, promise.epsilon
    if claim is None:
        reference = epsilon if epsilon is not None else (auditor.reference_epsilon if auditor else None)
        if reference is None:
            raise InputError(
                f"epsilon must be given: {algorithm.name} makes no privacy promise that the audit could test"
            )
        claim = PrivacyClaim(reference, observe="actions")
        if isinstance(algorithm, ContextualAlgorithm):
            claim = PrivacyClaim.of_users(reference, 0.0, model="joint", protects="context")
    if isinstance(algorithm, ContextualAlgorithm) and promise.model:
        claim = claim.under(promise.model)
    return replace(
        claim,
        epsilon=claim.epsilon if epsilon is None else epsilon,
        delta=claim.delta if promise.delta is None else promise.delta,
        observe=promise.observe or claim.observe,
    )


def subject_of(algorithm: Algorithm, auditor: Auditor | None, promise: Promise) -> Subject:
    """What is audited of an algorithm.

    Raises
    ------
    InputError
        If the promise is not known, or is about what the algorithm does not show.
    """
    claim = _claim(algorithm, auditor, promise)
    exact = auditor.exact if auditor else None
    if (claim.observe == "shuffled") != (exact is not None):
        raise InputError(
            "observe must be 'shuffled'; the claim of this algorithm is about shuffled reports"
            if exact
            else "observe must be 'actions' or 'releases'; this algorithm has no shuffled reports"
        )
    if claim.observe == "reports" and (algorithm.claim is None or algorithm.claim.observe != "reports"):
        raise InputError("observe must be 'actions' or 'releases'; this algorithm has no local reports")
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


def grouped(subject: Subject, size: int, given: Sequence[AnyPair] | None, seed: int) -> Subject:
    """The audit of what the claim about one event implies for a group of `size` of them."""
    if subject.exact:
        raise InputError(
            "`group` works only with claims about actions or releases, not about shuffled reports"
        )
    claim = claims.group(subject.claim, size, kind=groups.kind(given))
    ratio = claim.epsilon / subject.claim.epsilon
    pairs = groups.of_algorithm(subject.algorithm, subject.pairs, size, seed)
    return replace(subject, claim=claim, small_epsilon=ratio * subject.small_epsilon, pairs=pairs)


def searched(subject: Subject, plan: Plan) -> list[AnyPair]:
    """The neighbours that cost most by the exact law, where it is known: they join those of the auditor."""
    if subject.exact is not None or isinstance(subject.whole, ContextualAlgorithm):
        return []
    try:
        return list(worst_pairs(subject.algorithm, subject.claim, plan.test))
    except UnsupportedError:
        return []


def visible(claim: PrivacyClaim) -> bool:
    """Whether the adversary sees every release or report, so that the loss of a transcript refutes."""
    return claim.observe in ("releases", "reports") and claim.delta == 0


def plan_of(subject: Subject, size: Budget, pinned: Json | None) -> Plan:
    """Sizes of the black box; the least where there is none."""
    if pinned:
        return pinned_plan(pinned)
    if subject.exact:
        return Plan(1, 1, 1)
    return plan_for(subject.algorithm, subject.pairs[0], subject.claim.observe, size)


def aligned_pairs(subject: Subject) -> list[AnyPair]:
    """The strongest of the auditor's neighbours, and plain ones that it may not have thought of."""
    return [*subject.pairs[:4], *_default_pairs(subject.algorithm), *_far_pairs(subject)]


def _far_pairs(subject: Subject) -> list[AnyPair]:
    """Where any reward is allowed: changes that reach beyond the truncation.

    First and last reward of the first block, beyond the search bounds; and the two strongest pairs with
    their change nearly doubled, which shows a truncation at twice the limit.
    """
    algorithm = subject.algorithm
    if np.isfinite(algorithm.bounds).all():
        return []
    low, high = algorithm.search_bounds
    block = algorithm.query(algorithm.start(np.zeros(1, np.int64)))
    pairs: list[AnyPair] = [_stretched(pair) for pair in subject.pairs[:2]]
    for step in dict.fromkeys((0, int(block.rounds[0]) - 1)):
        arm = int(block.arm(np.array([step]))[0])
        for factor in (1.9, 5.0, 20.0):
            table = np.zeros((algorithm.horizon, algorithm.n_arms))
            table[step, arm] = factor * low
            pairs.append(TablePair(table, step, arm, factor * high, (factor * low, factor * high)))
    return pairs


def _stretched(pair: AnyPair) -> AnyPair:
    """The same pair with the two rewards that differ 1.9 times as far from 0."""
    if not isinstance(pair, TablePair | StreamPair):
        return pair
    left, value = pair.left.copy(), 1.9 * pair.value
    for when, arm, _ in pair.changes:
        left[when, arm] *= 1.9
    most = float(max(np.abs(left).max(), abs(value)))
    if isinstance(pair, StreamPair):
        return StreamPair(left[:, 0], pair.round, value, left.shape[1], (-most, most))
    return TablePair(left, pair.round, pair.arm, value, (-most, most))
