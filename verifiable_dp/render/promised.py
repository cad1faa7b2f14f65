"""What a record promises, to whom, and what that leaves a person with several rounds."""

from __future__ import annotations

import math

from verifiable_dp.compliance.nist import MOST_DELTA, WARN_EPSILON, Reviewed
from verifiable_dp.core.units import Plays, Protected, TrustModel, Unit
from verifiable_dp.core.validate import Json
from verifiable_dp.evidence.words import digits
from verifiable_dp.record import words
from verifiable_dp.record.model import Claim, Record
from verifiable_dp.render.strength import capital


def promise(record: Record) -> str:
    """The claim and its unit."""
    claim = record.claim
    if claim is None or not record.checks:
        return "Privacy was not audited."
    if words.is_baseline(record):
        return (
            "None: no epsilon, no unit, no adversary. As a yardstick, the audit tests epsilon "
            f"{digits(claim.epsilon)} for changing {words.changed(record)}, against anyone who sees "
            f"{words.seen(record)}."
        )
    delta, large = f" and delta {digits(claim.delta)}" if claim.delta else "", claim.delta > MOST_DELTA
    if claim.epsilon > WARN_EPSILON:  # what guidance calls large
        delta = f"{delta} (both large)" if large else f" (large){delta}"
    elif large:
        delta += " (large)"
    verb = "was meant to protect" if record.verdict == "refuted" else "protects"
    person = "; whether that is a person is not stated" if _event(record) == "entry" else ", not a person"
    if claim.protects in (Protected.REWARD_CENTRAL, Protected.REWARD_JOINT):
        person = ", but not contexts or a person"
    one = f" It {verb} one {_event(record)}{person}." if _of_one(claim) else ""
    if claim.unit == Unit.PAIRS:
        one = " It names no unit of privacy."
    elif one and record.declared.get("contribution", {}).get("max_rounds_per_user") == 1:
        one = f" It {verb} one {_event(record)}; a person, if the declaration is true."
    local, own = claim.trust_model == TrustModel.LOCAL, words.keeps_own_action(record)
    who = "anyone, even the operator," if local and not own else "anyone"
    trusted = {
        TrustModel.CENTRAL: "; the operator is trusted",
        TrustModel.SHUFFLE: "; only the shuffler is trusted",
        TrustModel.LOCAL: "; not an operator who sees that action" if own else "",
    }.get(claim.trust_model, "")
    how = "or, loosely converted," if claim.mu is None else "so" if claim.rho is None else "with normal noise"
    implied = f"{words.promised(record)}, {how} at most " if claim.curve else ""
    return (
        f"{capital(f'{implied}epsilon')} {digits(claim.epsilon)}{delta} for changing "
        f"{words.changed(record).partition(' (')[0]}, against {who} who sees "
        f"{words.seen(record)}{trusted}.{one}"
    )


def terms(record: Record) -> list[tuple[str, str]]:
    """What is promised, and to whom, as labels and words; of a baseline, what it is tested against."""
    claim, source = record.claimed, record.claimed.source
    how = "by one conversion of several, " if claim.mu is None else "with normal noise, "
    implied = f"{words.promised(record)}; {how}" if claim.curve else ""
    by = "set by the audit" if words.is_baseline(record) else "claimed by the person who ran the audit"
    note = f" ({source.note})" if source and source.note else ""
    return [
        ("Privacy parameters", f"{implied}epsilon {digits(claim.epsilon)}, delta {digits(claim.delta)}"),
        ("Trust model", words.trust(record)),
        ("Unit of privacy", words.unit(record)),
        ("Neighbouring inputs", words.neighbours(record)),
        ("The adversary sees", words.seen(record)),
        ("Source", f"{source.paper}, {source.statement}{note}" if source else f"none; {by}"),
    ]


def _of_events(record: Record) -> bool:
    """Whether the promise, as far as it is not known to be false, is about one event rather than more."""
    return _of_one(record.claimed) and record.verdict != "refuted"


def _of_one(claim: Claim) -> bool:
    return claim.size == 1 and claim.unit != Unit.PAIRS


def _event(record: Record) -> str:
    """What a person may have several of."""
    if words.is_stream(record):
        return "value"
    return "entry" if record.target.plays == Plays.DATA else "round"


def several(record: Record, count: int = 2) -> str:
    """What a person may have several of: rounds, values or entries; or one of."""
    if count == 1:
        return _event(record)
    return "entries" if _event(record) == "entry" else f"{_event(record)}s"


_ROUNDS = 10  # of a person, whom the card speaks of where nothing is declared


def of_a_person(record: Reviewed) -> list[str]:
    """What the promise about one event leaves a person with several: as many as are declared, or our example.

    Empty where it is about more already, where it is false, where the data are given as pairs, and where a
    person has one, as declared.
    """
    if not _of_events(record):
        return []
    declared = record.blocks["guarantee"]["contribution_bounds"]["max_rounds_per_user"]
    least = most = declared
    if declared is None:
        least, most = 2, min(_ROUNDS, int(record.target.parameters.get("horizon") or _ROUNDS))
    what = several(record)
    rows = [
        row for row in record.blocks["guarantee"]["group_privacy"] if max(2, least) <= row["rounds"] <= most
    ]
    return [of_rounds(row, what, "our example" if declared is None else "as declared") for row in rows[-1:]]


def of_rounds(row: Json, what: str, which: str) -> str:
    """What a row of the table of groups leaves a person."""
    person = f"{capital(what)} add up: "
    if float(row["delta"]) >= 1:
        whose = f"{person}for a person with {row['rounds']} ({which})"
        return f"{whose} this conversion gives no guarantee: delta is 1"
    delta = f" and delta {digits(row['delta'])}" if float(row["delta"]) else ""
    less = f"has less protection: epsilon {digits(row['epsilon'])}{delta}"
    return f"{person}a person with {row['rounds']} {what.lower()} ({which}) {less}"


def certainty(epsilon: float, delta: float = 0.0) -> float:
    """The most that who tosses a coin on one bit can be right after seeing the output.

    The total variation of two such laws is at most (e^epsilon - 1 + 2 delta) / (e^epsilon + 1).
    """
    return min(1.0, (1.0 + delta * math.exp(-epsilon)) / (1.0 + math.exp(-epsilon)))


def guesses(row: Json) -> str:
    """How often an attacker of a row of the table of groups is right, at most; not rounded up to always."""
    share = certainty(float(row["epsilon"]), float(row["delta"]))
    shown = f"{100 * share:.0f} %" if share < 0.995 else "nearly 100 %"
    return shown if float(row["delta"]) < 1 else "no limit"
