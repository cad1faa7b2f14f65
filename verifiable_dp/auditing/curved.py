"""The audit of a bandit of the catalogue whose releases have normal noise, or whose promise is rho or mu.

Alignment speaks of mu. Not there without contexts: interactive adversaries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from verifiable_dp.auditing.algorithms import AlgorithmCase
from verifiable_dp.auditing.request import AuditRequest
from verifiable_dp.auditing.subject import Subject
from verifiable_dp.core.claims import PrivacyClaim, gdp_mu
from verifiable_dp.core.validate import Json
from verifiable_dp.evidence import normal
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.judge.laws import epsilon_of_mu


def _seen(claim: PrivacyClaim) -> bool:
    """Whether the adversary sees every release."""
    return claim.observe == "releases"


@dataclass(kw_only=True)
class CurvedCase(AlgorithmCase):
    """The audit of an algorithm with normal noise."""

    visible = staticmethod(_seen)

    @classmethod
    def of(cls, request: AuditRequest) -> CurvedCase:
        """See `AlgorithmCase.of`."""
        case = super().of(request)
        assert isinstance(case, cls)
        return case if case.claim.protects is not None else replace(case, game=None)

    def aligned(self, subject: Subject, *, timed: bool = False, enough: bool = False) -> tuple[Check, Json]:
        """See `AlgorithmCase.aligned`."""
        seed = self.request.settings.seed
        check, worst = normal.check(
            subject.algorithm, subject.claim, subject.pairs, seed, timed=timed, enough=enough
        )
        return check, {**worst, **self.subject.instances[0]}

    def reduced(self, factor: float) -> float:
        """See `AlgorithmCase.reduced`."""
        known = "max_loss" if self.claim.curve == "rho" else "max_cost"  # a cost is then not that of its mu
        cost, delta = float(self.checks[0].statistics[known]), self.claim.delta
        return (
            epsilon_of_mu(factor * gdp_mu(cost, delta), delta) if delta > 0 and 0 < cost < math.inf else cost
        )
