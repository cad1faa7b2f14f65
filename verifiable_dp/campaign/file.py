"""Campaign files: many targets and their budgets in one TOML file, run on one pool, in one portfolio.

[defaults]
budget = "standard"
epsilon = 1.0

[[targets]]
target = "dp-se"
parameters = { epsilon = 0.5, n_arms = 3 }

[[targets]]
target = "bandit.py:play"
arms = 2
horizon = 3000

[[targets]]
name = "bandit-regret"
target = "bandit.py:play"
arms = 2
horizon = 3000
regret = { scaling = { T = "log" } }

In pyproject.toml the same tables stand below [tool.verifiable-dp], see `settings`.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import socket
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from verifiable_dp import api
from verifiable_dp.auditing import asking, identity, resume
from verifiable_dp.auditing.plans import Progress, silent
from verifiable_dp.campaign import run as campaign
from verifiable_dp.campaign.entries import Campaign, Entry, is_name, read
from verifiable_dp.campaign.origin import RecordOrigin
from verifiable_dp.core import crash, engine, paths, validate
from verifiable_dp.core.files import check_own_folder, checkout, make_folder, remove, write_text
from verifiable_dp.core.validate import Function, Given, InputError, Json, JsonDict
from verifiable_dp.record import requested
from verifiable_dp.record.model import Record
from verifiable_dp.record.requests import RequestEntry, asked_of, requiring
from verifiable_dp.record.verify import read as read_json
from verifiable_dp.record.verify import verify
from verifiable_dp.registry import entries as registry
from verifiable_dp.report import Report
from verifiable_dp.targets import variables
from verifiable_dp.targets.process import Exec

STATE = "campaign.json"
_UNREAD = "unread"  # its key for why the campaign could not be read


@dataclass(frozen=True)
class Done:
    """How a campaign ended.

    Attributes
    ----------
    reports
        By name, in the file's order.
    failed
        Why a target could not be audited, by name.
    index
        Path of the portfolio.
    excused
        Names of inconclusive targets whose findings are all in the baseline.
    """

    reports: Mapping[str, Report]
    failed: Mapping[str, str]
    index: Path
    excused: Collection[str] = ()

    @property
    def exit_status(self) -> int:
        """2 if a target could not be audited, else 1 if one is refuted, 3 if one is inconclusive, else 0."""
        counted = [report for name, report in self.reports.items() if name not in self.excused]
        return 2 if self.failed else campaign.exit_status(counted)


# ---------------------------------------------------------------- reading


def _files_of(entry: Entry, folder: Path) -> list[Path]:
    """The files with an entry's code, where they can be told without importing them."""
    if entry.command:
        with contextlib.chdir(folder):
            return [folder / file for file in Exec(entry.command).files]
    claims = entry.claims or {}
    named = (entry.target, entry.options.get("reward"), claims.get("bound"), claims.get("better_than"))
    found = []
    for place in (one.rpartition(":")[0] for one in named if isinstance(one, str)):
        module = folder.joinpath(*place.split(".")).with_suffix(".py")
        file = folder / place if place.endswith(".py") else module
        found += [file] if place and file.is_file() else []
    return found


# ---------------------------------------------------------------- running


@dataclass(frozen=True)
class _Task:
    """One entry, as it is sent to a worker."""

    entry: Entry
    folder: str
    code: Mapping[str, str]  # see `identity.code`
    workers: int = 1
    steps: Path | None = None
    request: RequestEntry | None = None
    cage: str = "none"


