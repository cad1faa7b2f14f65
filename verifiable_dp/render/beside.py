"""What lies beside a record in its folder, for its page: kill table, signature, other pages."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from verifiable_dp.core import files
from verifiable_dp.core.validate import InputError, Json
from verifiable_dp.record import words
from verifiable_dp.record.signing import read_signature
from verifiable_dp.record.verify import LARGEST, parsed
from verifiable_dp.render import card
from verifiable_dp.render.card import Around
from verifiable_dp.render.mutation import verify_mutants

_PAGES = (
    ("all records", "index.html"),
    ("errata of the papers", "errata.html"),
    ("papers, item by item", "papers.html"),
)


def address(path: Path, page: Path) -> str:
    """Relative address of a file as it stands in a page; a colon is escaped, or it would name a scheme."""
    relative = os.path.relpath(path.resolve(), page.resolve().parent)
    return quote(Path(relative).as_posix())


def of(path: Path, record: Json, table: Json | None = None, page: Path | None = None) -> Around:
    """What lies beside the record at `path`: in its folder, and in the one above, where reports have theirs.

    Parameters
    ----------
    path
        Of the record's JSON file.
    record
        What it holds.
    table
        The kill table, if it has been read already.
    page
        Where the page will be, from which its links lead; no links without one.
    """
    above = path.resolve().parent.parent
    kills = table if table is not None else _table((path.parent, above))
    links = [("the record as JSON", path)] if page else []
    if page and path.parent.parent != path.parent:
        links += [(said, above / name) for said, name in _PAGES if (above / name).is_file()]
        links += [twin] if (twin := _twin(path, record, above)) else []
    rows = card.of_algorithm(record, kills["mutants"] if kills else ())
    links = links if len(links) > 1 else []  # a record alone is given away as it is, wherever it stands
    found = tuple((said, address(place, page)) for said, place in links if page)
    if page and rows and (above / "mutants.html").is_file():
        anchor = quote(str(record["target"]["name"]))
        found += (("kill table", f"{address(above / 'mutants.html', page)}#{anchor}"),)
    return Around(found, rows, signer(path, record))


def _twin(path: Path, record: Json, above: Path) -> tuple[str, Path] | None:
    """The listing as printed beside the corrected one, or the other way round."""
    folder = path.resolve().parent.name
    printed = words.is_printed(record)
    other = folder.removesuffix("-printed") if printed else f"{folder}-printed"
    place = above / other / path.with_suffix(".html").name
    if other == folder or not place.is_file():
        return None
    return ("the corrected variant" if printed else "the listing as printed", place)


def _table(folders: Sequence[Path]) -> Json | None:
    for folder in folders:
        place = folder / "mutants.json"
        if place.is_file():
            try:
                return _held(files.content("mutants", place, LARGEST))
            except InputError:
                return None  # the portfolio names it as one that does not hold
    return None


@functools.lru_cache(maxsize=4)
def _held(content: bytes) -> Json:
    """A kill table that holds: a second's work, which the formats of a record and its neighbours share."""
    return verify_mutants(parsed("mutants.json", content))


def signer(path: Path, record: Json) -> str:
    """Fingerprint of the key of a signature file that is meant for this record; empty where there is none."""
    place = path.with_name(f"{path.name}.sig")
    if not place.is_file():
        return ""
    try:
        found = read_signature(place)
    except InputError:
        return ""
    return str(found.get("public_key", ""))[:80] if found.get("digest") == record["digest"] else ""
