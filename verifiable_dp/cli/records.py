"""Commands that read a record: verify, sign, declare, render, diff, portfolio."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verifiable_dp.cli.shell import (
    FILE,
    PATH,
    RECORDS,
    YOURS,
    Outputs,
    aside,
    cage_option,
    check_outputs,
    key_option,
    main,
    origin_options,
    progressing,
    say,
    scheduler_option,
)
from verifiable_dp.core.validate import Given, Json, JsonDict

if TYPE_CHECKING:
    from verifiable_dp.render.diff import Difference
    from verifiable_dp.render.folders import Folders

DIFF_EXIT = {"same": 0, "better": 0, "worse": 1, "differs": 1, "not_comparable": 3}


@main.command(
    section=YOURS,
    examples=(
        "init",
        "init --github",
    ),
)
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.option("--github", is_flag=True, help="Write a workflow for GitHub Actions instead.")
def init(path: Path | None, github: bool) -> None:
    """Write a template for your declarations, or a GitHub workflow.

    Writes the template to PATH (default declarations.toml); describe your deployment there. If PATH ends in
    .html, writes a page with the same questions instead; fill it in, and save the file from your browser.
    With --github, writes a workflow (.github/workflows/verifiable-dp.yml at the top of the repository)
    that audits the targets listed in pyproject.toml under [tool.verifiable-dp]. Never overwrites a file.
    """
    from verifiable_dp.campaign import settings
    from verifiable_dp.record.declarations import starter
    from verifiable_dp.render import form

    if github:
        say(f"written: {settings.write_workflow(path or Path('.github/workflows/verifiable-dp.yml'))}")
        return
    chosen = path or Path("declarations.toml")
    say(f"written: {form.write(chosen) if chosen.suffix == '.html' else starter(chosen)}")


@main.command(section=RECORDS)
@click.argument("record", type=FILE)
@click.argument("declarations", type=FILE)
@click.option("--json", "json_path", type=PATH, required=True, help="Write the new record to this file.")
@click.option("--html", "html_path", type=PATH, help="Write its page to this file.")
def declare(record: Path, declarations: Path, json_path: Path, html_path: Path | None) -> None:
    """Add declarations of your deployment to a record.

    Runs no code. DECLARATIONS is a TOML file (`verifiable-dp init` writes a template); it replaces the
    declarations in RECORD. Nothing else in the record changes except its digest. RECORD itself is never
    overwritten, because others may rely on its digest or signature.
    """
    from verifiable_dp.report import Report

    written = [path for path in (json_path, html_path) if path is not None]
    _check_apart(written, {"RECORD": record, "DECLARATIONS": declarations})
    check_outputs(*written)
    report = Report.load(record).declare(declarations)
    Outputs(json_path, html_path).write(report)
    stated = ", ".join(report.parsed.declarations or {}) or "nothing, because the file contains only comments"
    say(report.line())
    say(f"declared: {stated}")
    for path in written:
        say(f"written: {path}")


def _check_apart(written: list[Path], kept: dict[str, Path]) -> None:
    """Refuse to write over what is read, or twice to one place."""
    from verifiable_dp.core.validate import InputError

    for number, path in enumerate(written):
        for name, other in kept.items():
            linked = path.exists() and other.exists() and path.samefile(other)
            if linked or path.resolve() == other.resolve():
                raise InputError(f"path: {str(path)!r} is {name}; we do not overwrite it")
        if path.resolve() in [before.resolve() for before in written[:number]]:
            raise InputError(f"path: {str(path)!r} is given twice; write each output to its own file")


@main.command(
    section=RECORDS,
    examples=(
        "verify record.json",
        "verify record.json --rerun",
    ),
)
@click.argument("record", type=click.Path(path_type=Path))
@click.option("--rerun", is_flag=True, help="Run the audited code again, and compare the counts.")
@click.option("--workers", type=int, default=1, show_default=True)
@scheduler_option
@key_option
@click.option("--signature", type=FILE, help="Signature file (default RECORD.sig).")
@click.option("--request", type=FILE, help="The request that the record must answer.")
@cage_option
@origin_options
def verify(
    record: Path,
    rerun: bool,
    workers: int,
    scheduler: str | None,
    key: tuple[Path, ...],
    signature: Path | None,
    **more: Given,
) -> None:
    """Check a record: its schema, digest and verdicts.

    Recomputes every verdict from its counts; --key also checks the signature. If RECORD is a folder, checks
    all records, errata, studies and tables of broken variants in it. Exit status: 2 if anything is invalid,
    else 0.
    """
    cage = more.pop("cage")
    if record.is_dir():
        _verify_folder(record, key, alone=rerun or signature is not None or any(more.values()))
    from verifiable_dp.campaign.origin import refuse_expired
    from verifiable_dp.record.verify import read, suite_beside
    from verifiable_dp.record.verify import verify as check

    whole = read(record)  # once: what is signed is what is judged and run
    signed = _signed(whole, key, signature or Path(f"{record}.sig"), given=signature is not None)
    if key:
        say(signed)
    kind = _data_file(whole)
    if any(more.values()):
        _expected(whole, kind, more)
    with progressing(scheduler if rerun else None) as progress:
        if kind is not None:
            made = partial(kind.again, whole, workers, progress) if rerun else None
            line = _verify_data_file(whole, kind, signed, made)
        else:
            again = _again(workers, cage, progress) if rerun else None
            found = check(whole, rerun=again)
            refuse_expired(found.parsed)
            line = replace(found, signature=signed, suite=suite_beside(found.parsed, record)).summary()
    say(line)


def _expected(whole: Json, kind: _DataFile | None, given: JsonDict) -> None:
    """Refuse a record that is not of the code, the commit, the age or the question that is expected."""
    from verifiable_dp.campaign.origin import RecordOrigin
    from verifiable_dp.core.validate import InputError
    from verifiable_dp.record import requested
    from verifiable_dp.record.verify import verify as check

    if kind is not None:
        raise InputError("--request, --source, --commit and --max-age work only with the record of an audit")
    request = given.pop("request")
    asked = None if request is None else requested.read(request)
    RecordOrigin(**given, request=asked).check(check(whole).parsed)


def _again(workers: int, cage: str, progress: Callable[[str], None]) -> Callable[[Json], JsonDict]:
    """Runs a record again, after saying what it is about to run."""
    from verifiable_dp import api

    def again(found: Json) -> JsonDict:
        for line in api.will_run(found):
            aside(line)
        return api.rerun(found, workers=workers, cage=cage, progress=progress)

    return again


def _verify_folder(folder: Path, keys: tuple[Path, ...], *, alone: bool) -> None:
    """Verify all data files of a folder, name those that do not hold, and exit."""
    from verifiable_dp.campaign.origin import refuse_expired
    from verifiable_dp.core.validate import InputError
    from verifiable_dp.record import manifest, signing
    from verifiable_dp.render import portfolio

    if alone:
        raise InputError(
            "record: --rerun, --signature, --request, --source, --commit and --max-age work only with a "
            "single file; use `verifiable-dp judge` for a folder"
        )
    found, ring = portfolio.find(folder), signing.keyring(keys)
    signed = portfolio.signatures(found, ring)
    listed, wrong = folder / manifest.NAME, dict[Path, str]()
    whole = signing.NONE
    if listed.exists():
        values, changed = manifest.differences(folder)
        whole = signing.state(f"{listed}.sig", values, ring)
        wrong = {folder / name: why for name, why in changed.items()}
        wrong |= {Path(f"{listed}.sig"): whole.words} if whole.holds is False else {}
    for path, known in signed.items():  # a signature of the manifest speaks of all that is in it
        if known.holds is False or (ring and not (known.holds or whole.holds)):
            wrong[Path(f"{path}.sig")] = known.words
    for path, one in found.records.items():
        try:
            refuse_expired(one.parsed)
        except InputError as error:
            wrong[path] = str(error)
    for path, why in {**found.broken, **wrong}.items():
        aside(f"invalid: {path}: {why}")
    if not found.files and not found.broken:
        raise InputError(f"record: no record found in {str(folder)!r}")
    count = f"{len(found.files)} of {len(found.files) + len(found.broken)} files are valid"
    there = sum(known.there for known in signed.values())
    sealed = f"signatures found: {there}, not checked" if there else signing.NONE.words
    if ring:
        good = [one for one in signed.values() if one.holds or (whole.holds and one.holds is None)]
        sealed = f"{len(good)} of {len(signed)} files have a valid signature"
        sealed += f", by the manifest ({whole.words})" if whole.holds else ""
    say(f"{count}; {sealed}; the runs were not repeated")
    sys.exit(2 if found.broken or wrong else 0)


def _signed(whole: Json, keys: tuple[Path, ...], signature: Path, *, given: bool) -> str:
    """That the signature holds, or what is known of it without a key; one that does not hold is refused."""
    from verifiable_dp.core.validate import InputError
    from verifiable_dp.record import dsse, signing

    if keys and dsse.is_envelope(signature):
        return _enveloped(whole, keys, signature)
    if len(keys) == 1 and not keys[0].is_dir():  # which says more of what is wrong
        return f"valid signature: Ed25519 key {signing.check(whole, keys[0], signature)}"
    if given and not keys:
        raise InputError("--signature needs --key PUBLIC.pem")
    found = signing.state(signature, whole, signing.keyring(keys))
    if found.holds is False:
        raise InputError(f"signature: {str(signature)!r}: {found.words}; sign again, or remove the file")
    if keys and not found.holds:
        raise InputError(f"signature: {str(signature)!r}: {found.words}")
    return f"{found.words} (verify --key PUBLIC.pem checks it)" if found.there and not keys else found.words


@main.command(section=RECORDS)
@click.argument("record", type=FILE)
@click.option("--key", type=FILE, required=True, help="Ed25519 private key (PEM, no password).")
@click.option(
    "--out", type=PATH, help="Write the signature to this file (default RECORD.sig or RECORD.dsse.json)."
)
@click.option(
    "--to",
    type=click.Choice(["detached", "dsse", "dsse-slsa"]),
    default="detached",
    show_default=True,
    help="Write a signature file, or a DSSE envelope with the in-toto statement or the SLSA provenance.",
)
def sign(record: Path, key: Path, out: Path | None, to: str) -> None:
    """Verify a record and sign it.

    If RECORD is a folder, writes and signs a manifest with the digest of every file in it.
    """
    import json

    from verifiable_dp.core.files import write_text
    from verifiable_dp.core.validate import InputError
    from verifiable_dp.record import dsse, manifest, signing
    from verifiable_dp.record.sealing import text

    if record.is_dir():
        if out is not None or to != "detached":
            raise InputError("--out and --to work only with a single record")
        whole = manifest.of(record)
        path = record / manifest.NAME
        for place, content in ((path, text(whole)), (Path(f"{path}.sig"), signing.sign(whole, key))):
            say(f"written: {write_text(place, content)}")
        return
    ends = {"dsse": ".dsse.json", "dsse-slsa": ".slsa.dsse.json"}
    path = out or (record.with_suffix(ends[to]) if to in ends else Path(f"{record}.sig"))
    check_outputs(path)
    found = _verified(record)
    if to in ends:
        statement = _statements(found)[list(ends).index(to)]()
        write_text(path, dsse.envelope(json.dumps(statement, ensure_ascii=False).encode(), key))
    else:
        write_text(path, signing.sign(found, key))
    say(f"written: {path}")


def _statements(whole: Json) -> list[Callable[[], Json]]:
    """What makes the in-toto statement of a record, and its SLSA provenance."""
    import json

    from verifiable_dp.record.model import Record
    from verifiable_dp.render.intoto import to_intoto
    from verifiable_dp.render.slsa import to_slsa

    record = Record.of(whole)
    return [lambda: json.loads(to_intoto(record)), lambda: json.loads(to_slsa(record))]


def _enveloped(whole: Json, keys: tuple[Path, ...], envelope: Path) -> str:
    """That a DSSE envelope is signed, and is of this record: its statement is made again."""
    import json

    from verifiable_dp.core.validate import InputError, named
    from verifiable_dp.record import dsse, signing

    payload, name, key = dsse.opened(envelope, signing.keyring(keys))
    try:
        stated, (plain, provenance) = json.loads(payload), _statements(whole)
        same = stated == plain() or stated == provenance()
    except ValueError:  # also of a record that has no provenance
        same = False
    if not same:
        raise InputError(f"signature: {str(envelope)!r} belongs to another record, or the record was altered")
    return f"valid signature: Ed25519 key {key} of {named(name)}, DSSE envelope"


@main.command(section=RECORDS)
@click.argument("prefix", type=click.Path(path_type=Path))
def keygen(prefix: Path) -> None:
    """Make a key pair for signing records.

    Writes two Ed25519 keys: PREFIX.pem for `sign`, which you keep secret, and PREFIX.pub for `verify`, which
    you give to others. Never overwrites a file.
    """
    from verifiable_dp.record.signing import keygen as make

    for path in make(prefix):
        say(f"written: {path}")


def _verified(path: Path) -> Json:
    """A record, or another data file, that holds; nothing is run."""
    from verifiable_dp.record.verify import read
    from verifiable_dp.record.verify import verify as check

    whole = read(path)
    kind = _data_file(whole)
    return check(whole).record if kind is None else kind.verify(whole)


@main.command(
    section=RECORDS,
    examples=(
        "render record.json --out record.html",
        "render record.json --to markdown",
        "render record.json --to sarif --out findings.sarif --to junit --out junit.xml",
    ),
)
@click.argument("record", type=FILE)
@click.option(
    "--to",
    multiple=True,
    metavar="FORMAT",
    help="html, markdown, pdf, sarif, github, in-toto, slsa, opendp, junit, compliance, pack or dpia "
    "(default: from the file extension of --out).",
)
@click.option(
    "--out",
    type=PATH,
    multiple=True,
    help="Write to this file instead of stdout; give one --out for each --to.",
)
@click.option("--url", default="", help="For in-toto: URL of the CI run (default: the one in the record).")
@key_option
def render(record: Path, to: tuple[str, ...], out: tuple[Path, ...], url: str, key: tuple[Path, ...]) -> None:
    """Turn a record into a page, a document or findings for tools.

    Verifies the record first. Exit status: 2 if the record is invalid, else 0, whatever the verdict.
    """
    from verifiable_dp.core.files import write_bytes
    from verifiable_dp.core.validate import InputError
    from verifiable_dp.record.signing import keyring
    from verifiable_dp.render import renderings

    check_outputs(*out)
    if not (to or out):
        raise InputError(
            f"--to must be one of {', '.join(renderings.formats())}; or name a file such as --out record.html"
        )
    to = to or tuple(map(renderings.form_of, out))
    if "pdf" in to and not out:
        raise InputError("--out must be given: a terminal cannot show a PDF")
    if out and len(out) != len(to):
        raise InputError(f"--out must be given once for each --to, got {len(out)} for {len(to)}")
    places = out or [None] * len(to)
    keys = keyring(key)
    made = [
        renderings.render(record, form, url=url, out=at, keys=keys)
        for form, at in zip(to, places, strict=True)
    ]
    for content, place in zip(made, places, strict=True):
        if place is None:
            click.echo(content, nl=False)
        else:
            write_bytes(place, content)
            say(f"written: {place}")


@main.command(section=RECORDS)
@click.argument("old", type=FILE)
@click.argument("new", type=FILE)
@click.option("--json", "json_path", type=PATH, help="Write the changes to this file.")
@click.option(
    "--without", multiple=True, metavar="PATTERN", help="Ignore files and folders that match PATTERN."
)
def diff(old: Path, new: Path, json_path: Path | None, without: tuple[str, ...]) -> None:
    """Compare two records, or two folders.

    Shows what changed: verdicts, claims, checks, numbers. Exit status: 0 same or better, 1 worse, 2 a record
    is invalid, 3 the records cannot be compared (different targets or kinds of claims).

    For folders, compares each file, ignoring fields that identify a run, such as its time and machine. Exit
    status: 0 if all files are the same, else 1.
    """
    import json

    from verifiable_dp.core.files import write_text

    check_outputs(json_path)
    found = _difference(old, new, without)
    if json_path is not None:
        write_text(json_path, json.dumps(found.as_dict(), indent=1, ensure_ascii=False) + "\n")
    for line in found.lines():
        say(line)
    sys.exit(DIFF_EXIT[found.outcome])


def _difference(old: Path, new: Path, without: tuple[str, ...]) -> Difference | Folders:
    """Of two records, or of two folders."""
    from verifiable_dp.core.validate import InputError
    from verifiable_dp.record.verify import verify as check
    from verifiable_dp.render import diff as records
    from verifiable_dp.render import folders

    if old.is_dir() and new.is_dir():
        return folders.compare(old, new, without=without)
    if old.is_dir() or new.is_dir():
        other = new if old.is_dir() else old
        raise InputError(f"OLD and NEW must be two records or two folders; {str(other)!r} is not a folder")
    if without:
        raise InputError("--without works only with two folders")
    held = []
    for path in (old, new):
        try:
            held.append(check(path).parsed)
        except InputError as error:
            raise InputError(f"{str(path)!r} is invalid: {error}") from None
    return records.compare(*held)


@main.command(section=RECORDS)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--out", type=PATH, help="Write the page to this file (default FOLDER/index.html).")
@key_option
def portfolio(folder: Path, out: Path | None, key: tuple[Path, ...]) -> None:
    """Write one page about all records in FOLDER.

    Includes subfolders, and verifies every record. The page says which records are invalid, and why. Exit
    status: 2 if a record (or, with --key, a signature) is invalid, else 0.
    """
    from verifiable_dp.record.signing import keyring
    from verifiable_dp.render.portfolio import signatures, write

    check_outputs(out)
    ring = keyring(key)
    page, found = write(folder, out, ring)
    wrong = [path for path, known in signatures(found, ring).items() if ring and known.holds is False]
    for path in wrong:
        aside(f"invalid: {path}.sig")
    for path, why in found.broken.items():
        aside(f"invalid: {path}: {why}")
    say(f"written: {page} ({len(found.records)} records)")
    sys.exit(2 if found.broken or wrong else 0)


@main.command(section=RECORDS)
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--docs",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of Markdown files to include.",
)
@click.option(
    "--edit-url",
    "edit",
    default="",
    help="Base address for editing pages; the path of each page's file is appended.",
)
def site(folder: Path, out: Path, docs: Path | None, edit: str) -> None:
    """Write a static site of reports and documentation.

    Reads the reports in FOLDER and, with --docs, the Markdown files in another folder. Writes pages and a
    search index to OUT, which must be a new or empty folder. Lists every invalid file and broken link. Exit
    status: 2 if there are any, else 0.
    """
    from verifiable_dp.render import site as sites

    items = []
    if (folder / "papers.html").is_file():
        from verifiable_dp.campaign import papers

        items = papers.rows(folder)
    found = sites.write(folder, out, documents=docs, items=items, edit=edit)
    for path, why in found.portfolio.broken.items():
        aside(f"invalid: {path}: {why}")
    for path, link in found.broken:
        aside(f"broken link: {link!r} in {path}")
    for path in found.heavy:
        aside(f"more than {sites.HEAVIEST // 1000} kB: {path}")
    say(f"written: {out} ({len(found.pages)} pages, {len(found.portfolio.records)} records)")
    sys.exit(2 if found.portfolio.broken or found.broken else 0)


@dataclass(frozen=True)
class _DataFile:
    """How a data file that is not a record is verified, and run again: what of it must come out as it is."""

    what: str
    verify: Callable[[Json], JsonDict]
    again: Callable[[Json, int, Callable[[str], None]], Json]
    part: str
    items: str = "rows"
    numbers: str = "count"


def _data_file(whole: Json) -> _DataFile | None:
    """The kind of a data file; None for the record of an audit."""
    from verifiable_dp.render.errata import ERRATA_VERSION, verify_errata
    from verifiable_dp.render.mutation import MUTANTS_VERSION, verify_mutants
    from verifiable_dp.render.study import STUDY_VERSION, verify_study

    kinds = {
        ERRATA_VERSION: _DataFile("errata", verify_errata, _errata_again, "errata"),
        MUTANTS_VERSION: _DataFile("mutants", verify_mutants, _mutants_again, "mutants"),
        STUDY_VERSION: _DataFile("study", verify_study, _study_again, "statements", "statements", "number"),
    }
    return kinds.get(str(whole.get("schema_version")))


def _errata_again(whole: Json, workers: int, progress: Callable[[str], None]) -> Json:
    from verifiable_dp.campaign import run as campaign

    progress("errata")
    return campaign.errata([row["name"] for row in whole["errata"]], seed=whole["seed"], workers=workers)


def _mutants_again(whole: Json, workers: int, progress: Callable[[str], None]) -> Json:
    from verifiable_dp.campaign import run as campaign

    names = list(dict.fromkeys(row["algorithm"] for row in whole["mutants"]))
    asked = {"budget": whole["budget"], "seed": whole["seed"]}
    return campaign.mutants(names, **asked, workers=workers, progress=progress)


def _study_again(whole: Json, workers: int, progress: Callable[[str], None]) -> Json:
    import tempfile

    from verifiable_dp.campaign import reproduction

    asked = {"scale": whole["scale"], "seed": whole["seed"]}
    with tempfile.TemporaryDirectory() as folder:
        return reproduction.reproduce(whole["study"], out=folder, **asked, workers=workers, progress=progress)


def _verify_data_file(whole: Json, kind: _DataFile, signed: str, again: Callable[[], Json] | None) -> str:
    from verifiable_dp.record.differences import first_difference
    from verifiable_dp.record.verify import said_of

    kind.verify(whole)
    if again is not None:
        difference = first_difference(whole[kind.part], again()[kind.part], kind.part)
        if difference:
            from verifiable_dp.core.validate import InputError

            raise InputError(f"{kind.what}: a rerun differs: {difference}")
    judged = f"{len(whole[kind.part])} {kind.items} judged again"
    return f"{kind.what}: digest is valid, {judged}; {said_of(signed, again is not None, kind.numbers)}"