def run(
    given: Campaign | str | Path,
    *,
    out: str | Path = "campaign",
    workers: int = 1,
    resume: bool = False,
    cage: str = "none",
    replayed: Mapping[str, Report] | None = None,
    progress: Progress = silent,
    say: Progress = silent,
) -> Done:
    """Audit all targets of a campaign and write a record and a page for each, and one portfolio.

    A target that cannot be audited does not keep the others from it, nor does one that crashes.

    Parameters
    ----------
    given
        A campaign, or the path of its file.
    out
        Folder; a folder in it for each target, ``campaign.json`` with what is done, ``index.html``.
    workers
        Targets at a time. On a cluster, within `engine.on`, the campaign's folder has to be at the same path
        on every machine; it is checked that a target's code is the same there.
    resume
        Whether what ``campaign.json`` of an earlier run names as finished is kept, where you made its record
        on this machine, it holds, and the entry, its cage, its code, the environment variables that the code
        asks for and this package are the same; what was interrupted then goes on after its last step.
    cage
        As `api.audit`, for code of your own.
    replayed
        Reports of entries that are not audited: a counterexample still refutes them.
    progress, say
        See `campaign.run`.

    Raises
    ------
    InputError
        If the file is unusable, or the folder cannot be written or has the results of another campaign.
    """
    with noted(out):
        found = given if isinstance(given, Campaign) else read(given)
    workers = validate.workers(workers)
    place = Path(out).absolute()
    make_folder("out", place)
    state = _State(found, place, cage)
    if resume:
        unknown = state.recall()
        progress(f"{len(state.reports)} of {len(found.entries)} targets were already finished")
        if unknown:
            progress(campaign.not_vouched(unknown))
    state.forget_others()
    for name, report in (replayed or {}).items():
        save(report, place / name)
        state.reports[name] = report
    asked = dict[str, RequestEntry | None]()
    for entry in found.entries:
        if entry.name not in state.reports:
            try:
                asked[entry.name] = _asked(entry, found.folder, place, state.asked, resume)
                remove("out", *(place / entry.name / name for name in ("record.json", "record.html")))
            except _UnansweredError as error:
                state.add(entry.name, str(error))
                say(f"entry {entry.name} failed: {error}")
    state.write()
    left = [entry for entry in found.entries if entry.name in asked]
    alone = workers if len(left) == 1 else 1
    tasks = [
        _Task(
            entry,
            str(found.folder),
            _code_of(entry, found.folder),
            alone,
            campaign.steps_of(place / entry.name, resume),
            asked[entry.name],
            cage,
        )
        for entry in left
    ]
    apart = len(left) > 1 and any(not entry.listed for entry in left)
    clock = engine.Countdown(len(tasks))
    if tasks:
        progress(f"auditing {len(tasks)} targets")
    for number, result in engine.run(_audited, tasks, workers=workers, apart=apart, lost=_crashed):
        name = left[number].name
        state.add(name, result)
        ended = len(state.reports) + len(state.failed)
        said = (
            f": {state.reports[name].line()}" if name in state.reports else f" failed: {state.failed[name]}"
        )
        say(f"entry {name}{said}  ({ended} of {len(found.entries)}{clock.after(len(state.seen))})")
    campaign.write_index(place, state.reports, say)
    order = [entry.name for entry in found.entries]
    reports = {name: state.reports[name] for name in order if name in state.reports}
    return Done(
        reports,
        {name: state.failed[name] for name in order if name in state.failed},
        Path(out) / "index.html",
        found.excused(reports),
    )


def save(report: Report, folder: Path) -> None:
    """Write a report, and beside it the request that it answers.

    Raises
    ------
    InputError
        If they cannot be written.
    """
    record, _ = report.save(folder)
    asked = report.parsed.provenance.request
    if asked is not None:
        write_text(requested.beside(record), asked.written())


def _audited(task: _Task) -> Report | str:
    """The report of an entry, or why there is none."""
    folder = Path(task.folder)
    if not folder.is_dir():
        return f"the folder {task.folder!r} does not exist on {socket.gethostname()}"
    other = {*task.code.items()} ^ {*_code_of(task.entry, folder).items()}
    if other:
        return (
            f"{min(other)[0]} on {socket.gethostname()} differs from the copy on the machine that started "
            "the campaign; make the campaign's folder the same on all machines"
        )
    try:
        with contextlib.chdir(folder), _forgotten(folder):
            return resume.attempt(_report(task), task.steps)
    except InputError as error:
        return str(error)
    except Exception as error:  # the other targets are still audited
        return crash.in_words(error)


