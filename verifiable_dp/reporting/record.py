"""The record of an audit: one JSON object that holds every number its verdicts follow from."""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import numpy as np

from verifiable_dp import engine
from verifiable_dp._files import lock, replacing
from verifiable_dp._validate import InputError, printable
from verifiable_dp.reporting import blocks, conclude, excerpts, regrets, tables
from verifiable_dp.reporting.declarations import given

SCHEMA_VERSION = "2.0.0"
SCHEMA_VERSIONS = ("1.0.0", "2.0.0")  # that can be read
_PACKAGES = ("numpy", "scipy", "numba", "hypothesis", "pandas", "joblib")
_STATEMENTS = {
    "refuted": "The claim is refuted: the counterexample below can be run again.",
    "not_refuted": "No violation of the claim was found. This is not a proof of privacy.",
    "inconclusive": "The evidence decides nothing: no refutation, and no power that could be stated.",
}


def plain(value: Any) -> Any:
    """`value` as JSON knows it: numpy scalars become Python's, infinities become strings."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def canonical(record: Mapping[str, Any]) -> str:
    """The one JSON text of a record: sorted keys, no spaces, shortest floats, no NaN.

    Raises
    ------
    ValueError
        If it holds a number that is not finite.
    """
    return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def text(record: Mapping[str, Any]) -> str:
    """A record as it is written to a file: indented JSON."""
    return json.dumps(record, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n"


def is_baseline(record: Mapping[str, Any]) -> bool:
    """Whether the target makes no privacy promise."""
    return blocks.makes_no_promise(record)


def is_printed(record: Mapping[str, Any]) -> bool:
    """Whether the target is a listing as printed that the default variant corrects."""
    return str(record["target"]["note"]).startswith("the listing as printed")


def digest(record: Mapping[str, Any]) -> str:
    """SHA-256 over everything but the digest itself."""
    rest = {key: value for key, value in record.items() if key != "digest"}
    return "sha256:" + hashlib.sha256(canonical(rest).encode()).hexdigest()


def as_read(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as a reader of their file gets them back: one round through JSON."""
    found: dict[str, Any] = json.loads(canonical(plain(values)))
    return found


def sealed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a record or of another data file, as they are read back, with the digest over them."""
    whole = as_read(values)
    return {**whole, "digest": digest(whole)}


def _git(*arguments: str, folder: Path | None = None) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder or Path(__file__).parent), *arguments],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _place(path: str) -> dict[str, Any]:
    """Repository and commit of the audited file; empty where it is unknown or in none."""
    file = Path(__file__).parents[2] / path if path.startswith("verifiable_dp/") else Path(path)
    unknown = {"repository": "", "commit": "", "dirty": False}
    # Our own folders of algorithms are links; git knows the files behind them.
    file = file.resolve()
    if not path or not file.is_file() or not _git("ls-files", "--", file.name, folder=file.parent):
        return unknown
    return {
        "repository": _without_login(_git("config", "--get", "remote.origin.url", folder=file.parent)),
        "commit": _git("rev-parse", "HEAD", folder=file.parent),
        "dirty": bool(_git("status", "--porcelain", "--", file.name, folder=file.parent)),
    }


def _without_login(address: str) -> str:
    """A remote's address without user name and password; empty for a folder of this machine."""
    scheme, mark, rest = address.partition("://")
    if not mark:
        return "" if address.startswith(("/", ".", "~")) else address
    host, slash, path = rest.partition("/")
    return "" if scheme == "file" else f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def _ci() -> dict[str, Any] | None:
    """Which continuous integration runs this, and where its log is; None elsewhere."""
    known = os.environ.get
    if known("GITHUB_ACTIONS") == "true":
        parts = [known(f"GITHUB_{key}", "") for key in ("SERVER_URL", "REPOSITORY", "RUN_ID")]
        url = f"{parts[0]}/{parts[1]}/actions/runs/{parts[2]}" if all(parts) else None
        return {"provider": "github-actions", "run_url": url}
    if known("GITLAB_CI") == "true":
        return {"provider": "gitlab-ci", "run_url": known("CI_JOB_URL") or None}
    return None


