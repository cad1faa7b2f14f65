"""Blocks for a reviewer: what a record says, arranged as a compliance report arranges it.

Every block is a pure function of the record and of its declarations: blocks are computed when they are shown
and stand in no record, so that nothing can be said twice. Numbers that decide something are decimal strings
here; what is not known is null, never guessed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence

from verifiable_dp.compliance import nist
from verifiable_dp.core.claims import Relation, group_table
from verifiable_dp.core.units import Adjacency, Observed
from verifiable_dp.core.validate import InputError, Json, JsonDict, JsonValue
from verifiable_dp.evidence.check import Check
from verifiable_dp.record import committed, conclude, questions, words
from verifiable_dp.record.model import Claim, Provenance, Record
from verifiable_dp.record.sealing import pointer, text
from verifiable_dp.record.worlds import neighbouring, range_of

Block = JsonDict

COMPLIANCE_VERSION = "compliance-1.1.0"
BLOCKS = (
    "created",
    "report_status",
    "tier",
    "summary",
    "subject",
    "guarantee",
    "deployment_model",
    "accounting",
    "privacy_claims",
    "utility_claims",
    "hazards",
    "frameworks",
    "run",
    "artifacts",
    "assurance",
    "administrative",
    "questionnaire",
)
GROUPS = (1, 2, 5, 10, 100)  # sizes of the group-privacy table


def decimal(value: JsonValue) -> str | None:
    """A number as a decimal string that reads back as the same number; None stays None."""
    if value is None or isinstance(value, str):
        return value
    mantissa, mark, exponent = repr(value).partition("e")
    mantissa = mantissa.removesuffix(".0")
    return f"{mantissa}e{int(exponent)}" if mark else mantissa


def to_compliance(record: Record) -> str:
    """The blocks of a record as a JSON document; its form is the schema ``compliance``."""
    return text({"schema_version": COMPLIANCE_VERSION, "record": record.digest, **of(record)})


def of(record: Record | Json) -> Block:
    """The blocks of a record.

    Parameters
    ----------
    record
        A record, or its JSON values.

    Returns
    -------
    dict
        One entry for each of `BLOCKS`.

    Raises
    ------
    InputError
        If its values allow none, which only one that was made by hand can have.
    """
    try:
        return _of(Record.of(record))
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"the record's compliance blocks cannot be computed: {error!r}"[:200]) from None


def _of(record: Record) -> Block:
    declared = record.declared
    administrative = declared.get("administrative", {})
    found: Block = {
        "created": record.provenance.finished,
        "report_status": administrative.get("status", "draft"),
        "tier": administrative.get("tier"),
        "subject": _subject(record),
        "guarantee": _guarantee(record, declared) if words.promises(record) else None,
        "deployment_model": _deployment(record, declared),
        "accounting": _accounting(record, declared),
        "privacy_claims": [_privacy(record, i) for i in range(len(record.checks))],
        "utility_claims": _utility(record),
        "run": _run(record),
        "artifacts": [],
        "assurance": {"level": "self_attested", "signature": None},
        "administrative": {
            "authors": administrative.get("authors", []),
            "reviewers": administrative.get("reviewers", []),
            "sources": administrative.get("sources", []),
            "notes": administrative.get("notes", ""),
        },
    }
    found["questionnaire"] = [
        {
            "id": one.question.id,
            "name": one.question.brief,
            "question": one.question.ask,
            "answer": one.words,
            "state": str(one.state),
            "why": one.why,
        }
        for one in questions.answers(record)
        if one.given
    ]
    found["summary"] = _summary(record, found["privacy_claims"])
    found["hazards"] = nist.assess(nist.Reviewed.with_blocks(record, found))
    found["frameworks"] = [nist.FRAMEWORK]
    return {name: found[name] for name in BLOCKS}


def _digest(value: JsonValue) -> Block:
    """SHA-256 of the canonical JSON of a value."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return {"sha256": hashlib.sha256(text.encode()).hexdigest()}