def _code_of(entry: Entry, folder: Path) -> dict[str, str]:
    with contextlib.chdir(folder):
        return identity.code(*_files_of(entry, folder))


def ask(given: Campaign | str | Path, *, out: str | Path = "campaign") -> dict[Path, RequestEntry]:
    """Write what `run` will ask of each target where its record will lie; nothing is run.

    Raises
    ------
    InputError
        If the file is unusable, something cannot be asked for, or the folder cannot be written.
    """
    found, place = given if isinstance(given, Campaign) else read(given), Path(out).absolute()
    make_folder("out", place)
    return {
        Path(out, entry.name, "request.json"): _written(entry, found.folder, place) for entry in found.entries
    }


@contextlib.contextmanager
def noted(out: str | Path) -> Iterator[None]:
    """Note in `out`, if that has results, that the campaign could not be read: `judge` then refuses them."""
    try:
        yield
    except InputError as error:
        place = Path(out, STATE)
        with contextlib.suppress(InputError):
            if place.is_file():
                _write(place, {**read_json(place), _UNREAD: str(error)})
        raise


def unread(folder: Path) -> str:
    """Why the last run could not read the campaign whose results are in a folder; empty if it could."""
    try:
        return str(read_json(folder / STATE).get(_UNREAD, ""))
    except InputError:
        return ""


class _UnansweredError(InputError):
    """A request that nobody has answered asks something else."""


def _asked(entry: Entry, folder: Path, place: Path, own: dict[str, str], resume: bool) -> RequestEntry | None:
    """What is asked of an entry; None where that fails, as its audit will and say why."""
    try:
        return _written(entry, folder, place, own, resume=resume)
    except _UnansweredError:
        raise
    except InputError:
        return None


def _written(
    entry: Entry, folder: Path, place: Path, own: dict[str, str] | None = None, *, resume: bool = False
) -> RequestEntry:
    """The request in the folder of an entry, if it waits for an answer; else a new one, written there.

    One that has an answer, or that a run of the campaign asked, is replaced: it says when it was asked. `own`
    are the digests of what runs asked, by name; what is written is added. One that such a run was kept from
    answering is answered if that is resumed. Another one is not replaced.
    """
    own = {} if own is None else own
    with contextlib.chdir(folder):
        new = requiring(_calls(entry)[0](), entry.require)
    path = place / entry.name / "request.json"
    make_folder("out", path.parent)
    if os.path.lexists(path):
        there, why, digest = new, "", ""
        try:
            there = requested.read(path)
            why, digest = there.difference(new), there.digest
            if there.require != new.require:
                why = why or f"require is {there.require} there, and {new.require} here"
        except InputError as error:
            why = str(error)
        waits, ours = not _is_answered(path, digest), digest == own.get(entry.name)
        if waits and not why and (resume or not ours):
            return there
        if waits and not ours:
            raise _UnansweredError(
                f"request: {str(path)!r} has not been answered, and asks a different question "
                f"({why}); remove it, or name another folder with --out"
            )
    write_text(path, new.written())
    own[entry.name] = new.digest
    return new


def _is_answered(path: Path, digest: str) -> bool:
    """Whether the record beside a request answers it."""
    try:
        answered = asked_of(read_json(requested.answer(path)))
    except (InputError, LookupError, TypeError):
        return False
    return answered is not None and answered.digest == digest


def _report(task: _Task) -> Callable[[Path | None], Report]:
    more = {} if task.entry.regret else {"cage": task.cage}
    given = {"workers": task.workers, "request": task.request, **more}
    return lambda steps: _calls(task.entry)[1](checkpoint=steps, **given)


