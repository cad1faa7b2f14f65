"""Auditor of LinUCB with contexts: it is caught leaking, and held to its ellipsoid and to uniform play."""

from __future__ import annotations

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.contextual.lin_ucb_contextual import LinUCBContextual
from verifiable_dp.auditors.contextual import _shared as family
from verifiable_dp.registry.sheets import Sheet

SHEET = Sheet(__file__, papers.ABBASI)

LEARNS = family.AgainstUniform(20.0)

auditor = SHEET.auditor(
    LinUCBContextual,
    family.pairs,
    mutants=family.regret_mutants(LEARNS),
    claims=family.claims(papers.ABBASI, LEARNS),
)
