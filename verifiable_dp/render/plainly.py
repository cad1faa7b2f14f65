"""A record for readers who are not engineers: its summary in sentences, its terms, its facts in words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from verifiable_dp.core.validate import Json, JsonDict, JsonValue
from verifiable_dp.record import how, words
from verifiable_dp.record.entries import RecordEntry
from verifiable_dp.record.model import Record
from verifiable_dp.render import glossary, parameters, regrets

_MEASURED = {
    "Regret": "Measured regret (the reward lost by not always playing the best arm)",
    "Utility": "No claim is about regret; we measured errors or numbers of rounds instead, and the result",
}
_BEYOND = 20.0  # an epsilon whose exponential tells nobody anything
_REGRET = {
    "consistent": "agrees with the claims",
    "contradicted": "contradicts a claim",
    "vacuous": "says nothing: the theorem's bound cannot fail at these sizes",
    "inconclusive": "neither agrees with the claims nor contradicts them",
}
_TERMS = [term for term in glossary.read() if "pattern" in term]
_NOT_READ = re.compile(r"<(style|svg|script)\b.*?</\1>|<[^>]*>", re.DOTALL)


def summary(record: Record) -> list[str]:
    """Sentences on what the first screen leaves out: what the promise means, how sure it is, what is open."""
    sentences = [_promise(record)] if words.promises(record) and record.checks else []
    sentences += [words.counted(record), words.level(record)]
    regret = record.regret.verdict if record.regret else None
    if regret in _REGRET:
        private = parameters.at_other_privacy(record)
        other = f" The checks used {private}." if private else ""
        if not private and parameters.differing(record):
            other = " It was not measured with the audited parameters."
        found = "meets bounds that we fitted but did not prove" if regrets.chosen(record) else _REGRET[regret]
        sentences.append(f"{_MEASURED[words.measured(record)]} {found}.{other}")
    if record.checks and not (record.mutants or record.kill_table):
        less, others = (
            (" except versions with less noise", "faults of other kinds")
            if record.power
            else ("", "other faults")
        )
        sentences.append(
            f"No broken variants{less} were tried, so nothing shows that the audit would catch {others}."
        )
    if not regret:
        sentences.append("Regret was not measured.")
    return [*filter(None, sentences), f"The record {'. It '.join(words.NON_CLAIMS)}."]


def _promise(record: Record) -> str:
    claim = record.claimed
    epsilon, delta = claim.epsilon, claim.delta
    times = f"{math.exp(epsilon):.3g} times" if epsilon <= _BEYOND else f"e^{epsilon:g} times"
    but = f", apart from an added probability of at most {delta:g}" if delta else ""
    also = f", delta {delta:g}" if delta else ""
    false = ", which does not hold" if record.verdict == "refuted" else ""
    start, end = f"The promise{false}:", ""
    if claim.curve:
        start = f"The promise is {words.promised(record)}{false}. "
        if claim.mu is None:
            start += "By one of several conversions,"
            end = " Another conversion or delta gives another epsilon: a difference is not a safety margin."
        else:
            start += "Because all noise is normal," if claim.rho is not None else "Therefore,"
            end = " A different delta gives a different epsilon."
    return (
        f"{start} changing {words.changed(record)} makes anything visible in "
        f"{words.seen(record)} at most {times} as likely{but} (epsilon {epsilon:.4g}{also}).{end}"
    )


def terms(shown: str) -> list[tuple[str, str]]:
    """Words that a page or a text uses, each explained in a sentence.

    Parameters
    ----------
    shown
        HTML, of which what is read counts, or Markdown.

    Returns
    -------
    list of (word, explanation)
    """
    read = _NOT_READ.sub(" ", shown)
    return [
        (term["word"], term["said"].format(everything=words.EVERYTHING))
        for term in _TERMS
        if re.search(rf"\b{term['pattern']}\b", read, re.IGNORECASE)
    ]


def value(found: JsonValue, missing: str = "none") -> str:
    """A JSON value in words: yes and no for truth values, `missing` for null and for an empty text."""
    if found is None or found == "":
        return missing
    if isinstance(found, bool):
        return "yes" if found else "no"
    if isinstance(found, Mapping | RecordEntry):
        return pairs(found, missing)
    if isinstance(found, list | tuple):
        return f"[{', '.join(value(item, missing) for item in found)}]"
    return str(found)


def pairs(found: Json | RecordEntry, missing: str = "none") -> str:
    """``key = value`` for each, groups in parentheses."""
    found = found.as_dict() if isinstance(found, RecordEntry) else found
    return ", ".join(
        f"{key} ({pairs(item, missing)})" if isinstance(item, Mapping) else f"{key} = {value(item, missing)}"
        for key, item in found.items()
    )


def provenance(record: Record) -> list[tuple[str, str]]:
    """What a record says of where it was made, in words: one row for each fact, in the record's order."""
    facts, table = record.provenance.as_dict(), record.kill_table
    if asked := facts.get("request"):
        facts = {**facts, "request": _asked(asked, record)}
    found = [(_LABELS.get(key, key.replace("_", " ")), _fact(key, facts)) for key in facts]
    return [*found, ("digest of the suite of broken variants", table.digest)] if table else found


def _asked(request: Json, record: Record) -> JsonDict:
    """A request without what it leaves open, and without a default on contexts where the claim has none."""
    found = {key: item for key, item in request.items() if item is not None}
    if not (record.claim and record.claim.protects):
        found["claim"] = {key: item for key, item in request["claim"].items() if key != "protects"}
    return found


_LABELS = {
    "ci": "continuous integration",
    "commit": "commit of the tool",
    "dirty": "uncommitted changes in the tool",
    "target": "repository of the audited file",
    "code": "digest of the tool's code",
}


def _fact(key: str, facts: Json) -> str:
    found = facts[key]
    if key in ("ci", "request"):
        return value(found)
    if key == "packages":
        return pairs(found, "not installed")
    if key == "counted" and found is not None:
        return how.counted(found["asked_again"])
    if key == "dirty" and not facts.get("commit"):
        return "unknown"
    if key == "cores" and not found:
        return "unknown"
    if key == "target" and found is not None:
        if not found.get("commit"):
            return "unknown"
        shown = {"uncommitted changes" if name == "dirty" else name: item for name, item in found.items()}
        return pairs(shown, "unknown")
    return value(found, "unknown")


_CITED = re.compile(r"(?P<authors>[^,&]+(?:, [^,&]+)*? & [^,]+|[^,]+), .*?(?P<year>(?:19|20)\d\d)\D*$")


def short(paper: str) -> str:
    """Authors and year of a paper that is cited as `authors, title, venue year`; else its first words."""
    found = _CITED.fullmatch(paper)
    if not found:
        return paper if len(paper) <= _SHORT else f"{paper[: _SHORT - 1]}…"
    authors = found["authors"]
    first = authors.split(",")[0].split(" & ")[0]
    several = authors.count(",") + authors.count(" & ") > 1
    return f"{f'{first} et al.' if several else authors} {found['year']}"


_SHORT = 40  # characters of a paper that is cited otherwise
