"""A record as GitHub-flavoured Markdown: for pull requests, job summaries and wikis."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from verifiable_dp.reporting import nist, plainly, tables
from verifiable_dp.reporting.outcomes import number, numbers, power_in_words
from verifiable_dp.reporting.page import of_claim
from verifiable_dp.reporting.words import in_words, is_baseline, is_printed, leads, title

_EXAMPLE_ROWS = 10
# Marks of Markdown, and $, which code hosts read as a formula.
_MARKS = re.compile(r"([\\`*_\[\]#|~$])")
# What starts a link, an emoji or a list; the entity of its last character stops that and shows the same.
_STARTS = re.compile(
    r"(?i):(?=//)|:(?=[a-z+-][\w+-]*:)|(?<!\d):(?=\d+:)|www\.|^\d+[.)](?=\s|$)|^[-+=](?=[\s=-]|$)"
)
# Code hosts look for mentions of people and issues in what is shown, so that only a space of no width helps.
_MENTION = re.compile(r"(@|\\#)(?=\w)")
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+")
_PLAIN_CODE = re.compile(r"[\w .:/=<>,+@%-]+", re.ASCII)


def to_markdown(record: Mapping[str, Any]) -> str:
    """The whole report: verdicts, claim, checks, counterexamples, power, mutants, regret, provenance.

    Every text of the record is escaped: it can neither format, nor link, nor mention anyone.
    """
    parts = [
        *_head(record),
        *_plainly(record),
        *_claim(record),
        *_checks(record),
        *_counterexamples(record),
        *_power(record),
        *_mutants(record),
        *_regret(record),
        *_not_covered(record),
        *_hazards(record),
    ]
    parts += [*_explained(record, "\n".join(parts)), *_provenance(record)]
    return "\n\n".join(parts) + "\n"


def escape(value: Any) -> str:
    """A text that shows as it is, on one line, wherever it stands in a Markdown document or table."""
    words = _UNSEEN.sub(" ", str(value)).strip()
    words = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    words = _MARKS.sub(r"\\\1", words)
    return _MENTION.sub(r"\1&#8203;", _STARTS.sub(_entity, words))


def _entity(found: re.Match[str]) -> str:
    text = found[0]
    return f"{text[:-1]}&#{ord(text[-1])};"


def code(value: Any) -> str:
    """As code where that cannot break out, else escaped."""
    words = str(value)
    return f"`{words}`" if _PLAIN_CODE.fullmatch(words) else escape(words)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    """A table of cells that are Markdown already; the columns `right` are aligned to the right."""
    rule = ["---:" if i in right else "---" for i in range(len(head))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows))


def _pairs(value: Mapping[str, Any]) -> str:
    return escape(plainly.pairs(value))


def _words(value: Any) -> str:
    return escape(str(value).replace("_", " "))


def _head(record: Mapping[str, Any]) -> list[str]:
    target, claim = record["target"], record["claim"]
    parts = [f"# {escape(title(record))}: audit record"]
    if record["checks"]:
        parts.append(
            f"**Privacy: {_words(record['verdict'])}.** {_verdict(record, number(claim['epsilon']))}"
        )
    if record["regret"] and record["regret"]["verdict"]:
        parts.append(f"**Regret: {_words(record['regret']['verdict'])}.**")
    about = [escape(target["paper"] or target["source"]["path"]), _pairs(target["parameters"])]
    parts.append("  \n".join(line for line in about if line))
    if target["note"] and not is_baseline(record):
        parts.append(f"Note: {escape(target['note'])}")
    return [part for part in parts if part]


def _verdict(record: Mapping[str, Any], epsilon: str) -> str:
    lower = number(record["epsilon_lower"])
    if is_baseline(record):
        return (
            f"This baseline makes no privacy promise. It is held against epsilon {epsilon} to show that the "
            f"auditor sees it: a refutation is expected. Epsilon is at least {lower}."
        )
    if record["verdict"] == "refuted":
        apart = " It is the listing as printed that was audited." if is_printed(record) else ""
        return (
            f"The claim of epsilon {epsilon} does not hold: epsilon is at least {lower}, and the "
            f"counterexample below can be run again.{apart}"
        )
    if record["verdict"] == "not_refuted":
        return (
            f"No violation of epsilon {epsilon} was found. This is not a proof of privacy; what would have "
            "been caught is stated under Power."
        )
    return f"The evidence decides nothing about epsilon {epsilon}."


def _plainly(record: Mapping[str, Any]) -> list[str]:
    sentences = plainly.summary(record)
    return ["## In plain words", escape(" ".join(sentences))] if sentences else []


def _explained(record: Mapping[str, Any], shown: str) -> list[str]:
    """The words that are used, each in a sentence."""
    found = plainly.terms(shown) if record["checks"] else []
    return ["## Words", "\n".join(f"- **{word}**: {escape(said)}" for word, said in found)] if found else []


def _claim(record: Mapping[str, Any]) -> list[str]:
    claim = record["claim"]
    if not claim:
        return []
    source = claim["source"]
    zcdp = f"zCDP with rho {number(claim['rho'])}, which implies " if "rho" in claim else ""
    rows = {
        "Privacy parameters": f"{zcdp}epsilon {number(claim['epsilon'])}, delta {number(claim['delta'])}",
        "Trust model": escape(claim["trust_model"]),
        "Unit of privacy": escape(claim["unit"]),
        "Neighbouring inputs": escape(claim["adjacency"]),
        "The adversary sees": escape(claim["observe"]),
        "Source": _source(source) if source else "none; the claim of whoever ran the audit",
    }
    return ["## The claim", table(("What", "Promise"), rows.items())]


def _source(source: Mapping[str, Any]) -> str:
    note = f" ({source['note']})" if source["note"] else ""
    return escape(f"{source['paper']}, {source['statement']}{note}")


def _checks(record: Mapping[str, Any]) -> list[str]:
    if not record["checks"]:
        return []
    rows = [
        (
            escape(check["name"]),
            _words(check["kind"]),
            _words(check["result"]["verdict"]),
            number(check["result"].get("epsilon_lower")),
            escape(numbers(check)),
        )
        for check in record["checks"]
    ]
    head = ("Check", "Kind", "Verdict", "Epsilon at least", "Numbers")
    found = [f"- {escape(words)}" for check in record["checks"] for words in leads(check)]
    lines = ["Lines of the code that speak against it:", "\n".join(found)] if found else []
    level = f"Bounds hold with confidence {number(record['confidence'])}."
    return ["## Evidence on privacy", level, table(head, rows, right=(3,)), *lines]


def _counterexamples(record: Mapping[str, Any]) -> list[str]:
    if not record["counterexamples"]:
        return []
    parts = ["## Counterexamples"]
    for found in record["counterexamples"]:
        parts += [f"### {escape(found['check'])}", *_example(found, record)]
    return [*parts, "To run it again: `verifiable-dp verify record.json --rerun`"]


def _example(found: Mapping[str, Any], record: Mapping[str, Any]) -> list[str]:
    pair = found.get("pair", {})
    parts = [f"{escape(pair.get('words', ''))}: {escape(in_words(found, record))}."]
    rows = pair.get("rows", [])
    if rows:
        shown = [(escape(length), ", ".join(map(number, values))) for length, values in rows[:_EXAMPLE_ROWS]]
        if len(rows) > _EXAMPLE_ROWS:
            shown.append(("…", f"{len(rows) - _EXAMPLE_ROWS} more rows in the record"))
        parts += [
            "Rewards of the recorded input; equal rounds are written once:",
            table(("Rounds", "Rewards by arm"), shown, right=(0,)),
        ]
    if found.get("releases"):
        cells = [
            (escape(row["slot"]), number(row["value"]), number(row["scale"]), number(row["output"]))
            for row in found["releases"]
        ]
        head = ("Draw", "Exact value", "Scale of the noise", "Released")
        parts += ["First releases of the transcript:", table(head, cells, right=(0, 1, 2, 3))]
    return parts


def _power(record: Mapping[str, Any]) -> list[str]:
    if not record["checks"]:
        return []
    power = record["power"]
    if not power:
        refuted = record["verdict"] == "refuted"
        words = "Not needed: the claim is refuted." if refuted else (
            "No power could be stated, so nothing is called not refuted."
        )  # fmt: skip
        return ["## Power", words]
    words = power_in_words(power)
    parts = ["## Power", escape(words[:1].upper() + words[1:]) + "."]
    if power.get("black_box"):
        repeated = power["black_box"]
        again = f"{repeated['repeats_refuted']} of {repeated['repeats']}"
        rows = [tuple(map(number, row)) for row in repeated["tried"]]
        head = ("Noise divided by", "Its epsilon", "Probability of refutation")
        parts += [
            f"Black box alone, on mutants with less noise; the last row was repeated on fresh runs ({again} "
            "refuted):",
            table(head, rows, right=(0, 1, 2)),
        ]
    return parts


def _mutants(record: Mapping[str, Any]) -> list[str]:
    mutants = record["mutants"]
    if not mutants:
        return []
    caught = sum(mutant["verdict"] in ("refuted", "contradicted") for mutant in mutants)
    rows = [
        (
            escape(m["name"]),
            escape(m["fault"]),
            escape(m["breaks"]),
            _words(m["verdict"]),
            _words(m["decided_by"]),
        )
        for m in mutants
    ]
    return [
        "## Mutants",
        f"Broken variants of the algorithm, which the auditor must catch: {caught} of {len(mutants)} caught.",
        table(("Mutant", "Fault", "Breaks", "Verdict", "Decided by"), rows),
    ]


def _regret(record: Mapping[str, Any]) -> list[str]:
    regret = record["regret"]
    if not regret:
        return []
    claims = [
        (
            escape(claim["name"]),
            escape(claim["statement"]),
            escape(claim["domain"]),
            _source(claim["source"]),
            _words(of_claim(regret["checks"], claim["name"])),
        )
        for claim in regret["claims"]
    ]
    checks = [
        (escape(check["name"]), _words(check["result"]["verdict"]), escape(numbers(check)))
        for check in regret["checks"]
    ]
    parts = ["## Regret"]
    if claims:
        parts.append(table(("Claim", "Statement", "Domain", "Source", "Checks"), claims))
    if checks:
        parts.append(table(("Check", "Verdict", "Numbers"), checks))
    for found in regret.get("tables", []):
        parts += _comparison(found)
    return parts


def _comparison(found: Mapping[str, Any]) -> list[str]:
    """A table that promises nothing: what it comes down to, and its rows."""
    rows = tables.joined(found)
    if found["kind"] == "table":
        names = dict(zip(("mean_a", "mean_b"), found["statistics"]["algorithms"], strict=True))
    else:
        names = {"mean_a": "private", "mean_b": "without privacy"}
    columns = _COLUMNS.get(found["kind"]) or [key for key in rows[0] if not isinstance(rows[0][key], list)]
    head = [escape(f"{names[key]}: mean" if key in names else _HEADS.get(key, key)) for key in columns]
    cells = [[_cell(row.get(key)) for key in columns] for row in rows]
    right = [i for i, key in enumerate(columns) if not isinstance(rows[0].get(key), str)]
    reading = [escape(sentence) for sentence in tables.reading(found)] if found["kind"] in _COLUMNS else []
    return [f"### {escape(found['name'])}", *reading, table(head, cells, right)]


_COLUMNS = {
    "table": (
        *(
            "instance",
            "kind",
            "contamination",
            "wins",
            "gap",
            "mean_a",
            "mean_b",
            "difference",
            "lower",
            "upper",
        ),
        "floor",
    ),
    "price": (
        *("instance", "epsilon", "private", "free", "horizon", "mean_a", "mean_b", "ratio", "lower", "upper"),
    ),
    "floors": (
        *("algorithm", "instance", "epsilon", "horizon", "n", "mean", "lower", "upper", "bound", "times"),
        "verdict",
    ),
}
_HEADS = {
    "kind": "outliers",
    "contamination": "alpha",
    "wins": "smaller regret",
    "free": "beside",
    "lower": "from",
    "upper": "to",
    "bound": "at least",
    "times": "mean / bound",
    "n": "runs",
}


def _cell(value: Any) -> str:
    return number(value) if isinstance(value, int | float) else escape("" if value is None else value)


def _not_covered(record: Mapping[str, Any]) -> list[str]:
    return ["## Not covered", "\n".join(f"- {escape(line)}" for line in record["not_covered"])]


def _hazards(record: Mapping[str, Any]) -> list[str]:
    """Of NIST SP 800-226; a record of version 1 has none."""
    hazards = record.get("hazards")
    if not hazards:
        return []
    rows = [
        (escape(h["id"]), escape(h["title"]), escape(h["section"]), _words(h["status"]), escape(h["note"]))
        for h in hazards
    ]
    about = (
        f"The hazards that {nist.DOCUMENT} names, with its sections. What is declared was stated by whoever "
        "answers for the deployment, and not checked."
    )
    return [
        "## Hazards of NIST SP 800-226",
        about,
        table(("Hazard", "Title", "Section", "Status", "Note"), rows),
    ]


def _provenance(record: Mapping[str, Any]) -> list[str]:
    source = record["target"]["source"]
    line = f", line {source['line']}" if source["line"] else ""
    rows = [
        ("Seed", escape(record["seed"])),
        ("Plan", _pairs(record["plan"])),
        ("Source", f"{escape(source['path'] or 'unknown')}{line}"),
        ("SHA-256 of the source", code(source["sha256"]) if source["sha256"] else "unknown"),
        *((escape(key), escape(words)) for key, words in plainly.provenance(record)),
    ]
    return [
        "## Provenance",
        table(("What", "Value"), rows),
        "## Check this record",
        "`verifiable-dp verify record.json` recomputes every verdict from the recorded counts and runs no "
        "code of the target; with `--rerun` it runs the audit again and compares every count.",
        f"Digest: {code(record['digest'])}",
    ]
