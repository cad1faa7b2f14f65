"""Audits below the API, in one line each."""

from dataclasses import fields

from verifiable_dp.auditing import rungs
from verifiable_dp.auditing.plans import silent
from verifiable_dp.auditing.request import AuditRequest, Inputs, Promise, Settings


def audited(target, *, name="it", pinned=None, progress=silent, **options):
    """The draft of an audit; each option goes where it belongs."""
    parts = [
        kind(**{f.name: options.pop(f.name) for f in fields(kind) if f.name in options})
        for kind in (Promise, Inputs, Settings)
    ]
    assert not options, options
    return rungs.draft(AuditRequest(target, name, *parts, pinned=pinned, progress=progress))
