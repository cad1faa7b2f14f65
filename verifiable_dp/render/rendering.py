"""What a rendering is: one file of a package that makes a document of a record.

A package registers its `Rendering` with an entry point of group ``verifiable_dp.renderings`` under the
name that ``verifiable-dp render --to NAME`` takes; ours does it in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from verifiable_dp.record.model import Record
from verifiable_dp.render.summary_card import Around

GROUP = "verifiable_dp.renderings"


@dataclass(frozen=True)
class Shown:
    """What a rendering is given.

    Attributes
    ----------
    record
        That holds.
    around
        What lies beside its file.
    name, content
        Of its file.
    url
        Of the run of CI that made it; empty if that was not said.
    page
        Whether it is written to a file whose name ends in ``.html``.
    """

    record: Record
    around: Around
    name: str
    content: bytes
    url: str
    page: bool = False


@dataclass(frozen=True)
class Rendering:
    """A form in which a record can be shown.

    Parameters
    ----------
    name
        What ``--to`` takes.
    make
        The document; a text is written as UTF-8.
    linked
        Whether its links lead to what lies beside where it is written.
    takes_url
        Whether it names the run of CI.
    ending
        Of the names of files that are written in it where ``--to`` is not given; empty: it must be.
    """

    name: str
    make: Callable[[Shown], str | bytes]
    linked: bool = False
    takes_url: bool = False
    ending: str = ""
