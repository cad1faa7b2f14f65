"""Audits below the API, in one line each."""

from dataclasses import fields
from unittest import mock

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


def places_alike():
    """Audits within compare no runs by their place in a call.

    That refutes nothing, and is most of the work where an audit makes few runs and there are many audits.
    """
    return mock.patch.object(rungs, "_together", return_value=False)
