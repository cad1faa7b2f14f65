"""A record as SARIF 2.1.0, the format in which code hosts show findings beside the code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path, PurePath
from urllib.parse import quote

from verifiable_dp.core.claims import CURVED
from verifiable_dp.core.validate import JsonDict, JsonValue, on_one_line
from verifiable_dp.record import questions, words
from verifiable_dp.record.decision import decision
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import canonical
from verifiable_dp.render.findings import RULES, Finding, FindingCode, FindingRule, findings
from verifiable_dp.render.rendering import Rendering

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def to_sarif(record: Record) -> str:
    """One result for each refuted or contradicted check, and one if privacy is undecided or the audit weak.

    One, too, if the evidence is less than is required.

    Then also the lines at which tracing saw raw data decide, or where releases cost too much. Another
    target that keeps its claims before a strong audit gives an empty list of results.
    """
    found = decision(record)
    told = [each for each in findings(record) if each.ignored or each.severity != "note"]
    run = {
        "tool": {
            "driver": {
                "name": "verifiable-dp",
                "version": record.provenance.version,
                "rules": [_rule(code, rule) for code, rule in RULES.items()],
            }
        },
        "results": [_result(record, each) for each in sorted(told, key=lambda each: each.code)],
        "automationDetails": {"id": _category(record)},
        "properties": {
            "digest": record.digest,
            "verdict": record.verdict,
            "strength": found.strength,
            **_declared(record),
        },
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [_seen(run)]}
    return json.dumps(log, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _declared(record: Record) -> JsonDict:
    """What was declared, where anything was."""
    said = {one.question.id: f"{one.state}: {one.words}" for one in questions.answers(record) if one.given}
    return {"declarations": said} if said else {}


def _rule(code: FindingCode, rule: FindingRule) -> JsonDict:
    return {
        "id": code,
        "shortDescription": {"text": rule.title},
        "help": {"text": f"What to do: {rule.advice}."},
    }


def _seen(value: JsonValue) -> JsonValue:
    """Values whose texts are on one line, without characters that are not seen or turn the direction."""
    if isinstance(value, Mapping):
        return {key: _seen(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_seen(item) for item in value]
    return on_one_line(value) if isinstance(value, str) else value


def _category(record: Record) -> str:
    """What tells this run from others: code hosts take one run of a tool and category, and refuse two."""
    target, claim = record.target, record.claim.as_dict() if record.claim else {}
    promise = "".join(
        f" {key} {claim[key]}" for key in ("epsilon", "delta", *CURVED, "observe") if key in claim
    )
    mark = hashlib.sha256(canonical(target.parameters).encode()).hexdigest()[:8]
    return f"verifiable-dp/{words.title(record)}{promise} {mark}/"


def _result(record: Record, finding: Finding) -> JsonDict:
    result: JsonDict = {
        "ruleId": finding.code,
        "level": finding.severity,
        "message": {"text": finding.told(words.title(record))},
    }
    if finding.file:
        result["locations"] = [_location(finding.file, finding.line, record.target.ours)]
    if finding.ignored:
        result["suppressions"] = [{"kind": "inSource", "justification": finding.ignored}]
    return result


_ROOT = Path(__file__).resolve().parents[2]
# Folders that are links in a checkout of ours; installed there are none.
_LINKS = {
    place.relative_to(_ROOT): place.resolve().relative_to(_ROOT)
    for place in (_ROOT / "verifiable_dp").iterdir()
    if place.is_symlink()
}


def _location(file: str, line: int, ours: bool) -> JsonDict:
    """A place as a code host shows it: without links, where the target is one of ours."""
    path = PurePath(file)
    links = [link for link in _LINKS if ours and path.is_relative_to(link)]
    path = _LINKS[links[0]] / path.relative_to(links[0]) if links else path
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    location: JsonDict = {"artifactLocation": {"uri": uri}}
    if line:
        location["region"] = {"startLine": line}
    return {"physicalLocation": location}


SARIF = Rendering("sarif", lambda shown: to_sarif(shown.record), ending=".sarif")
