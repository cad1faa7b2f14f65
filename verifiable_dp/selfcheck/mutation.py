"""The mutation suite: every private algorithm of the catalogue, broken in many ways, and what kills it.

Mutants are those that the auditors own and those that the named operators (`selfcheck.operators`) make. Each
is audited with a small budget, cheapest rung first: alignment on the auditor's neighbours, a search for
other ones, exact laws, and black-box tests that grow until one refutes.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from verifiable_dp.auditing.plans import BUDGETS, Budget, Progress, silent, sizes_of
from verifiable_dp.auditing.request import Promise
from verifiable_dp.auditing.subject import Subject, aligned_pairs, plan_for, subject_of, visible
from verifiable_dp.core import engine, validate
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.contextual import ContextualAlgorithm
from verifiable_dp.core.neighbours import AnyPair
from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.evidence import normal
from verifiable_dp.evidence.alignment import checking
from verifiable_dp.evidence.alignment.replay import TOLERANCE, exceeds
from verifiable_dp.evidence.alignment.searching import plain
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.blackbox.algorithm_runs import AlgorithmSampler
from verifiable_dp.evidence.blackbox.test import Terms
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.exact import halting
from verifiable_dp.evidence.exact import law as laws
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.auditor import Mutant
from verifiable_dp.selfcheck import operators

CLEAR = 1.25  # a mutant whose true epsilon is this many times the claim has to be refuted
OUTCOMES = ("killed", "survived", "within_the_claim", "undecided")
OWN = "auditor"
_LOOKS = 3  # black-box tests of a mutant at most, each eight times as large as the one before
_GROWTH = 3  # bits
_SHARE = {"quick": 1, "standard": 3, "thorough": 3}  # bits: an audit's own budget over that of its mutants


@dataclass(frozen=True)
class MutationCase:
    """One mutant of one algorithm.

    Attributes
    ----------
    algorithm
        Name in the catalogue.
    mutant
        What is audited.
    origin
        ``auditor`` for its own mutants, else the family of the operator.
    """

    algorithm: str
    mutant: Mutant
    origin: str

    @property
    def name(self) -> str:
        """Unique within the suite."""
        return f"{self.algorithm}: {self.mutant.name}" + (" (own)" if self.origin == OWN else "")


def suite(only: Sequence[str] = ()) -> list[MutationCase]:
    """All mutants of the private algorithms of the catalogue, or of those in `only`.

    An operator's mutant that equals one of the auditor's own is left out. Operators work on rewards and on
    Laplace noise: an algorithm that is told contexts, or promises rho or mu, has its auditor's mutants.

    Raises
    ------
    InputError
        If a name is unknown, or is that of an algorithm without a privacy promise.
    """
    found: list[MutationCase] = []
    for name in only or registry.every():
        auditor = registry.auditor(name)
        algorithm = auditor.algorithm(**auditor.instance)
        if algorithm.claim is None:
            if only:
                raise InputError(f"only: {name} makes no privacy promise that a broken variant could violate")
            continue
        own = [mutant for mutant in auditor.mutants if mutant.breaks == "privacy"]
        broken = [mutant.make(algorithm) for mutant in own]
        found += [MutationCase(name, mutant, OWN) for mutant in own]
        if _normal(algorithm):
            continue
        for each in operators.operators():
            if each.applies(algorithm) and each.make(algorithm) not in broken:
                found.append(MutationCase(name, each.mutant(), each.family))
    return found


def _normal(algorithm: Algorithm) -> bool:
    """Whether alignment speaks of mu: users with contexts, and promises of rho or mu."""
    claim = algorithm.claim
    return isinstance(algorithm, ContextualAlgorithm) or (claim is not None and claim.curved)


# ---------------------------------------------------------------- one mutant


@functools.lru_cache(maxsize=64)
def _correct(name: str) -> tuple[Subject, float]:
    """Audit of the correct algorithm, and its exact loss: the closed form, where a transcript attains it.

    0 if none is known: the largest loss of some transcripts is no supremum.
    """
    auditor = registry.auditor(name)
    subject = subject_of(auditor.algorithm(**auditor.instance), auditor, Promise())
    if _normal(subject.algorithm) or not visible(subject.claim):
        return subject, 0.0
    check = _aligned(subject, aligned_pairs(subject), 0, 0)
    loss, closed = float(check.statistics["max_loss"]), auditor.worst_cost
    attained = closed is not None and not exceeds(closed(subject.whole), loss)
    return subject, loss if attained else 0.0


def _name(pairs: int, examples: int) -> str:
    parts = [f"{pairs} pair" + "s" * (pairs != 1)] if pairs else []
    return f"alignment, {' and '.join([*parts, *(['search'] if examples else [])])}"


def _aligned(subject: Subject, pairs: Sequence[AnyPair], examples: int, seed: int) -> Check:
    check, _ = checking.check(
        checking.Instance(subject.algorithm, subject.claim.epsilon),
        checking.Instance(subject.small, subject.small_epsilon),
        pairs,
        checking.Search(seed, examples),
        visible=visible(subject.claim),
        name=_name(len(pairs), examples),
    )
    return check


Rung = Callable[[Subject, Budget, int, Sequence[Check]], list[Check]]


def _strongest(subject: Subject, size: Budget, seed: int, before: Sequence[Check]) -> list[Check]:
    """Alignment on the auditor's first neighbours."""
    if subject.exact or not visible(subject.claim):
        return []
    return [_aligned(subject, aligned_pairs(subject)[:1], 0, seed)]


