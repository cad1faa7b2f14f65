"""Every form that a record can be shown in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from verifiable_dp.compliance.blocks import to_compliance
from verifiable_dp.core import files
from verifiable_dp.core.validate import InputError, Json, choice
from verifiable_dp.record.verify import LARGEST, parsed, verify
from verifiable_dp.render import beside
from verifiable_dp.render.card import Around
from verifiable_dp.render.intoto import to_intoto
from verifiable_dp.render.junit import to_junit
from verifiable_dp.render.markdown import to_dpia, to_markdown
from verifiable_dp.render.opendp_registry import to_opendp
from verifiable_dp.render.page import render as to_html
from verifiable_dp.render.page import render_pack as to_pack
from verifiable_dp.render.pdf import to_pdf
from verifiable_dp.render.sarif import to_sarif

_OF_RECORD: dict[str, Callable[[Json], str]] = {
    "sarif": to_sarif,
    "opendp": to_opendp,
    "junit": to_junit,
    "compliance": to_compliance,
}
_OF_CARD: dict[str, Callable[[Json, Around], str]] = {
    "markdown": to_markdown,
    "pack": to_pack,
    "dpia": to_dpia,
}
FORMATS = ("html", "markdown", "pdf", "sarif", "in-toto", "opendp", "junit", "compliance", "pack", "dpia")


def render(path: str | Path, to: str, *, url: str = "", out: Path | None = None) -> bytes:
    """Verify a record and render it.

    Parameters
    ----------
    path
        Of the record's JSON file.
    to
        One of `FORMATS`.
    url
        Of the run of CI that made the record; only for ``in-toto``.
    out
        Where it will be written, from which a page's links lead; without it, a page links no other file.

    Raises
    ------
    InputError
        If the record does not hold (`verify.verify`), the format is unknown or cannot show this record, or
        what it needs is not installed.
    """
    choice("to", to, FORMATS)
    if url and to != "in-toto":
        raise InputError("url works only with in-toto")
    content = files.content("record", path, LARGEST)
    record = verify(parsed(path, content)).record
    if to in ("html", "pdf", *_OF_CARD):
        around = beside.of(Path(path), record, page=out if to == "html" else None)
        if to == "pdf":
            return to_pdf(record, around)
        if to == "html":
            return to_html(record, around=around).encode()
        return _OF_CARD[to](record, around).encode()
    if to == "in-toto":
        return to_intoto(record, name=Path(path).name, content=content, url=url).encode()
    return _OF_RECORD[to](record).encode()
