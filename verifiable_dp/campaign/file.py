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
import re
import socket
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import cast

from verifiable_dp import api
from verifiable_dp.auditing import answers, asking, identity, rates, resume
from verifiable_dp.auditing.bounds import GivenBound
from verifiable_dp.auditing.plans import BUDGETS, Progress, silent, sizes_of
from verifiable_dp.auditing.regret import Asked
from verifiable_dp.auditing.request import AuditOptions
from verifiable_dp.campaign import run as campaign
from verifiable_dp.campaign import settings
from verifiable_dp.campaign.baseline import Baseline
from verifiable_dp.core import claims, crash, engine, validate
from verifiable_dp.core.claims import MODELS
from verifiable_dp.core.contexts import shape_of
from verifiable_dp.core.files import make_folder, write_text
from verifiable_dp.core.units import ADJACENCIES
from verifiable_dp.core.validate import Function, Given, InputError, Json, JsonDict, JsonValue
from verifiable_dp.record import passing, requested
from verifiable_dp.record.declarations import read as read_declarations
from verifiable_dp.record.model import Record
from verifiable_dp.record.requests import RequestEntry
from verifiable_dp.record.verify import read as read_json
from verifiable_dp.record.verify import verify
from verifiable_dp.registry import entries as registry
from verifiable_dp.report import Report
from verifiable_dp.targets.process import Exec

_MOST = 1000  # targets
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_TAKEN = ("schema", "studies")  # folders of a portfolio that are not targets
STATE = "campaign.json"


@dataclass(frozen=True)
class Entry:
    """One target of a campaign.

    Attributes
    ----------
    name
        Of its folder.
    target
        As `api.audit` takes it; empty if there is a command.
    command
        A program that speaks JSON lines, or empty.
    options
        Arguments of `api.audit`.
    parameters
        Of a catalogue algorithm.
    regret
        Whether a catalogue algorithm's regret theorems are checked too.
    claims
        What is claimed of the regret of your own code, as `api.check_regret` takes it; privacy is not audited
        then. None: it is.
    declarations
        What is declared of the deployment, or None.
    require
        What exit status 0 needs, one of `passing.REQUIRED`.
    """

    name: str
    target: str = ""
    command: str = ""
    options: Json = field(default_factory=dict)
    parameters: Json = field(default_factory=dict)
    regret: bool = False
    claims: Json | None = None
    declarations: Json | None = None
    require: str = passing.REQUIRED[0]

    def unanswered(self, record: Json) -> str:
        """Why a record does not answer what is asked of this target; empty if it does."""
        name, options = self.target or self.command, dict(self.options)
        parsed = Record.of(record)
        if not (parsed.regret if self.claims or self.regret else parsed.audited):
            return "its record has no such checks"
        try:
            if self.claims:
                given = {key: options.pop(key) for key in ("budget", "seed") if key in options}
                asked = Asked(**options, **self.claims)
                of = (given.get("budget", "quick"), given.get("seed", 0))
                answers.of_regret(record, asking.of_regret(name, name, asked, *of, read=False))
            else:
                options.pop("exec_timeout", None)
                own = options.pop("parameters", {})
                question = api.question(self.target or None, own, cast(AuditOptions, options))
                answers.of_audit(record, name, question, self.parameters if self.listed else {})
        except InputError as error:
            return str(error)
        return ""

    @property
    def listed(self) -> bool:
        """Whether it is in the catalogue."""
        return bool(self.target) and ":" not in self.target


@dataclass(frozen=True)
class Campaign:
    """A campaign file that was read and checked.

    Attributes
    ----------
    path
        Of the file; targets and declarations are looked up in its folder, commands run there.
    entries
        In the file's order.
    baseline
        Findings that are known; None without a file of them.
    """

    path: Path
    entries: tuple[Entry, ...]
    baseline: Baseline | None = None

    def excused(self, reports: Mapping[str, Report]) -> list[str]:
        """Names of inconclusive targets whose findings are all in the baseline."""
        known = self.baseline
        return [name for name, report in reports.items() if known and known.excuses(name, report)]

    @property
    def folder(self) -> Path:
        """Where the file lies."""
        return self.path.resolve().parent


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
        """2 if a target could not be audited, else 1 if one is refuted, 3 if one is inconclusive, 0."""
        counted = [report for name, report in self.reports.items() if name not in self.excused]
        return 2 if self.failed else campaign.exit_status(counted)


