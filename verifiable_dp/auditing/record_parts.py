"""Parts of the draft of a record that audits of several kinds share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.neighbours import AnyPair
from verifiable_dp.core.units import Plays, Role
from verifiable_dp.core.validate import Json, JsonDict
from verifiable_dp.evidence import exclusions
from verifiable_dp.evidence.blackbox import curves
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.exact import law as exact
from verifiable_dp.evidence.exclusions import Left
from verifiable_dp.registry.auditor import Auditor, Mutant, Prefix
from verifiable_dp.targets.source import CodeSource


def target(algorithm: Algorithm, auditor: Auditor | None) -> JsonDict:
    """What was audited."""
    return {
        "name": algorithm.name,
        "kind": "algorithm",
        "parameters": plain_parameters(algorithm),
        "source": CodeSource.of(type(algorithm), type(algorithm).__qualname__).as_dict(),
        "role": _role(algorithm),
        "plays": Plays.STREAM if algorithm.n_arms == 1 else Plays.ARMS,
        "note": "",
        "paper": auditor.paper if auditor else "",
        "model": auditor.model if auditor else "central",
        "bounds": [float(limit) for limit in algorithm.bounds],
    }


def _role(algorithm: Algorithm) -> Role:
    if algorithm.claim is None:
        return Role.BASELINE
    printed = plain_parameters(algorithm).get("variant") == "printed"
    return Role.PRINTED if printed else Role.PROMISE


def plain_parameters(algorithm: Algorithm) -> JsonDict:
    """Constructor arguments as JSON values."""
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in algorithm.parameters.items()
    }


def mutant(broken: Mutant, checks: Sequence[Check], decided_by: str, counterexample: Json) -> JsonDict:
    """What became of a mutant, and what decided against it; empty if nothing did."""
    caught = "refuted" if broken.breaks == "privacy" else "contradicted"
    return {
        "name": broken.name,
        "fault": broken.fault,
        "breaks": broken.breaks,
        "bounding": broken.bounding,
        "verdict": caught if decided_by else f"not_{caught}",
        "decided_by": decided_by,
        "counterexample": dict(counterexample),
        "checks": [check.as_dict() for check in checks],
    }


def of_regret(
    target: Json,
    claim: PrivacyClaim | None,
    plan: Json,
    regret: Json,
    seed: int,
    *others: Left,
    mutants: Sequence[Json] = (),
) -> JsonDict:
    """The draft of a record whose privacy was not audited."""
    return {
        "target": target,
        "claim": claim.as_dict() if claim else None,
        "plan": plan,
        "checks": [],
        "pairs": [],
        "confidence": blackbox.CONFIDENCE,
        "power": None,
        "counterexamples": [],
        "mutants": list(mutants),
        "regret": regret,
        "not_covered": exclusions.of_regret(*others),
        "seed": seed,
    }


def instance(algorithm: Algorithm, epsilon: float) -> JsonDict:
    """Where a counterexample was found, and the epsilon that the audited claim comes to there."""
    if isinstance(algorithm, Prefix):
        return {**instance(algorithm.inner, epsilon), "rounds": algorithm.horizon}
    return {"instance": plain_parameters(algorithm), "epsilon": epsilon}


def counterexamples(
    checks: Sequence[Check],
    worst: Json,
    chosen: blackbox.Selected | None,
    pairs: Sequence[AnyPair] = (),
    *,
    played: Json | None = None,
) -> list[JsonDict]:
    """What the checks that refute have found, as a reader can run it again.

    `played` says what was played where that is not the audited instance; `worst` says so itself.
    """
    found: list[JsonDict] = []
    for check in checks:
        if check.verdict != "refuted" or check.kind == "tracing":  # which names its pair itself
            continue
        if check.kind == "alignment":
            found.append({"check": check.name, **worst})
        elif check.kind == "exact":
            found.append({**exact.counterexample(check, pairs), **(played or {})})
        elif chosen is None:
            raise ValueError(f"{check.name}: no pair was chosen")
        elif check.kind == "curve":
            found.append({**curves.counterexample(check, chosen.pair), **(played or {})})
        else:
            found.append(
                {
                    "check": check.name,
                    "pair": chosen.pair.as_dict(),
                    "event": check.statistics["event"],
                    "looks_at": chosen.event.looks_at(),
                    "p_value": check.result["p_value"],
                    "epsilon_lower": check.result["epsilon_lower"],
                    **(played or {}),
                }
            )
    return found
