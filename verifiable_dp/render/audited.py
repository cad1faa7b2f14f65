"""What was audited, when, by whom, and how it differs from its paper."""

from __future__ import annotations

from verifiable_dp.compliance.nist import Reviewed
from verifiable_dp.core.claims import Basis
from verifiable_dp.core.units import Role
from verifiable_dp.record import words
from verifiable_dp.record.model import Checkout, CodeEntry, Provenance, Record
from verifiable_dp.record.signing import NONE, SignatureState
from verifiable_dp.render import plainly
from verifiable_dp.render.parameters import apart, settings


def rows(record: Reviewed, signature: SignatureState | None) -> list[tuple[str, str]]:
    """Labels and words of what was audited, and by whom; `signature` is of the file next to the record."""
    target, facts = record.target, record.provenance
    model = "no promise of privacy" if target.model == "none" else f"{target.model} model"
    what = f"{words.title(record)} ({words.kind(record)}, {model})"
    found = [("Target", what)]
    source = record.claimed.source if record.claim else None
    if source:
        found.append(("Promise from", source.statement))
    found.append(("Code", _code(target.source, facts.target)))
    found.append(("When", str(facts.finished)[:10]))
    ci = "in continuous integration" if facts.ci else "outside continuous integration"
    own = f"tool {_commit(facts)}"
    found.append(("Audited with", f"{facts.tool} {facts.version} ({own}), {ci}"))
    authors = "; ".join(record.blocks["administrative"]["authors"])
    found.append(("Answers for declarations", authors or "nobody is named"))
    if record.target.role is Role.USER and facts.request is not None:
        found.append(("Trust in the code", _TRUST))
    tier = record.blocks["tier"]
    if tier:
        found.append(("Tier", f"{tier} (as declared)"))
    signed = signature or NONE
    check = "; check with verify --key" if signed.holds is None else ""
    found.append(("Signature", f"{signed.words}{check}"))
    return found if words.is_baseline(record) else [*found, ("Noise", sampler(record))]


# What no audit that runs code can exclude.
_TRUST = (
    "we assume that it does not deceive: hostile code could invent its counts, or act differently if watched"
)


def _code(source: CodeEntry, place: Checkout) -> str:
    """Which code was audited: the file, its digest and its commit, as far as the record knows them."""
    digest = f"SHA-256 {source.sha256[:12]}…" if source.sha256 else "digest unknown"
    return f"{source.path or 'file unknown'}, {digest}, {_commit(place)}"


def _commit(facts: Checkout | Provenance) -> str:
    dirty = ", with uncommitted changes" if facts.dirty else ""
    return f"commit {facts.commit[:12]}{dirty}" if facts.commit else "commit unknown"


def variant(record: Record) -> str:
    """How what was audited differs from what the paper prints; empty where no difference is known."""
    corrected = record.target.parameters.get("variant") == "corrected"
    # Where the promise is not quite that of the paper, another thing was audited than the paper says.
    source = record.claimed.source if record.claim else None
    note = source.note if source else ""
    if words.is_printed(record):
        return "As printed in the paper."
    if corrected:
        return f"Corrected, not as printed (see errata){f': {note}' if note else ''}."
    if _is_unread(record):
        return "Our own version: we did not have the paper, so all constants are ours."
    if record.target.parameters.get("budget") == "per-arm":
        return "Not as printed: each arm has the whole epsilon; the paper splits epsilon among the arms."
    return f"Note on the promise: {note}." if note else ""


def origin(record: Record) -> str:
    """Authors and year of the paper, and whether what was audited is what it prints; empty without one."""
    paper = plainly.short(record.target.paper)
    if not paper:
        return ""
    if words.is_printed(record):
        return f"{paper}, as printed"
    if record.target.parameters.get("variant") == "corrected":
        return f"{paper}, corrected"
    if _is_unread(record):
        return f"our version; we have not read {paper}"
    source = record.claim.source if record.claim else None
    return f"{paper}; {source.note}" if source and source.note else paper


def _is_unread(record: Record) -> bool:
    """Whether nobody here has read the paper that the promise is ascribed to."""
    source = record.claim.source if record.claim else None
    return source is not None and source.basis == Basis.UNREAD


def briefly(record: Record) -> str:
    """Size of the audited instance and which code it was, in a line."""
    source, place = record.target.source, record.provenance.target
    horizon = record.target.parameters.get("horizon")
    code = f"code {source.sha256[:12]}" if source.sha256 else "code unknown"
    code = f"commit {place.commit[:12]}" if place.commit else code
    return f"Horizon {horizon}, {code}" if horizon else f"{code[:1].upper()}{code[1:]}"


def instance(record: Record) -> str:
    """Which instance was audited, and that nothing was said of others."""
    parameters = dict(record.target.parameters)
    shown = settings({key: value for key, value in parameters.items() if key != "variant"}, record)
    return " ".join(filter(None, (f"Only this instance{f': {shown}' if shown else ''}.", apart(record))))


def sampler(record: Record) -> str:
    """Whether the noise of the audit is that of production."""
    if record.target.kind == "algorithm":
        drawn = "the audit used seeded, ideal noise; a live session draws from OpenDP, "
        return f"{drawn}{words.of_production(record) or 'which was not tested here'}"
    return "the audit used the target's own noise; we do not know whether production draws the same noise"