# ---------------------------------------------------------------- reading

Reader = Callable[[str, JsonValue], JsonValue]


def _text(name: str, value: JsonValue) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{name} must be a text in quotes, got {value!r}")
    return value


def _switch(name: str, value: JsonValue) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{name} must be true or false, got {value!r}")
    return value


def _budget(name: str, value: JsonValue) -> str | float:
    try:
        sizes_of(value if not isinstance(value, bool) else "")
    except InputError:
        raise InputError(
            f"{name} must be one of {', '.join(BUDGETS)} or a positive number of seconds, got {value!r}"
        ) from None
    return value if isinstance(value, str) else float(value)


def _name(name: str, value: JsonValue) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value) or value.lower() in _TAKEN:
        raise InputError(
            f"{name} must be a folder's name of letters, digits, '.', '_' and '-' that begins with a letter "
            f"or digit, and not {' or '.join(_TAKEN)}, got {value!r}"
        )
    return value


def _adjacency(name: str, value: JsonValue) -> str:
    return validate.choice(name, value, ADJACENCIES)


def _observe(name: str, value: JsonValue) -> str:
    return validate.choice(name, value, ("actions", "releases", "reports", "shuffled"))


def _parameters(name: str, value: JsonValue) -> JsonDict:
    if not isinstance(value, Mapping):
        raise InputError(f"{name} must be a table of parameters, such as {{ epsilon = 0.5 }}, got {value!r}")
    return dict(value)


def _delta(name: str, value: JsonValue) -> float:
    try:
        return validate.delta(value)
    except InputError:
        raise InputError(f"{name} must lie in [0, 1), got {value!r}") from None


def _at_least(least: int) -> Reader:
    return lambda name, value: validate.integer(name, value, least=least)


def _claims(name: str, value: JsonValue) -> JsonDict:
    """Claims about the regret of your own code."""
    if not isinstance(value, Mapping):
        example = '{ scaling = { T = "log" } }, as the theorems of your own code are not known'
        raise InputError(f"{name} must be a table of claims such as {example}; got {value!r}")
    found = _read_table(name, value, _CLAIMS, "")
    if not found.keys() & {"bound", "scaling", "better_than"}:
        raise InputError(f"{name} must hold bound, scaling or better_than")
    return found


def _bound(name: str, value: JsonValue) -> JsonValue:
    return value if isinstance(value, str) and ":" in value else GivenBound.of(value).value


def _scaling(name: str, value: JsonValue) -> JsonDict:
    for over, claim in _parameters(name, value).items():
        rates.claim_of(over, claim)
    return dict(value)


def _instances(name: str, value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list) or not value:
        raise InputError(f"{name} must be lists of means such as [[0.9, 0.5]], got {value!r}")
    return value


