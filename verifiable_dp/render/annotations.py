"""Findings as commands of GitHub's workflows, which shows each at its line of a pull request.

Source: GitHub, Workflow commands, "Setting an error message".
"""

from __future__ import annotations

from verifiable_dp.core.validate import on_one_line
from verifiable_dp.record import words
from verifiable_dp.record.model import Record
from verifiable_dp.render.findings import Finding, told
from verifiable_dp.render.rendering import Rendering

_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def to_github(record: Record) -> str:
    """A line for each finding; no text of a record can begin another command or end this one."""
    return "".join(f"{_command(record, finding)}\n" for finding in told(record))


def _command(record: Record, finding: Finding) -> str:
    place = {"file": finding.file, "line": str(finding.line or "")} if finding.file else {}
    values = {**place, "title": finding.code}
    properties = ",".join(f"{key}={_property(value)}" for key, value in values.items() if value)
    text = _data(f"{finding.told(words.title(record)).rstrip('.')}. To do: {finding.advice}.")
    return f"::{_LEVELS[finding.severity]} {properties}::{text}"


def _data(text: str) -> str:
    return on_one_line(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


GITHUB = Rendering("github", lambda shown: to_github(shown.record))