def provenance(started: float, cpu_seconds: float, idealized: bool = True) -> dict[str, Any]:
    """Versions, machine, time and command: what may differ between two runs of one audit."""
    stamp = "%Y-%m-%dT%H:%M:%SZ"
    ended = max(started, time.time())  # a clock may be set back meanwhile
    # An installed package may lie in the folder of somebody else's repository.
    ours = bool(_git("ls-files", "--", Path(__file__).name))
    changes = ("status", "--porcelain", "--untracked-files=no", "--", ":(top,exclude)reports")
    return {
        "tool": "verifiable-dp",
        "version": _own_version(),
        "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]) if sys.argv else "",
        "python": platform.python_version(),
        "packages": {name: installed(name) for name in _PACKAGES},
        "platform": platform.platform(),
        "cores": os.cpu_count() or 0,
        "started": time.strftime(stamp, time.gmtime(started)),
        "finished": time.strftime(stamp, time.gmtime(ended)),
        "cpu_seconds": round(max(0.0, cpu_seconds), 3),
        "code": engine.code_digest(),
        "commit": _git("rev-parse", "HEAD") if ours else "",
        "dirty": ours and bool(_git(*changes)),
        "bit_generator": "Philox4x64-10, addressed by (seed, pair, world, run, slot)",
        "idealized_numerics": idealized,
    }


def installed(package: str) -> str:
    """The version of a package that is installed, empty if there is none."""
    try:
        return metadata.version(package)
    except (metadata.PackageNotFoundError, ValueError):
        return ""


def _own_version() -> str:
    import verifiable_dp

    return str(verifiable_dp.__version__)


def finish(
    draft: Mapping[str, Any],
    *,
    started: float,
    cpu_seconds: float,
    declarations: Mapping[str, Any] | None = None,
) -> Report:
    """Conclude a draft: verdicts, provenance, blocks and digest.

    Parameters
    ----------
    draft
        What the audit found; blocks in it are made anew.
    started, cpu_seconds
        Seconds since the epoch; seconds of processor time.
    declarations
        As `declarations.checked` gives them; None: those of the draft, if any.
    """
    regret = draft.get("regret")
    if declarations is None:
        declarations = draft.get(blocks.DECLARED)
    record = {
        **{key: value for key, value in draft.items() if key not in blocks.BLOCKS},
        "schema_version": SCHEMA_VERSION,
        blocks.DECLARED: declarations,
        "verdict": conclude.privacy(draft["checks"], draft["power"]),
        "epsilon_lower": conclude.epsilon_lower(draft["checks"]),
        "regret": _regret(regret) if regret else None,
        "provenance": {
            **provenance(started, cpu_seconds, not draft["plan"].get("numerics", False)),
            "target": _place(str(draft["target"]["source"]["path"])),
            "ci": _ci(),
        },
    }
    # Blocks follow from what a reader gets back.
    record = as_read(record)
    return Report(sealed({**record, **blocks.of(record)}))


def declared(record: Mapping[str, Any], declarations: Mapping[str, Any]) -> dict[str, Any]:
    """A record with these declarations in place of its own; what follows from them is computed again.

    Parameters
    ----------
    record
        Whole, one that holds: it is not checked here.
    declarations
        As `declarations.checked` gives them.

    Raises
    ------
    InputError
        If records of its version cannot hold declarations.
    """
    if blocks.DECLARED not in record:
        raise InputError(
            f"record: schema_version {record['schema_version']} cannot hold declarations, "
            f"{SCHEMA_VERSION} can; audit again"
        )
    bare = {key: value for key, value in record.items() if key not in (*blocks.BLOCKS, "digest")}
    whole = as_read({**bare, blocks.DECLARED: declarations})
    return sealed({**whole, **blocks.of(whole)})


def _regret(draft: Mapping[str, Any]) -> dict[str, Any]:
    """With its verdict, and tables beside the checks: they promise nothing."""
    checks = [check for check in draft["checks"] if check["kind"] not in tables.KINDS]
    apart = [check for check in draft["checks"] if check["kind"] in tables.KINDS]
    found = {**draft, "checks": checks, "verdict": conclude.regret(checks)}
    return {**found, "tables": apart} if apart else found


def schema(major: int = 2) -> dict[str, Any]:
    """The JSON Schema of records of that major version.

    Raises
    ------
    InputError
        If there is no such version.
    """
    if major not in (1, 2):
        raise InputError(f"schema: major must be 1 or 2, got {major!r}")
    first = _schema_file(1)
    if major == 1:
        return first
    second = _schema_file(2)
    common = first["$defs"].keys() & second["$defs"].keys()
    parts = {name: (first["$defs"][name], second["$defs"][name]) for name in common}
    extended = {name: _extended(*both) for name, both in parts.items() if "properties" in both[0]}
    return {**_extended(first, second), "$defs": {**first["$defs"], **second["$defs"], **extended}}


