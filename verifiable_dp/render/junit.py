"""A record as JUnit XML, which CI services show as a list of tests."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from verifiable_dp.core.claims import CURVED
from verifiable_dp.core.validate import on_one_line
from verifiable_dp.record import words
from verifiable_dp.record.decision import decision
from verifiable_dp.record.model import Record
from verifiable_dp.render.outcomes import TestOutcome, outcomes
from verifiable_dp.render.rendering import Rendering

# What XML 1.0 cannot hold, not even escaped.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


_SKIPPED = ("undecided", "silent")


def to_junit(record: Record) -> str:
    """One test suite for the record, one test case for each check, for the power and for each mutant.

    A refuted or contradicted check is a failure. Inconclusive and vacuous checks, a weak audit, less evidence
    than is required, a power that could not be stated and mutants that were not caught are skipped, with the
    reason.
    """
    found = outcomes(record)
    name, provenance = record.target.name, record.provenance
    counts = {
        "tests": str(len(found)),
        "failures": str(sum(outcome.status == "failed" for outcome in found)),
        "errors": "0",
        "skipped": str(sum(outcome.status in _SKIPPED for outcome in found)),
        "time": f"{float(provenance.cpu_seconds):.3f}",
    }
    total = {key: count for key, count in counts.items() if key != "skipped"}  # the root may not say it
    root = ET.Element("testsuites", {"name": "verifiable-dp", **total})
    stamp = str(provenance.started).removesuffix("Z")  # the format knows no time zone
    suite = ET.SubElement(
        root, "testsuite", {"name": _writable(name), **counts, "timestamp": _writable(stamp)}
    )
    properties = ET.SubElement(suite, "properties")
    for key, value in _properties(record).items():
        ET.SubElement(properties, "property", {"name": key, "value": _writable(value)})
    for outcome in found:
        suite.append(_case(name, outcome))
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _properties(record: Record) -> dict[str, str]:
    claim, source, decided = record.claim, record.target.source, decision(record)
    stated = claim.as_dict() if claim else {}
    found = {
        "verdict": decided.privacy or "",
        "strength": decided.strength if decided.privacy else "",
        "regret": decided.regret or "",
        **{name: stated.get(name, "") for name in ("epsilon", "delta", *CURVED)},
        "promised": words.promised(record) if claim else "",
        "broken": words.broken(record) if record.checks and record.verdict == "refuted" else "",
        "epsilon_lower": record.epsilon_lower if record.checks else "",
        "seed": record.seed,
        "source": f"{source.path}:{source.line}" if source.line else source.path,
        "digest": record.digest,
        "version": record.provenance.version,
    }
    return {key: str(value) for key, value in found.items() if value not in ("", None)}


def _case(target: str, outcome: TestOutcome) -> ET.Element:
    case = ET.Element(
        "testcase",
        {"classname": _writable(f"{target}.{outcome.group}"), "name": _writable(outcome.name), "time": "0"},
    )
    message = _writable(f"{outcome.verdict}: {outcome.message}")
    if outcome.status == "failed":
        failure = ET.SubElement(case, "failure", {"message": message, "type": outcome.verdict})
        again = "again: verifiable-dp verify RECORD --rerun"
        failure.text = _lines(outcome, again)
    elif outcome.status in _SKIPPED:
        ET.SubElement(case, "skipped", {"message": message})
    else:
        ET.SubElement(case, "system-out").text = _lines(outcome)
    return case


def _writable(text: str) -> str:
    """On one line; what cannot be seen, or steers what shows it, is written as an escape."""
    return _UNWRITABLE.sub("\ufffd", on_one_line(text))


def _lines(outcome: TestOutcome, *more: str) -> str:
    """The text of a test case, whose lines begin with our own words."""
    details = [f"- {line}" for line in (*outcome.details, *more)]
    return "\n".join(map(_writable, [f"result: {outcome.message}", *details]))


JUNIT = Rendering("junit", lambda shown: to_junit(shown.record), ending=".xml")
