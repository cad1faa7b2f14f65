"""Every claim of the catalogue with what the records of a folder say of it."""

from __future__ import annotations

from pathlib import Path

from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.claims import CURVED, RegretClaim, Source
from verifiable_dp.core.units import Plays
from verifiable_dp.record.model import Record
from verifiable_dp.record.verify import read
from verifiable_dp.record.words import observed
from verifiable_dp.registry import entries as registry
from verifiable_dp.render.page import of_claim


def claims(folder: str | Path) -> list[dict[str, str]]:
    """Every claim of the catalogue with the verdict of the records in `folder`.

    Returns
    -------
    list of dict
        ``algorithm``, ``claim``, ``source``, ``basis``, ``verdict``, ``statement``, ``formula``, ``domain``.
        The verdict is ``no record``, ``not checked`` where the claim says why, ``no check``, those of its
        checks, or ``contradicted, erratum NAME`` where a confirmed erratum of the folder is about it.

    Raises
    ------
    InputError
        If a record cannot be read.
    """
    rows, contradicted = [], _contradicted(Path(folder))
    for name in registry.every():
        auditor = registry.auditor(name)
        path = Path(folder) / name / "record.json"
        record = Record.of(read(path)) if path.is_file() else None
        algorithm = auditor.algorithm(**auditor.instance)
        promise = algorithm.claim
        if promise is not None and promise.source is not None:
            verdict = record.verdict.replace("_", " ") if record else "no record"
            rows.append(_claim_row(name, "privacy", promise.source, verdict, _promise(algorithm), "", ""))
        for claim in auditor.claims:
            verdict = contradicted.get(f"{name}/{claim.name}") or _verdict_of(claim, record)
            rows.append(
                _claim_row(
                    name, claim.name, claim.source, verdict, claim.statement, claim.formula, claim.domain
                )
            )
    return rows


def _contradicted(folder: Path) -> dict[str, str]:
    """Claims that state what a confirmed erratum of the folder refutes, ``algorithm/claim``: its words."""
    path = folder / "errata.json"
    rows = read(path)["errata"] if path.is_file() else []
    return {
        claim: f"contradicted, erratum {row['name']}"
        for row in rows
        if row["outcome"] == "confirmed"
        for claim in row.get("claims", [])
    }


def _claim_row(
    algorithm: str, claim: str, source: Source, verdict: str, statement: str, formula: str, domain: str
) -> dict[str, str]:
    return {
        "algorithm": algorithm,
        "claim": claim,
        "source": source.statement,
        "basis": source.basis.value,
        "verdict": verdict,
        "statement": statement,
        "formula": formula,
        "domain": domain,
    }


def _promise(algorithm: Algorithm) -> str:
    claim = algorithm.claim
    assert claim is not None
    delta = f", delta = {claim.delta:g}" if claim.delta else ""
    curve = "".join(f"{name} = {value:g}, " for name in CURVED if (value := getattr(claim, name)))
    seen = observed(claim, Plays.STREAM if algorithm.n_arms == 1 else Plays.ARMS)
    promised = f"as audited, {curve}epsilon = {claim.epsilon:g}{delta}"
    return f"{promised} ({claim.trust_model} model; the adversary sees {seen})"


def _verdict_of(claim: RegretClaim, record: Record | None) -> str:
    if record is None or not record.regret:
        return "no record"
    checks = record.regret.checks
    tried = any(check.statistics.get("claim") == claim.name for check in checks)
    return of_claim(checks, claim.name) if tried or claim.checkable else "not checked"
