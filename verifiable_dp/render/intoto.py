"""A record as an in-toto Statement v1 with a test-result predicate, unsigned."""

from __future__ import annotations

import base64
import hashlib
import json

from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.record import questions, words
from verifiable_dp.record.decision import decision
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import canonical, text
from verifiable_dp.render import summary_card
from verifiable_dp.render.outcomes import outcomes
from verifiable_dp.render.rendering import Rendering

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"


def to_intoto(
    record: Record, *, name: str = "record.json", content: bytes | None = None, url: str = ""
) -> str:
    """The statement: which file was audited, by which plan, and which checks passed, warned and failed.

    ``FAILED`` if a check refutes the privacy claim or contradicts a regret theorem; otherwise ``WARNED`` if
    privacy was not audited or is undecided, so is regret, the audit is weak as its page says, or a mutant was
    not caught; otherwise ``PASSED``. A check that says nothing where others decide is in none of the lists.

    Parameters
    ----------
    record
        A whole record.
    name
        File name of the record, for its resource descriptor.
    content
        Bytes of that file, whose SHA-256 the descriptor holds; as `sealing.text` writes it by default.
    url
        Of the run of CI; that of the record, if it knows one, by default.

    Raises
    ------
    InputError
        If the record names no audited file with a digest: a statement needs a subject.

    Source
    ------
    in-toto attestation framework, Statement v1, ResourceDescriptor and predicate test-result v0.1.
    """
    source = record.target.source
    if not (source.path and source.sha256):
        raise InputError("to: in-toto needs a subject, and this record names no audited file with a digest")
    found, run, decided = outcomes(record), run_of(record, url), decision(record)
    by_status = {status: [o.title for o in found if o.status == status] for status in _LISTS}
    if decided.privacy is None:
        by_status["undecided"].append(_NOT_AUDITED)
    result = "undecided" if (decided.privacy, decided.result) == (None, "passed") else decided.result
    predicate = {
        "result": _RESULTS[result],
        "configuration": _configuration(record, name, content),
        **({"url": run} if run else {}),
        **{_LISTS[status]: titles for status, titles in by_status.items()},
    }
    return statement(source.path, source.sha256, PREDICATE, predicate)


def statement(name: str, sha256: str, kind: str, predicate: Json) -> str:
    """A Statement v1 on one file."""
    subject = [{"name": name, "digest": {"sha256": sha256}}]
    whole = {"_type": STATEMENT, "subject": subject, "predicateType": kind, "predicate": predicate}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def run_of(record: Record, url: str) -> str:
    """The address of the run of CI: this one, or that which the record knows; empty without either."""
    ci = record.provenance.ci
    return url or (ci.run_url if ci else None) or ""


def sha256_of(record: Record, content: bytes | None) -> str:
    """Of a record's file, or of what it would be."""
    return hashlib.sha256(text(record.as_dict()).encode() if content is None else content).hexdigest()


_PROMISE = ("epsilon", "delta", "rho", "mu", "observe")  # descriptors are to hold less than 1 KB
_NOT_AUDITED = "privacy: not audited"  # readers of a result ask about privacy
_RESULTS = {"passed": "PASSED", "undecided": "WARNED", "failed": "FAILED"}
_LISTS = {"passed": "passedTests", "undecided": "warnedTests", "failed": "failedTests"}


def _configuration(record: Record, name: str, content: bytes | None) -> list[JsonDict]:
    """Resource descriptors: the record, the plan that decides every count, and the tool."""
    whole = record.as_dict()
    decided = decision(record)
    claim = {key: value for key, value in (whole["claim"] or {}).items() if key in _PROMISE}
    plan = canonical({"claim": claim, "plan": whole["plan"], "seed": record.seed}).encode()
    provenance = record.provenance
    return [
        {
            "name": name,
            "mediaType": "application/json",
            "digest": {"sha256": sha256_of(record, content)},
            "annotations": {
                "recordDigest": record.digest,
                "schemaVersion": record.schema_version,
                "verdict": decided.privacy,
                "headline": summary_card.headline(record),
                "strength": decided.strength,
                "says": words.verdict(record) if record.checks else None,
                "regretVerdict": decided.regret,
                **({"expires": last} if (last := record.declared.get("expires")) else {}),
                **({"holes": questions.brief(holes)} if (holes := questions.holes(record)) else {}),
            },
        },
        {
            "name": "audit-plan",
            "mediaType": "application/json",
            "digest": {"sha256": hashlib.sha256(plan).hexdigest()},
            "content": base64.b64encode(plan).decode(),
        },
        {
            "name": "verifiable-dp",
            "uri": f"pkg:pypi/verifiable-dp@{provenance.version}",
            "annotations": {"commit": provenance.commit, "dirty": provenance.dirty},
        },
    ]


IN_TOTO = Rendering(
    "in-toto",
    lambda shown: to_intoto(shown.record, name=shown.name, content=shown.content, url=shown.url),
    takes_url=True,
)
