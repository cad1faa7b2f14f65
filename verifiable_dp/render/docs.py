"""Markdown files of a folder as pages, and what their sections say for a search."""

from __future__ import annotations

import base64
import itertools
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from verifiable_dp.core import files
from verifiable_dp.render import tables

if TYPE_CHECKING:
    from markdown_it.token import Token

_LARGEST = 1 << 22  # bytes of a file
_NUMBERS = r"<table>(?=(?:(?!</table>).)*text-align:right)"
_ROOM = 1400  # words of a page before its folds, beside those of what is around it
_HEAD = 3  # tokens of a heading
_PICTURES = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg"}


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it, as text."""

    anchor: str
    title: str
    words: str


@dataclass(frozen=True)
class Doc:
    """A page made of a Markdown file.

    Attributes
    ----------
    name
        Of the page, in the folder of all such pages.
    title
        Its first heading.
    body
        HTML, in which every text is escaped.
    sections
        For the search.
    source
        Its file, from the folder above the documents.
    """

    name: str
    title: str
    body: str
    sections: tuple[Section, ...]
    source: str


def read(folder: Path, reports: Path) -> list[Doc]:
    """Pages of the Markdown files of a folder, and of those beside the folder that its pages link.

    Parameters
    ----------
    folder
        Of the Markdown files.
    reports
        Links into it are those into the folder above the pages.

    Raises
    ------
    InputError
        If a file cannot be read.
    """
    named = {path.resolve(): f"{path.stem}.html" for path in sorted(folder.glob("*.md"))}
    texts = {path: _text(path) for path in named}
    above = folder.resolve().parent
    for link in (link for text in list(texts.values()) for link in re.findall(r"\]\(([^)\s#]+)", text)):
        path = (folder / link).resolve()
        if path.parent == above and path.suffix == ".md" and path.is_file() and path not in named:
            named[path] = f"{path.stem}.html"
            texts[path] = _text(path)
    places = {path: quote(name) for path, name in named.items()}
    made = {
        path: _doc(path, text, named[path], _Links(path, places, reports, above))
        for path, text in texts.items()
    }
    index = folder.resolve() / "index.md"
    linked = re.findall(r"\]\(([^)\s#]+)", texts.get(index, ""))
    order = dict.fromkeys([index, *((folder / link).resolve() for link in linked), *made])
    return [made[path] for path in order if path in made]


def turned(docs: Sequence[Doc], edit: str = "") -> Iterator[tuple[Doc, str]]:
    """Each page with its links to the one before and after it, and to where its file is edited.

    Parameters
    ----------
    docs
        In the order in which they are read.
    edit
        Address of the repository's editor, before the path of a file; without one the file is named.
    """
    for number, doc in enumerate(docs):
        parts = [f"<span>file: {escape(doc.source)}</span>"]
        if edit:
            parts = [f'<a href="{escape(edit + doc.source)}">Edit this page</a>']
        if number:
            before = docs[number - 1]
            parts.insert(0, f'<a rel="prev" href="{quote(before.name)}">← {escape(before.title)}</a>')
        if number + 1 < len(docs):
            after = docs[number + 1]
            parts.append(f'<a rel="next" href="{quote(after.name)}">{escape(after.title)} →</a>')
        yield doc, f'{doc.body}<nav class="turn" aria-label="Pages">{" · ".join(parts)}</nav>\n'


def framed(body: str) -> str:
    """HTML that was made of Markdown, with frames in which keys scroll its tables and its code."""
    body = body.replace("<table>", '<div class="scroll" role="group" tabindex="0" aria-label="table"><table>')
    body = re.sub(r"<pre>", '<pre tabindex="0">', body.replace("</table>", "</table></div>"))
    # Of numbers a phone shows the table, which is scrolled: as cards they would be many screens.
    return re.sub(_NUMBERS, '<table class="numbers">', body, flags=re.DOTALL)


def _text(path: Path) -> str:
    return files.content("docs", path, _LARGEST).decode("utf-8", "replace")


@dataclass(frozen=True)
class _Links:
    """Where the links of one file lead once it is a page."""

    path: Path
    places: Mapping[Path, str]
    reports: Path
    above: Path

    def of(self, link: str) -> str | None:
        """The address in the page; None for a file that is not among the pages."""
        if re.match(r"[a-z][a-z+.-]*:", link):
            return link
        place, mark, anchor = link.partition("#")
        if not place:
            return link
        target = (self.path.parent / unquote(place)).resolve()
        if target in self.places:
            return f"{self.places[target]}{mark}{anchor}"
        if target.is_file() and target.is_relative_to(self.reports.resolve()):
            return f"../{quote(os.path.relpath(target, self.reports.resolve()))}{mark}{anchor}"
        return None

    def picture(self, link: str) -> str | None:
        """A picture of the repository as an address that holds it."""
        path = (self.path.parent / unquote(link)).resolve()
        kind = _PICTURES.get(path.suffix)
        inside = path.is_relative_to(self.path.parent.resolve())
        if kind is None or not inside or not path.is_file():
            return None
        data = base64.b64encode(files.content("docs", path, _LARGEST)).decode()
        return f"data:{kind};base64,{data}"


def _doc(path: Path, text: str, name: str, links: _Links) -> Doc:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    # Comments say where an example's file is; as HTML is off, they would be shown.
    tokens = parser.parse(re.sub(r"^<!--.*?-->\n", "", text, flags=re.MULTILINE | re.DOTALL))
    sections = _sections(tokens)
    for token in tokens:
        for child in token.children or ():
            _relinked(child, links)

    def html(some: Sequence[Token]) -> str:
        return str(parser.renderer.render(some, parser.options, {}))

    body = tables.arranged(framed(_folded(tokens, html)), whole=True)
    source = path.relative_to(links.above).as_posix()
    return Doc(name, sections[0].title if sections else path.stem, body, tuple(sections), source)


def _folded(tokens: Sequence[Token], html: Callable[[Sequence[Token]], str]) -> str:
    """HTML of which a first look shows at most `_ROOM` words: sections of level 2 after those are folded.

    An anchor stands within its fold, where browsers open the fold of what a link leads to.
    """
    heads = (i for i, token in enumerate(tokens) if (token.type, token.tag) == ("heading_open", "h2"))
    starts = [i for i in heads if not tokens[i].level]  # those in a list or a quotation begin no section
    sections = [tokens[i:j] for i, j in itertools.pairwise([*starts, len(tokens)])]
    parts, titles = [html(part) for part in sections], [html(part[:_HEAD]) for part in sections]
    first = html(tokens[: starts[0]] if starts else tokens)
    shown = len(parts)
    while shown and sum(map(_size, [first, *parts[:shown], *titles[shown:]])) > _ROOM:
        shown -= 1
    for number, part in enumerate(sections[shown:], shown):
        here = f'<div class="here" id="{escape(str(part[0].attrs.pop("id")))}"></div>'
        head = f"<summary>{html(part[:_HEAD])}</summary>{here}"
        parts[number] = f'<details class="part">{head}\n{html(part[_HEAD:])}</details>\n'
    return "".join([first, *parts])


def _size(body: str) -> int:
    return len(re.sub(r"<[^>]*>", " ", body).split())


def _relinked(token: Token, links: _Links) -> None:
    """A link or picture with its address in the page; without one, its words stand there alone."""
    if token.type == "link_open":
        place = links.of(str(token.attrs["href"]))
        if place is None:
            token.attrs = {"title": "in the repository"}
        else:
            token.attrs = {**token.attrs, "href": place}
    elif token.type == "image":
        place = links.picture(str(token.attrs["src"]))
        if place is None:
            token.type, token.tag = "text", ""
        else:
            token.attrs = {**token.attrs, "src": place}


def _sections(tokens: Sequence[Token]) -> list[Section]:
    """Gives every heading the anchor that code hosts give it; the text up to the next one."""
    seen: dict[str, int] = {}
    found: list[Section] = []
    heading = False
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and after is not None:
            title = "".join(child.content for child in after.children or ())
            anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            times = seen[anchor] = seen.get(anchor, -1) + 1
            anchor = f"{anchor}-{times}" if times else anchor
            token.attrs = {"id": anchor}
            found.append(Section(anchor, title, ""))
            heading = True
        elif token.type == "inline" and heading:
            heading = False
        elif token.type in ("inline", "fence", "code_block") and found:
            last = found[-1]
            plain = " ".join("".join(_plain(child) for child in token.children or [token]).split())
            found[-1] = Section(last.anchor, last.title, f"{last.words} {plain}".strip())
    return found


def _plain(token: Token) -> str:
    return " " if token.type in ("softbreak", "hardbreak") else str(token.content)
