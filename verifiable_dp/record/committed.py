"""Of which commit a record is, and which records are of none."""

from __future__ import annotations

from verifiable_dp.record.model import Record
from verifiable_dp.record.provenance import TREE
from verifiable_dp.targets import opened

_IN_MEMORY = ("object", "algorithm")  # kinds of targets that whoever asks has made


def commit_of(record: Record) -> str:
    """The commit that has the code that was audited, as far as the record says it; empty if none is known.

    It is that of this package for an algorithm of the catalogue.
    """
    place = record.provenance if record.target.ours else record.provenance.target
    return "" if place.dirty or unknown(record) else place.commit


def unknown(record: Record) -> str:
    """Why nobody can tell which code was audited, and what to do; empty if its files are known."""
    facts, asked = record.provenance, record.provenance.request
    if record.target.ours:
        return ""
    if facts.in_process or facts.ran_before or (asked and asked.target.kind in _IN_MEMORY):
        return (
            f"{record.target.name} was loaded in a process in which other code had run, or in a "
            "copy of one, so we do not know what it read or what changed it; audit it by name "
            "(file.py:name) with the command verifiable-dp audit"
        )
    if filtered := facts.target.filtered:
        return (
            f"git changes {filtered[0]} during checkout (Git LFS or another filter, ident, an encoding "
            "or eol=crlf in .gitattributes), so production may have other contents; run git lfs pull or "
            "remove the attribute, and audit again"
        )
    missed = (name for name, one in (facts.target.opened or {}).items() if one in opened.MISSED)
    if not record.audited and (name := next(missed, "")):  # in an audit of privacy, it is a doubt
        return (
            f"the code asked for {name.removeprefix('./')!r} and did not get it, so it may behave "
            "differently where it does; install what it needs, or audit without a cage and without secrets"
        )
    if asked and asked.target.kind == "command" and TREE not in asked.target.files:
        return (
            f"we cannot tell which code {record.target.name!r} runs; begin the command with a "
            "program in your repository, or with an interpreter such as python followed by a file in your "
            "repository, and audit in a checkout"
        )
    return ""
