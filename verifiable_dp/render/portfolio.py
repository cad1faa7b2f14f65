"""All records of a folder on one page: what there is, what it says, and filters over it."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from verifiable_dp.core import files
from verifiable_dp.core.files import write_text
from verifiable_dp.core.validate import InputError, Json, Result
from verifiable_dp.record import kills
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import SCHEMAS
from verifiable_dp.record.signing import KeyRing, SignatureState, state
from verifiable_dp.record.verify import LARGEST, Verified, parsed, verify
from verifiable_dp.render import mutation
from verifiable_dp.render import sidecars as company
from verifiable_dp.render.errata import verify_errata
from verifiable_dp.render.mutation import verify_mutants
from verifiable_dp.render.page import Beside, render, render_errata, render_index, render_study
from verifiable_dp.render.study import verify_study

_VERSION = re.compile(rb'"schema_version"\s*:\s*"\d+\.\d+\.\d+"')  # other data files name their kind first
_ERRATA, _MUTANTS = "errata.json", "mutants.json"
_KEYS = (b'"target"', b'"checks"', b'"digest"')


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
        The folder's studies that hold, by their path.
    """

    folder: Path
    records: Mapping[Path, Verified]
    broken: Mapping[Path, str]
    errata: Json | None = None
    mutants: Json | None = None
    studies: Mapping[Path, Json] = field(default_factory=dict)

    @property
    def files(self) -> dict[Path, Json]:
        """The values of all that hold, by their path."""
        beside = {self.folder / _ERRATA: self.errata, self.folder / _MUTANTS: self.mutants, **self.studies}
        whole = {path: one.record for path, one in self.records.items()}
        return whole | {path: values for path, values in beside.items() if values}


def find(folder: str | Path) -> Portfolio:
    """Verify every record below a folder, of any version and whatever its file is called; nothing is run.

    The errata, the kill table and the studies of the folder itself, too. Hidden folders and links to folders
    are left out; a link to a file outside the folder does not hold.

    Raises
    ------
    InputError
        If there is no such folder.
    """
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"folder: {str(place)!r} is not a folder")
    broken: dict[Path, str] = {}

    def held(verified: Callable[[Path], Result | None], path: Path) -> Result | None:
        try:
            if not _inside(place, path):
                raise InputError("it is a link out of the folder, and we do not follow such links")
            return verified(path)
        except InputError as error:
            broken[path] = str(error)
            return None

    def lost(error: OSError) -> None:
        broken[Path(str(error.filename))] = f"the folder cannot be read: {error.strerror}"

    records = {path: found for path in _json_files(place, lost) if (found := held(_record, path))}
    whole, table = place / _ERRATA, place / _MUTANTS
    studies = {path: held(verify_study, path) for path in sorted(place.glob("studies/*/study.json"))}
    errata = held(verify_errata, whole) if whole.exists() else None
    mutants = held(verify_mutants, table) if table.exists() else None
    tables = {table.name: mutants} if mutants else {}
    for path, one in [*records.items()]:
        try:
            records[path] = replace(one, suite=kills.compared(one.parsed, tables))
        except InputError as error:
            broken[path] = str(error)
            del records[path]
    return Portfolio(
        place,
        records,
        broken,
        errata,
        mutants,
        {path: study for path, study in studies.items() if study},
    )


def _json_files(folder: Path, lost: Callable[[OSError], None]) -> Iterator[Path]:
    for here, inside, names in os.walk(folder, onerror=lost):
        inside[:] = sorted(name for name in inside if not name.startswith("."))
        for name in sorted(names):
            if name.endswith(".json") and not name.startswith("."):
                yield Path(here) / name


def _inside(folder: Path, path: Path) -> bool:
    """Whether a file is in the folder, and no link leads out of it."""
    return path.resolve().is_relative_to(folder.resolve())


def _record(path: Path) -> Verified | None:
    """A record that holds; None if the text does not look like one, as most JSON files of a project."""
    if not path.is_file():  # a pipe would never end
        return None
    try:
        with files.opened("record", path) as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"record: {str(path)!r} cannot be read: {error.strerror}") from None
    # A file of that name that holds no record is a damaged one.
    meant = path.name == "record.json"
    if not (meant or (_VERSION.search(content) and all(key in content for key in _KEYS))):
        return None
    if len(content) > LARGEST:
        raise InputError(f"record: {str(path)!r} is larger than {LARGEST >> 20} MiB")
    return verify(parsed(path, content))


