"""A record as GitHub-flavoured Markdown: for pull requests, job summaries and wikis."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from verifiable_dp.compliance import nist
from verifiable_dp.core.validate import UNSEEN, JsonDict
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret import readings
from verifiable_dp.evidence.words import digits
from verifiable_dp.record.model import Record
from verifiable_dp.record.words import title
from verifiable_dp.render import docs, page, plainly, summary_card
from verifiable_dp.render.rendering import Rendering

if TYPE_CHECKING:
    from jinja2 import Environment

# Marks of Markdown, and $, which code hosts read as a formula.
_MARKS = re.compile(r"([\\`*_\[\]#|~$])")
# What starts a link, an emoji or a list; the entity of its last character stops that and shows the same.
_STARTS = re.compile(
    r"(?i):(?=//)|:(?=[a-z+-][\w+-]*:)|(?<!\d):(?=\d+:)|www\.|^\d+[.)](?=\s|$)|^[-+=](?=[\s=-]|$)"
)
# Code hosts look for mentions of people and issues in what is shown, so that only a space of no width helps.
_MENTION = re.compile(r"(@|\\#)(?=\w)")
_UNSEEN = re.compile(f"[\t\n{UNSEEN}]+")
_PLAIN_CODE = re.compile(r"[\w .:/=<>,+@%-]+", re.ASCII)


def to_markdown(record: Record, around: summary_card.Around = summary_card.ALONE) -> str:
    """The whole report: verdicts, claim, checks, counterexamples, power, mutants, regret, provenance.

    Every text of the record is escaped: it can neither format, nor link, nor mention anyone.
    """
    shown = _written("record.md.jinja", record, around)
    found = plainly.terms(shown.partition(_WORDS)[0]) if record.checks else []
    listed = "\n".join(f"- **{word}**: {escape(said)}" for word, said in found)
    return _tidy(shown.replace(_WORDS, f"## Words\n\n{listed}" if found else "", 1))


def to_dpia(record: Record, around: summary_card.Around = summary_card.ALONE) -> str:
    """An annex to a data protection impact assessment: what the record says under the headings of one.

    Every text of the record is escaped; what the record does not hold is left to be written.
    """
    return _tidy(_written("dpia.md.jinja", record, around))


def to_dpia_page(record: Record, around: summary_card.Around = summary_card.ALONE) -> str:
    """The same annex as a page, whose folds are open on paper."""
    from markdown_it import MarkdownIt

    body = MarkdownIt("commonmark").enable("table").render(to_dpia(record, around))
    given = {"title": f"{title(record)}: annex", "body": page.ours(docs.framed(body)), "entries": []}
    return page.filled("site.html.jinja", "annex.css", **given)


def _written(template: str, record: Record, around: summary_card.Around) -> str:
    whole = {**page.context(record, around), "document": nist.DOCUMENT}
    return _environment().get_template(template).render(whole)


@functools.cache
def _environment() -> Environment:
    from markupsafe import Markup

    def escaped(value: object) -> Markup:
        return value if isinstance(value, Markup) else Markup(escape(value))

    found = page.environment(escaped)
    found.filters |= {
        "code": lambda value: Markup(code(value)),
        "compared": _compared,
        "cell": lambda value: digits(value) if isinstance(value, int | float) else value or "",
        "number": digits,
    }
    return found


def _tidy(shown: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", shown).strip() + "\n"


_WORDS = "<!--words-->"  # which no text of a record can be: it is escaped


def escape(value: object) -> str:
    """A text that shows as it is, on one line, wherever it stands in a Markdown document or table."""
    words = _UNSEEN.sub(" ", str(value)).strip()
    words = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    words = _MARKS.sub(r"\\\1", words)
    return _MENTION.sub(r"\1&#8203;", _STARTS.sub(_entity, words))


def _entity(found: re.Match[str]) -> str:
    text = found[0]
    return f"{text[:-1]}&#{ord(text[-1])};"


def code(value: object) -> str:
    """As code where that cannot break out, else escaped."""
    words = str(value)
    return f"`{words}`" if _PLAIN_CODE.fullmatch(words) else escape(words)


def _compared(found: Check) -> JsonDict:
    """Heads, rows of cells, and columns of numbers of a table that promises nothing."""
    rows = readings.joined(found.statistics, found.result)
    columns, named = found.form.cells, found.statistics.get("algorithms", ())
    return {
        "heads": [head.format(*named) for head in columns.values()],
        "rows": [[row.get(key) for key in columns] for row in rows],
        "rules": ["---" if isinstance(rows[0].get(key), str) else "---:" for key in columns],
    }


MARKDOWN = Rendering("markdown", lambda shown: to_markdown(shown.record, shown.around), ending=".md")
DPIA = Rendering("dpia", lambda shown: (to_dpia_page if shown.page else to_dpia)(shown.record, shown.around))
