"""A static site of a folder of reports: its pages with one bar of links, the documents, a search."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from verifiable_dp.core import files
from verifiable_dp.core.files import make_folder, write_bytes, write_text
from verifiable_dp.core.validate import InputError, Json, Result
from verifiable_dp.record import words
from verifiable_dp.record.sealing import SCHEMAS, schema, text
from verifiable_dp.render import docs, mutation, page, portfolio, promised, study
from verifiable_dp.render import sidecars as company

HEAVIEST = 400_000  # bytes of a page
_SIGNATURE = 64 << 10  # bytes of a signature file
_SAID = 160  # characters of a section that the search shows


@dataclass(frozen=True)
class Site:
    """What was written.

    Attributes
    ----------
    pages
        Their paths.
    portfolio
        The records and data files that they are of, and the files that do not hold.
    broken
        Links that lead nowhere: page and address.
    heavy
        Pages of more than `HEAVIEST` bytes.
    """

    pages: tuple[Path, ...]
    portfolio: portfolio.Portfolio
    broken: tuple[tuple[Path, str], ...]
    heavy: tuple[Path, ...]


@dataclass(frozen=True)
class _Entry:
    """A line of the search: what is shown, and the words that are looked through beside it."""

    title: str
    place: str
    kind: str
    said: str = ""
    words: str = ""


def write(
    folder: str | Path,
    out: str | Path,
    *,
    documents: Path | None = None,
    items: Sequence[Json] = (),
    edit: str = "",
) -> Site:
    """Write a site of the records, errata, kill table and studies of a folder; nothing is run.

    Only files that hold are in it: copies of the data files, with signature files, and pages made of them.

    Parameters
    ----------
    folder
        Of the reports.
    out
        A folder that is new or empty, outside of `folder`.
    documents
        Folder of Markdown files that become pages, too.
    items
        Of the papers (`campaign.papers.rows`), for their page.
    edit
        See `docs.turned`.

    Raises
    ------
    InputError
        If there is no such folder or no record in it, or `out` is not empty or cannot be written.
    """
    source, place = Path(folder), Path(out)
    if place.resolve().is_relative_to(source.resolve()):
        raise InputError(f"out: {str(place)!r} is inside the report folder, and would become part of it")
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise InputError(f"out: {str(place)!r} is not an empty folder")
    found = portfolio.find(source)
    if not found.records and not found.broken:
        raise InputError(f"folder: no record found in {str(source)!r}")
    make_folder("out", place)
    here = _copied(found, place)
    made = docs.read(documents, source) if documents else []
    bar = [("Records", "index.html")]
    bar += [("Errata", "errata.html")] if found.errata else []
    bar += [("Papers", "papers.html")] if items else []
    bar += [("Broken variants", "mutants.html")] if found.mutants else []
    bar += [("Studies", "index.html#studies")] if found.studies else []
    start = next((d.name for d in made if d.name == "index.html"), made[0].name if made else "")
    bar += [("Documentation", f"docs/{start}")] if made else []
    bar += [("Search", "search.html")]
    shells = [place / name for name in ("index.html", "errata.html", "papers.html", "mutants.html")]
    known = {found for _, found in bar}
    for path in [*(p for p in shells if p.name in known), *(_page(path) for path in here.records)]:
        write_text(path, "")  # pages link what is there
    pages = []
    for path, whole in _pages(here, place, items, made, edit):
        make_folder("out", path.parent)
        pages.append(write_text(path, _framed(whole, path, place, bar)))
    heavy = tuple(path for path in pages if path.stat().st_size > HEAVIEST)
    return Site(tuple(pages), found, tuple(broken_links(place)), heavy)


def _page(path: Path) -> Path:
    return path.with_suffix(".html")


def _copied(found: portfolio.Portfolio, place: Path) -> portfolio.Portfolio:
    """The data files that hold, at their places in the site; what does not hold is only named."""

    def moved(values: Mapping[Path, Result]) -> dict[Path, Result]:
        return {place / path.relative_to(found.folder): value for path, value in values.items()}

    for path, one in found.records.items():
        target = place / path.relative_to(found.folder)
        make_folder("out", target.parent)
        write_text(target, text(one.record))
        signature = path.with_name(f"{path.name}.sig")
        if signature.is_file() and signature.resolve().is_relative_to(found.folder.resolve()):
            write_bytes(target.with_name(signature.name), files.content("signature", signature, _SIGNATURE))
    for name, whole in (("errata", found.errata), ("mutants", found.mutants)):
        if whole:
            write_text(place / f"{name}.json", text(whole))
    for path, whole in found.studies.items():
        target = place / path.relative_to(found.folder)
        make_folder("out", target.parent)
        write_text(target, text(whole))
    make_folder("out", place / "schema")
    for name in SCHEMAS:
        write_text(place / "schema" / f"{name}.json", text(schema(name)))
    return replace(
        found,
        folder=place,
        records=moved(found.records),
        broken=moved(found.broken),
        studies=moved(found.studies),
    )


def _pages(
    found: portfolio.Portfolio, place: Path, items: Sequence[Json], made: Sequence[docs.Doc], edit: str
) -> Iterator[tuple[Path, str]]:
    """Every page with its path."""
    for path, one in found.records.items():
        record = one.parsed
        around = company.of(path, record, _page(path))
        yield _page(path), page.render(record, around=around)
    if found.errata:
        yield place / "errata.html", page.render_errata(found.errata)
    if items:
        yield place / "papers.html", page.render_papers(items)
    if found.mutants:
        yield place / "mutants.html", mutation.render(found.mutants)
    for path, whole in found.studies.items():
        yield from ((path.with_name(name), made) for name, made in study.pages(whole))
    for doc, body in docs.turned(made, edit):
        yield place / "docs" / doc.name, _shell(doc.title, body=page.ours(body))
    yield place / "search.html", _shell("Search", entries=_entries(found, place, made))
    yield place / "index.html", portfolio.page(found, place / "index.html", own=True)


def _shell(title: str, **parts: object) -> str:
    """A page that only a site has."""
    empty = dict.fromkeys(("body", "entries"), "")
    script = page.style("search.js") if "entries" in parts else ""
    style = page.style() + page.style("portfolio.css" if "entries" in parts else "card.css")
    template = page.environment().get_template("site.html.jinja")
    return template.render(**{**empty, "title": title, "style": style, "script": script, **parts})


def _framed(whole: str, path: Path, place: Path, bar: Sequence[tuple[str, str]]) -> str:
    """A page with the bar of links above it; what a record says is escaped and has no tags."""
    links = []
    for said, name in bar:
        target, mark, anchor = name.partition("#")
        current = ' aria-current="page"' if not mark and place / target == path else ""
        links.append(f'<a href="{company.address(place / target, path)}{mark}{anchor}"{current}>{said}</a>')
    shown = f'<nav class="site" aria-label="Site">{" ".join(links)}</nav>'
    style = page.style("site.css")
    whole = whole.replace("</style>\n</head>", f"{style}</style>\n</head>", 1)
    return re.sub(r"<body[^>]*>", lambda body: f"{body[0]}\n{shown}", whole, count=1)


# ---------------------------------------------------------------- search


def _entries(found: portfolio.Portfolio, place: Path, made: Sequence[docs.Doc]) -> list[_Entry]:
    """Everything that the search finds, in the order in which it is listed."""
    index = place / "search.html"
    entries = []
    for doc in made:
        for section in doc.sections:
            said = section.words if len(section.words) <= _SAID else f"{section.words[:_SAID]}…"
            rest = dict.fromkeys(re.findall(r"[\w-]{3,}", section.words[_SAID:].lower()))
            title = section.title if section.title == doc.title else f"{doc.title}: {section.title}"
            address = f"docs/{quote(doc.name)}#{quote(section.anchor)}"
            entries.append(_Entry(title, address, "documentation", said, " ".join(rest)))
    for path, one in found.records.items():
        record = one.parsed
        said = words.verdict(record) if record.checks else promised.promise(record)
        paper = record.target.paper
        entries.append(
            _Entry(words.title(record), company.address(_page(path), index), "record", said, paper)
        )
    for row in found.errata["errata"] if found.errata else ():
        entries.append(_Entry(row["name"], f"errata.html#{quote(row['name'])}", "erratum", row["right"]))
    for path, whole in found.studies.items():
        address = company.address(path.with_name("index.html"), index)
        for row in whole["statements"]:
            name = f"{whole['study']}: {row['name']}"
            entries.append(
                _Entry(name, f"{address}#{quote(row['name'])}", "statement of a study", row["words"])
            )
    return entries


# ---------------------------------------------------------------- links


class _Found(HTMLParser):
    """Anchors of a page, what it links and what it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.anchors.add(value or "")
            elif name in ("href", "xlink:href"):
                (self.links if tag == "a" else self.loads).append(value or "")
            elif name in ("src", "srcset", "data", "poster", "action"):
                self.loads.append(value or "")


def _read(path: Path) -> _Found:
    found = _Found()
    found.feed(path.read_text("utf-8"))
    return found


def broken_links(folder: str | Path) -> Iterator[tuple[Path, str]]:
    """Addresses in the pages below a folder that lead nowhere, and whatever a page would load from elsewhere.

    Links to other hosts are not followed: nothing is fetched.
    """
    place = Path(folder).resolve()
    pages = {path: _read(path) for path in sorted(place.rglob("*.html"))}
    for path, found in pages.items():
        yield from ((path, link) for link in found.loads if not link.startswith(("data:", "#")))
        for link in found.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            lost = not target.is_file() or not target.is_relative_to(place)
            if lost or (anchor and target in pages and anchor not in pages[target].anchors):
                yield path, link