def page(found: Portfolio, out: Path, *, own: bool = False, keys: KeyRing | None = None) -> str:
    """The page at `out` over what was found, with the folder's errata, mutation suite and studies.

    It links the page beside a data file only if that is the very page of this file; else the file.

    Parameters
    ----------
    found
        As `find` gives it.
    out
        Of the page.
    own
        Whether the pages in the folder are known to be ours, and need not be made again to compare them.
    keys
        With which signatures are checked.
    """
    signed = signatures(found, keys)
    folder, address = found.folder, functools.partial(company.address, page=out)

    def link(path: Path, values: Json, name: str, made: Callable[[Json], str]) -> str:
        beside = path.with_name(name)
        ours = beside.is_file() and _inside(folder, beside) and (own or _is(beside, made, values))
        return address(beside if ours else path)

    places = {folder / "errata.json": found.errata, folder / "mutants.json": found.mutants}
    makers = (("errata.html", render_errata), ("mutants.html", mutation.render))
    apart = [
        link(path, values, name, made) if values else ""
        for (path, values), (name, made) in zip(places.items(), makers, strict=True)
    ]
    items = folder / "papers.html"
    beside = Beside(
        errata=found.errata["errata"] if found.errata else [],
        mutants=found.mutants["summary"] if found.mutants else None,
        studies=[
            (link(path, whole, "index.html", render_study), whole) for path, whole in found.studies.items()
        ],
        pages=(apart[0], apart[1]),
        papers=address(items) if own and items.is_file() and _inside(folder, items) else "",
        schema=address(folder / "schema" / f"{SCHEMAS[0]}.json") if (folder / "schema").is_dir() else "",
    )
    return render_index(
        [one.parsed for one in found.records.values()],
        [
            link(path, one.record, f"{path.stem}.html", functools.partial(_page_of, path, signed[path]))
            for path, one in found.records.items()
        ],
        beside,
        paths=[path.relative_to(folder).as_posix() for path in found.records],
        signatures=[signed[path] for path in found.records],
        broken=[(path.relative_to(folder).as_posix(), why) for path, why in found.broken.items()],
    )


def signatures(found: Portfolio, keys: KeyRing | None) -> dict[Path, SignatureState]:
    """What is known of the signature of each file that holds, by its path."""
    return {path: state(f"{path}.sig", values, keys or {}) for path, values in found.files.items()}


def _page_of(path: Path, signed: SignatureState, values: Json) -> str:
    """The page of the record at `path` as it belongs into its folder, or the one of the record alone."""
    record = Record.of(values)
    place = path.with_name(f"{path.stem}.html")
    for known in (signed, None):
        whole = render(record, around=company.of(path, record, place, known))
        if _content(place) == whole.encode():
            return whole
    return render(record)


def write_pages(found: Portfolio, folders: Collection[str]) -> None:
    """Write the pages of the records in these folders, which now say what lies beside them.

    Raises
    ------
    InputError
        If one cannot be written.
    """
    for path, one in found.records.items():
        if path.name == "record.json" and path.parent.parent == found.folder and path.parent.name in folders:
            place = path.with_name("record.html")
            write_text(place, render(one.parsed, around=company.of(path, one.parsed, place)))


def _content(path: Path) -> bytes:
    return files.content("page", path, LARGEST)


def _is(path: Path, made: Callable[[Json], str], values: Json) -> bool:
    """Whether a file is the page of a data file, to the byte."""
    try:
        return _content(path) == made(values).encode()
    except Exception:  # what values of a stranger do to a page is not known
        return False


def write(
    folder: str | Path, out: str | Path | None = None, keys: KeyRing | None = None
) -> tuple[Path, Portfolio]:
    """Write the page over all records of a folder.

    Parameters
    ----------
    folder
        Looked through with all folders in it.
    out
        Of the page; ``index.html`` in the folder if None.
    keys
        With which signatures are checked.

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
        raise InputError(f"folder: no record found in {str(found.folder)!r}")
    place = found.folder / "index.html" if out is None else Path(out)
    return write_text(place, page(found, place, keys=keys)), found
