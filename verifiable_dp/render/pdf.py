"""A record as PDF: the HTML page, laid out for A4 by WeasyPrint (extra `pdf`)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from verifiable_dp.core.validate import InputError
from verifiable_dp.record.model import Record
from verifiable_dp.record.signing import NONE
from verifiable_dp.render import summary_card
from verifiable_dp.render.page import render, style
from verifiable_dp.render.rendering import Rendering


def to_pdf(record: Record, around: summary_card.Around = summary_card.ALONE) -> bytes:
    """The page of a record on A4 with nothing folded: the copy to archive.

    Digest, state of the signature and page numbers stand at the foot of each sheet.

    Nothing is fetched while it is made. The same record gives the same bytes with the same WeasyPrint.

    Raises
    ------
    InputError
        If WeasyPrint or a library that it needs (Pango) is not installed.
    """
    try:
        import weasyprint
    except (ImportError, OSError) as error:
        raise InputError(
            "to: pdf needs WeasyPrint, which the extra verifiable-dp[pdf] installs, and Pango "
            f"({type(error).__name__}: {error}); or print the HTML page from a browser"
        ) from None
    # In the page, after its own style: sheets given apart are a user's, which an author's override.
    sheet = f"<style>{style('print.css').replace('DIGEST', _footer(record, around))}</style></head>"
    page = weasyprint.HTML(
        string=_spaced(render(record, around=around)).replace("</head>", sheet, 1),
        # The page holds all it needs; whatever a record might smuggle in is not fetched.
        url_fetcher=weasyprint.urls.URLFetcher(allowed_protocols=()),
    )
    with _dated(str(record.provenance.finished)):
        made: bytes = page.write_pdf(pdf_tags=True)
    return made


def _spaced(page: str) -> str:
    """With the space before a link on its own: else WeasyPrint 70 ends some lines at their first word."""
    return re.sub(r" (?=<a )", "<span> </span>", page)


@contextmanager
def _dated(finished: str) -> Iterator[None]:
    """Fonts are stamped with the time of a record, not of its rendering, unless the user names one."""
    name = "SOURCE_DATE_EPOCH"  # which fontTools follows
    if name in os.environ:
        yield
        return
    os.environ[name] = str(int(datetime.fromisoformat(finished).timestamp()))
    try:
        yield
    finally:
        del os.environ[name]


def _footer(record: Record, around: summary_card.Around) -> str:
    """Digest and state of the signature, in letters that cannot end the string they stand in."""
    signed = (around.signature or NONE).words
    return "".join(c for c in f"{record.digest}; {signed}" if c.isalnum() or c in " :;,.-")


PDF = Rendering("pdf", lambda shown: to_pdf(shown.record, shown.around), ending=".pdf")
