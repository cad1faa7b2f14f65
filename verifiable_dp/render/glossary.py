"""The words that pages, documentation and `--help` explain, each with one meaning: glossary.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

from verifiable_dp.core.validate import JsonDict


def read() -> list[JsonDict]:
    """Words, each with a sentence; pages explain those that have a ``pattern`` where it is found."""
    loaded = tomllib.loads(Path(__file__).with_name("glossary.toml").read_text("utf-8"))
    found: list[JsonDict] = loaded["term"]
    return found


def rows() -> list[tuple[str, str]]:
    """Each word with its meaning."""
    return [(term["word"], term.get("short") or term["said"]) for term in read()]


def markdown() -> str:
    """The page of the documentation."""
    head = "# Glossary\n\nEach word has one meaning, on these pages and in the program.\n\n"
    return (
        head
        + "| word | meaning |\n|---|---|\n"
        + "".join(f"| {word} | {meaning} |\n" for word, meaning in rows())
    )
