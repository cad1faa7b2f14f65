"""What audits came to, from the records that they left and from nothing else; no code of a target is run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from verifiable_dp.auditing import answers
from verifiable_dp.campaign import entries
from verifiable_dp.campaign.examples import is_replay
from verifiable_dp.campaign.file import STATE, unanswered, unread
from verifiable_dp.campaign.origin import RecordOrigin
from verifiable_dp.campaign.run import exit_status
from verifiable_dp.core import files, validate
from verifiable_dp.core.validate import InputError, Json, printable
from verifiable_dp.record import passing, requested, signing
from verifiable_dp.record.model import Record
from verifiable_dp.record.requested import REASONS
from verifiable_dp.record.requests import RequestEntry, asked_of
from verifiable_dp.render import portfolio
from verifiable_dp.report import Report

_LARGEST = 1 << 20
_LONGEST = 500  # characters of a reason
# Questions whose answers say something of what is checked: all the evidence holds both.
_ANSWERS = {"audit": ("audit", "evidence"), "regret": ("regret", "evidence")}
_WORST = (2, 1, 3, 0)


@dataclass(frozen=True)
class Judged:
    """What was asked, and what there is of it.

    Attributes
    ----------
    reports
        Name of a target or of an entry of the campaign, and its report.
    failed
        What has no record that holds, and why, a line each.
    exit_status
        2 if anything failed, else 1 if a promise is refuted or a claim about regret contradicted, 3 if one is
        undecided, 0. Undecided ones whose findings are all in the campaign's baseline do not count.
    required
        What requests and the file of the campaign require, by the name of the target or entry.
    require
        The strictest that the file of the campaign or whoever judges requires.
    """

    reports: Sequence[tuple[str, Report]]
    failed: Sequence[str]
    exit_status: int
    required: Mapping[str, str] = field(default_factory=dict)
    require: str = passing.REQUIRED[0]


@dataclass(frozen=True)
class Expected:
    """What records have to answer, beside what they say of themselves.

    Parameters
    ----------
    requests
        Files of requests that were kept where no code of a target has been, folders of them, or digests
        ``sha256:…`` of requests in the folder that is judged; empty: all requests that lie in it.
    origin
        Of which code they have to be, of which commit, and how old.
    check
        What each TARGET needs a record of: ``audit``, its privacy, or ``regret``.
    require
        What the records need at least for exit status 0, one of `passing.REQUIRED`.
    keys
        Public keys, or folders of them: each record needs a signature by one of them, in the file beside it
        that ends with ``.sig``; without a key none is checked.

    Raises
    ------
    InputError
        If there is no such check.
    """

    requests: Sequence[str] = ()
    origin: RecordOrigin = field(default_factory=RecordOrigin)
    check: str = "audit"
    require: str = passing.REQUIRED[0]
    keys: Sequence[str | Path] = ()

    def __post_init__(self) -> None:
        validate.choice("check", self.check, tuple(_ANSWERS))


def judge(
    folder: str | Path,
    targets: Sequence[str] = (),
    campaign: str | Path | None = None,
    expected: Expected | None = None,
) -> Judged:
    """Verify what a folder holds, and look for a record of all that was to be audited.

    A record counts if it lies beside the request that it answers. All that lies in the folder counts: a
    record that answers no request, and a request without a record, make it unusable.

    Parameters
    ----------
    folder
        With a folder for each record and its request in it.
    targets
        As they were given to `audit`: each needs a record of its privacy, or of `Expected.check`, two if it
        stands twice.
    campaign
        File of a campaign that was run into the same folder.
    expected
        What the records have to answer.

    Raises
    ------
    InputError
        If there is no such folder, or the file of the campaign or of a request is unusable.
    """
    place, expected = Path(folder), expected or Expected()
    if place.is_file():
        raise InputError(
            f"folder: {str(place)!r} is a file; give the folder that holds the record and its request, or "
            "check the record alone with verify"
        )
    found = portfolio.find(place)
    signed = portfolio.signatures(found, signing.keyring(expected.keys))
    reasons, asked = _reasons(place), _asked(place, expected.requests)
    reports, missing = list[tuple[str, Report]](), dict[str, str]()
    broken = {path.relative_to(place).as_posix(): why for path, why in found.broken.items()}
    failed = [_line(where, why) for where, why in broken.items()]
    failed += [_line(STATE, f"{_OLD}: {why}")] if (why := unread(place)) else []
    names = Counter[tuple[str, bool]]()  # whether they answer what is checked
    listed = None if campaign is None else entries.read(campaign, expected.require)
    failed += _changed(listed, expected.origin) if listed else []
    by_name = {entry.name: entry for entry in (listed.entries if listed else ())}
    statuses, required = list[int](), {name: entry.require for name, entry in by_name.items()}
    for path, one in found.records.items():
        where = path.relative_to(place)
        why = _unanswered(where, one.record, asked.get(where), expected.origin)
        if expected.keys and not signed[path].holds:
            why = why or f"signature: {signed[path].words}"
        if why:
            failed.append(_line(where.as_posix(), why))
            continue
        entry = by_name.get(where.parent.as_posix())
        report = Report(one.record)
        name = report.name if entry is None else entry.name
        reports.append((name, report))
        of = (asked[where].target.name, asked[where].question in _ANSWERS[expected.check])
        names[of] += 1
        required[name] = passing.strictest(required.get(name), asked[where].require, expected.require)
        if report.decision.short_of(required[name]):
            statuses.append(3)
        if entry is None:
            statuses.append(report.decision.exit_code)
        elif not (listed and listed.excused({entry.name: report})):
            statuses.append(exit_status([report]))
        if entry is not None and listed is not None:
            why = unanswered(entry, listed.folder, report.parsed)
            if why and not is_replay(entry, listed.folder, report.parsed):
                failed.append(_line(f"{campaign}: {entry.name}", why))
    answered = {path.relative_to(place) for path in found.records}
    expected_at = {Path(name, "record.json"): name for name in by_name}
    for where in sorted(asked.keys() - answered - expected_at.keys()):
        missing[asked[where].target.name] = _NONE
    for where, name in expected_at.items():
        if where not in answered:
            failed += [] if str(campaign) in reasons else [_line(f"{campaign}: {name}")]
    for target, times in Counter(targets).items():
        if names[target, True] < times:
            missing.setdefault(target, _NONE_OF_IT if names[target, False] else _NONE)
    failed += [_line(name, why) for name, why in missing.items() if name not in reasons]
    wanted = listed.require if listed else expected.require
    if passing.without_privacy((one.decision for _, one in reports), wanted):
        statuses.append(3)
    told = [_line(what, why) for what in reasons for why in reasons[what]]
    failed = [*told, *failed]
    statuses += [2] if failed or not reports else []
    return Judged(reports, failed, min(statuses, key=_WORST.index, default=0), required, wanted)


def _asked(folder: Path, given: Sequence[str]) -> dict[Path, RequestEntry]:
    """Requests, by the place below the folder where the record is expected that answers it."""
    if not given:
        return _below(folder)
    found, own = dict[Path, RequestEntry](), dict[str, Path]()
    for place, one in _below(folder).items():
        own[one.digest] = place
    for word in given:
        if Path(word).is_dir():
            for place, one in _below(Path(word)).items():
                _put(found, place, one)
            continue
        digest = word if word.startswith(_DIGEST) else requested.read(word).digest
        if digest not in own:
            raise InputError(f"request: no request in {str(folder)!r} has the digest {digest[:80]!r}")
        found[own[digest]] = requested.read(folder / requested.beside(own[digest]))
    return found


_DIGEST = "sha256:"
_OLD = "these answers are old; run again, because the last run could not read its file"
_NONE = "it has no valid record"
_NONE_OF_IT = f"{_NONE} of this kind, but it has one of the other kind; audit it, or change --check"


def _below(folder: Path) -> dict[Path, RequestEntry]:
    """All requests below a folder, by the place of their answer; links to folders are not followed."""
    found = dict[Path, RequestEntry]()
    for here, inside, names in os.walk(folder):
        inside.sort()
        for path in (Path(here, name) for name in sorted(names)):
            if requested.is_request(path):
                _put(found, requested.answer(path).relative_to(folder), requested.read(path))
    return found


def _put(found: dict[Path, RequestEntry], place: Path, asked: RequestEntry) -> None:
    if found.setdefault(place, asked).digest != asked.digest:
        raise InputError(
            f"request: the answers to two requests would both be {place.as_posix()!r}; put each request "
            "into its own folder"
        )


def _unanswered(where: Path, record: Json, asked: RequestEntry | None, origin: RecordOrigin) -> str:
    """Why a record does not answer the request that was made of it; empty if it does."""
    if asked is None:
        return (
            f"there is no request for it; audit again with --request {requested.beside(where).name} in the "
            "same folder, or check the record alone with verify"
        )
    try:
        named = asked_of(record)
        if named is None or named.digest != asked.digest:
            other = f"the request {named.digest}" if named else "no request"
            return f"it answers {other}, but the request in the folder is {asked.digest}"
        answers.of_request(record, asked.as_dict())
        origin.declared(Record.of(record), asked)
        origin.check(Record.of(record))
    except InputError as error:
        return str(error)
    return ""


def _changed(listed: entries.Campaign, origin: RecordOrigin) -> list[str]:
    """That the files of a campaign are not those of the commit that is expected, if one is."""
    try:
        origin.check_settings(listed.files)
    except InputError as error:
        return [_line(str(listed.path), str(error))]
    return []


def _line(what: str, why: str = _NONE) -> str:
    return f"{what}: {printable(why)[:_LONGEST]}"


def _reasons(folder: Path) -> dict[str, list[str]]:
    """Why targets have no record, as far as it was noted, for all targets or for the test of one."""
    found = dict[str, list[str]]()
    for path in sorted(folder.glob(f"*{REASONS}")):
        if path.is_symlink() or not path.is_file():
            continue
        for line in files.content("reasons", path, _LARGEST).decode("utf-8", "replace").splitlines():
            what, tab, why = line.partition("\t")
            if tab:
                found.setdefault(what, []).append(why)
    return found