_CLAIMS: dict[str, Reader] = {
    "bound": _bound,
    "scaling": _scaling,
    "better_than": _text,
    "factor": validate.positive,
    "rival_parameters": _parameters,
    "environments": _instances,
    "runs": lambda name, value: validate.integer(name, value, least=2),
    "beta": validate.probability,
    "gap": validate.positive,
    "values": _parameters,
}
_EVERY: dict[str, Reader] = {
    "budget": _budget,
    "require": lambda name, value: validate.choice(name, value, passing.REQUIRED),
    "seed": _at_least(0),
    "alpha": validate.probability,
    "confidence": validate.probability,
    "detect": validate.factor,
    "declarations": _text,
    "sequential": _switch,
    "curve": _switch,
    "group": _at_least(1),
    "observe": _observe,
}
_OWN: dict[str, Reader] = {
    "epsilon": validate.positive,
    "delta": _delta,
    "arms": _at_least(2),
    "horizon": _at_least(1),
    "bounds": validate.bounds,
    "rho": validate.positive,
    "mu": validate.positive,
    "adjacency": _adjacency,
    "numerics": _switch,
}
_PYTHON: dict[str, Reader] = {
    "timeout": validate.positive,
    "parameters": _parameters,
    "reward": _text,
    "epsilon_parameter": _text,
    "regret": _claims,
    "contexts": lambda _, value: shape_of(value),
    "context_norm": validate.positive,
    "model": lambda name, value: validate.choice(name, value, MODELS),
    "protects": lambda name, value: validate.choice(name, value, ("context", "reward")),
}
_LISTED: dict[str, Reader] = {"parameters": _parameters, "mutants": _switch, "regret": _switch}
_COMMAND: dict[str, Reader] = {"exec_timeout": validate.positive}
_WHICH: dict[str, Reader] = {"name": _name, "target": _text, "exec": _text}
_CLAIMED = ("n_arms", "horizon", "parameters", "contexts", "budget", "seed")  # options of `api.check_regret`
_TOP = ("baseline", "defaults", "targets")
_BESIDE_REGRET = ("budget", "seed", "declarations", "require")
_BESIDE_CLAIMS = ("arms", "horizon", "parameters", "contexts", "budget", "seed")


def _read_table(place: str, given: JsonValue, accepted: Mapping[str, Reader], room: str) -> JsonDict:
    if not isinstance(given, Mapping):
        raise InputError(f"{room}{place} must be a table with keys {', '.join(accepted)}")
    for key in given:
        if key not in accepted:
            raise InputError(f"{room}{place}: {str(key)[:60]!r} is unknown; accepted: {', '.join(accepted)}")
    found = {}
    for key, value in given.items():
        try:
            found[key] = accepted[key](key, value)
        except InputError as error:
            raise InputError(f"{room}{place}: {error}") from None
    return found


def read(path: str | Path) -> Campaign:
    """Read a campaign file and check all of it, before anything is run or imported.

    Parameters
    ----------
    path
        Of a TOML file with a table ``defaults``, an array of tables ``targets`` and a path ``baseline``;
        of a ``pyproject.toml`` its table ``tool.verifiable-dp`` is read.

    Raises
    ------
    InputError
        If it cannot be read, is not TOML, or holds anything unknown or out of range: the first such key with
        those accepted.
    """
    place, loaded, room = Path(path), settings.table(path), settings.room(path)
    for key in loaded:
        if key not in _TOP:
            raise InputError(f"{room}{str(key)[:60]!r} is unknown; accepted: {', '.join(_TOP)}")
    defaults = _read_table(
        "defaults", loaded.get("defaults", {}), {**_EVERY, **_OWN, **_LISTED, **_COMMAND}, room
    )
    rows = loaded.get("targets", [])
    if not isinstance(rows, list) or not 0 < len(rows) <= _MOST:
        raise InputError(f"{room}[[targets]] must stand 1 to {_MOST} times")
    folder = place.resolve().parent
    entries = [_entry(number, row, defaults, folder, room) for number, row in enumerate(rows, start=1)]
    names: dict[str, int] = {}
    for number, entry in enumerate(entries, start=1):
        first = names.setdefault(entry.name.lower(), number)
        if first != number:
            raise InputError(
                f"{room}targets {first} and {number} have the same name {entry.name!r}: rename one of them"
            )
    known = loaded.get("baseline")
    return Campaign(
        place, tuple(entries), None if known is None else Baseline.at(folder / _text("baseline", known))
    )


