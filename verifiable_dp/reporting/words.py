"""What a record says, in words that every rendering shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verifiable_dp.reporting import excerpts

_BASELINE = "non-private baseline"


def is_baseline(record: Mapping[str, Any]) -> bool:
    """Whether the target makes no privacy promise."""
    return str(record["target"]["note"]).startswith(_BASELINE)


def is_printed(record: Mapping[str, Any]) -> bool:
    """Whether the target is a listing as printed that the default variant corrects."""
    return str(record["target"]["note"]).startswith("the listing as printed")


def p_value_in_words(value: float) -> str:
    """Three digits; what underflows is bounded."""
    return f"{value:.3g}" if value > 0 else "below 1e-300"


def title(record: Mapping[str, Any]) -> str:
    """Name of the target; a listing as printed says so."""
    return f"{record['target']['name']}{' as printed' if is_printed(record) else ''}"


def in_words(found: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    """What a counterexample of a record shows, and where it was found, in a few words."""
    place = found_on(found, record)
    return f"{_shown(found)}; {place}" if place else _shown(found)


def found_on(found: Mapping[str, Any], record: Mapping[str, Any] | None) -> str:
    """The instance that a counterexample was found on; empty where it is the audited one.

    What that instance promises may differ from the claim: a loss counts in units of it. Without a record,
    as in the errata, there is nothing to compare it with.
    """
    if "instance" not in found:
        return ""
    audited, words = record["target"]["parameters"] if record else {}, ""
    others = {k: v for k, v in found["instance"].items() if k not in audited or audited[k] != v}
    if others:
        words = f"found on a small instance ({', '.join(f'{k} = {v}' for k, v in others.items())})"
    if "rounds" in found:
        first = f"the first {found['rounds']} rounds"
        words = f"{words}, {first}" if words else f"found on {first} of the audited instance"
    epsilon, claimed = found.get("epsilon"), record["claim"]["epsilon"] if record else None
    if not words or epsilon is None or epsilon == claimed:
        return words
    words = f"{words}, which claims epsilon {epsilon:g}"
    if claimed is None or "loss" not in found or found.get("divergence"):
        return words
    least = abs(float(found["loss"])) / epsilon * claimed
    return f"{words}: epsilon at least {least:.4g} when held against a claim of {claimed:g}"


def _shown(found: Mapping[str, Any]) -> str:
    if "delta_lower" in found:
        return f"event {found['event']}, delta at least {float(found['delta_lower']):.4g}"
    if "event" in found:
        return f"event {found['event']}, p-value {p_value_in_words(found['p_value'])}"
    if found.get("divergence"):
        return str(found["divergence"])
    return f"cost {float(found['cost']):.6g}, loss {float(found['loss']):.6g}"


def is_lead_only(check: Mapping[str, Any]) -> bool:
    """Whether a tracing says something against the claim that refutes nothing: actions alone are seen."""
    if check["kind"] != "tracing" or check["statistics"]["failure"] or not check["statistics"]["examined"]:
        return False
    return check["result"]["verdict"] != "refuted" and not check["result"]["holds"]


def leads(check: Mapping[str, Any]) -> list[str]:
    """What tracing names lines for, as linters write it: ``file:line: what``.

    Raw data that decides, releases that cost more than the claim, and draws that cannot be repeated.
    """
    if check["kind"] != "tracing":
        return []
    numbers = check["statistics"]
    found = [(lead["file"], lead["line"], lead_in_words(lead)) for lead in numbers["leads"] if lead["open"]]
    found += [(row["file"], row["line"], share_in_words(row)) for row in excerpts.too_costly(numbers)]
    found += [(note["file"], note["line"], note["what"]) for note in numbers["notes"]]
    apart = [numbers["divergence"]] if excerpts.names_a_line(numbers["divergence"]) else []
    return [*(f"{file}:{line}: {words}" for file, line, words in found), *apart]


def lead_in_words(lead: Mapping[str, Any]) -> str:
    """What a lead says of its line, with its source."""
    return f"{lead['words']}: {lead['source']}"


def share_in_words(share: Mapping[str, Any]) -> str:
    """What the releases of a line cost."""
    often = excerpts.times(share["releases"])
    return f"release costs {float(share['cost']):.6g}{f', {often}' if often else ''}: {share['source']}"
