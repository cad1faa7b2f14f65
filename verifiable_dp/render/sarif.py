"""A record as SARIF 2.1.0, the format in which code hosts show findings beside the code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path, PurePath
from urllib.parse import quote

from verifiable_dp.core.claims import CURVED
from verifiable_dp.core.validate import Json, JsonDict, JsonValue, on_one_line
from verifiable_dp.record import words
from verifiable_dp.record.decision import decision
from verifiable_dp.record.excerpts import too_costly
from verifiable_dp.record.sealing import canonical
from verifiable_dp.render import card
from verifiable_dp.render.rendering import Rendering

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES = {
    "privacy": "The differential-privacy claim is refuted by a counterexample that can be run again.",
    "raw-data": "Raw data decides something before any noise.",
    "release-cost": "Releases cost more than the privacy claim, as far as their noise can bound it.",
    "privacy-undecided": "The audit could neither refute the privacy claim nor show enough in its favour.",
    "privacy-weak": "No violation of the privacy claim was found, but a large one could have been missed.",
    "regret": "The regret theorem is contradicted by measurements.",
}


def to_sarif(record: Json) -> str:
    """One result for each refuted or contradicted check, and one if privacy is undecided or the audit weak.

    Then also the lines at which tracing saw raw data decide, or where releases cost too much. A target that
    keeps its claims before a strong audit gives an empty list of results.
    """
    found = decision(record)
    run = {
        "tool": {
            "driver": {
                "name": "verifiable-dp",
                "version": record["provenance"]["version"],
                "rules": [{"id": name, "shortDescription": {"text": text}} for name, text in _RULES.items()],
            }
        },
        "results": [*(_result(record, *finding) for finding in _findings(record)), *_leads(record)],
        "automationDetails": {"id": _category(record)},
        "properties": {"digest": record["digest"], "verdict": record["verdict"], "strength": found.strength},
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [_seen(run)]}
    return json.dumps(log, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _seen(value: JsonValue) -> JsonValue:
    """Values whose texts are on one line, without characters that are not seen or turn the direction."""
    if isinstance(value, Mapping):
        return {key: _seen(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_seen(item) for item in value]
    return on_one_line(value) if isinstance(value, str) else value


def _category(record: Json) -> str:
    """What tells this run from others: code hosts take one run of a tool and category, and refuse two."""
    target, claim = record["target"], record["claim"] or {}
    promise = "".join(
        f" {key} {claim[key]}" for key in ("epsilon", "delta", *CURVED, "observe") if key in claim
    )
    mark = hashlib.sha256(canonical(target["parameters"]).encode()).hexdigest()[:8]
    return f"verifiable-dp/{words.title(record)}{promise} {mark}/"


def _findings(record: Json) -> list[tuple[str, str, str]]:
    """(rule, level, message) of each finding."""
    found: list[tuple[str, str, str]] = []
    name, verdict = words.title(record), words.verdict(record)
    for example in record["counterexamples"]:
        shown = f"{example['check']}: {words.counterexample(example, record)}"
        found.append(("privacy", "error", f"{name}: {verdict} {shown}."))
    if record["checks"] and record["verdict"] == "inconclusive":
        text = f"{name}: {verdict} {words.note(record)}"
        found.append(("privacy-undecided", "warning", text.strip()))
    if decision(record).weak:
        found.append(("privacy-weak", "warning", f"{name}: {card.headline(record)}."))
    for check in record["regret"]["checks"] if record["regret"] else []:
        if check["result"]["verdict"] == "contradicted":
            found.append(("regret", "error", f"{name}: {words.line(check)}."))
    return found


def _leads(record: Json) -> list[JsonDict]:
    """A warning on each line that tracing names, unless the claim stands."""
    if record["verdict"] == "not_refuted":
        return []
    traced = [check["statistics"] for check in record["checks"] if check["kind"] == "tracing"]
    raw = [lead for numbers in traced for lead in numbers["leads"] if lead["open"]]
    costly = [row for numbers in traced for row in too_costly(numbers)]
    return [
        *(_warning("raw-data", lead, words.lead_in_words(lead)) for lead in raw),
        *(_warning("release-cost", row, words.share_in_words(row)) for row in costly),
    ]


def _warning(rule: str, row: Json, text: str) -> JsonDict:
    place = _location(row["file"], row["line"])
    return {"ruleId": rule, "level": "warning", "message": {"text": text}, "locations": [place]}


_ROOT = Path(__file__).resolve().parents[2]


def _in_repository(file: str) -> PurePath:
    """A path without links, as a code host shows it: the package's `algorithms` is a link in our checkout.

    Installed there are no links, and the file of any other target stays as it is.
    """
    path = PurePath(file)
    if path.is_absolute() or ".." in path.parts or path.parts[:1] != ("verifiable_dp",):
        return path
    real = (_ROOT / path).resolve()
    return real.relative_to(_ROOT) if real.is_relative_to(_ROOT) else path


def _location(file: str, line: int) -> JsonDict:
    path = _in_repository(file)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    location: JsonDict = {"artifactLocation": {"uri": uri}}
    if line:
        location["region"] = {"startLine": line}
    return {"physicalLocation": location}


def _result(record: Json, rule: str, level: str, text: str) -> JsonDict:
    source = record["target"]["source"]
    result: JsonDict = {"ruleId": rule, "level": level, "message": {"text": text}}
    if source["path"]:
        result["locations"] = [_location(source["path"], source["line"])]
    return result


SARIF = Rendering("sarif", lambda shown: to_sarif(shown.record))