def _entry(number: int, row: JsonValue, defaults: Json, folder: Path, room: str) -> Entry:
    place = f"target {number}"
    if not isinstance(row, Mapping) or ("target" in row) == ("exec" in row):
        raise InputError(f"{room}{place} must have a key target or a key exec, and not both")
    which = str(row.get("target", row.get("exec")))
    place = f"{place} ({which[:60]})"
    listed = "target" in row and ":" not in which
    kind = _LISTED if listed else {**_OWN, **(_COMMAND if "exec" in row else _PYTHON)}
    accepted = {**_WHICH, **_EVERY, **kind}
    # What a default cannot apply to it leaves alone: the promise of a listed algorithm is its own.
    own = _read_table(place, row, accepted, room)
    left = accepted if listed else {key for key in accepted if key not in _PYTHON}
    found = {**{key: value for key, value in defaults.items() if key in left}, **own}
    if any(found.get(name) is not None for name in claims.CURVED) and "epsilon" not in own:
        found.pop("epsilon", None)
    try:
        entry = _checked(found, own, which, listed, folder)
    except InputError as error:
        raise InputError(f"{room}{place}: {error}") from None
    return entry


def _checked(found: Json, own: Json, which: str, listed: bool, folder: Path) -> Entry:
    declared = found.get("declarations")
    entry = Entry(
        name=found["name"] if "name" in found else _named(which),
        target=found.get("target", ""),
        command=found.get("exec", ""),
        options=_options(found),
        parameters=found.get("parameters", {}),
        regret=listed and found.get("regret", False),
        claims=None if listed else found.get("regret"),
        declarations=None if declared is None else read_declarations(folder / declared),
        require=found.get("require", passing.REQUIRED[0]),
    )
    if listed:
        if entry.regret:
            _check_beside(own, entry, _BESIDE_REGRET)
            return replace(entry, parameters={})
        if registry.outside(which):  # it is imported where it runs
            return entry
        auditor = registry.auditor(which)
        registry.make(auditor.name, **{**auditor.instance, **entry.parameters})
        return entry
    if entry.claims:
        _check_beside(own, entry, _BESIDE_CLAIMS)
        kept = {name: entry.options[name] for name in _CLAIMED if name in entry.options}
        entry = replace(entry, options=kept, declarations=None)
    elif not found.keys() & {"epsilon", *claims.CURVED}:
        raise InputError("epsilon must be given: the claim of your own code is not known")
    if entry.command:
        Exec(entry.command)
    for name in (entry.target, *((entry.claims or {}).get(key, "") for key in ("bound", "better_than"))):
        place = name.rpartition(":")[0] if isinstance(name, str) else ""
        if place.endswith(".py") and not (folder / place).is_file():
            raise InputError(f"no file {place!r} in {str(folder)!r}")
    return entry


def _check_beside(own: Json, entry: Entry, accepted: Sequence[str]) -> None:
    """Refuse what a check of regret alone does not take; defaults for others are left out without a word."""
    for key in own:
        if key not in (*_WHICH, "regret", *accepted):
            raise InputError(f"{key} cannot be combined with regret; accepted: {', '.join(accepted)}")
    validate.choice("budget", entry.options.get("budget", "quick"), BUDGETS)


def _options(found: Json) -> JsonDict:
    """Arguments of `api.audit`, under its names."""
    names = {"arms": "n_arms"}
    apart = ("name", "target", "exec", "exec_timeout", "parameters", "regret", "declarations", "require")
    options = {names.get(key, key): value for key, value in found.items() if key not in apart}
    if found.get("parameters") and ":" in found.get("target", ""):
        options["parameters"] = found["parameters"]
    if "exec_timeout" in found and "exec" in found:
        options["exec_timeout"] = found["exec_timeout"]
    return options


def _named(which: str) -> str:
    """A folder's name from a target: ``bandit.py:play`` gives ``bandit-play``."""
    words = which.replace(".py:", "-").replace(":", "-").strip("./")
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", words).strip("-._")[:80]
    return _name("name", name or "target")


