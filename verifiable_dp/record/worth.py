"""What an answer in a declarations file is worth: acceptable, a hole, or open, and why.

Only typed answers and numbers are judged. Free text is not searched for words: where it describes a measure,
it is open until the typed answer beside it is given, which decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum

from verifiable_dp.core.claims import Relation, group_table
from verifiable_dp.core.validate import Json, JsonValue
from verifiable_dp.evidence.exclusions import Implied
from verifiable_dp.evidence.words import digits
from verifiable_dp.record import committed, words
from verifiable_dp.record.model import Record
from verifiable_dp.record.worlds import neighbouring, range_of


class AnswerState(StrEnum):
    """What an answer is worth."""

    ACCEPTABLE = "acceptable"
    HOLE = "hole"  # contradicts the promise, or voids it
    OPEN = "open"


Judged = tuple[AnswerState, str]
Judge = Callable[[JsonValue, Record], Judged]


OK, HOLE, OPEN = AnswerState.ACCEPTABLE, AnswerState.HOLE, AnswerState.OPEN
VOID = 10.0  # of one person: above it a coin-toss guess becomes a certainty of more than 99.99 %
_LONG = 365  # days
_EVER = 36_500  # days, longer than a life
_UNCHECKED = "nothing contradicts it, and nothing was checked"
COMMIT = 7  # characters that tell commits apart
_NONE = re.compile(r"\W*(none|no|nothing|nobody|nil)\W*", re.IGNORECASE)  # a whole answer
_EMPTY = re.compile(r"\W*(n/?a|unknown|tbd|todo)?\W*", re.IGNORECASE)


# ---------------------------------------------------------------- judges


def told(value: JsonValue, record: Record) -> Judged:
    """Words, which nothing checks."""
    if _NONE.fullmatch(value) or _EMPTY.fullmatch(value):
        return OPEN, "the answer says nothing"
    return OK, _UNCHECKED


def noted(value: JsonValue, record: Record) -> Judged:
    """An answer that may well be "none"."""
    return OK, _UNCHECKED


def interactive(value: JsonValue, record: Record) -> Judged:
    """How the system is queried: answers that feed back into the data need an adversary that was tried."""
    if value == "interactive" and Implied.REACTIONS in words.by_claim(record):
        return OPEN, "no rewards that depend on earlier outputs were tried"
    return noted(value, record)


def measure(typed: str, judge: Judge) -> Judge:
    """Words on a measure of protection: the typed answer beside them decides; without it "none" is a hole."""

    def judged(value: JsonValue, record: Record) -> Judged:
        if (decides := lookup(record.declared, typed)) is not None:
            bad = judge(decides, record)[0] is HOLE
            return (
                (OPEN, f"{typed} voids the promise, whatever the statement says")
                if bad
                else told(value, record)
            )
        if _NONE.fullmatch(value):
            return HOLE, "there is no such protection"
        return OPEN, f"words alone cannot be judged; also answer {typed}"

    return judged


def encrypted(value: JsonValue, record: Record) -> Judged:
    """Whether raw data are encrypted."""
    return (OK, _UNCHECKED) if value else (HOLE, "raw data are not encrypted")


def readers(value: JsonValue, record: Record) -> Judged:
    """Who reads raw data: not anyone, and nobody where it never leaves its user."""
    if value == "anyone":
        return HOLE, "anyone can read raw data"
    declared, promised = lookup(record.declared, MODEL), record.claim.trust_model if record.claim else None
    if value != "nobody" and promised == "local":
        return HOLE, "in the local model, nobody can read raw data"
    if value != "nobody" and declared == "local":
        return HOLE, "you declared the local model, in which nobody can; declare central if these are trusted"
    return OK, _UNCHECKED


def enforced(value: JsonValue, record: Record) -> Judged:
    """What enforces a cap: nothing is a hole."""
    return (HOLE, "nothing enforces it") if _NONE.fullmatch(value) else told(value, record)


def outputs(value: JsonValue, record: Record) -> Judged:
    """Outputs that the promise does not cover: only trusted readers are acceptable."""
    holes = (found for found in map(_output, value) if found[0] is HOLE)
    return next(holes, (OK, "as declared: no readers other than those that are trusted"))


def _output(one: JsonValue) -> Judged:
    if isinstance(one, str):
        return HOLE, f"the promise does not cover it, and its readers are not declared (readers): {one}"
    if one["readers"] == "trusted":
        return OK, ""
    readers = {"others": "others read", "public": "the public reads"}[one["readers"]]
    return HOLE, f"{readers} it: {one['what']}; the promise does not cover it"


def model(value: JsonValue, record: Record) -> Judged:
    """The trust model: that of the promise."""
    model = record.claim.trust_model if record.claim else value
    if value != model:
        sees = "; it trusts an operator who sees raw rewards" if model == "central" else ""
        return HOLE, f"the promise assumes the {model} model{sees}"
    return OK, "it does not contradict the promise"


def actors(value: JsonValue, record: Record) -> Judged:
    """Who takes part: somebody trusted where the model needs it, and who reads raw data said elsewhere."""
    if not value:
        return OPEN, "nobody is named"
    if record.claim and record.claim.trust_model == "central" and not any(a["trusted"] for a in value):
        return HOLE, "the central model needs a trusted curator, and no actor is trusted"
    apart = [actor["role"] for actor in value if not actor["trusted"]]
    if apart and lookup(record.declared, READERS) is None:
        return OPEN, f"it is not declared whether {apart[0]} reads raw data; also answer {READERS}"
    return OK, "it does not contradict the promise"


def worlds(value: JsonValue, record: Record) -> Judged:
    """Harms: worlds that the promise makes hard to tell apart."""
    if record.claim is None:
        return OPEN, "there is no promise to compare them with"
    for number, pair in enumerate(value, 1):
        held, why = neighbouring(pair["world_0"], pair["world_1"], record.claim, range_of(record))
        if held is False:
            return HOLE, f"{pair.get('harm', f'pair {number}')}: not neighbours under the promise ({why})"
    return (OK, "none lies outside the promise") if value else (OPEN, "no harm is named")


def rounds(value: JsonValue, record: Record) -> Judged:
    """Rounds of one person: few, or with a total that something enforces."""
    if record.claim is None:
        return OPEN, "there is no promise to multiply"
    claim = record.claim.value
    if claim.relation != Relation():
        size = record.claim.size
        return (OK, f"the unit is {size}") if value <= size else (HOLE, f"the promise is for {size} at most")
    (row,) = group_table(claim, [value])
    spent = f"{value} round{'s' * (value > 1)} of one person cost epsilon {digits(row['epsilon'])}"
    if row["epsilon"] <= VOID and row["delta"] < 1:
        audited = record.target.parameters.get("horizon")
        if isinstance(audited, int) and value > audited:
            return OPEN, f"{spent}, and the audited instance ends after {audited}"
        return OK, spent
    total, enforced = (lookup(record.declared, key) for key in (TOTAL, CAP))
    if total is None:
        return HOLE, f"{spent}, and no enforced total is declared"
    if enforced is None or told(enforced, record)[0] is OPEN:
        return HOLE, f"{spent}, and nothing enforces the total"
    return OK, f"{spent}; the declared total ends before"


TOTAL, CAP = "accounting.total_epsilon", "contribution.enforced_by"
READERS, MODEL = "access_control.readers", "deployment.model"


def total(value: JsonValue, record: Record) -> Judged:
    """The total epsilon of one person."""
    if value > VOID:
        return HOLE, f"epsilon {digits(value)} for a person is above {VOID:g}: it protects nobody"
    if record.claim and value < record.claim.epsilon:
        return HOLE, f"the promise alone spends epsilon {digits(record.claim.epsilon)}"
    return OK, _UNCHECKED


def kept(value: JsonValue, record: Record) -> Judged:
    """Days that raw data are kept."""
    if value > _EVER:
        return HOLE, f"{value} days are longer than a lifetime, so the data are kept for ever"
    if value > _LONG:
        return OPEN, f"{value} days are more than {_LONG}; explain why in the statement"
    return OK, _UNCHECKED


def commit(value: JsonValue, record: Record) -> Judged:
    """The commit in production: the audited one."""
    if not (audited := committed.commit_of(record)):
        return OPEN, "the commit that was audited is not known"
    if not audited.startswith(value.lower()):
        return HOLE, f"the audited commit is {audited[:12]}"
    if audited != value.lower():
        return OPEN, "another commit can have the same first digits; give all of them (git rev-parse HEAD)"
    return OK, "it is the commit that was audited"


def expires(value: JsonValue, record: Record) -> Judged:
    """A date after the audit."""
    if value < record.provenance.finished[:10]:
        return HOLE, "it expired before the audit"
    return OK, "audit again by then"


def reviewers(value: JsonValue, record: Record) -> Judged:
    """Reviewers that are no authors."""
    own = [name for name in value if name in (lookup(record.declared, "administrative.authors") or ())]
    if own or not value:
        return OPEN, f"not independent: {own[0]} is an author" if own else "nobody reviewed it"
    return OK, _UNCHECKED


def lookup(declared: Json, key: str) -> JsonValue:
    """The answer at a dotted key; None without one."""
    found: JsonValue = declared
    for part in key.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return None
        found = found[part]
    return found
