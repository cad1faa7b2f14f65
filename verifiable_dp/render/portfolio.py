"""All records of a folder on one page: what there is, what it says, and filters over it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from verifiable_dp.core.files import write_text
from verifiable_dp.core.validate import InputError
from verifiable_dp.record.verify import verify
from verifiable_dp.render.errata import verify_errata
from verifiable_dp.render.mutation import verify_mutants
from verifiable_dp.render.page import Beside, render_index
from verifiable_dp.render.study import verify_study

_VERSION = re.compile(rb'"schema_version"\s*:\s*"\d+\.\d+\.\d+"')  # other data files name their kind first
_KEYS = (b'"target"', b'"checks"', b'"digest"')
_LARGEST = 64 << 20
Json = Mapping[str, Any]


@dataclass(frozen=True)
class Portfolio:
    """The records below a folder, and the data files beside them.

    Attributes
    ----------
    folder
        Where they were looked for.
    records
        Whole records that hold, by their path, in the order of the paths.
    broken
        Why a file that is meant as a record or as one of these data files does not hold, by its path.
    errata, mutants
        The folder's errata and kill table; None where there is none that holds.
    studies
        The folder's studies that hold.
    """

    folder: Path
    records: Mapping[Path, Mapping[str, Any]]
    broken: Mapping[Path, str]
    errata: Mapping[str, Any] | None = None
    mutants: Mapping[str, Any] | None = None
    studies: Sequence[Mapping[str, Any]] = ()


def find(folder: str | Path) -> Portfolio:
    """Verify every record below a folder, of any version and whatever its file is called; nothing is run.

    Likewise the errata, the kill table and the studies of the folder itself. Hidden folders and links to
    folders are left out.

    Raises
    ------
    InputError
        If there is no such folder.
    """
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"folder: {str(place)!r} is no folder")
    broken: dict[Path, str] = {}

    def held(verified: Callable[[Path], Json | None], path: Path) -> Json | None:
        try:
            return verified(path)
        except InputError as error:
            broken[path] = str(error)
            return None

    def record(path: Path) -> Json | None:
        return verify(path).record if _is_record(path) else None

    records = {path: found for path in _json_files(place) if (found := held(record, path))}
    whole, table = place / "errata.json", place / "mutants.json"
    studies = [held(verify_study, path) for path in sorted(place.glob("studies/*/study.json"))]
    return Portfolio(
        place,
        records,
        broken,
        held(verify_errata, whole) if whole.exists() else None,
        held(verify_mutants, table) if table.exists() else None,
        [study for study in studies if study],
    )


def _json_files(folder: Path) -> Iterator[Path]:
    for here, inside, files in os.walk(folder):
        inside[:] = sorted(name for name in inside if not name.startswith("."))
        for name in sorted(files):
            if name.endswith(".json") and not name.startswith("."):
                yield Path(here) / name


def _is_record(path: Path) -> bool:
    """Whether the text looks like a record: most JSON files of a project are something else."""
    if not path.is_file():  # a pipe would never end
        return False
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST)
    except OSError as error:
        raise InputError(f"record: {str(path)!r} cannot be read: {error.strerror}") from None
    # A file of that name that holds no record is a damaged one.
    return path.name == "record.json" or bool(
        _VERSION.search(content) and all(key in content for key in _KEYS)
    )


def page(found: Portfolio, out: Path) -> str:
    """The page at `out` over what was found, with the folder's errata, mutation suite and studies."""
    folder, links = found.folder, _Links(out)
    beside = Beside(
        errata=found.errata["errata"] if found.errata else [],
        mutants=found.mutants["summary"] if found.mutants else None,
        studies=found.studies,
        base="" if links.of(folder) == "." else f"{links.of(folder)}/",
        schemas=(folder / "schema").is_dir(),
    )
    return render_index(
        list(found.records.values()),
        [links.of(_shown(path)) for path in found.records],
        beside,
        paths=[path.relative_to(folder).as_posix() for path in found.records],
        broken=[(path.relative_to(folder).as_posix(), why) for path, why in found.broken.items()],
    )


@dataclass(frozen=True)
class _Links:
    """Relative addresses as they stand in the page at `page`."""

    page: Path

    def of(self, path: Path) -> str:
        """Of a file or folder; a colon is escaped, or ``a:b.html`` would be taken for a scheme."""
        relative = os.path.relpath(path.resolve(), self.page.resolve().parent)
        return quote(Path(relative).as_posix())


def _shown(path: Path) -> Path:
    """The page beside a record, if there is one; else the record."""
    beside = path.with_suffix(".html")
    return beside if beside.is_file() else path


def write(folder: str | Path, out: str | Path | None = None) -> tuple[Path, Portfolio]:
    """Write the page over all records of a folder.

    Parameters
    ----------
    folder
        Looked through with all folders in it.
    out
        Of the page; ``index.html`` in the folder if None.

    Returns
    -------
    tuple of Path and Portfolio
        Of the page, and what is on it: files that do not hold are named there with the reason.

    Raises
    ------
    InputError
        If there is no such folder or no record in it, or the page cannot be written.
    """
    found = find(folder)
    if not found.records and not found.broken:
        raise InputError(f"folder: no record below {str(found.folder)!r}")
    place = found.folder / "index.html" if out is None else Path(out)
    return write_text(place, page(found, place)), found