def _files_of(entry: Entry, folder: Path) -> list[Path]:
    """The files with an entry's code, where they can be told without importing them."""
    if entry.command:
        with contextlib.chdir(folder):
            file = Exec(entry.command).file
        return [] if file is None else [folder / file]
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
        Whether what ``campaign.json`` of an earlier run names as finished is kept, where its record holds,
        and the entry, its code and this package are the same; what was interrupted then goes on after its
        last step.
    cage
        As `api.audit`, for code of your own.
    progress, say
        See `campaign.run`.

    Raises
    ------
    InputError
        If the file is unusable or the folder cannot be written.
    """
    found = given if isinstance(given, Campaign) else read(given)
    workers = validate.workers(workers)
    place = Path(out).absolute()
    make_folder("out", place)
    state = _State(found, place)
    if resume:
        state.recall()
        progress(f"{len(state.reports)} of {len(found.entries)} targets were finished before")
    left = [entry for entry in found.entries if entry.name not in state.reports]
    alone = workers if len(left) == 1 else 1
    tasks = [
        _Task(
            entry,
            str(found.folder),
            _code_of(entry, found.folder),
            alone,
            campaign.steps_of(place / entry.name, resume),
            _asked(entry, found.folder, place),
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
        return f"the folder {task.folder!r} is not on {socket.gethostname()}"
    other = {*task.code.items()} ^ {*_code_of(task.entry, folder).items()}
    if other:
        return (
            f"{min(other)[0]} on {socket.gethostname()} is not the one of the machine that began the "
            "campaign; make the campaign's folder the same on all machines"
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


def _asked(entry: Entry, folder: Path, place: Path) -> RequestEntry | None:
    """What is asked of an entry; None where that fails, as its audit will and say why."""
    try:
        return _written(entry, folder, place)
    except InputError:
        return None


def _written(entry: Entry, folder: Path, place: Path) -> RequestEntry:
    """The request in the folder of an entry, if it asks the same; else a new one, which is written there."""
    with contextlib.chdir(folder):
        new = _calls(entry)[0]()
    path = place / entry.name / "request.json"
    make_folder("out", path.parent)
    with contextlib.suppress(InputError):
        if not (there := requested.read(path)).difference(new):
            return there
    write_text(path, new.written())
    return new


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
    return "its process died again and again: it crashed, or ran out of memory"


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
            if file and folder in Path(file).parents and "site-packages" not in Path(file).parts:
                del sys.modules[name]


# ---------------------------------------------------------------- what is finished


def _key(entry: Entry, folder: Path) -> str:
    """What a finished entry is known by: itself, its code and this package's; empty if unknown."""
    code = ""
    if entry.listed:
        if not registry.ours(entry.target):
            return ""
    else:
        with contextlib.chdir(folder):
            code = identity.digest(*_files_of(entry, folder))
        if not code:
            return ""
    whole = json.dumps([asdict(entry), code, engine.code_digest()], sort_keys=True, default=str)
    return hashlib.sha256(whole.encode()).hexdigest()


class _State:
    """What of a campaign is done; kept in the file `STATE`."""

    def __init__(self, found: Campaign, place: Path) -> None:
        self._found, self._place = found, place
        self._keys = {entry.name: _key(entry, found.folder) for entry in found.entries}
        self.reports: dict[str, Report] = {}
        self.failed: dict[str, str] = {}
        self.seen: list[str] = []

    def recall(self) -> None:
        """Take what an earlier run finished, as far as it holds."""
        try:
            rows = read_json(self._place / STATE).get("targets")
        except InputError:
            return
        known = (
            {row.get("name"): row for row in rows if isinstance(row, dict)} if isinstance(rows, list) else {}
        )
        for name, key in self._keys.items():
            path = self._place / name / "record.json"
            row = known.get(name, {})
            if not key or row.get("key") != key or not path.with_suffix(".html").is_file():
                continue
            with contextlib.suppress(InputError):
                found = verify(path)
                if found.parsed.digest == row.get("digest"):
                    self.reports[name] = Report(found.record)

    def add(self, name: str, result: Report | str) -> None:
        """Write what a task gave: the record first, then that it is there."""
        self.seen.append(name)
        if isinstance(result, str):
            self.failed[name] = result
        else:
            result.save(self._place / name)
            self.reports[name] = result
        write_text(self._place / STATE, json.dumps(self._as_dict(), indent=1, ensure_ascii=False) + "\n")
        if name in self.reports:
            campaign.forget_steps(self._place / name)

    def _as_dict(self) -> JsonDict:
        return {
            "campaign": self._found.path.name,
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
