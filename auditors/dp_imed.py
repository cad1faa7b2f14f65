"""Auditor of DP-IMED: as that of DP-KLUCB."""

from __future__ import annotations

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_imed import DPIMED
from verifiable_dp.auditors import _episodes as family
from verifiable_dp.auditors import dp_klucb
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.auditor import Auditor, Mutant
from verifiable_dp.registry.mutants import result


def _timid(rule: DPIMED, index: FloatArray, state: Own) -> FloatArray:
    """The index of arms with a sixteenth of their divergence."""
    log = np.log(np.maximum(state.pulls, 1))
    return np.asarray((index + log) / 16 - log)


auditor = Auditor(
    algorithm=DPIMED,
    paper=papers.AZIZE_OPTIMAL,
    model="central",
    instance={"n_arms": 2, "epsilon": 1.0, "horizon": 15},
    small={"n_arms": 2, "epsilon": 1.0, "horizon": 15},
    pairs=lambda rule: family.pairs(rule, later=3),  # its phases grow more slowly
    mutants=(
        *dp_klucb.mutants(dp_klucb.ON_TWO),
        Mutant(
            "timid",
            "divergences are divided by sixteen",
            result("index", _timid),
            caught_by=dp_klucb.ON_TWO,
        ),
    ),
    claims=dp_klucb.claims("DP-IMED"),
    experiment={"n_arms": 5, "epsilon": 1.0, "horizon": 10**7},
    longest=4096,
    worst_cost=lambda rule: rule.mechanism.cost(),  # a reward enters one release
)
