"""Statements about rates that fail as printed: a lower bound, two remarks and a row of a table."""

from __future__ import annotations

import math
from collections.abc import Mapping

from verifiable_dp.auditors import _robust
from verifiable_dp.auditors._settings import hard
from verifiable_dp.auditors.errata.bench import Mended, Point, Step
from verifiable_dp.core.mechanisms import shuffle
from verifiable_dp.core.validate import JsonDict
from verifiable_dp.evidence.statement import statement
from verifiable_dp.registry.errata import Find, Findings

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
        [
            statement(
                "regret on P_1 of always playing its best arm", regrets["P_1"], "at least", least, **about
            )
        ],
        [
            statement(
                "the larger of its regrets on P_1 and P_i", max(regrets.values()), "at least", least, **about
            )
        ],
        {**about, "Delta": gap, "regret": regrets, "bound": least},
    )


def _local(at: Point) -> float:
    """eps0 of line 8 of Algorithm 3."""
    return shuffle.formula_inverse(at["epsilon"], int(at["n"]), DELTA)


def gains(seed: int) -> Findings:
    """eps0 at epsilon just above 1 in a batch of a million reports, which the domain of (10) holds."""
    n, epsilon = 10**6, 1.01
    local = _local({"epsilon": epsilon, "n": n})
    about: JsonDict = {"n": n, "epsilon": epsilon, "delta": DELTA, "eps0": local}
    return Findings(
        [statement("eps0/epsilon, approximately 1", local / epsilon, "at most", 2.0, **about)],
        [
            statement(
                "eps0 is within the domain of (10)", local, "at most", shuffle.domain(n, DELTA), **about
            ),
            statement(
                "variance of a local report over a shuffled one", (local / epsilon) ** 2, "at least", 60
            ),
        ],
        about,
    )


_SMALL = {"epsilon": (1e-6, 1e-5, 1e-4), "n": (1e4, 1e6, 1e8)}
_LOG = 16 * math.log(4 / DELTA)
VARIANCE = Mended(
    (
        Step(
            "2/eps0^2 <= 10 * 2/(n eps^2), small eps, delta = 1e-6",
            lambda at: at["n"] * (at["epsilon"] / _local(at)) ** 2 / 10,
            _SMALL,
        ),
    ),
    (
        Step(
            "2/eps0^2 <= 1.1 * 16 log(4/delta) * 2/(n eps^2)",
            lambda at: at["n"] * (at["epsilon"] / _local(at)) ** 2 / (1.1 * _LOG),
            _SMALL,
        ),
        Step(
            "16 log(4/delta) * 2/(n eps^2) <= 2/eps0^2",
            lambda at: _LOG / (at["n"] * (at["epsilon"] / _local(at)) ** 2),
            _SMALL,
        ),
    ),
)
_GROWING = {"epsilon": (1e-7,), "n": (1e4, 1e6, 1e8, 1e10)}
LEVEL = Mended(
    (
        Step(
            "eps0 <= 3 eps n^(1/4), delta = 1e-6",
            lambda at: _local(at) / (3 * at["epsilon"] * at["n"] ** 0.25),
            _GROWING,
        ),
    ),
    (
        Step(
            "eps0 <= eps sqrt(n/(16 log(4/delta)))",
            lambda at: _local(at) / (at["epsilon"] * math.sqrt(at["n"] / _LOG)),
            _GROWING,
        ),
        Step(
            "eps sqrt(n/(16 log(4/delta))) <= 1.1 eps0",
            lambda at: at["epsilon"] * math.sqrt(at["n"] / _LOG) / (1.1 * _local(at)),
            _GROWING,
        ),
    ),
)

TAO: Mapping[str, Find] = {
    "one-instance": one_instance,
}

HANNA: Mapping[str, Find] = {
    "gains-above-one": gains,
    "report-variance": VARIANCE,
    "shuffled-level": LEVEL,
}
