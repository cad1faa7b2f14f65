"""Auditor of DP-IMED: as that of DP-KLUCB."""

from __future__ import annotations

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_imed import DPIMED
from verifiable_dp.auditors import _episodes as family
from verifiable_dp.auditors import dp_klucb
from verifiable_dp.auditors._first_neighbours import one_release
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.mutants import result
from verifiable_dp.registry.sheets import Sheet

SHEET = Sheet(__file__, papers.AZIZE_OPTIMAL)
mutant = SHEET.mutant


def _timid(rule: DPIMED, index: FloatArray, state: Own) -> FloatArray:
    """The index of arms with a sixteenth of their divergence."""
    log = np.log(np.maximum(state.pulls, 1))
    return np.asarray((index + log) / 16 - log)


auditor = SHEET.auditor(
    DPIMED,
    pairs=lambda rule: family.pairs(rule, later=3),  # its phases grow more slowly
    mutants=(*dp_klucb.mutants(dp_klucb.ON_TWO), mutant("timid", result("index", _timid), dp_klucb.ON_TWO)),
    claims=dp_klucb.claims("DP-IMED"),
    worst_cost=one_release,
)
