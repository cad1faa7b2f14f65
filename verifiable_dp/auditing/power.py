"""The power of an audit: the least true epsilon that it would have caught, measured on mutants."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from verifiable_dp.auditing.plans import cost_of
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.neighbours import Neighbours
from verifiable_dp.core.validate import JsonDict, JsonValue
from verifiable_dp.evidence.alignment import replay as alignment
from verifiable_dp.evidence.alignment.searching import plain
from verifiable_dp.evidence.blackbox import sequential
from verifiable_dp.evidence.blackbox import statistics as exact
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.blackbox.algorithm_runs import AlgorithmSampler
from verifiable_dp.evidence.blackbox.test import POWER, Plan, Terms
from verifiable_dp.evidence.check import Check
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.releases import ReleaseSampler

Seeded = TypeVar("Seeded", bound=AlgorithmSampler | PlaySampler | ReleaseSampler)
POWER_PROBABILITY = 0.95
FACTORS = (1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 6.0)


def of_black_box(
    make: Callable[[float], Seeded],
    pairs: Sequence[Neighbours],
    plan: Plan,
    terms: Terms,
    *,
    true_epsilon: Callable[[float], float],
    repeats: int,
    runs: int | None = None,
) -> JsonDict | None:
    """The least noise reduction that the black box catches with probability .95, and what epsilon it has.

    For noise divided by c, pair and event are chosen anew on selection runs; the binomial law of its hits
    gives the power. It is checked by `repeats` fresh tests of that mutant with other seeds. The least
    factor is found by bisection, as far as the `runs` go that may be made; None: as far as it takes.
    """
    cheaper, claim, seed = _cheaper(plan), terms.claim, terms.seed
    picked: dict[float, blackbox.Selected] = {}
    tried: dict[float, list[JsonValue]] = {}

    def caught(factor: float) -> bool:
        if factor not in tried:
            [picked[factor]], _ = blackbox.select(
                replace(make(factor), seed=seed + POWER),
                pairs,
                cheaper,
                delta=claim.delta,
                workers=terms.workers,
            )
            p, q = picked[factor].event.careful_shares()
            power = rejection(p, q, plan, claim, terms.alpha)
            tried[factor] = [factor, plain(true_epsilon(factor)), power]
        return float(tried[factor][2]) >= POWER_PROBABILITY

    affordable = len(FACTORS)
    if runs is not None:
        affordable = (runs - 2 * plan.test) // max(1, cost_of(replace(cheaper, test=0), len(pairs)))
    if affordable < 1:
        return None
    least = _least_index(lambda i: caught(FACTORS[i]), len(FACTORS) - 1, affordable - 1)
    for factor in FACTORS[least:]:
        if caught(factor):
            refuted = _repeat(make(factor), picked[factor], plan, terms, repeats)
            if refuted < repeats:
                continue
            return {
                "smallest_epsilon": plain(true_epsilon(factor)),
                "probability": POWER_PROBABILITY,
                "noise_divided_by": factor,
                "repeats": repeats,
                "repeats_refuted": refuted,
                "tried": [tried[factor] for factor in sorted(tried)],
            }
    return None


def _least_index(caught: Callable[[int], bool], high: int, steps: int) -> int:
    """The least index that is caught, by bisection in so many steps at most; `high` if no other."""
    low = -1
    while high - low > 1 and steps > 0:
        middle, steps = (low + high + 1) // 2, steps - 1
        low, high = (low, middle) if caught(middle) else (middle, high)
    return high


def _cheaper(plan: Plan) -> Plan:
    """Sizes by which pair and event of a variant are chosen."""
    return replace(plan, probe=max(24, plan.probe // 4), select=max(100, plan.select // 4), finalists=1)


def detectable(share: float, plan: Plan, claim: PrivacyClaim, alpha: float) -> float:
    """The least epsilon at the claim's delta that is refuted with probability .95 at an event.

    Parameters
    ----------
    share
        Probability of the event on the input where it is rarer.
    plan, claim, alpha
        Of the test.
    """

    def caught(factor: float) -> bool:
        oftener = min(1.0, math.exp(factor * claim.epsilon) * share + claim.delta)
        return rejection(oftener, share, plan, claim, alpha) >= POWER_PROBABILITY

    least = exact.least_factor(caught, 1e-3)
    return math.inf if least is None else least * claim.epsilon


def rejection(p: float, q: float, plan: Plan, claim: PrivacyClaim, alpha: float) -> float:
    """Probability that a test of this size refutes the claim, its event being hit with p and q."""
    if plan.sequential:
        return sequential.rejection_power(p, q, plan, claim.epsilon, claim.delta, alpha)
    if claim.delta > 0:
        return exact.approximate_power(p, q, plan.test, claim.epsilon, claim.delta, alpha)
    return exact.rejection_power(p, q, plan.test, claim.epsilon, alpha)


def _repeat(
    sampler: Seeded,
    picked: blackbox.Selected,
    plan: Plan,
    terms: Terms,
    repeats: int,
) -> int:
    """How many of `repeats` tests on fresh runs refute a mutant."""
    refuted = 0
    for i in range(repeats):
        tests, _, _ = sequential.conduct(
            replace(sampler, seed=terms.seed + 1 + i),
            lambda _: ([picked], [picked.number]),
            plan,
            replace(terms, seed=terms.seed + 1 + i),
        )
        refuted += any(c.verdict == "refuted" for c in tests)
    return refuted


def stated(
    black_box: JsonDict | None,
    align: Check,
    claim: PrivacyClaim,
    law: tuple[float, float] | None = None,
) -> JsonDict | None:
    """Power of the audit: alignment catches any excess that it sees exactly; else the black box counts.

    `law` is the least factor by which the noise may be divided and the exact law refutes it, and what
    epsilon it then has.
    """
    if align.statistics["visible"] and align.verdict == "not_refuted":
        # Noise reduced by a factor above epsilon / cost is refuted exactly, on the transcripts examined.
        least, by = claim.epsilon * (1 + alignment.TOLERANCE), "alignment"
        more: JsonDict = {"largest": align.statistics["max_cost"]}
    elif law is not None:
        least, by, more = law[1], "exact", {"noise_divided_by": law[0]}
    elif black_box is not None:
        least, by = black_box["smallest_epsilon"], "black_box"
        more = {"variant": {"of": "algorithm", "parameter": "", "stated": "computed"}}
    else:
        return None
    sure = black_box["probability"] if by == "black_box" and black_box else 1.0
    return {"smallest_epsilon": least, "probability": sure, "by": by, "black_box": black_box, **more}
