"""A record as PDF: the HTML page, laid out for A4 by WeasyPrint (extra `pdf`)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from verifiable_dp.core.validate import InputError
from verifiable_dp.record.model import Record
from verifiable_dp.render import card
from verifiable_dp.render.page import render
from verifiable_dp.render.rendering import Rendering

# Paper is light; columns have to fit, so that numbers may wrap and tables are set smaller.
_PRINT = """
@page { size: A4; margin: 18mm 15mm 20mm;
  @bottom-left { content: "%s"; font: 7pt monospace; color: #52606d; }
  @bottom-right { content: counter(page) " of " counter(pages); font: 8pt sans-serif; color: #52606d; } }
html { font-size: 9pt; } body { max-width: none; padding: 0; font-size: 9pt; line-height: 1.4;
  font-family: "DejaVu Sans", "Liberation Sans", sans-serif; }
p { max-width: none; }
h1 { font-size: 16pt; } h2 { font-size: 12.5pt; margin-top: 1.4rem; } h3 { font-size: 10.5pt; }
h1, h2, h3, caption, thead { break-after: avoid; } figcaption { break-before: avoid; }
table { width: 100%%; font-size: 7.5pt; min-width: 0; break-inside: auto; }
tr { break-inside: avoid; } thead { display: table-header-group; }
th, td { padding: .2rem .4rem .2rem 0; overflow-wrap: break-word; }
td.number, th.number { white-space: normal; }
.scroll { overflow: visible; } figure { break-inside: avoid; }
@page wide { size: A4 landscape; margin: 12mm; }
.scroll[role="region"]:not(:has(.source)) { page: wide; }
.scroll[role="region"] > table:not(.source) { font-size: 5.5pt; }
.scroll[role="region"] > table:not(.source) :is(th, td) { padding: .15rem .2rem .15rem 0; }
details:not([open]) > :not(summary) { display: none; }
details:not([open]) > summary::after { content: " (in the record and on the page)"; }
#words details > :not(summary), #provenance details > :not(summary) { display: block; }
#words summary::after, #provenance summary::after { content: none; }
summary { display: block; }
"""


def to_pdf(record: Record, around: card.Around = card.ALONE) -> bytes:
    """The page of a record on A4, with page numbers and the record's digest at the foot of each.

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
    style = f"<style>{_PRINT % _footer(record)}</style></head>"
    page = weasyprint.HTML(
        string=render(record, around=around).replace("</head>", style, 1),
        # The page holds all it needs; whatever a record might smuggle in is not fetched.
        url_fetcher=weasyprint.urls.URLFetcher(allowed_protocols=()),
    )
    with _dated(str(record.provenance.finished)):
        made: bytes = page.write_pdf(pdf_tags=True)
    return made


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


def _footer(record: Record) -> str:
    """The digest; it has the form that the schema demands, so that it cannot end the string it stands in."""
    return "".join(c for c in str(record.digest) if c.isalnum() or c == ":")


PDF = Rendering("pdf", lambda shown: to_pdf(shown.record, shown.around))