# ---------------------------------------------------------------- summary


def _summary(record: Record, claims: Sequence[Block]) -> Block:
    verdicts = [claim["verdict"] for claim in claims]
    return {
        "verdict": record.verdict,
        "claims_total": len(verdicts),
        **{word: verdicts.count(word) for word in ("refuted", "inconclusive", "not_refuted")},
        "statement": words.verdict(record),
        "non_claims": list(words.NON_CLAIMS),
    }


# ---------------------------------------------------------------- subject


def _subject(record: Record) -> Block:
    target, facts = record.target, record.provenance
    place, source = facts.target, target.source
    proof = record.claim.source if record.claim else None
    return {
        "name": target.name,
        "distribution": _distribution(facts) if target.ours else None,
        "source": {
            "uri": place.repository or None,
            "digest": {"gitCommit": place.commit} if place.commit else None,
            "dirty": place.dirty or bool(committed.unknown(record)) if place.commit else None,
            "file": source.path or None,
            "line": source.line or None,
            "digest_file": {"sha256": source.sha256} if source.sha256 else None,
        },
        "parameters": {
            key: decimal(value) if isinstance(value, float) else value
            for key, value in target.parameters.items()
        },
        "sampler": _sampler(record),
        "proof": {"citation": f"{proof.paper}, {proof.statement}", "note": proof.note or None}
        if proof
        else None,
    }


def _distribution(facts: Provenance) -> Block:
    name, version = facts.tool, facts.version
    return {"name": name, "version": version, "purl": f"pkg:pypi/{name}@{version}"}


def _sampler(record: Record) -> Block:
    """What drew the noise of the audited runs: ours for an algorithm, the target's own for other code."""
    facts = record.provenance
    known = record.target.kind == "algorithm"
    return {
        "name": "verifiable_dp.core.noise.Seeded" if known else None,
        "library": facts.tool if known else None,
        "version": facts.version if known else None,
        "bit_generator": facts.bit_generator if known else None,
        "idealized_numerics": facts.idealized_numerics,
        "cryptographic_rng": False if known else None,
    }


# ---------------------------------------------------------------- guarantee


_NEIGHBOURS = {Adjacency.ADD_REMOVE: "add_remove_one", Adjacency.ZERO_OUT: "zero_out_one"}


def _guarantee(record: Record, declared: Json) -> Block:
    claim = record.claimed
    promise = claim.value
    variant, measure = _variant(claim)
    relation = claim.relation.kind if claim.relation else "one"
    contribution, bounds = declared.get("contribution", {}), range_of(record)
    outputs = declared.get("unprotected_outputs")
    parameters = {"epsilon": decimal(claim.epsilon), "delta": decimal(claim.delta)}
    parameters |= {claim.curve[0]: decimal(claim.curve[1])} if claim.curve else {}
    groups = _groups(record, contribution.get("max_rounds_per_user"))
    return {
        "variant_name": variant,
        "measure": measure,
        "privacy_parameters": parameters,
        "privacy_unit": promise.unit_in_words,
        "privacy_unit_details": promise.neighbours_in_words,
        "neighboring_relation": _NEIGHBOURS.get(promise.adjacency, f"replace_{relation}"),
        "trust_model": claim.trust_model,
        "contribution_bounds": {
            "max_rounds_per_user": contribution.get("max_rounds_per_user"),
            "enforced_by": contribution.get("enforced_by"),
            "reward_range": [decimal(value) for value in bounds] if bounds else None,
        },
        "protected_output": words.seen(record),
        "unprotected_outputs": outputs and [*map(questions.in_words, outputs)],
        "group_privacy": groups,
        "threat_hypotheses": _threats(record, declared),
        "guidance": nist.guidance(record, contribution.get("max_rounds_per_user"), groups),
    }


def _variant(claim: Claim) -> tuple[str, str]:
    if claim.mu is not None:
        return "Gaussian DP", "gaussian_trade_off"
    if claim.rho is not None:
        return "Zero-concentrated DP", "zero_concentrated_divergence"
    if claim.delta > 0:
        return "Approximate DP", "hockey_stick_divergence"
    return "Pure DP", "max_divergence"