def _others(subject: Subject, size: Budget, seed: int, before: Sequence[Check]) -> list[Check]:
    """Alignment on the other ones."""
    if subject.exact or not visible(subject.claim):
        return []
    return [_aligned(subject, aligned_pairs(subject)[1:], 0, seed)]


def _searched(subject: Subject, size: Budget, seed: int, before: Sequence[Check]) -> list[Check]:
    """Alignment on neighbours that are searched, for the small instance."""
    if subject.exact or not visible(subject.claim):
        return []
    return [_aligned(subject, [], size.examples, seed)]


def _exact(subject: Subject, size: Budget, seed: int, before: Sequence[Check]) -> list[Check]:
    if subject.exact:
        return list(subject.exact(subject.whole, subject.claim))
    if subject.claim.observe == "actions":
        pairs = aligned_pairs(subject)
        halts = halting.check(subject.algorithm, pairs[:1], subject.claim)
        if halts and halts.verdict != "refuted":
            halts = halting.check(subject.algorithm, pairs, subject.claim)
        if halts:
            return [halts]
    law = laws.check(subject.algorithm, subject.pairs, subject.claim)
    return [law] if law else []


def _black_box(subject: Subject, size: Budget, seed: int, before: Sequence[Check]) -> list[Check]:
    """Tests of growing size, until one refutes; the level is shared among them.

    None where the law of what is seen is known on all neighbours: a test cannot show more.
    """
    exact = [check for check in before if check.kind == "exact"]
    known = any(len(check.statistics["pairs"]) == len(aligned_pairs(subject)) for check in exact)
    if subject.exact or (known and subject.claim.observe == "actions"):
        return []
    claim, checks = subject.claim, []
    base = AlgorithmSampler(subject.algorithm, claim.observe, seed)
    sizes = [replace(size, steps=size.steps >> _GROWTH * back) for back in range(_LOOKS - 1, -1, -1)]
    plans = [plan_for(subject.algorithm, subject.pairs[0], claim.observe, smaller) for smaller in sizes]
    plans = list(dict.fromkeys(plans))
    for look, plan in enumerate(plans):
        own = seed + 0x5EED * look
        sampler = replace(base, seed=own)
        chosen, _ = blackbox.select(sampler, subject.pairs, plan, delta=claim.delta, workers=1)
        checks += blackbox.put_to_test(
            sampler,
            chosen,
            plan,
            Terms(claim, own, tests=len(plans)),
            name=f"black box, look {look + 1}",
        )
        if checks[-1].verdict == "refuted":
            break
    return checks


