"""Regret checks of a catalogue algorithm, on their own."""

from __future__ import annotations

from typing import Any

from verifiable_dp._validate import InputError
from verifiable_dp.algorithm import Algorithm
from verifiable_dp.auditing import drafts, registry
from verifiable_dp.auditing.plans import NOT_COVERED, Progress, silent
from verifiable_dp.evidence.blackbox import CONFIDENCE


def regret_only(
    algorithm: Algorithm,
    *,
    budget: str | float = "quick",
    seed: int = 0,
    workers: int = 1,
    mutants: bool = False,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Run the regret checks of a catalogue algorithm, and those of its regret mutants; a draft of a record.

    Raises
    ------
    InputError
        If the algorithm has no auditor.
    """
    auditor = registry.find(algorithm)
    if auditor is None:
        raise InputError(f"target: {getattr(algorithm, 'name', algorithm)} has no auditor with regret checks")
    checks = auditor.regret(algorithm, str(budget), seed, workers)
    entries: list[dict[str, Any]] = []
    for mutant in auditor.mutants if mutants else ():
        if mutant.breaks != "regret":
            continue
        progress(f"mutant: {mutant.name}")
        found = auditor.regret(mutant.make(algorithm), "mutant", seed, workers)
        wrong = [c for c in found if c.verdict == "contradicted"]
        entries.append(
            {
                "name": mutant.name,
                "fault": mutant.fault,
                "breaks": "regret",
                "verdict": "contradicted" if wrong else "not_contradicted",
                "decided_by": wrong[0].name if wrong else "",
                "counterexample": {},
                "checks": [c.as_dict() for c in found],
            }
        )
    claim = algorithm.claim
    return {
        "target": drafts.target(algorithm, auditor),
        "claim": claim.as_dict() if claim else None,
        "plan": {"budget": str(budget)},
        "checks": [],
        "pairs": [],
        "confidence": CONFIDENCE,
        "power": None,
        "counterexamples": [],
        "mutants": entries,
        "regret": {
            "parameters": drafts.plain_parameters(algorithm),
            "mutants_tried": mutants,
            "claims": [c.as_dict() for c in auditor.claims],
            "checks": [c.as_dict() for c in checks],
        },
        "not_covered": ["privacy: only regret was checked", *NOT_COVERED[2:]],
        "seed": seed,
    }
