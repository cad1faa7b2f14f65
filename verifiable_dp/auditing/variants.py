"""Variants of a user's code that lose more: what the power of an audit is measured on.

Code that takes epsilon as a parameter is made for a larger one, whatever its mechanism. Other code plays with
a generator whose noise is smaller.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic

import numpy as np

from verifiable_dp.auditing import power as powers
from verifiable_dp.auditing.execution_plan import ACCEPTED, NO_POWER
from verifiable_dp.auditing.independence import Sampling
from verifiable_dp.auditing.rounds_of_testing import UserCase
from verifiable_dp.core.neighbours import Pair
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.alignment.searching import plain
from verifiable_dp.evidence.blackbox.test import Terms
from verifiable_dp.targets.adapters import epsilon_of, made_for
from verifiable_dp.targets.process import Exec
from verifiable_dp.targets.releases import DataPair

_FACTOR = 6  # by which it is told whether variants differ from the code
_RUNS, _PAIRS = 16, 4  # on either input, of so many pairs: on one, a rare event may be all that changes
_SCALED = "laplace, normal, exponential, gumbel, logistic, geometric"
_NO_LESS_NOISE = (
    f"{NO_POWER}even with less noise from the generator ({_SCALED}), the claim would not be refuted with "
    f"probability .95 at this budget; {ACCEPTED}"
)
_NOT_REACHED = (
    f"{NO_POWER}dividing the noise by {_FACTOR} changed nothing in {{}} runs, so a larger budget will not "
    f"help; we reduce only {_SCALED} drawn from the generator that we pass to the code, or from "
    "np.random.default_rng with a seed drawn from that generator; name the epsilon parameter with "
    f"--epsilon-parameter; {ACCEPTED}"
)


@dataclass(frozen=True)
class Variants(Generic[Sampling]):
    """Code that loses more.

    Attributes
    ----------
    make
        A sampler by the factor of its loss.
    epsilon
        Nominal loss at a factor of 1.
    of
        What was done to the code: less noise of the ``generator``, a larger ``parameter``, or a larger
        epsilon of its ``configuration``.
    parameter
        The name of the parameter.
    none
        What is said if none is refuted.
    """

    make: Callable[[float], Sampling]
    epsilon: float
    of: str
    none: str
    parameter: str = ""


def of(case: UserCase[Sampling]) -> tuple[Variants[Sampling] | None, str]:
    """The variants of a case, and why there are none."""
    larger = _larger(case)
    if larger is not None:
        return larger, ""
    less = Variants(
        lambda factor: replace(case.sampler, factor=1 / factor),
        case.claim.epsilon,
        "generator",
        _NO_LESS_NOISE,
    )
    runs = 2 * _RUNS * len(_asked(case))
    why = case.ground.no_power or ("" if _differ(case, less) else _NOT_REACHED.format(runs))
    return (None, why) if why else (less, "")


def _larger(case: UserCase[Sampling]) -> Variants[Sampling] | None:
    """The code made for a larger epsilon; None if it has no such parameter, or refuses or ignores it."""
    target, given = case.request.target, case.request.given()
    found = None if isinstance(target, Exec) else epsilon_of(target, given)
    if found is None or given.epsilon is None:
        return None
    name, value = found
    where = f"parameter {name}" if name else "its configuration"
    variants = Variants(
        lambda factor: replace(case.sampler, function=made_for(target, given, factor)),
        case.claim.epsilon * value / given.epsilon,
        "parameter" if name else "configuration",
        f"{NO_POWER}the code constructed with up to {_FACTOR} times its epsilon ({where}) would not be "
        f"refuted with probability .95 at this budget; {ACCEPTED}",
        name,
    )
    try:
        return variants if _differ(case, variants) else None
    except InputError:
        return None


def _asked(case: UserCase[Sampling]) -> Sequence[Pair | DataPair]:
    """The pairs on which it is asked whether a variant makes a difference."""
    assert case.last is not None
    return case.last.best[:_PAIRS]


def _differ(case: UserCase[Sampling], variants: Variants[Sampling]) -> bool:
    """Whether a variant makes any difference to runs that are alike in all else."""
    runs = np.arange(_RUNS, dtype=np.int64)
    other = variants.make(_FACTOR)
    return any(
        not np.array_equal(case.sampler.draws(data, runs), other.draws(data, runs), equal_nan=True)
        for pair in _asked(case)
        for data in pair.worlds()
    )


def state_power(case: UserCase[Sampling], variants: Variants[Sampling], runs: int) -> None:
    """Power of the black box, on variants that lose more.

    With delta, what epsilon a variant has at that delta is not known: stated is the least loss at the event
    tested that would have been refuted.
    """
    claim, levels, settings, plan = case.claim, case.levels, case.request.settings, case.plan
    assert case.last is not None
    case.request.progress("measuring power on variants that leak more")
    power = powers.of_black_box(
        variants.make,
        case.last.best[:6],
        plan,
        Terms(claim, settings.seed, case.workers, levels.alpha / levels.tests),
        true_epsilon=lambda factor: factor * variants.epsilon if claim.delta == 0 else math.nan,
        repeats=1,
        runs=runs,
    )
    if power is None:
        case.no_power = variants.none
        return
    if claim.delta > 0:
        share = case.last.chosen.event.careful_shares()[1]
        least = powers.detectable(share, plan, claim, levels.alpha / levels.tests)
        power = {**power, "smallest_epsilon": plain(least)}
    case.power = {
        "smallest_epsilon": power["smallest_epsilon"],
        "probability": power["probability"],
        "by": "black_box",
        "variant": {
            "of": variants.of,
            "parameter": variants.parameter,
            "stated": "nominal" if claim.delta == 0 else "event",
        },
        "black_box": power,
    }
