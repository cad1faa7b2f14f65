"""Errata of Sajed & Sheffet 2019."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from verifiable_dp.algorithms.dp_se import DPSE
from verifiable_dp.algorithms.dp_ucb import DPUCB
from verifiable_dp.auditors import dp_exponential_nas
from verifiable_dp.auditors._settings import s1
from verifiable_dp.auditors.dp_se_doubling import phases
from verifiable_dp.core.simulation import simulate
from verifiable_dp.core.validate import JsonDict
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.comparison import comparison
from verifiable_dp.registry.errata import Find, Findings
from verifiable_dp.registry.sheets import Sheet

SHEET = Sheet(__file__)
said = SHEET.check

CORNER: JsonDict = {"mean": 1.0, "radius": 1.0, "alpha": 0.999, "beta": 0.08, "epsilon": 1.0}
FACT: JsonDict = {"a": 1.01, "b": 0.05, "x": 2.72}
SAMPLES_TO = 2.91  # e^epsilon - 1 <= 6 epsilon up to 2.918
SHRINKING: JsonDict = {"epsilon": 0.01, "beta": 2e-8, "epoch": 1, "size": 20, "next_size": 2}


def corner(seed: int) -> Findings:
    """The bound is on a number of samples."""
    printed = dp_exponential_nas.halting_bound(**CORNER, printed=True)
    right = dp_exponential_nas.halting_bound(**CORNER)
    # Without the parts for privacy, whose t2 has no such factor.
    alone = {**CORNER, "epsilon": 1e12}
    sampling = dp_exponential_nas.halting_bound(**alone, printed=True)
    return Findings(
        [said("corner-printed", printed, **CORNER), said("corner-printed-2", sampling, **alone)],
        [said("corner-right", right, **CORNER)],
        {**CORNER, "printed": printed, "right": right},
    )


def fact(seed: int) -> Findings:
    """Part 1 at x just above e, with a just above 1."""
    a, b, x = FACT["a"], FACT["b"], FACT["x"]
    largest = math.log(a * math.log(1 / b)) / b

    def quotient(factor: float) -> float:
        return float(math.log(factor * math.log(x)) / x)

    return Findings(
        [said("fact-printed", quotient(a), b, **FACT, upper_end_of_x=largest)],
        [said("fact-right", min(_quotients(math.e, b)), b, b=b, a=math.e)],
        {**FACT, "quotient": quotient(a)},
    )


def _quotients(a: float, b: float) -> list[float]:
    x = np.linspace(math.e, math.log(a * math.log(1 / b)) / b, 10_001)
    return list(np.log(a * np.log(x)) / x)


def samples(seed: int) -> Findings:
    """An exact loss over that of the lemma: one sample at epsilon = 4, and a grid up to the last epsilon."""
    least = 1e-6
    grid = [
        _revealed(epsilon, n, p, p + apart) / (6 * epsilon * n * apart)
        for epsilon in np.linspace(0.01, SAMPLES_TO, 30)
        for n in (1, 100)
        for p in (0.0, 0.1, 0.5)
        for apart in (least, 0.01, 0.3)
    ]
    at: JsonDict = {"epsilon": 4.0, "n": 1, "p": 0.0, "q": 0.01}
    beyond = _revealed(SAMPLES_TO + 0.02, 1, 0.0, least) / (6 * (SAMPLES_TO + 0.02) * least)
    allowed, found = math.exp(6 * 4.0 * 0.01), math.exp(_revealed(**at))
    return Findings(
        [
            said("samples-printed", found, allowed, **at),
            said("samples-printed-2", beyond, largest=SAMPLES_TO),
        ],
        [said("samples-right", max(grid), largest=SAMPLES_TO)],
        {**at, "ratio": found, "allowed": allowed},
    )


def _revealed(epsilon: float, n: int, p: float, q: float) -> float:
    """Log of how much more likely n bits of mean q make an output than bits of mean p.

    Each bit that is not set makes the output e^epsilon times less likely.
    """
    return n * (math.log1p(q * math.expm1(epsilon)) - math.log1p(p * math.expm1(epsilon)))


def shrinking(seed: int) -> Findings:
    """The last epoch with twenty arms against the next one with two."""
    epsilon, beta = SHRINKING["epsilon"], SHRINKING["beta"]
    epoch, size, after = (int(SHRINKING[name]) for name in ("epoch", "size", "next_size"))
    pulls = DPSE(size, epsilon, size, beta).pulls
    now, next_one, same = (
        float(pulls(np.array(float(k)), np.array(float(e))))
        for k, e in ((size, epoch), (after, epoch + 1), (size, epoch + 1))
    )
    return Findings(
        [said("shrinking-printed", now, next_one / 2, **SHRINKING)],
        [
            said("shrinking-right", now, same / 2, **SHRINKING),
            said("shrinking-right-2", now, next_one, **SHRINKING),
        ],
        {**SHRINKING, "R_e": now, "R_(e+1)": next_one},
    )


def doubling(seed: int) -> Findings:
    """The logarithms that the phases pay, by horizon: their sum over log T should not grow."""
    first, short, long = 1024, 1 << 20, 1 << 40

    def paid(horizon: int) -> float:
        return sum(math.log(guess) for guess, _, _ in phases(first, horizon))

    once, squared = paid(long) / paid(short), (math.log(long) / math.log(short)) ** 2
    return Findings(
        [said("doubling-printed", once, short=short, long=long, first_guess=first)],
        [said("doubling-right", once, squared * 1.5, short=short, long=long, first_guess=first)],
        {"short": short, "long": long, "paid_short": paid(short), "paid_long": paid(long)},
    )


def five_times(seed: int) -> Findings:
    """Regret of DP-UCB over that of DP-SE at epsilon = 1, K = 5, T = 5e7, by how its budget is shared."""
    printed: list[Check] = []
    right: list[Check] = []
    ratios = {}
    about: JsonDict = {"n_arms": 5, "epsilon": 1.0, "horizon": 50_000_000}
    for name in ("C1", "C4"):
        mine = simulate(DPSE(**about), s1(name, 5), runs=300, seed=seed, points=1).regret
        for budget, runs, checks in (("per-arm", 6, printed), ("split", 3, right)):
            rival = DPUCB(**about, budget=budget)
            theirs = simulate(rival, s1(name, 5), runs=runs, seed=seed + 1, points=1).regret
            ratios[f"{name}, {budget}"] = float(theirs.mean() / mine.mean())
            checks.append(
                comparison(
                    f"{name}: the regret of DP-UCB, budget {budget}, is at least 5 times that of DP-SE",
                    mine,
                    theirs,
                    factor=5.0,
                    instance=name,
                    rival=f"dp-ucb, budget {budget}, gamma = {rival.gamma:g}",
                    **about,
                )
            )
    return Findings(printed, right, {**about, "ratio of mean regrets": ratios})


EVIDENCE: Mapping[str, Find] = {
    "sample-bound-corner": corner,
    "loss-of-samples": samples,
    "fact-2.1": fact,
    "epochs-double": shrinking,
    "guess-and-double": doubling,
    "five-times-per-arm": five_times,
}
