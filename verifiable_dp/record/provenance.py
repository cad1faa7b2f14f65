"""Where a record comes from: versions, machine, time, repository and command."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

from verifiable_dp.core import engine
from verifiable_dp.core.validate import JsonDict

_CODE = ("verifiable_dp", "algorithms", "auditors")
LEARNT_WITH = "scikit-learn"  # that boosted trees are fitted with; absent of records that needed it
_PACKAGES = ("numpy", "scipy", "numba", "hypothesis", "pandas", "joblib", LEARNT_WITH)


# A repository's own configuration may name programs, and code of a target may have written it: nothing of a
# user or of the system is read, and no program of the repository is started.
_CLEAN = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "safe.directory=*",
    "core.pager=cat",
    "safe.bareRepository=explicit",
)
_LINK = "120000"  # mode
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
}


def _git(*arguments: str, folder: Path | None = None) -> str:
    """What git says that reads objects and names; what compares files would run filters."""
    options = [word for one in _CLEAN for word in ("-c", one)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", *options, "-C", str(folder or Path(__file__).parent), *arguments],
            env={**kept, **_ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _blobs(folder: Path, *places: str) -> dict[str, str]:
    """Files of the last commit below a folder, by their paths in it, and what git calls their contents."""
    listed = _git("ls-tree", "-rz", "HEAD", "--", *places, folder=folder)
    rows = (row.split(maxsplit=3) for row in listed.split("\0"))
    return {row[3]: row[2] for row in rows if len(row) == 4 and row[1] == "blob" and row[0] != _LINK}


def _changed(file: Path, blob: str) -> bool:
    """Whether a file is not what git calls `blob`, but for line ends."""
    try:
        content = file.read_bytes()
    except OSError:
        return True
    name = hashlib.sha1 if len(blob) == 40 else hashlib.sha256
    forms = {content, content.replace(b"\r\n", b"\n")}
    return blob not in {name(b"blob %d\0%b" % (len(one), one)).hexdigest() for one in forms}


def place(path: str, ours: bool = False, run: Mapping[str, str] | None = None) -> JsonDict:
    """Repository and commit of the audited file, which `ours` says to look for beside this package.

    They are empty where it is unknown or in none. All files that `run` must be as in the commit and have
    the SHA-256 of the request, or it is dirty; their paths are from the folder of the first one.
    """
    file = Path(__file__).parents[2] / path if ours else Path(path)
    unknown = {"repository": "", "commit": "", "dirty": False}
    # Our own folders of algorithms are links; git knows the files behind them.
    file = file.resolve()
    if not (path and file.is_file() and _blobs(file.parent, file.name)):
        return unknown
    run = run or {}
    found = ([Path(above, name).resolve() for name in run] for above in file.parents)
    files = next((those for those in found if all(one.is_file() for one in those)), None)
    dirty = files is None or _differ([file, *files]) or _sha256(files) != list(run.values())
    return {
        "repository": _without_login(_git("config", "--get", "remote.origin.url", folder=file.parent)),
        "commit": _git("rev-parse", "HEAD", folder=file.parent),
        "dirty": dirty,
    }


def _sha256(files: Sequence[Path]) -> list[str]:
    return [hashlib.sha256(one.read_bytes()).hexdigest() for one in files]


def _differ(files: Sequence[Path]) -> bool:
    """Whether any of these files is not in the last commit, or not as it is there."""
    folder = Path(os.path.commonpath([one.parent for one in files]))
    names = [one.relative_to(folder).as_posix() for one in files]
    blobs = _blobs(folder, *names)
    return any(name not in blobs or _changed(folder / name, blobs[name]) for name in names)


def _without_login(address: str) -> str:
    """A remote's address without user name and password; empty for a folder of this machine."""
    scheme, mark, rest = address.partition("://")
    if not mark:
        return "" if address.startswith(("/", ".", "~")) else address
    host, slash, path = rest.partition("/")
    return "" if scheme == "file" else f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def ci() -> JsonDict | None:
    """Which continuous integration runs this, and where its log is; None elsewhere."""
    known = os.environ.get
    if known("GITHUB_ACTIONS") == "true":
        parts = [known(f"GITHUB_{key}", "") for key in ("SERVER_URL", "REPOSITORY", "RUN_ID")]
        url = f"{parts[0]}/{parts[1]}/actions/runs/{parts[2]}" if all(parts) else None
        return {"provider": "github-actions", "run_url": url}
    if known("GITLAB_CI") == "true":
        return {"provider": "gitlab-ci", "run_url": known("CI_JOB_URL") or None}
    return None


def begun() -> float:
    """Seconds since the epoch at the start of an audit, at which the commit of the code is read."""
    _committed()
    return time.time()


@functools.cache
def _committed() -> tuple[str, bool]:
    """The commit of this package's code, and whether a file differs from it, when it was first asked for.

    An installed package may lie in the folder of somebody else's repository, which does not know its files.
    """
    root = Path(__file__).parents[2]
    blobs = _blobs(root, *_CODE)
    commit = _git("rev-parse", "HEAD") if blobs else ""
    return commit, any(_changed(root / name, blob) for name, blob in blobs.items())


def provenance(started: float, cpu_seconds: float, idealized: bool = True) -> JsonDict:
    """Versions, machine, time and command: what may differ between two runs of one audit."""
    stamp = "%Y-%m-%dT%H:%M:%SZ"
    ended = max(started, time.time())  # a clock may be set back meanwhile
    commit, dirty = _committed()
    code = engine.code_digest()  # as it was first read
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
        "code": code,
        "commit": commit,
        "dirty": dirty or (commit != "" and engine.code_digest.__wrapped__() != code),
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
