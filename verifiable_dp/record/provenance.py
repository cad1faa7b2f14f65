"""Where a record comes from: versions, machine, time, repository and command."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

from verifiable_dp.core import engine
from verifiable_dp.core.validate import JsonDict

_PACKAGES = ("numpy", "scipy", "numba", "hypothesis", "pandas", "joblib")


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


def place(path: str, ours: bool = False) -> JsonDict:
    """Repository and commit of the audited file, which `ours` says to look for beside this package.

    They are empty where it is unknown or in none.
    """
    file = Path(__file__).parents[2] / path if ours else Path(path)
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


def provenance(started: float, cpu_seconds: float, idealized: bool = True) -> JsonDict:
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
