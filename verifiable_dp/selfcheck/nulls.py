"""Null suites: whole audits of targets that keep their promise, and how many of them refute.

Each audit ranks the neighbours, chooses pair and event on selection runs and tests it on fresh ones, as every
audit does, at a family-wise level at which false alarms can be counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from joblib import delayed

from verifiable_dp.core import engine, validate
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.neighbours import Neighbours
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.blackbox.run_parts import Sampler
from verifiable_dp.evidence.blackbox.statistics import at_least, clopper_pearson_lower, clopper_pearson_upper
from verifiable_dp.evidence.blackbox.test import Plan, Terms

LEVEL = 1e-3
CONFIDENCE = 0.95
SIZES = Plan(probe=100, select=400, test=1000)
_SHARD = 50  # audits that one worker does together


@dataclass(frozen=True)
class Null:
    """A target that keeps its promise.

    Attributes
    ----------
    name
        Short and unique.
    sampler
        `sampler(seed)` runs it.
    pairs
        Neighbouring inputs.
    epsilon
        What is tested: its true epsilon, or more.
    boundary
        Whether its true epsilon on these inputs is the tested one exactly.
    """

    name: str
    sampler: Callable[[int], Sampler]
    pairs: Sequence[Neighbours]
    epsilon: float
    boundary: bool


@dataclass(frozen=True)
class Tally:
    """How many audits of one target refuted.

    Attributes
    ----------
    name, epsilon, boundary
        See `Null`.
    audits, alarms
        All audits, and those that refuted.
    """

    name: str
    epsilon: float
    boundary: bool
    audits: int
    alarms: int


def alarms(target: Null, numbers: Sequence[int], *, seed: int, plan: Plan, level: float) -> int:
    """How many of the audits with these numbers refute; each has a seed of its own."""
    found = 0
    for number in numbers:
        own = (seed << 32) + number
        sampler = target.sampler(own)
        chosen, _ = blackbox.select(sampler, target.pairs, plan, delta=0.0, workers=1)
        terms = Terms(PrivacyClaim(target.epsilon), own, alpha=level)
        checks = blackbox.put_to_test(sampler, chosen, plan, terms)
        found += any(check.verdict == "refuted" for check in checks)
    return found


def run(
    targets: Sequence[Null],
    audits: Sequence[int],
    *,
    seed: int = 0,
    plan: Plan = SIZES,
    level: float = LEVEL,
    workers: int = 1,
) -> list[Tally]:
    """Audit each target `audits[i]` times and count the refutations.

    Parameters
    ----------
    targets
        With distinct names.
    audits
        Number of audits of each.
    seed
        Whole number.
    plan
        Sizes of each audit.
    level
        Family-wise level of each audit.
    workers
        Processes; the counts stay the same.

    Raises
    ------
    InputError
        If names repeat, the numbers do not match, or the level is out of range.
    """
    validate.integer("seed", seed, least=0)
    validate.probability("level", level)
    if len({target.name for target in targets}) < len(targets) or len(audits) != len(targets):
        raise InputError(
            "targets must have distinct names, and audits must contain a number for each of them"
        )
    tasks, owner, first = [], [], 0
    for target, count in zip(targets, audits, strict=True):
        for start in range(0, count, _SHARD):
            numbers = range(first + start, first + min(start + _SHARD, count))
            tasks.append(delayed(alarms)(target, numbers, seed=seed, plan=plan, level=level))
            owner.append(target.name)
        first += count
    counts = dict.fromkeys(owner, 0)
    for name, found in zip(owner, engine.ordered(engine.called, tasks, workers=workers), strict=True):
        counts[name] += found
    return [
        Tally(target.name, target.epsilon, target.boundary, count, counts.get(target.name, 0))
        for target, count in zip(targets, audits, strict=True)
    ]


def rate(tallies: Sequence[Tally]) -> tuple[float, float, float]:
    """Share of false alarms, and its 95 % Clopper-Pearson interval."""
    audits, found = sum(t.audits for t in tallies), sum(t.alarms for t in tallies)
    tail = (1 - CONFIDENCE) / 2
    return (
        found / audits,
        clopper_pearson_lower(found, audits, tail),
        clopper_pearson_upper(found, audits, tail),
    )


def p_value(tallies: Sequence[Tally], level: float = LEVEL) -> float:
    """Probability of as many false alarms or more, if each audit alarms with probability `level`."""
    audits, found = sum(t.audits for t in tallies), sum(t.alarms for t in tallies)
    return at_least(found, audits, level)