def _groups(record: Record, declared: int | None) -> list[Block]:
    """What the promise about one event implies for as many as are declared, or for our examples.

    Empty if it is about several already.
    """
    claim = record.claimed.value
    if claim.relation != Relation():
        return []
    rows = group_table(claim, sorted({1, declared}) if declared else GROUPS)
    # Twelve digits: what is computed by search differs between versions of a library beyond.
    return [
        {"rounds": row["size"], "epsilon": _rounded(row["epsilon"]), "delta": _rounded(row["delta"])}
        for row in rows
    ]


def _rounded(value: float) -> str:
    return str(decimal(float(f"{value:.12g}"))) if math.isfinite(value) else str(value)


def _threats(record: Record, declared: Json) -> list[Block]:
    rows, bounds = [], range_of(record)
    for i, pair in enumerate(declared.get("threat_hypotheses", [])):
        neighbours, reason = neighbouring(pair["world_0"], pair["world_1"], record.claimed, bounds)
        rows.append(
            {
                "declaration": pointer("declarations", "threat_hypotheses", i),
                "neighbours": neighbours,
                "reason": reason,
            }
        )
    return rows


def _deployment(record: Record, declared: Json) -> Block:
    deployment = declared.get("deployment", {})
    return {
        "description": deployment.get("description"),
        "model_name": deployment.get("model"),
        "query_model": deployment.get("query_model"),
        "release_type": deployment.get("release_type"),
        "data_source_type": deployment.get("data_source"),
        "actors": declared.get("actors"),
    }


def _accounting(record: Record, declared: Json) -> Block:
    stated = declared.get("accounting", {})
    return {
        "composition": stated.get("composition"),
        "post_processing": stated.get("post_processing"),
        "conversions": _conversions(record) if words.promises(record) else [],
        "tool": stated.get("tool"),
    }


def _conversions(record: Record) -> list[Block]:
    """Where the claim was converted from other parameters: those, and the delta that was used."""
    claim, plan = record.claimed, record.plan
    to = {"epsilon": decimal(claim.epsilon), "delta": decimal(claim.delta)}
    found = []
    if claim.curve:
        name, value = claim.curve
        found.append({"kind": _CONVERTED[name], "native": {name: decimal(value)}, "to": to})
    if plan.event_epsilon is not None:
        native = {"epsilon": decimal(plan.event_epsilon), "delta": decimal(plan.event_delta or 0.0)}
        found.append({"kind": "one event to a group", "native": native, "to": to})
    return found


_CONVERTED = {"rho": "zCDP to approximate DP", "mu": "GDP to approximate DP"}


# ---------------------------------------------------------------- claims


def _privacy(record: Record, number: int) -> Block:
    check = record.checks[number]
    kind, statistics, result = check.form, check.statistics, check.result
    return {
        "claim_id": f"{record.target.name}/{check.name}",
        "check": pointer("checks", number),
        "hypothesis": _hypothesis(record),
        "method": {"name": kind.method, "citation": kind.citation},
        "design": _design(record, check),
        "power": _power(record, check),
        "sufficient_statistics": _sufficient(statistics),
        "result": {
            "epsilon_lower_bound": decimal(result.get("epsilon_lower")),
            "epsilon_upper_bound": decimal(result.get("epsilon_upper")),
            "epsilon_point": decimal(result.get("epsilon_point")),
            "confidence": decimal(statistics["confidence"]) if kind.sampled else "1",
            "p_value": decimal(result.get("p_value")),
        },
        "verdict": result["verdict"],
    }


def _hypothesis(record: Record) -> Block:
    claim = record.claimed
    numbers = f"epsilon {decimal(claim.epsilon)}, delta {decimal(claim.delta)}"
    if claim.curve:
        numbers = f"{claim.curve[0]} {decimal(claim.curve[1])}"
    return {
        "null": f"{_variant(claim)[0]} with {numbers} for {Observed(claim.observe).words}",
        "alternative": "some neighbouring inputs exceed it",
    }


