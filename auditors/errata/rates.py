"""Statements about rates that fail as printed: a lower bound, two remarks and a row of a table."""

from __future__ import annotations

import math
from collections.abc import Mapping

from verifiable_dp.auditors import _robust
from verifiable_dp.auditors._settings import hard
from verifiable_dp.auditors.errata.bench import MendedRow, Point, mended
from verifiable_dp.core.mechanisms import shuffle
from verifiable_dp.core.validate import JsonDict
from verifiable_dp.registry.errata import Find, Findings
from verifiable_dp.registry.sheets import Sheet

SHEET = Sheet(__file__, forms={"steps": MendedRow})
said = SHEET.check

DELTA = 1e-6


def one_instance(seed: int) -> Findings:
    """Always the best arm of Theorem 9's instance P_1: 0-LDP; and the larger of its two regrets."""
    about: JsonDict = {"K": 5, "T": 10**6, "epsilon": 1.0, "v": 1.0}
    k, horizon, epsilon, v = about["K"], about["T"], about["epsilon"], about["v"]

    def both(gap: float) -> float:
        return _robust.minimax_bound(gap, n_arms=k, horizon=horizon, epsilon=epsilon, v=v)

    gap = _robust.best_gap(both)
    regrets = {
        name: horizon * float(hard(9, v=v, gaps=[gap] * (k - 1), changed=changed).gaps[0])
        for name, changed in (("P_1", None), ("P_i", 1))
    }
    least = both(gap) / 2
    return Findings(
        [said("one-instance-printed", regrets["P_1"], least, **about)],
        [said("one-instance-right", max(regrets.values()), least, **about)],
        {**about, "Delta": gap, "regret": regrets, "bound": least},
    )


def _local(at: Point) -> float:
    """eps0 of line 8 of Algorithm 3."""
    return shuffle.formula_inverse(at["epsilon"], int(at["n"]), DELTA)


def gains(seed: int) -> Findings:
    """eps0 just above epsilon = 1 in a batch of a million reports, in the domain of (10)'s theorem."""
    n, epsilon = 10**6, 1.01
    local = _local({"epsilon": epsilon, "n": n})
    about: JsonDict = {"n": n, "epsilon": epsilon, "delta": DELTA, "eps0": local}
    return Findings(
        [said("gains-printed", local / epsilon, **about)],
        [
            said("gains-right", local, shuffle.domain(n, DELTA), **about),
            said("gains-right-2", (local / epsilon) ** 2),
        ],
        about,
    )


_LOG = 16 * math.log(4 / DELTA)


def _noise(at: Point) -> float:
    """n (eps/eps0)^2: the variance of a report over that of a sum of n."""
    return at["n"] * (at["epsilon"] / _local(at)) ** 2


def _shuffled(at: Point) -> float:
    """eps sqrt(n/(16 log(4/delta)))."""
    return at["epsilon"] * math.sqrt(at["n"] / _LOG)


TAO: Mapping[str, Find] = {"one-instance": one_instance}

HANNA: Mapping[str, Find] = {
    "gains-above-one": gains,
    "report-variance": mended(
        "report-variance",
        [lambda at: _noise(at) / 10],
        [lambda at: _noise(at) / (1.1 * _LOG), lambda at: _LOG / _noise(at)],
        SHEET,
    ),
    "shuffled-level": mended(
        "shuffled-level",
        [lambda at: _local(at) / (3 * at["epsilon"] * at["n"] ** 0.25)],
        [lambda at: _local(at) / _shuffled(at), lambda at: _shuffled(at) / (1.1 * _local(at))],
        SHEET,
    ),
}