def _calls(entry: Entry) -> tuple[Callable[[], RequestEntry], Function[Report]]:
    """What asks an entry, and what audits it."""
    if entry.claims:
        _, whole = arguments(entry)

        def check(checkpoint: Path | None, **more: Given) -> Report:
            return api.check_regret(entry.target, **whole, **more)

        return functools.partial(api.ask_regret, entry.target, **whole), check
    if entry.regret:
        sizes = {key: entry.options[key] for key in ("budget", "seed") if key in entry.options}
        given = {**sizes, "declarations": entry.declarations}
        ask = functools.partial(api.ask_evidence, entry.target, **given)
        return ask, functools.partial(api.evidence, entry.target, **given)
    target, options = arguments(entry)
    return functools.partial(api.ask, target, **options), functools.partial(api.audit, target, **options)


def unanswered(entry: Entry, folder: Path, record: Record) -> str:
    """Why a record does not answer what a campaign in `folder` asks of an entry; empty if it does.

    Every field of its request counts, but for which code runs: that is compared with a checkout, if at all.
    """
    asked = record.provenance.request
    if asked is None or not (record.regret if entry.claims or entry.regret else record.audited):
        return "its record lacks the checks that this entry asks for"
    try:
        with contextlib.chdir(folder), asking.unread():
            wanted = _calls(entry)[0]()
        RecordOrigin.placed(record, folder)
    except InputError as error:
        return str(error)
    why = asked.difference(wanted, of_code=False)
    return why and f"its record does not answer the question in the campaign file: {why}"


def arguments(entry: Entry) -> tuple[api.Target, JsonDict]:
    """Target and options with which `api.audit`, or `api.check_regret` where regret is claimed, is called."""
    if entry.claims:
        return entry.target, {**entry.options, **entry.claims}
    options = {**entry.options, "declarations": entry.declarations}
    timeout = options.pop("exec_timeout", None)
    if entry.listed and registry.outside(entry.target):
        return entry.target, {**options, "parameters": entry.parameters}
    if entry.listed:
        auditor = registry.auditor(entry.target)
        return registry.make(entry.target, **{**auditor.instance, **entry.parameters}), options
    if entry.command:
        return (Exec(entry.command) if timeout is None else Exec(entry.command, timeout)), options
    return entry.target, options


def audit_entry(entry: Entry, folder: Path, options: Json) -> Report:
    """The report of an entry of a campaign in `folder` with other options than its own.

    Raises
    ------
    InputError
        See `api.audit`.
    """
    with contextlib.chdir(folder), _forgotten(folder):
        return _calls(replace(entry, options=options))[1]()


def _crashed(task: _Task) -> str:
    return "its process crashed repeatedly, or ran out of memory"


@contextlib.contextmanager
def _forgotten(folder: Path) -> Iterator[None]:
    """Modules of the campaign's folder are forgotten afterwards: two targets may have files of one name."""
    known, path = set(sys.modules), list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - known:
            file = getattr(sys.modules[name], "__file__", None)
            if file and folder in Path(file).parents and not paths.installed(file):
                del sys.modules[name]


# ---------------------------------------------------------------- what is finished


def _key(entry: Entry, folder: Path, cage: str) -> str:
    """What a finished entry is known by: itself, its code, this package's and its cage; empty if unknown.

    So it is of a command: what it reads we do not hear.
    """
    code = ""
    if entry.command:
        return ""
    if entry.listed:
        if not registry.ours(entry.target):
            return ""
    else:
        with contextlib.chdir(folder):
            code = identity.digest(*_files_of(entry, folder))
        if not code:
            return ""
    whole = json.dumps([asdict(entry), code, engine.code_digest(), cage], sort_keys=True, default=str)
    return hashlib.sha256(whole.encode()).hexdigest()


def _write(path: Path, state: Json) -> None:
    write_text(path, json.dumps(state, indent=1, ensure_ascii=False) + "\n")


