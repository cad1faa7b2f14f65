"""Campaign files: what each entry of one asks, read and checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from verifiable_dp.auditing import rates
from verifiable_dp.auditing.bounds import GivenBound
from verifiable_dp.auditing.plans import BUDGETS, sizes_of
from verifiable_dp.campaign import settings
from verifiable_dp.campaign.baseline import Baseline
from verifiable_dp.core import claims, validate
from verifiable_dp.core.claims import MODELS
from verifiable_dp.core.contexts import shape_of
from verifiable_dp.core.units import ADJACENCIES
from verifiable_dp.core.validate import InputError, Json, JsonDict, JsonValue
from verifiable_dp.record import passing
from verifiable_dp.record.declarations import read as read_declarations
from verifiable_dp.registry import entries as registry
from verifiable_dp.report import Report
from verifiable_dp.targets.process import Exec

_MOST = 1000  # targets
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_TAKEN = ("schema", "studies")  # folders of a portfolio that are not targets


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
    require
        The strictest that the file or whoever reads it requires of any entry.
    described
        Keys of ``defaults`` that describe audits of privacy.
    files
        In which it is said what is asked: that of the campaign, of the baseline, and of declarations.
    """

    path: Path
    entries: tuple[Entry, ...]
    baseline: Baseline | None = None
    require: str = passing.REQUIRED[0]
    described: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()

    @property
    def unaudited(self) -> list[str]:
        """Names of entries whose privacy no entry audits, though the defaults describe that."""
        audited = {entry.target for entry in self.entries if not entry.claims}
        return [one.name for one in self.entries if self.described and one.target not in audited]

    def excused(self, reports: Mapping[str, Report]) -> list[str]:
        """Names of inconclusive targets whose findings are all in the baseline."""
        asks = {entry.name for entry in self.entries if entry.require != passing.REQUIRED[0]}
        known = self.baseline
        return [
            name
            for name, report in reports.items()
            if known and name not in asks and known.excuses(name, report)
        ]

    @property
    def folder(self) -> Path:
        """Where the file is named, which may be a link to it."""
        return self.path.parent.resolve()


Reader = Callable[[str, JsonValue], JsonValue]


def _text(name: str, value: JsonValue) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{name} must be text in quotes, got {value!r}")
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


def is_name(value: JsonValue) -> bool:
    """Whether an entry can have this name, which is that of its folder."""
    return isinstance(value, str) and bool(_NAME.fullmatch(value)) and value.lower() not in _TAKEN


def _name(name: str, value: JsonValue) -> str:
    if not is_name(value):
        raise InputError(
            f"{name} must be a folder name made of letters, digits, '.', '_' and '-' that begins with a "
            f"letter or digit and is not {' or '.join(_TAKEN)}, got {value!r}"
        )
    return str(value)


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
        example = '{ scaling = { T = "log" } }, because we do not know the theorems of your own code'
        raise InputError(f"{name} must be a table of claims such as {example}; got {value!r}")
    found = _read_table(name, value, _CLAIMS, "")
    if not found.keys() & {"bound", "scaling", "better_than"}:
        raise InputError(f"{name} must contain bound, scaling or better_than")
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
    "own_neighbours": _switch,
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
_PROMISED = ("epsilon", "delta", *claims.CURVED, "bounds", "adjacency", "observe", "group", "numerics")
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


