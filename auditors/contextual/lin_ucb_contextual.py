"""Auditor of LinUCB with contexts: it is caught leaking, and held to its ellipsoid and to uniform play."""

from __future__ import annotations

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.contextual.lin_ucb_contextual import LinUCBContextual
from verifiable_dp.auditors.contextual import _shared as family
from verifiable_dp.registry.auditor import Auditor

LEARNS = family.AgainstUniform(20.0)

auditor = Auditor(
    algorithm=LinUCBContextual,
    paper=papers.ABBASI,
    model="none",
    instance={"n_arms": 2, "dimension": 2, "horizon": 64},
    small={"n_arms": 2, "dimension": 2, "horizon": 8},
    pairs=family.pairs,
    mutants=family.regret_mutants(LEARNS),
    claims=family.claims(papers.ABBASI, LEARNS),
    reference_epsilon=1.0,
    experiment={"n_arms": 5, "dimension": 2, "horizon": 2000, "alpha": 0.1},
    longest=512,
)
