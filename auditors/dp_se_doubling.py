"""Auditor of DP-SE with guess-and-double: the auditor of DP-SE, and what restarts add."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from verifiable_dp._validate import FloatArray
from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_se import epoch_length, threshold
from verifiable_dp.algorithms.dp_se_doubling import DPSEDoubling
from verifiable_dp.auditing.auditor import Auditor
from verifiable_dp.auditors import _elimination as family
from verifiable_dp.auditors import dp_se
from verifiable_dp.auditors._shared import (
    mean_regret,
    original,
    regret_mutant,
    settings,
    with_parameters,
)
from verifiable_dp.claims import RegretClaim, Source
from verifiable_dp.environments import s1
from verifiable_dp.evidence.check import Check
from verifiable_dp.neighbours import TablePair

EXPERIMENT = {"n_arms": 5, "epsilon": 0.25, "horizon": 50_000_000}


def phases(first_guess: int, horizon: int) -> list[tuple[int, int, int]]:
    """(guess, first round, end) of each phase up to the horizon."""
    found, guess, start = [], first_guess, 0
    while start < horizon:
        end = min(guess // 2, horizon)
        found.append((guess, start, end))
        guess, start = 2 * guess, end
    return found


def regret_bound(gaps: FloatArray, horizon: float, epsilon: float, first_guess: int = 1024) -> float:
    """Theorem 4.3 in every phase, or the phase's length times the largest gap where that is less."""
    largest = float(gaps.max())
    total = 0.0
    for guess, start, end in phases(first_guess, int(horizon)):
        total += min(dp_se.regret_bound(gaps, guess, epsilon), largest * (end - start))
    trivial = largest * horizon
    return trivial if total >= trivial * (1 - 1e-12) else total


def regret(algorithm: Any, budget: str, seed: int, workers: int) -> Iterator[Check]:
    """The bound on C1 to C4, and growth like log^2 T. With budget ``mutant``: C2 alone."""
    epsilon, first_guess = original(algorithm).epsilon, original(algorithm).first_guess
    for environment in settings(algorithm.n_arms, budget):
        yield mean_regret(
            algorithm,
            environment,
            lambda gaps, t: regret_bound(gaps, t, epsilon, first_guess),
            claim="theorem-4.3 with restarts",
            budget=budget,
            seed=seed,
            workers=workers,
        )[0]
    if budget != "mutant":
        yield late(algorithm, budget, seed, workers)
    yield from dp_se.rate_checks(
        algorithm,
        dp_se.RANGES[1:],
        log_power=2.0,
        claim="theorem-4.3 with restarts",
        budget=budget,
        seed=seed,
    )


def late(algorithm: Any, budget: str, seed: int, workers: int) -> Check:
    """The bound on C1 at a horizon where it is active."""
    rule = original(algorithm)
    check, _ = mean_regret(
        with_parameters(algorithm, horizon=dp_se.LAW),
        replace(s1("C1", algorithm.n_arms), name="C1, T = 1e12"),
        lambda gaps, t: regret_bound(gaps, t, rule.epsilon, rule.first_guess),
        claim="theorem-4.3 with restarts",
        budget=budget,
        seed=seed,
        workers=workers,
    )
    return check


def schedule(algorithm: Any) -> list[family.Epoch]:
    """The first epoch of the first two phases that are long enough for one."""
    k, epsilon = algorithm.n_arms, algorithm.epsilon
    epochs = []
    for guess, start, end in phases(algorithm.first_guess, algorithm.horizon):
        pulls = math.ceil(float(epoch_length(k, 1, epsilon, 1 / guess)))
        if k * pulls <= end - start:
            epochs.append(family.Epoch(start, pulls, float(threshold(k, 1, epsilon, 1 / guess)), k))
    return epochs[:2]


def pairs(algorithm: Any) -> list[TablePair]:
    """Tables near the thresholds of two phases."""
    return family.near_threshold(algorithm.n_arms, algorithm.horizon, algorithm.epsilon, schedule(algorithm))


class Unforgetting(family.Unforgetting, DPSEDoubling):
    """Means over all epochs and phases so far."""


class MeanScale(family.MeanScale, DPSEDoubling):
    """Adds to sums the noise that is meant for means."""


class Inverted(family.Inverted, DPSEDoubling):
    """Removes the arms far above the smallest mean."""


_MUTANTS = (
    *family.privacy_mutants(Unforgetting, MeanScale),
    regret_mutant(
        "inverted",
        "the best arms are removed",
        Inverted,
        "theorem-4.3 with restarts on C2",
    ),
)

CLAIMS = (
    RegretClaim(
        "theorem-4.3 with restarts",
        "The expected regret is at most the sum over phases of Theorem 4.3's bound at the phase's guess; "
        "it grows like log^2 T.",
        "sum_i min(sum_a (3072 log g_i/Delta_a + 288 log g_i/epsilon) + 1, rounds of phase i * max Delta)",
        Source(
            papers.S1,
            "proof of Theorem 4.3",
            "derived. The remark in the proof offers doubling as an alternative to knowing T, at the rate of "
            "the theorem; but each of about log2 T phases pays log T, so the rate is log^2 T. Squaring the "
            "guess instead would keep log T.",
        ),
        "mean",
        regret_bound,
        "binds from the first phase that is longer than its bound",
    ),
)

auditor = Auditor(
    algorithm=DPSEDoubling,
    paper=papers.S1,
    model="central",
    instance={"n_arms": 2, "epsilon": 1.0, "horizon": 7400, "first_guess": 8192},
    small={"n_arms": 2, "epsilon": 1.0, "horizon": 3100, "first_guess": 8192, "beta": None},
    pairs=pairs,
    mutants=_MUTANTS,
    claims=CLAIMS,
    regret=regret,
    experiment=EXPERIMENT,
    worst_cost=lambda algorithm: algorithm.mechanism.cost(),  # a reward enters one release
)