def _extended(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object with what version 2 adds to it; what it says anew goes before."""
    return {
        **first,
        **second,
        "properties": {**first["properties"], **second["properties"]},
        "required": [*first["required"], *second.get("required", [])],
    }


def _schema_file(major: int) -> dict[str, Any]:
    text = resources.files("verifiable_dp.reporting").joinpath(f"schema/record-{major}.json")
    loaded: dict[str, Any] = json.loads(text.read_text("utf-8"))
    return loaded


def check_writable(path: Path) -> None:
    """Refuse a path that cannot be written.

    Raises
    ------
    InputError
        If its folder does not exist or is read-only, or if it is a folder itself, a device or a pipe.
    """
    folder = path.resolve().parent
    if path.is_dir():
        raise InputError(f"path: {str(path)!r} is a folder")
    if path.exists() and not path.is_file():  # a file would take its place
        raise InputError(f"path: {str(path)!r} is a device or a pipe, not a file")
    if not folder.is_dir():
        raise InputError(f"path: {str(path)!r} cannot be written: no folder {str(folder)!r}")
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".write-test-"):
            pass
    except OSError as error:
        raise InputError(f"path: {str(path)!r} cannot be written: {error.strerror}") from None


def write_text(path: Path, text: str) -> Path:
    """Write a file whole or not at all.

    Raises
    ------
    InputError
        If it cannot be written; nothing is left behind.
    """
    return write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> Path:
    """As `write_text`."""
    check_writable(path)
    try:
        with replacing(str(path), content):
            return path
    except OSError as error:
        raise InputError(f"path: {str(path)!r} cannot be written: {error.strerror}") from None


def make_folder(name: str, folder: Path) -> None:
    """Make a folder, and those above it, where there is none; `name` is that of the argument.

    Raises
    ------
    InputError
        If it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{name}: {str(folder)!r} cannot be made: {error.strerror}") from None


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else of us writes into the folder meanwhile, so that a record and its page belong together."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        yield
        return
    try:
        lock(handle)
        yield
    finally:
        os.close(handle)


@dataclass(frozen=True)
class Report:
    """What an audit returns.

    Attributes
    ----------
    record : dict
        The whole record, JSON values.
    """

    record: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Name of the target."""
        return str(self.record["target"]["name"])

    @property
    def verdict(self) -> str:
        """On privacy: ``refuted``, ``not_refuted`` or ``inconclusive``."""
        return str(self.record["verdict"])

    @property
    def epsilon_lower(self) -> float:
        """Lower bound on the true epsilon, at confidence `record["confidence"]`."""
        return float(self.record["epsilon_lower"])

    @property
    def regret_verdict(self) -> str | None:
        """``consistent``, ``contradicted``, ``vacuous`` or ``inconclusive``; None if not checked."""
        regret = self.record["regret"]
        return None if regret is None else regret["verdict"]

    @property
    def baseline(self) -> bool:
        """Whether the target makes no privacy promise."""
        return is_baseline(self.record)

    @property
    def printed(self) -> bool:
        """Whether the target is a listing as printed that the default variant corrects."""
        return is_printed(self.record)

    def to_json(self) -> str:
        """The record as indented JSON."""
        return text(self.record)

    def to_html(self) -> str:
        """A self-contained page."""
        from verifiable_dp.reporting.page import render

        return render(self.record)

    def save(self, folder: str | Path, stem: str = "record") -> tuple[Path, Path]:
        """Write ``<stem>.json`` and ``<stem>.html`` into `folder`, which is made if needed.

        Raises
        ------
        InputError
            If it cannot be written; nothing half-written is left behind.
        """
        place = Path(folder)
        make_folder("folder", place)
        with _alone(place):
            return (
                write_text(place / f"{stem}.json", self.to_json()),
                write_text(place / f"{stem}.html", self.to_html()),
            )

    @classmethod
    def load(cls, path: str | Path) -> Report:
        """Read a record and check it; see `verify.read`.

        Raises
        ------
        InputError
            If it is unreadable, malformed or was edited.
        """
        from verifiable_dp.reporting.verify import verify

        return cls(verify(path).record)

    def declare(self, declarations: str | os.PathLike[str] | Mapping[str, Any]) -> Report:
        """The same report with these declarations in place of those it has; no code of the target is run.

        Every count, verdict and all of its provenance stay; blocks and digest are computed again.

        Parameters
        ----------
        declarations
            Path of a TOML file (`verifiable-dp init` writes one to start from), or its values.

        Raises
        ------
        InputError
            If the record does not hold (as `verify.verify`) or is of version 1, which has no place for
            declarations; if they cannot be read or hold anything unknown.
        """
        from verifiable_dp.reporting.verify import examine

        examine(self.record)
        return Report(declared(self.record, given(declarations) or {}))

    def line(self) -> str:
        """One line: name, verdicts, bound and power."""
        record = self.record
        parts = [f"{self.name + (' (as printed)' if self.printed else ''):<34}"]
        if record["checks"]:
            note = " (baseline, promises nothing)" if self.baseline else ""
            parts.append(f"{self.verdict}{note}")
            parts.append(f"epsilon >= {self.epsilon_lower:.4g} against {record['claim']['epsilon']:g}")
            if record["power"]:
                power = record["power"]
                caught = (
                    "any excess" if power["by"] == "alignment" else f"{float(power['smallest_epsilon']):.4g}"
                )
                parts.append(f"power: catches {caught}")
        mutants = record["mutants"]
        if mutants:
            killed = sum(m["verdict"] in ("refuted", "contradicted") for m in mutants)
            parts.append(f"mutants {killed}/{len(mutants)}")
        if self.regret_verdict:
            parts.append(f"regret {self.regret_verdict}")
        return printable("  ".join(parts))

    def summary(self, saved: str | Path | None = None, again: str | None = None) -> str:
        """Some lines for a terminal.

        Parameters
        ----------
        saved
            Where the record is, for the command that runs a refutation again.
        again
            This command, if it is another one.
        """
        record, lines = self.record, [self.line()]
        if record["checks"]:
            lines.append(_STATEMENTS[self.verdict])
        if record["target"]["note"]:
            lines.append(f"note: {record['target']['note']}")
        for check in record["checks"]:
            lines.append(f"  {check['name']}: {_check_line(check)}")
            lines.extend(leads(check))
        for found in record["counterexamples"]:
            pair = found.get("pair", {}).get("words", "")
            lines.append(f"  counterexample ({found['check']}): {pair}; {in_words(found, record)}")
        if record["power"] and record["checks"]:
            power = record["power"]
            least = (
                "more than the claim"
                if power["by"] == "alignment"
                else f"{float(power['smallest_epsilon']):.4g}"
            )
            lines.append(
                f"  power: a true epsilon of {least} would have been caught with probability "
                f"{power['probability']:g} ({power['by'].replace('_', ' ')}: {power['statement']})"
            )
        for check in record["regret"]["checks"] if record["regret"] else []:
            lines.append(f"  {regrets.line(check)}")
        for table in record["regret"].get("tables", []) if record["regret"] else []:
            lines.append(f"  {table['name']}: {tables.in_short(table)}")
        if record["counterexamples"]:
            where = "RECORD" if saved is None else shlex.quote(str(saved))
            lines.append(f"  again: {again or f'verifiable-dp verify {where} --rerun'}")
        return printable("\n".join(lines))


def p_value_in_words(value: float) -> str:
    """Three digits; what underflows is bounded."""
    return f"{value:.3g}" if value > 0 else "below 1e-300"


def title(record: Mapping[str, Any]) -> str:
    """Name of the target; a listing as printed says so."""
    return f"{record['target']['name']}{' as printed' if is_printed(record) else ''}"


def in_words(found: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    """What a counterexample of a record shows, and where it was found, in a few words."""
    place = found_on(found, record)
    return f"{_shown(found)}; {place}" if place else _shown(found)


def found_on(found: Mapping[str, Any], record: Mapping[str, Any] | None) -> str:
    """The instance that a counterexample was found on; empty where it is the audited one.

    What that instance promises may differ from the claim: a loss counts in units of it. Without a record,
    as in the errata, there is nothing to compare it with.
    """
    if "instance" not in found:
        return ""
    audited, words = record["target"]["parameters"] if record else {}, ""
    others = {k: v for k, v in found["instance"].items() if k not in audited or audited[k] != v}
    if others:
        words = f"found on a small instance ({', '.join(f'{k} = {v}' for k, v in others.items())})"
    if "rounds" in found:
        first = f"the first {found['rounds']} rounds"
        words = f"{words}, {first}" if words else f"found on {first} of the audited instance"
    epsilon, claimed = found.get("epsilon"), record["claim"]["epsilon"] if record else None
    if not words or epsilon is None or epsilon == claimed:
        return words
    words = f"{words}, which claims epsilon {epsilon:g}"
    if claimed is None or "loss" not in found or found.get("divergence"):
        return words
    least = abs(float(found["loss"])) / epsilon * claimed
    return f"{words}: epsilon at least {least:.4g} when held against a claim of {claimed:g}"


def _shown(found: Mapping[str, Any]) -> str:
    if "delta_lower" in found:
        return f"event {found['event']}, delta at least {float(found['delta_lower']):.4g}"
    if "event" in found:
        return f"event {found['event']}, p-value {p_value_in_words(found['p_value'])}"
    if found.get("divergence"):
        return str(found["divergence"])
    return f"cost {float(found['cost']):.6g}, loss {float(found['loss']):.6g}"


def is_lead_only(check: Mapping[str, Any]) -> bool:
    """Whether a tracing says something against the claim that refutes nothing: actions alone are seen."""
    if check["kind"] != "tracing" or check["statistics"]["failure"] or not check["statistics"]["examined"]:
        return False
    return check["result"]["verdict"] != "refuted" and not check["result"]["holds"]


def leads(check: Mapping[str, Any]) -> list[str]:
    """What tracing names lines for, as linters write it: ``file:line: what``.

    Raw data that decides, releases that cost more than the claim, and draws that cannot be repeated.
    """
    if check["kind"] != "tracing":
        return []
    numbers = check["statistics"]
    found = [(lead["file"], lead["line"], lead_in_words(lead)) for lead in numbers["leads"] if lead["open"]]
    found += [(row["file"], row["line"], share_in_words(row)) for row in excerpts.too_costly(numbers)]
    found += [(note["file"], note["line"], note["what"]) for note in numbers["notes"]]
    apart = [numbers["divergence"]] if excerpts.names_a_line(numbers["divergence"]) else []
    return [*(f"{file}:{line}: {words}" for file, line, words in found), *apart]


def lead_in_words(lead: Mapping[str, Any]) -> str:
    """What a lead says of its line, with its source."""
    return f"{lead['words']}: {lead['source']}"


def share_in_words(share: Mapping[str, Any]) -> str:
    """What the releases of a line cost."""
    often = excerpts.times(share["releases"])
    return f"release costs {float(share['cost']):.6g}{f', {often}' if often else ''}: {share['source']}"


def _check_line(check: Mapping[str, Any]) -> str:
    numbers, result = check["statistics"], check["result"]
    if check["kind"] == "tracing":
        if numbers["failure"]:
            return f"not traced: {numbers['failure']}"
        cost = f"cost {float(numbers['max_cost']):.6g} against epsilon {numbers['epsilon']:g}"
        if not numbers["same_output"]:
            cost = "the replay cannot follow" if numbers["divergence"] else "other actions come out"
        within = "within the claim" if result["holds"] else "not shown to stay within the claim"
        if is_lead_only(check):
            within = "a lead only, as actions alone are seen"
        return f"{result['verdict']}, {cost} in {numbers['examined']} pairs of runs: {within}"
    if check["kind"] in ("black_box", "numerics"):
        return (
            f"{result['verdict']}, {numbers['k1']} of {numbers['n1']} against "
            f"{numbers['k0']} of {numbers['n0']}, "
            f"p-value {p_value_in_words(result['p_value'])}, epsilon >= {float(result['epsilon_lower']):.4g}"
        )
    if check["kind"] == "sequential":
        return (
            f"{result['verdict']}, {numbers['runs']} runs, {result['looks']} looks, "
            f"p-value {p_value_in_words(result['p_value'])}, epsilon >= {float(result['epsilon_lower']):.4g}"
        )
    if check["kind"] == "alignment":
        return (
            f"{result['verdict']}, largest cost {float(numbers['max_cost']):.6g} in {numbers['examined']} "
            f"transcripts against epsilon {numbers['epsilon']:g}"
        )
    if check["kind"] == "exact":
        return (
            f"{result['verdict']}, epsilon of the actions {float(result['epsilon_lower']):.6g} over "
            f"{len(numbers['pairs'])} pairs against {numbers['epsilon']:g}"
        )
    if check["kind"] == "curve":
        return (
            f"{result['verdict']}, {len(numbers['points'])} points of {numbers['runs']} runs a side, "
            f"p-value {p_value_in_words(result['p_value'])}, epsilon >= {float(result['epsilon_lower']):.4g}"
        )
    if check["kind"] == "shuffle":
        return (
            f"{result['verdict']}, delta in [{float(result['delta_lower']):.4g}, "
            f"{float(result['delta_upper']):.4g}] against {numbers['delta']:g}, "
            f"epsilon0 {float(result['local_epsilon']):.4g}"
        )
    return str(result["verdict"])
