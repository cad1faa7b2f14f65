"""Every form that a record can be shown in, found by entry points (`rendering.GROUP`)."""

from __future__ import annotations

from pathlib import Path

from verifiable_dp.compliance.blocks import to_compliance
from verifiable_dp.core import files, plugins
from verifiable_dp.core.validate import InputError, choice
from verifiable_dp.record.signing import KeyRing, state
from verifiable_dp.record.verify import LARGEST, parsed, verify
from verifiable_dp.render import sidecars
from verifiable_dp.render.rendering import GROUP, Rendering, Shown

COMPLIANCE = Rendering("compliance", lambda shown: to_compliance(shown.record))


def formats() -> tuple[str, ...]:
    """Names of all forms, as registered."""
    return plugins.names(GROUP)


def rendering(to: str) -> Rendering:
    """The form of this name.

    Raises
    ------
    InputError
        If no installed package registers it, or two do.
    """
    choice("to", to, formats())
    return plugins.registered(GROUP, to, Rendering)


def form_of(path: Path) -> str:
    """The form in which a file of this name is written.

    Raises
    ------
    InputError
        If the name does not say it.
    """
    endings = {found.ending: to for to in formats() if (found := rendering(to)).ending}
    if path.suffix.lower() not in endings:
        raise InputError(
            f"--to must be one of {', '.join(formats())} for {str(path)!r}; only the extensions "
            f"{', '.join(endings)} imply a format"
        )
    return endings[path.suffix.lower()]


def render(
    path: str | Path, to: str, *, url: str = "", out: Path | None = None, keys: KeyRing | None = None
) -> bytes:
    """Verify a record and render it.

    Parameters
    ----------
    path
        Of the record's JSON file.
    to
        One of `formats`.
    url
        Of the run of CI that made the record; only for ``in-toto``.
    out
        Where it will be written, from which a page's links lead. Without it, and in another folder than the
        record's, a page links no other file.
    keys
        With which the signature next to the record is checked.

    Raises
    ------
    InputError
        If the record does not hold (`verify.verify`), the form is unknown or cannot show this record, or
        what it needs is not installed.
    """
    found, place = rendering(to), Path(path)
    if url and not found.takes_url:
        raise InputError(f"`url` works only with a format that names the CI run, such as in-toto, got {to}")
    content = files.content("record", path, LARGEST)
    held = verify(parsed(path, content))
    record, signed = held.parsed, state(f"{place}.sig", held.record, keys or {})
    around = sidecars.of(place, record, out if found.linked else None, signed)
    try:
        page = out is not None and out.suffix.lower() == ".html"
        made = found.make(Shown(record, around, place.name, content, url, page))
    except InputError:
        raise
    except Exception as error:  # values of a stranger, in whatever form
        raise InputError(f"the record is valid, but cannot be shown as {to}: {error!r}"[:200]) from error
    return made if isinstance(made, bytes) else made.encode()
