"""Folders that code lists, as files made of the names in them; and files that the code makes itself."""

from __future__ import annotations

import hashlib
import os
import urllib.parse
from pathlib import Path, PurePosixPath

from verifiable_dp.core.engine import Passed

ALL = "*"  # after a folder: the names of all that is in it
LISTS = ("os.listdir", "os.scandir")  # events of Python's
_CACHE = "__pycache__"
_MAGIC = {*"*?["}  # in patterns of names


def is_listed(name: str) -> bool:
    """Whether a path of a record stands for the names in a folder."""
    return PurePosixPath(name).name == ALL


def said(name: str) -> str:
    """A path of a record, in words if it stands for the names in a folder."""
    return f"the list of files in {name.removesuffix(ALL) or './'}" if is_listed(name) else name


def digest(place: str) -> str:
    """SHA-256 of the names in a folder, without hidden ones and Python's caches; empty if there is none."""
    if not os.path.isdir(place):
        return ""
    shown = [one for one in os.scandir(place) if one.name[0] != "." and one.name != _CACHE]
    names = sorted(f"{one.name}{os.sep * one.is_dir()}" for one in shown)
    return hashlib.sha256("\0".join(names).encode("utf-8", "surrogateescape")).hexdigest()


def unquoted(address: str) -> str:
    """The path of a database that may be named by an address."""
    return urllib.parse.unquote(address.removeprefix("file:").partition("?")[0])


def is_at(text: str, place: str) -> bool:
    """Whether a text is a path to a place, or the address of a database there."""
    return _real(text) == place


def leads(text: str, place: str) -> bool:
    """Whether a text is a path to a place, or to a folder above it, or that without its ending."""
    way = _real(text)
    return text != "" and place.startswith(way) and place[len(way) :][:1] in ("", os.sep, ".")


def _real(text: str) -> str:
    return os.path.realpath(unquoted(text).partition("\0")[0])


def lists(text: str, place: str) -> bool:
    """Whether a text leads to a folder, or is a pattern of what is in it."""
    pattern = not _MAGIC.isdisjoint(text)
    return leads(text, place) or (pattern and _real(text).startswith(os.path.join(place, "")))


class Made:
    """Files and folders that were not there before: what the code finds in them is its own."""

    def __init__(self) -> None:
        self._places = set[str]()

    def hear(self, event: str, given: tuple[Passed, ...]) -> None:
        """Hear of something that Python is about to do."""
        anew = event == "open" and bool(given[2] & os.O_TRUNC)
        if (anew or event in ("open", "os.mkdir", "sqlite3.connect")) and not isinstance(given[0], int):
            place = os.path.realpath(unquoted(os.fsdecode(given[0])))
            if anew or not os.path.lexists(place):
                self._places.add(place)

    def __contains__(self, place: str) -> bool:
        return not self._places.isdisjoint((place, *map(str, Path(place).parents)))