def read(path: str | Path, require: str = passing.REQUIRED[0]) -> Campaign:
    """Read a campaign file and check all of it, before anything is run or imported.

    Parameters
    ----------
    path
        Of a TOML file with a table ``defaults``, an array of tables ``targets`` and a path ``baseline``;
        of a ``pyproject.toml`` its table ``tool.verifiable-dp`` is read.
    require
        What each target needs at least for exit status 0, one of `passing.REQUIRED`.

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
        raise InputError(f"{room}[[targets]] must occur 1 to {_MOST} times")
    folder = place.parent.resolve()
    asked = [_entry(number, row, defaults, folder, room) for number, row in enumerate(rows, start=1)]
    entries = [replace(one, require=passing.strictest(one.require, require)) for one in asked]
    names: dict[str, int] = {}
    for number, entry in enumerate(entries, start=1):
        if registry.is_registered(entry.name) and entry.target != entry.name:
            raise InputError(
                f"{room}target {number}: the name {entry.name!r} belongs to a catalogue algorithm; choose "
                "another name"
            )
        first = names.setdefault(entry.name.lower(), number)
        if first != number:
            raise InputError(
                f"{room}targets {first} and {number} have the same name {entry.name!r}; rename one of them"
            )
    known = loaded.get("baseline")
    baseline = None if known is None else Baseline.at(folder / _text("baseline", known), folder)
    wanted = passing.strictest(require, defaults.get("require"), *(entry.require for entry in asked))
    described = tuple(key for key in defaults if key in {*_EVERY, *_OWN} - {*_BESIDE_CLAIMS})
    declared = {folder / one["declarations"] for one in (defaults, *rows) if "declarations" in one}
    files = (place, *sorted(declared), *([baseline.path] if baseline else ()))
    return Campaign(place, tuple(entries), baseline, wanted, described, files)


def _entry(number: int, row: JsonValue, defaults: Json, folder: Path, room: str) -> Entry:
    place = f"target {number}"
    if not isinstance(row, Mapping) or ("target" in row) == ("exec" in row):
        raise InputError(f"{room}{place} must have either the key target or the key exec")
    which = str(row.get("target", row.get("exec")))
    place = f"{place} ({which[:60]})"
    listed = "target" in row and ":" not in which
    kind = _LISTED if listed else {**_OWN, **(_COMMAND if "exec" in row else _PYTHON)}
    accepted = {**_WHICH, **_EVERY, **kind}
    # A default applies wherever its row may hold it. What is claimed of the regret of your own code is a
    # table, where a default is a switch.
    own = _read_table(place, row, accepted, room)
    left = accepted if listed else accepted.keys() - {"regret"}
    found = {**{key: value for key, value in defaults.items() if key in left}, **own}
    if any(found.get(name) is not None for name in claims.CURVED) and "epsilon" not in own:
        found.pop("epsilon", None)
    if found.get("regret") and "budget" not in own and found.get("budget") not in BUDGETS:
        found.pop("budget", None)  # of privacy audits alone
    try:
        entry = _checked(found, own, which, listed, folder)
        if listed:
            _check_promise(defaults, entry)
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
            kept = {name: entry.options[name] for name in _BESIDE_REGRET if name in entry.options}
            return replace(entry, parameters={}, options=kept)
        if registry.outside(which):  # it is imported where it runs
            return entry
        auditor = registry.auditor(which)
        registry.make(auditor.name, **{**auditor.instance, **entry.parameters})
        return entry
    if entry.claims:
        _check_beside(own, entry, _BESIDE_CLAIMS)
        kept = {name: entry.options[name] for name in _CLAIMED if name in entry.options}
        entry = replace(entry, options=kept, declarations=None, require=passing.REQUIRED[0])
    elif not found.keys() & {"epsilon", *claims.CURVED}:
        raise InputError("epsilon must be given: we do not know the claim of your own code")
    if entry.command:
        Exec(entry.command)
    for name in (entry.target, *((entry.claims or {}).get(key, "") for key in ("bound", "better_than"))):
        place = name.rpartition(":")[0] if isinstance(name, str) else ""
        if place.endswith(".py") and not (folder / place).is_file():
            raise InputError(f"no file {place!r} in {str(folder)!r}")
    return entry


def _check_promise(defaults: Json, entry: Entry) -> None:
    """Refuse a default about the promise where an algorithm of the catalogue promises something else."""
    said = {**(defaults.get("parameters", {}) if entry.regret else {}), **defaults}
    left = {key: said[key] for key in _PROMISED if key in said and said[key] is not False}
    left = {key: value for key, value in left.items() if key not in {*entry.options, *entry.parameters}}
    promise = None
    if left and not registry.outside(entry.target):
        auditor = registry.auditor(entry.target)
        promise = registry.make(entry.target, **{**auditor.instance, **entry.parameters}).claim
    for key, value in left.items():
        if getattr(promise, key, None) != value:
            raise InputError(
                f"{key} = {value} in defaults does not apply to this algorithm of the catalogue; set {key} "
                "in the targets that it describes, or list this algorithm in another file"
            )


def _check_beside(own: Json, entry: Entry, accepted: Sequence[str]) -> None:
    """Refuse what a check of regret alone does not take, if it is not a default."""
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
