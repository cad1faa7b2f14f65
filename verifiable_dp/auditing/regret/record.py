"""The draft of a record of claims about regret: what was claimed, in words, and what was found."""

from __future__ import annotations

from collections.abc import Sequence

from verifiable_dp.auditing import record_parts
from verifiable_dp.auditing.regret.claims import Claims
from verifiable_dp.auditing.regret.instances import called
from verifiable_dp.auditing.regret.subject import RegretSubject
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.claims import Basis, RegretClaim
from verifiable_dp.core.claims import Source as Proof
from verifiable_dp.core.validate import JsonDict
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.exclusions import Left

_PROOF = Proof("the claim of the person who ran the check", "as given", basis=Basis.GIVEN)


def draft(
    subject: RegretSubject,
    claims: Claims,
    checks: Sequence[Check],
    noted: Sequence[str],
    budget: str,
    seed: int,
) -> JsonDict:
    """The draft of a record of checked claims."""
    made = subject.player.made(subject.setting)
    promise = made.claim if isinstance(made, Algorithm) else None
    target = subject.as_dict()
    target["note"] = "; ".join(note for note in (target["note"], *noted) if note)
    regret = {
        "parameters": target["parameters"],
        "mutants_tried": False,
        "claims": [claim.as_dict() for claim in _stated(claims)],
        "checks": [check.as_dict() for check in checks],
    }
    plan = {"budget": budget, "regret": claims.as_dict()}
    return record_parts.of_regret(target, promise, plan, regret, seed, Left.OTHER_INSTANCES)


def _stated(claims: Claims) -> list[RegretClaim]:
    stated = []
    if claims.bound is not None:
        often = "the mean of" if claims.beta is None else f"with probability {1 - claims.beta:g}"
        kind = "mean" if claims.beta is None else "probability"
        words = f"{often} the pseudo-regret at the horizon is at most the bound"
        stated.append(RegretClaim("bound", words, claims.bound.name, _PROOF, kind))
    for rate in claims.rates:
        gap = f"at gaps of {claims.gap:g} times the range of rewards"
        where = "on the worst instance" if rate.worst else gap
        where = where if claims.population is None else f"on {called(claims.population)}"
        slower = ", or more slowly" if claims.population is not None and rate.over == "T" else ""
        words = f"mean pseudo-regret grows like {rate.formula}{slower}, with all else fixed"
        domain = "" if rate.over == "gap" else where
        stated.append(RegretClaim(rate.name, words, rate.formula, _PROOF, "scaling", domain=domain))
    if claims.rival is not None:
        words = f"mean pseudo-regret at most 1/{claims.factor:g} of that of {claims.rival.described}"
        stated.append(RegretClaim("comparison", words, "", _PROOF, "comparison"))
    return stated
