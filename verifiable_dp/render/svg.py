"""Inline SVG in few bytes."""

from __future__ import annotations

import re
import zlib

INK = "#1f2933"  # of texts, axes and ticks

_PATH = re.compile(r'(?<= d=")[^"]*')
_POINT = re.compile(r'<path d="m-?[0-9.]+[ -][0-9.]+"[^>]*/>')  # shows nothing: an error bar of no length
_COMMAND = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_COORDINATE = re.compile(r'(?<= [xy]=")[^"]*')


_TICK = f"fill: {INK}; stroke: {INK}; stroke-width: 0.8"  # most marks are those of the axes


def compact(text: str) -> str:
    """The same picture in fewer bytes: no comments, no indentation, coordinates to a tenth of a point."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"\s*\n\s*", " ", text).replace("> <", "><")
    text = re.sub(r' transform="rotate\(-0 [^)]*\)"', "", text)
    text = _ungrouped(re.sub(r'<g id="[^"]*"', "<g", text))
    text = re.sub(rf'(<use [^>]*) style="{_TICK}"/>', r"\1/>", text).replace(" stroke-dashoffset: 0;", "")
    text = re.sub(r"font: ([0-9.]+px) '", r"font-size: \1; font-family: '", text)
    text = re.sub(r" font-family: 'DejaVu Sans'(, sans-serif)?;", "", text)
    text = re.sub(rf'(<t(?:ext|span) style="[^"]*); fill: {INK}"', r'\1"', text)
    style = f"text{{font-family: 'DejaVu Sans', sans-serif; fill: {INK}}} use:not([style]){{{_TICK}}}"
    text = text.replace("butt}</style>", f"butt}} {style}</style>")
    text = _COORDINATE.sub(lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), text)
    return _POINT.sub("", _PATH.sub(lambda found: _relative(found[0]), text))


def _ungrouped(text: str) -> str:
    """Without groups that say nothing of what is in them."""
    text = re.sub(r"<g\b[^>]*/>", "", text)  # empty, as error bars of no size leave them
    kept: list[bool] = []
    parts = []
    for part in re.split(r"(</?g\b[^>]*>)", text):
        says = part != "<g>" if part.startswith("<g") else kept.pop() if part == "</g>" else True
        if part.startswith("<g"):
            kept.append(says)
        if says:
            parts.append(part)
    return "".join(parts)


def _relative(path: str) -> str:
    """A path in steps of tenths of a point: most are shorter than places, and standing still is left out."""
    found, last, here, start = "", "", (0, 0), (0, 0)
    for letter, numbers in _COMMAND.findall(path):
        tenths = [round(10 * float(number)) for number in numbers.split()]
        points = list(zip(tenths[::2], tenths[1::2], strict=True))
        if letter == "L" and points == [here]:
            continue
        steps = [value for x, y in points for value in (x - here[0], y - here[1])]
        said = "".join(f"{'' if step < 0 else ' '}{step / 10:g}" for step in steps).strip()
        follows = letter == "L" and last in "ML"  # without its letter
        found += f"{' ' if follows and said[:1] != '-' else ''}{'' if follows else letter.lower()}{said}"
        last, here = letter, points[-1] if points else start  # a path that closes is back where it began
        start = here if letter == "M" else start
    return found


def renamed(text: str, name: str) -> str:
    """With short ids: those of markers and clip paths are long, and alike in every figure of a page."""
    prefix = f"f{zlib.crc32(name.encode()):x}"
    ids = list(dict.fromkeys(re.findall(r'\bid="([^"]*)"', text)))
    short = {long: f"{prefix}-{number}" for number, long in enumerate(ids)}
    pattern = r'(\bid="|href="#|url\(#)([^")]*)'
    return re.sub(pattern, lambda found: f"{found[1]}{short.get(found[2], found[2])}", text)


def alone(inline: str, *, white: bool = False) -> str:
    """Inline SVG as a file of its own, on white if asked for."""
    head, rest = inline.split(">", 1)
    head = head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    ground = '<rect width="100%" height="100%" fill="#ffffff"/>' if white else ""
    return f"{head}>{ground}{rest}\n"