def _bounded(subject: Subject, size: Budget, seed: int, before: Sequence[Check]) -> list[Check]:
    """Alignment where not all noise is visible: it refutes nothing, but its cost bounds the effect."""
    if subject.exact or visible(subject.claim):
        return []
    return [_aligned(subject, subject.pairs[:1], size.examples // 2, seed)]


def _of_normal(subject: Subject, size: Budget, seed: int, before: Sequence[Check]) -> list[Check]:
    """Alignment of releases with normal noise, and of what users with contexts give."""
    check, _ = normal.check(
        subject.algorithm, subject.claim, subject.pairs, seed, name=_name(len(subject.pairs), 0), enough=True
    )
    return [check]


_RUNGS_OF_USERS: tuple[Rung, ...] = (_of_normal,)
_RUNGS_OF_NORMAL: tuple[Rung, ...] = (_of_normal, _black_box)
_RUNGS: tuple[Rung, ...] = (_strongest, _others, _searched, _exact, _black_box, _bounded)


def examine(case: MutationCase, *, budget: str = "quick", seed: int = 0) -> JsonDict:
    """Audit one mutant; its row in the kill table, as plain values.

    Parameters
    ----------
    case
        The mutant.
    budget
        Of the audit; a mutant gets an eighth of it.
    seed
        Whole number.
    """
    subject, loss = _correct(case.algorithm)
    size = sizes_of(budget)
    size = replace(size, steps=size.steps >> _SHARE[budget], examples=size.examples // 2)
    broken = subject.mutated(case.mutant)
    checks: list[Check] = []
    told = isinstance(subject.algorithm, ContextualAlgorithm)
    rungs = _RUNGS_OF_USERS if told else _RUNGS_OF_NORMAL if _normal(subject.algorithm) else _RUNGS
    for rung in rungs:
        checks += rung(broken, size, seed, checks)
        if any(check.verdict == "refuted" for check in checks):
            break
    known = None
    if case.origin != OWN:
        known = operators.operator(case.mutant.name).effect(subject.algorithm, loss) or None
    row = {
        "name": case.name,
        "algorithm": case.algorithm,
        "mutant": case.mutant.name,
        "origin": case.origin,
        "fault": case.mutant.fault,
        "epsilon": subject.claim.epsilon,
        "delta": subject.claim.delta,
        "observe": subject.claim.observe,
        "closed_form": None if known is None else plain(known),
        "checks": [check.as_dict() for check in checks],
    }
    return {**row, **concluded(row)}


def concluded(row: Json) -> JsonDict:
    """What follows from a row's numbers: verdict, rung, samples, true epsilon and outcome.

    The true epsilon is the closed form where there is one, else the largest one that a rung proves: the exact
    loss of a transcript, an exact law, or the lower limit of the black box. The largest cost of the inputs
    that were examined bounds no others from above: without a closed form, what nothing refutes is undecided.
    """
    checks = row["checks"]
    killer = next((check for check in checks if check["result"]["verdict"] == "refuted"), None)
    lower, kind = max(((_lower(check), check["kind"]) for check in checks), default=(0.0, ""))
    effect, by = None, "unknown"
    if row["closed_form"] is not None:
        effect, by = float(row["closed_form"]), "closed form"
    elif killer:
        effect, by = lower, f"at least, by {_WORDS[kind]}"
    if killer:
        outcome = "killed"
    elif effect is None:
        outcome = "undecided"
    else:
        outcome = "survived" if exceeds(effect, row["epsilon"]) else "within_the_claim"
    return {
        "verdict": "refuted" if killer else "not_refuted",
        "killed_by": killer["kind"] if killer else "",
        "transcripts": sum(c["statistics"]["examined"] for c in checks if c["kind"] == "alignment"),
        "runs": sum(
            c["statistics"]["n0"] + c["statistics"]["n1"] for c in checks if c["kind"] == "black_box"
        ),
        "true_epsilon": None if effect is None else plain(effect),
        "true_epsilon_by": by,
        "at_least": plain(lower),
        "at_most": plain(math.inf if row["closed_form"] is None else float(row["closed_form"])),
        "outcome": outcome,
    }


def _lower(check: Json) -> float:
    return float(check["result"].get("epsilon_lower", 0.0))


_WORDS = {
    "alignment": "a transcript",
    "exact": "the exact distribution",
    "shuffle": "the exact bounds",
    "black_box": "the black box",
    "": "",
}


# ---------------------------------------------------------------- the suite


def run(
    only: Sequence[str] = (),
    *,
    budget: str = "quick",
    seed: int = 0,
    workers: int = 1,
    progress: Progress = silent,
) -> tuple[list[JsonDict], dict[str, float]]:
    """Audit all mutants, or those of the algorithms in `only`.

    Parameters
    ----------
    only
        Names of algorithms; all private ones if empty.
    budget
        ``quick``, ``standard`` or ``thorough``.
    seed
        Whole number.
    workers
        Mutants that are audited at the same time.
    progress
        Called with a line of text now and then.

    Returns
    -------
    tuple
        Rows of the kill table, and CPU seconds by name.

    Raises
    ------
    InputError
        If an argument is out of range or a name unknown.
    """
    validate.choice("budget", budget, BUDGETS)
    validate.integer("seed", seed, least=0)
    cases = suite(only)
    tasks = [(case.algorithm, case.name, budget, seed) for case in cases]
    clock = engine.Countdown(len(cases))

    def ended(number: int, done: int, result: tuple[JsonDict, float]) -> None:
        progress(f"mutants: {done} of {len(cases)}, at {cases[number].algorithm}{clock.after(done)}")

    done = engine.ordered(_timed, tasks, workers=workers, step="mutant", ended=ended)
    return [row for row, _ in done], {
        case.name: round(s, 3) for case, (_, s) in zip(cases, done, strict=True)
    }


@functools.lru_cache(maxsize=64)
def _cases(algorithm: str) -> dict[str, MutationCase]:
    return {case.name: case for case in suite([algorithm])}


def _timed(task: tuple[str, str, str, int]) -> tuple[JsonDict, float]:
    """A row, and the CPU seconds that it took; by name, so that it can be sent to a worker."""
    algorithm, name, budget, seed = task
    case = _cases(algorithm)[name]
    _correct(algorithm)
    start = time.process_time()
    return examine(case, budget=budget, seed=seed), time.process_time() - start


def summary(rows: Sequence[Json]) -> JsonDict:
    """The suite in numbers.

    Returns
    -------
    dict
        ``mutants``, their number by ``outcome`` and, of the killed, by ``rung``; ``clear``, those with a true
        epsilon of at least 1.25 times the claim, and ``clear_killed`` of them; ``clear_missed``, their names.
    """
    clear = [row for row in rows if _is_clear(row)]
    missed = [row["name"] for row in clear if row["outcome"] != "killed"]
    killed = [row["killed_by"] for row in rows if row["killed_by"]]
    return {
        "mutants": len(rows),
        "outcome": {name: sum(row["outcome"] == name for row in rows) for name in OUTCOMES},
        "rung": {kind: killed.count(kind) for kind in dict.fromkeys(killed)},
        "clear": len(clear),
        "clear_killed": len(clear) - len(missed),
        "clear_missed": missed,
    }


def lost(before: Sequence[Json], after: Sequence[Json]) -> list[str]:
    """Names of mutants that were killed before and are not now; of the algorithms in `after`."""
    now = {row["name"] for row in after if row["outcome"] == "killed"}
    again = {row["algorithm"] for row in after}
    return [
        row["name"]
        for row in before
        if row["outcome"] == "killed" and row["algorithm"] in again and row["name"] not in now
    ]


def _is_clear(row: Json) -> bool:
    effect = row["true_epsilon"]
    return effect is not None and float(effect) >= CLEAR * row["epsilon"] * (1 - TOLERANCE)