def _design(record: Record, check: Check) -> Block:
    runs, statistics = check.form.runs, check.statistics
    found: Block = {"neighbour_pairs": len(record.pairs), "sampled": runs is not None}
    if runs is None:
        return found
    sizes = record.plan.interactive if "adversary" in statistics else record.plan
    tests = statistics["tests"]
    return {
        **found,
        "alpha": decimal(statistics["alpha"]),
        "multiplicity": f"alpha shared by {tests} test{'s' if tests > 1 else ''}",
        "samples_select": sizes.select if sizes else None,
        "samples_test": runs(statistics),
        "sequential": check.kind == "sequential",
    }


def _power(record: Record, check: Check) -> Block | None:
    """The power that was stated for checks of this kind; interactive games have none of their own."""
    power, kind = record.power, check.kind
    played = {"adversary", "strategies"} & check.statistics.keys()
    if power is None or played:
        return None
    stated = power if power.by == kind else power.black_box if kind == "black_box" else None
    if stated is None or power.of_event:  # no epsilon is known to be caught
        return None
    mutants = [m for m in record.mutants if m.breaks == "privacy" and m.decided_by == kind]
    return {
        "min_detectable_epsilon": decimal(stated.smallest_epsilon),
        "at_power": decimal(stated.probability),
        "negative_controls_refuted": sum(m.verdict == "refuted" for m in mutants),
    }


_OF_EVENT = ("pair", "event", "k1", "n1", "k0", "n0")


def _sufficient(statistics: Json) -> list[Block]:
    """Counts of one event; what other checks rest on stands in their statistics only."""
    counted = all(key in statistics for key in _OF_EVENT)
    return [{key: statistics[key] for key in _OF_EVENT}] if counted else []


def _utility(record: Record) -> list[Block]:
    regret = record.regret
    if not regret:
        return []
    found = []
    for number, claim in enumerate(regret.claims):
        checks = [(i, c) for i, c in enumerate(regret.checks) if c.statistics["claim"] == claim.name]
        if not checks:
            continue
        found.append(
            {
                "claim_id": f"{record.target.name}/regret/{claim.name}",
                "theorem": {
                    "id": claim.name,
                    "source": claim.source.statement,
                    "statement": pointer("regret", "claims", number),
                },
                "instances": [_instance(i, check) for i, check in checks],
                "verdict": conclude.regret([check for _, check in checks]),
            }
        )
    return found


_COUNTS = ("replications", "failures")


def _instance(number: int, check: Check) -> Block:
    found: Block = {
        "check": pointer("regret", "checks", number),
        "kind": check.kind,
        "verdict": check.verdict,
    }
    for key, (part, name) in check.form.numbers.items():
        value = getattr(check, part).get(name)
        found[key] = value if key in _COUNTS else decimal(value)
    return found


# ---------------------------------------------------------------- run


def _run(record: Record) -> Block:
    facts, whole = record.provenance, record.as_dict()
    return {
        "invocation": {
            "tool": facts.tool,
            "version": facts.version,
            "command": facts.command,
            "config_digest": _digest({key: whole[key] for key in ("target", "claim", "plan", "seed")}),
            "profile": record.plan.budget,
        },
        "randomness": {
            "bit_generator": facts.bit_generator,
            "seed_entropy": str(record.seed),
            "spawn_scheme": "counter-based: no state is shared, results do not depend on workers",
        },
        "execution": {
            "started": facts.started,
            "finished": facts.finished,
            "cpu_seconds": decimal(facts.cpu_seconds),
            "cores": facts.cores,
        },
        "environment": {
            "python": facts.python,
            "platform": facts.platform,
            "packages": [
                {"purl": f"pkg:pypi/{name}@{version}"}
                for name, version in sorted(facts.packages.items())
                if version
            ],
        },
        "ci": facts.ci and facts.ci.as_dict(),
    }
