"""Regret checks of a catalogue algorithm: those that its auditor brings."""

from __future__ import annotations

import functools

from verifiable_dp.auditing import record_parts
from verifiable_dp.auditing.plans import Progress, silent
from verifiable_dp.core import engine
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.validate import InputError, JsonDict
from verifiable_dp.evidence.check import Check
from verifiable_dp.registry import entries as registry


def regret_only(
    algorithm: Algorithm,
    *,
    budget: str | float = "quick",
    seed: int = 0,
    workers: int = 1,
    mutants: bool = False,
    progress: Progress = silent,
) -> JsonDict:
    """Run the regret checks of a catalogue algorithm, and those of its regret mutants; a draft of a record.

    Raises
    ------
    InputError
        If the algorithm has no auditor.
    """
    auditor = registry.find(algorithm)
    if auditor is None:
        raise InputError(f"target: {getattr(algorithm, 'name', algorithm)} has no auditor with regret checks")

    def measured(played: Algorithm, size: str) -> list[Check]:
        return list(auditor.regret(played, size, seed, workers))

    checks = engine.kept("regret", functools.partial(measured, algorithm, str(budget)))
    entries: list[JsonDict] = []
    for mutant in auditor.mutants if mutants else ():
        if mutant.breaks != "regret":
            continue
        progress(f"mutant: {mutant.name}")
        measure = functools.partial(measured, mutant.make(algorithm), "mutant")
        found = engine.kept("regret of a mutant", measure, mutant.name)
        wrong = "; ".join(c.name for c in found if c.verdict == "contradicted")
        entries.append(record_parts.mutant(mutant, found, wrong, {}))
    stated = {
        "parameters": record_parts.plain_parameters(algorithm),
        "mutants_tried": mutants,
        "claims": [c.as_dict() for c in auditor.claims],
        "checks": [c.as_dict() for c in checks],
        **({"promise": algorithm.claim.numbers()} if algorithm.claim else {}),
    }
    target, plan = record_parts.target(algorithm, auditor), {"budget": str(budget)}
    return record_parts.of_regret(target, algorithm.claim, plan, stated, seed, mutants=entries)
