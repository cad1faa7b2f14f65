"""The questions of a declarations file as a page with a form, which writes the file in the browser."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from verifiable_dp.core import files
from verifiable_dp.core.validate import InputError, Json
from verifiable_dp.record import questions
from verifiable_dp.render.page import filled, style

_KINDS = {"boolean": "yes", "integer": "number", "number": "number", "string": "text"}


@dataclass(frozen=True)
class Field:
    """A place to fill in.

    Attributes
    ----------
    key
        Of the answer, or of a column of its rows.
    kind
        ``text``, ``day``, ``number``, ``yes``, ``choice``, ``list`` (a text a line) or ``rows``.
    choices
        Of a choice.
    columns
        Of rows.
    """

    key: str
    kind: str
    choices: tuple[str, ...] = ()
    columns: tuple[Field, ...] = ()


def _field(key: str, form: Json) -> Field:
    if "enum" in form:
        return Field(key, "choice", tuple(form["enum"]))
    if form.get("pattern") == questions.DAY:
        return Field(key, "day")
    if form.get("type") != "array":
        return Field(key, _KINDS.get(form.get("type", ""), "text"))
    item = form["items"]
    item = item["anyOf"][1] if "anyOf" in item else item
    if "properties" not in item:
        return Field(key, "list")
    columns = tuple(_field(name, part) for name, part in item["properties"].items())
    return Field(key, "rows", columns=columns)


def render() -> str:
    """The page: HTML without external references, whose script fetches and sends nothing."""
    asked = {
        table: [(one, _field(one.id.rpartition(".")[2], one.form)) for one in found]
        for table, found in questions.tables().items()
    }
    return filled("form.html.jinja", "form.css", script=style("form.js"), asked=asked)


def write(path: Path) -> Path:
    """Write the page; nothing is overwritten.

    Raises
    ------
    InputError
        If there is something at `path` already, or it cannot be written.
    """
    if path.exists() or path.is_symlink():
        raise InputError(f"path: {str(path)!r} already exists; we do not overwrite it")
    return files.write_text(path, render())
