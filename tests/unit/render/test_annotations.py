"""Findings as commands of GitHub's workflows: one line each, which no text of a record can end or begin."""

import re

import msgspec
import pytest

from tests import small_records
from tests.committed import REPORTS
from verifiable_dp.record.model import Record
from verifiable_dp.render.annotations import to_github
from verifiable_dp.render.findings import told
from verifiable_dp.report import Report

COMMAND = re.compile(r"::(error|warning|notice) (?:file=[^:,\n]+,(?:line=\d+,)?)?title=DP\d{3}::[^\n]+\n")


@pytest.mark.parametrize("name", ["dp-linear-printed", "dp-nas", "dp-se", "ucb1"])
def test_there_is_a_command_for_each_finding(name):
    record = Report.load(REPORTS / name / "record.json").parsed
    shown = to_github(record)
    assert len(COMMAND.findall(shown)) == len(told(record)) == shown.count("\n")
    assert (name in ("dp-linear-printed", "dp-nas")) == bool(shown)  # a baseline has none to act on


@pytest.mark.parametrize(
    "text", ["a\n::error::b", "a::b,title=x", "100%0A::error::b", "\r::stop-commands::x"]
)
def test_no_text_of_a_record_makes_a_command(text):
    """In its name and in the path of its file. Control: the harmless name has as many commands."""
    record = Record.of(small_records.refuted())
    source = msgspec.structs.replace(record.target.source, path=text)
    hostile = msgspec.structs.replace(
        record, target=msgspec.structs.replace(record.target, name=text, source=source)
    )
    shown, plain = to_github(hostile), to_github(record)
    assert len(COMMAND.findall(shown)) == len(COMMAND.findall(plain)) == shown.count("\n") > 0
    assert "%0A" not in shown.replace("%250A", "")