class _State:
    """What of a campaign is done; kept in the file `STATE`."""

    def __init__(self, found: Campaign, place: Path, cage: str) -> None:
        self._found, self._place = found, place
        self._keys = {entry.name: _key(entry, found.folder, cage) for entry in found.entries}
        self.reports: dict[str, Report] = {}
        self.failed: dict[str, str] = {}
        self.seen: list[str] = []
        before = self._before()
        digests, rows = before.get("asked"), before.get("targets")
        self.asked = dict(digests) if isinstance(digests, dict) else {}
        self._rows = {
            str(row.get("name")): row
            for row in (rows if isinstance(rows, list) else [])
            if isinstance(row, dict)
        }

    def _before(self) -> Json:
        """What an earlier run has left; nothing if there was none.

        Raises
        ------
        InputError
            If that was a run of another campaign, whose targets may have the same names.
        """
        try:
            before = read_json(self._place / STATE)
        except InputError:
            return {}
        if (other := before.get("campaign")) != self._named():
            raise InputError(
                f"out: {str(self._place)!r} has the results of another campaign, {str(other)[:200]!r}; name "
                "another folder with --out, or remove it"
            )
        return before

    def _named(self) -> str:
        """The file of the campaign, by its path in a repository, or by its name where it is in none."""
        path = self._found.path.resolve()
        return path.relative_to(checkout(path.parent) or path.parent).as_posix()

    def forget_others(self) -> None:
        """Remove what an earlier run asked and answered for entries that the campaign has no more.

        Raises
        ------
        InputError
            If that cannot be done.
        """
        for name in {*self.asked, *self._rows} - {*self._keys}:
            digest, row = self.asked.pop(name, ""), self._rows.get(name, {})
            path = self._place / name / "request.json"
            if not is_name(name) or not path.is_file():
                continue
            with contextlib.suppress(InputError):
                digest = digest == requested.read(path).digest and digest
            if digest or "digest" in row:  # not a request that waits for somebody else's answer
                check_own_folder("out", path.parent)
                campaign.forget_steps(path.parent)
                remove("out", *(path.with_name(one) for one in ("record.json", "record.html", path.name)))
                with contextlib.suppress(OSError):  # it may hold a signature
                    path.parent.rmdir()

    def recall(self) -> list[str]:
        """Take what an earlier run finished, as far as it holds; what would, had it been made here."""
        unknown = list[str]()
        for name, key in self._keys.items():
            path = self._place / name / "record.json"
            row = self._rows.get(name, {})
            if not key or row.get("key") != key or not path.with_suffix(".html").is_file():
                continue
            with contextlib.suppress(InputError):
                found = verify(path)
                RecordOrigin(source=self._found.folder).check(found.parsed)
                asked = found.parsed.provenance.request
                if found.parsed.digest != row.get("digest") or not asked:
                    continue
                if asked.packages != identity.packages():
                    continue
                if variables.changed(found.parsed.provenance.target.opened or {}):
                    continue
                if campaign.vouched(path, found.parsed.digest):
                    self.reports[name] = Report(found.record)
                else:
                    unknown.append(name)
        return unknown

    def add(self, name: str, result: Report | str) -> None:
        """Write what a task gave: the record first, then that it is there."""
        self.seen.append(name)
        if isinstance(result, str):
            self.failed[name] = result
        else:
            campaign.put(result, self._place / name)
            self.reports[name] = result
        self.write()
        if name in self.reports:
            campaign.forget_steps(self._place / name)

    def write(self) -> None:
        """Write what is done, and what this run has asked itself."""
        _write(self._place / STATE, self._as_dict())

    def _as_dict(self) -> JsonDict:
        return {
            "campaign": self._named(),
            "asked": self.asked,
            "targets": [self._row(entry) for entry in self._found.entries if self._known(entry.name)],
        }

    def _known(self, name: str) -> bool:
        return name in self.reports or name in self.failed

    def _row(self, entry: Entry) -> JsonDict:
        row = {"name": entry.name, "runs": entry.target or entry.command}
        if entry.name in self.failed:
            return {**row, "failed": self.failed[entry.name]}
        report = self.reports[entry.name]
        return {
            **row,
            "verdict": campaign.verdict(report),
            "record": f"{entry.name}/record.json",
            "digest": report.parsed.digest,
            "key": self._keys[entry.name],
        }
