"""A record as SARIF 2.1.0, the format in which code hosts show findings beside the code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from verifiable_dp.reporting.record import in_words

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES = {
    "privacy": "The differential-privacy claim is refuted by a counterexample that can be run again.",
    "raw-data": "Raw data decides something before any noise.",
    "privacy-undecided": "The audit could neither refute the privacy claim nor state its power.",
    "regret": "The regret theorem is contradicted by measurements.",
}


def to_sarif(record: Mapping[str, Any]) -> str:
    """One result for each refuted or contradicted check, and one if privacy stays undecided.

    Then also the lines at which tracing saw raw data decide. A target that keeps its claims gives an empty
    list of results.
    """
    run = {
        "tool": {
            "driver": {
                "name": "verifiable-dp",
                "version": record["provenance"]["version"],
                "rules": [{"id": name, "shortDescription": {"text": text}} for name, text in _RULES.items()],
            }
        },
        "results": [*(_result(record, *finding) for finding in _findings(record)), *_leads(record)],
        "properties": {"digest": record["digest"], "verdict": record["verdict"]},
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _findings(record: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """(rule, level, message) of each finding."""
    found: list[tuple[str, str, str]] = []
    name, claim = record["target"]["name"], record["claim"]
    for example in record["counterexamples"]:
        least = f"epsilon is at least {float(record['epsilon_lower']):.4g}, claimed {claim['epsilon']:g}"
        text = f"{name}: {least}; {example['check']}: {example['pair']['words']}; {in_words(example)}."
        found.append(("privacy", "error", text))
    if record["checks"] and record["verdict"] == "inconclusive":
        text = f"{name}: inconclusive against epsilon {claim['epsilon']:g}. {record['target']['note']}"
        found.append(("privacy-undecided", "warning", text.strip()))
    for check in record["regret"]["checks"] if record["regret"] else []:
        if check["result"]["verdict"] == "contradicted":
            p_value = float(check["result"]["p_value"])
            text = f"{name}: {check['name']} is contradicted, p-value {p_value:.3g}."
            found.append(("regret", "error", text))
    return found


def _leads(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A warning on each line where raw data decided something, unless the claim stands."""
    if record["verdict"] == "not_refuted":
        return []
    return [
        {
            "ruleId": "raw-data",
            "level": "warning",
            "message": {"text": f"{lead['words']}: {lead['source']}"},
            "locations": [_location(lead["file"], lead["line"])],
        }
        for check in record["checks"]
        if check["kind"] == "tracing"
        for lead in check["statistics"]["leads"]
        if lead["open"]
    ]


def _location(file: str, line: int) -> dict[str, Any]:
    path = PurePath(file)
    uri = path.as_uri() if path.is_absolute() else path.as_posix()
    location: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if line:
        location["region"] = {"startLine": line}
    return {"physicalLocation": location}


def _result(record: Mapping[str, Any], rule: str, level: str, text: str) -> dict[str, Any]:
    source = record["target"]["source"]
    result: dict[str, Any] = {"ruleId": rule, "level": level, "message": {"text": text}}
    if source["path"]:
        result["locations"] = [_location(source["path"], source["line"])]
    return result
