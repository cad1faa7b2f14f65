"""Writes docs/api.md, the reference of the public Python names, from their docstrings: ``make docs``.

With ``--check`` nothing is written; exit status 1 if the page is not current.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import verifiable_dp

PAGE = Path(__file__).with_name("api.md")
# Groups of the names of the package; what is missing here is refused.
GROUPS = {
    "Audits and reports": (
        "audit",
        "AuditOptions",
        "check_regret",
        "RegretOptions",
        "verify",
        "Report",
        "Exec",
        "InputError",
    ),
    "Catalogue and simulation": ("catalogue", "make", "simulate"),
    "Live sessions": ("Session", "restore", "BudgetError", "FileCounter", "SqliteCounter"),
    "Your own algorithms": ("Algorithm", "Auditor", "Mutant"),
}
MODULES = ("claims", "neighbours", "mechanisms", "noise", "environments", "populations")
HEAD = """\
# API reference

`make docs` generates this page from the docstrings, and a test keeps it current. After `import verifiable_dp
as vdp`, you can use the names in the first part. The second part lists modules, such as `vdp.claims`; to see
the parameters of a class, call `help`, as in `help(vdp.noise.Seeded)`. Anything not listed here may change
without notice.
"""
WIDTH = 100
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
_FIELD = re.compile(r"^(\S.*?)(?: : (.*))?$")


def page() -> str:
    """The whole page.

    Raises
    ------
    SystemExit
        If a public name stands in no group.
    """
    listed = [name for names in GROUPS.values() for name in names]
    missing = sorted(set(verifiable_dp.__all__) - {*listed, *MODULES})
    if missing:
        sys.exit(f"docs/build_api.py: in no group: {', '.join(missing)}")
    parts = [HEAD]
    for title, names in GROUPS.items():
        parts.append(f"## {title}\n")
        parts += [entry(f"vdp.{name}", getattr(verifiable_dp, name)) for name in names]
    for name in MODULES:
        module = getattr(verifiable_dp, name)
        parts.append(f"## vdp.{name}\n\n{text(inspect.getdoc(module) or '')}")
        parts.append("\n".join(brief(name, member, thing) for member, thing in members(module)) + "\n")
    return "\n".join(parts)


def members(module: ModuleType) -> list[tuple[str, Any]]:
    """Public functions and classes of a module, as they stand in it."""
    own = getattr(module, "__all__", None) or [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__
    ]
    found = ((name, getattr(module, name)) for name in own)
    return [(name, thing) for name, thing in found if inspect.isclass(thing) or inspect.isroutine(thing)]


def brief(module: str, member: str, thing: Any) -> str:
    """A line of the list of a module: signature and first paragraph."""
    plain = inspect.isclass(thing) and issubclass(thing, BaseException | dict)
    shown = member if plain else one_line(member, thing)
    return f"- `{module}.{shown}`: {first_line(thing)}"


def entry(name: str, thing: Any) -> str:
    """Heading, signature, docstring, and for a class its methods."""
    kind = "class " if inspect.isclass(thing) else ""
    lines = [f"### {name}\n"]
    if not (inspect.isclass(thing) and issubclass(thing, BaseException | dict)):
        lines.append(f"```python\n{kind}{signature(name, thing)}\n```\n")
    lines.append(text(inspect.getdoc(thing) or ""))
    if inspect.isclass(thing):
        lines += methods(thing)
    return "\n".join(lines)


def methods(thing: type) -> list[str]:
    """A line for each public method and property that the class or its bases here define."""
    rows = []
    for name in dir(thing):
        where = next((base for base in thing.__mro__ if name in vars(base)), object)
        if name.startswith("_") or not where.__module__.startswith("verifiable_dp"):
            continue
        found = vars(where)[name]
        plain = getattr(found, "__func__", found)  # of a class method
        words = first_line(plain if not isinstance(found, property) else found.fget)
        if isinstance(found, property):
            rows.append(f"- `{name}`: {words}")
        elif inspect.isfunction(plain):
            rows.append(f"- `{one_line(name, plain, bound=True)}`: {words}")
    return ["**Methods and properties**\n", "\n".join(rows) + "\n"] if rows else []


def first_line(function: Any) -> str:
    """The first paragraph of a docstring, also of the method that this one overrides."""
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())


def parameters(thing: Any, *, bound: bool = False) -> list[str]:
    """Each with its annotation and default; `bound` leaves the first one out."""
    given = list(inspect.signature(thing).parameters.values())[int(bound) :]
    found, keyword_only = [], False
    for one in given:
        if one.kind is one.KEYWORD_ONLY and not keyword_only:
            found.append("*")
        keyword_only |= one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        kind = "" if one.annotation is one.empty else f": {annotation(one.annotation)}"
        equal = " = " if kind else "="
        default = "" if one.default is one.empty else f"{equal}{value(one.default)}"
        found.append(f"{stars}{one.name}{kind}{default}")
    return found


def annotation(given: Any) -> str:
    """As it is written in the source."""
    return given if isinstance(given, str) else inspect.formatannotation(given)


def value(default: Any) -> str:
    """A default without addresses in memory."""
    if inspect.isroutine(default) or inspect.isclass(default):
        return str(default.__name__)
    return "..." if "<" in repr(default) else repr(default)


def one_line(name: str, thing: Any, *, bound: bool = False) -> str:
    """Signature without annotations."""
    plain = [
        re.sub(r": .*?( = |$)", lambda found: "=" if found[1] else "", one)
        for one in parameters(thing, bound=bound)
    ]
    return f"{name}({', '.join(plain)})"


def signature(name: str, thing: Any) -> str:
    """On one line if it fits, else a line for each parameter."""
    given = parameters(thing)
    back = "" if inspect.isclass(thing) else inspect.signature(thing).return_annotation
    arrow = "" if back in ("", inspect.Signature.empty) else f" -> {annotation(back)}"
    whole = f"{name}({', '.join(given)}){arrow}"
    if len(whole) <= WIDTH:
        return whole
    return "\n".join([f"{name}(", *(f"    {one}," for one in given), f"){arrow}"])


def text(docstring: str) -> str:
    """A docstring in the form of numpydoc as Markdown."""
    parts = _SECTION.split(docstring)
    blocks = [prose(parts[0])]
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        shown = (
            fields(body)
            if title in ("Parameters", "Returns", "Raises", "Attributes", "Yields")
            else prose(body)
        )
        blocks.append(f"**{title}**\n\n{shown}")
    return "\n\n".join(block for block in blocks if block) + "\n"


def prose(body: str) -> str:
    """Paragraphs; examples become code."""
    paragraphs = body.strip("\n").rstrip().split("\n\n")
    return "\n\n".join(
        f"```python\n{re.sub(r'  # doctest:.*', '', paragraph)}\n```"
        if paragraph.startswith(">>>")
        else paragraph
        for paragraph in paragraphs
    )


def fields(body: str) -> str:
    """A list of names with what is said of each."""
    rows: list[str] = []
    for line in body.strip("\n").splitlines():
        if line.startswith(" ") and rows:
            rows[-1] += f" {line.strip()}"
        elif line.strip():
            name, kind = _FIELD.fullmatch(line).groups()  # type: ignore[union-attr]
            rows.append(f"- `{name}`{f' ({kind})' if kind else ''}:")
    return "\n".join(row.removesuffix(":") if row.endswith("`:") else row for row in rows)


def main() -> None:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    now = page()
    if parser.parse_args().check:
        current = PAGE.is_file() and PAGE.read_text("utf-8") == now
        sys.exit(0 if current else f"{PAGE.name} is not current: run `make docs`")
    PAGE.write_text(now, "utf-8", newline="\n")


if __name__ == "__main__":
    main()
