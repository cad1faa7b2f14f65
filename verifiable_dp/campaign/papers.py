"""The papers, item by item: where each stands in the code, what is claimed and checked, results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from verifiable_dp.campaign.claim_index import claims
from verifiable_dp.core.claims import Basis
from verifiable_dp.core.files import write_text
from verifiable_dp.core.validate import Json, JsonDict
from verifiable_dp.evidence.words import digits
from verifiable_dp.record.verify import read
from verifiable_dp.registry import entries as catalogue
from verifiable_dp.registry import errata
from verifiable_dp.registry.items import Item, located, numbers, registered, stated
from verifiable_dp.render import page
from verifiable_dp.render.strength import many

Entry = dict[str, str]  # claim, says, check, verdict
_OURS = (Basis.OURS, Basis.CHOSEN)


def rows(folder: str | Path) -> list[JsonDict]:
    """Every registered item with what the reports in `folder` say of it.

    Returns
    -------
    list of dict
        ``paper``, ``number``, ``code`` (file and line), ``entries`` and ``remark``. An entry has ``claim``
        (its name), ``says``, ``check`` and ``verdict``: of each claim, promise, statement of a study, erratum
        and test that is about the item; at least one.

    Raises
    ------
    InputError
        If a report cannot be read, or an item is nowhere in the code.
    """
    place = Path(folder)
    about = _Reports(place)
    return [_row(item, about) for item in registered()]


def write(folder: str | Path) -> Path:
    """Write ``papers.html`` into the folder of the reports that it is about.

    Raises
    ------
    InputError
        If a report cannot be read, or the page cannot be written.
    """
    place = Path(folder)
    return write_text(place / "papers.html", page.render_papers(rows(place)))


class _Reports:
    """What the reports of a folder say, each by its paper and number; read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.claims = claims(folder)
        self.records = {
            name: read(path)
            for name in catalogue.names()
            if (path := folder / name / "record.json").is_file()
        }
        self.studies = [read(path) for path in sorted(folder.glob("studies/*/study.json"))]
        path = folder / "errata.json"
        found = read(path)["errata"] if path.is_file() else []
        self.outcomes = {str(row["name"]): str(row["outcome"]) for row in found}

    def checks(self, algorithm: str, claim: str) -> tuple[str, str]:
        """Names of the checks of a claim, and how loose the bound is that they measure."""
        record = self.records.get(algorithm)
        made = (record or {}).get("regret") or {}
        found = [c for c in made.get("checks", ()) if c["statistics"].get("claim") == claim]
        measured = [
            c["result"]["ratio"]
            for c in found
            if c["kind"] == "mean_bound"
            and c["result"]["verdict"] == "consistent"
            and c["result"].get("ratio", 0) > 0
        ]
        loose = f"; the bound is {digits(1 / max(measured))} times the measured value" if measured else ""
        return ", ".join(c["name"] for c in found) or f"regret checks of {algorithm}", loose


def _row(item: Item, about: _Reports) -> JsonDict:
    entries = [*_claims(item, about), *_statements(item, about), *_errata(item, about)]
    entries += [
        {"claim": item.number, "says": item.says, "check": test, "verdict": "tested"} for test in item.tests
    ]
    if not entries:
        about_it = {"says": item.says or item.remark, "check": "no check", "verdict": "no record"}
        entries = [{"claim": item.number, **about_it}]
    return {
        "paper": item.paper,
        "number": item.number,
        "code": located(item.code),
        "entries": entries,
        "remark": item.remark,
    }


def _claims(item: Item, about: _Reports) -> Iterator[Entry]:
    for row in about.claims:
        auditor = catalogue.auditor(row["algorithm"])
        privacy, mine = row["claim"] == "privacy", auditor.paper == item.paper
        # A promise is not about a theorem whose proof it names, nor about what restates a theorem.
        named = stated(row["source"]) if privacy else numbers(row["source"])
        about_it = item.number in named or (not privacy and item.about & named)
        if not ((mine and about_it) or (privacy and row["algorithm"] == item.algorithm)):
            continue
        check, loose = ("the audit", "") if privacy else about.checks(row["algorithm"], row["claim"])
        yield {
            "claim": f"{row['algorithm']}/{row['claim']}",
            "says": row["statement"]
            if privacy and row["basis"] not in _OURS
            else _said(row["source"], row["basis"], row["statement"], row["domain"]),
            "check": f"{check}{' of ' + row['algorithm'] if privacy else ''}",
            "verdict": f"{row['verdict']}{loose}",
        }


def _statements(item: Item, about: _Reports) -> Iterator[Entry]:
    for study in about.studies:
        if study["paper"] != item.paper:
            continue
        drawn = {
            name
            for figure in study["figures"]
            if figure["name"].rstrip("ab") == item.number.lower().replace(" ", "-")
            for name in figure["statements"]
        }
        for row in study["statements"]:
            source = row["source"]
            named, basis = numbers(source["statement"]), source.get("basis", Basis.PAPER)
            # What is ours is not what the item restates.
            about_it = item.number in named or (basis not in _OURS and item.about & named)
            if row["name"] in drawn or (about_it and source["paper"] == item.paper):
                yield {
                    "claim": f"{study['study']}/{row['name']}",
                    "says": _said(source["statement"], basis, row["words"]),
                    "check": many(len(row["checks"]), "check"),
                    "verdict": f"{row['verdict']} in study {study['study']}",
                }


def _said(statement: str, basis: str, words: str, domain: str = "") -> str:
    """Words after what they are about, with where they hold; if they are ours, they say so."""
    holds = f" Where: {domain}." if domain else ""
    return f"{'Our own claim, related to ' if basis in _OURS else ''}{statement}: {words}{holds}"


def _errata(item: Item, about: _Reports) -> Iterator[Entry]:
    for row in errata.registered():
        named = numbers(row.source.statement) | {n for quote in row.quotes for n in numbers(quote.place)}
        note = f" Note: {row.source.note}." if row.source.note else ""
        if row.source.paper == item.paper and item.number in named:
            yield {
                "claim": f"erratum {row.name}",
                "says": f"Printed: {row.printed} Corrected: {row.right}{note}",
                "check": f"verifiable-dp errata {row.name}",
                "verdict": _verdict(item.number, row, about.outcomes.get(row.name, "")),
            }


def _verdict(number: str, row: errata.Erratum, outcome: str) -> str:
    """What an erratum says of an item, and where it stands if not in the item's own statement.

    That the erratum was confirmed would say the opposite of the item.
    """
    if not outcome:
        return "no record"
    if outcome not in errata.SHOWN:
        return "one of its errata is not confirmed"
    register = errata.REGISTERS[row.register].lower()
    return register if number in stated(row.source.statement) else f"{register} ({row.source.statement})"


def line(row: Json) -> str:
    """One item, as it is listed: a line for each claim."""
    head = f"{row['paper'].split(',')[0]}, {row['number']}: {row['code']}\n  {row['remark']}"
    return "\n".join([head, *(f"  {e['claim']}: {e['verdict']} ({e['check']})" for e in row["entries"])])
