"""What lies beside a record in its folder, for its page: other pages, and a signature."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from verifiable_dp.record import words
from verifiable_dp.record.model import Record
from verifiable_dp.record.signing import SignatureState, beside
from verifiable_dp.registry import entries
from verifiable_dp.registry.errata import chosen
from verifiable_dp.render import studied
from verifiable_dp.render.summary_card import Around

_PAGES = (
    ("all records", "index.html"),
    ("errata in the papers", "errata.html"),
    ("papers, item by item", "papers.html"),
)


def address(path: Path, page: Path) -> str:
    """Relative address of a file as it stands in a page; a colon is escaped, or it would name a scheme."""
    relative = os.path.relpath(path.resolve(), page.resolve().parent)
    return quote(Path(relative).as_posix())


def of(path: Path, record: Record, page: Path | None = None, signed: SignatureState | None = None) -> Around:
    """What lies next to the record at `path`: in its folder, and in the one above, where reports have theirs.

    It adds links, and words on a signature file; what the record concludes is in the record alone.

    Parameters
    ----------
    path
        Of the record's JSON file.
    record
        What it holds.
    page
        Where the page will be, from which its links lead; no links without one, nor in another folder.
    signed
        What is known of its signature, if it was checked.
    """
    above = path.resolve().parent.parent
    if page and page.resolve().parent != path.resolve().parent:
        page = None  # who is given it has nothing that lies next to the record
    links = [("the record as JSON", path)] if page else []
    if page and path.parent.parent != path.parent:
        links += [(said, above / name) for said, name in _PAGES if (above / name).is_file()]
        links += [twin] if (twin := _twin(path, record, above)) else []
    links = links if len(links) > 1 else []  # a record alone is given away as it is, wherever it stands
    found = tuple((said, address(place, page)) for said, place in links if page)
    if page and record.kill_table and (above / "mutants.html").is_file():
        anchor = quote(record.target.name)
        found += (("broken variants", f"{address(above / 'mutants.html', page)}#{anchor}"),)
    known = signed or signature(path, record)
    prices = studied.over_epsilon(record, above) if page and found else None
    if page and prices:
        prices["link"] = address(prices.pop("path").with_name("index.html"), page)
    return Around(found, known if known.there else None, prices, _errata(record, above, page))


def _errata(record: Record, above: Path, page: Path | None) -> tuple[tuple[str, str, str], ...]:
    """What the corrected variant of a listing takes care of, where the errata lie beside it."""
    place = above / "errata.html"
    known = words.is_printed(record) and record.target.name in entries.names()
    named = entries.auditor(record.target.name).printed if known else None
    if not page or not named or not named.errata or not place.is_file():
        return ()
    rows = chosen(named.errata)
    return tuple((row.name, row.kind, f"{address(place, page)}#{quote(row.name)}") for row in rows)


def _twin(path: Path, record: Record, above: Path) -> tuple[str, Path] | None:
    """The listing as printed beside the corrected one, or the other way round."""
    folder = path.resolve().parent.name
    printed = words.is_printed(record)
    other = folder.removesuffix("-printed") if printed else f"{folder}-printed"
    place = above / other / path.with_suffix(".html").name
    if other == folder or not place.is_file():
        return None
    return ("the corrected variant" if printed else "the listing as printed", place)


def signature(path: Path, record: Record) -> SignatureState:
    """What is known of the signature file beside a record."""
    return beside(f"{path}.sig", record.digest)
