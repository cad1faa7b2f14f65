"""Variables of an environment that code of a target must not see: `ci/audit.sh` has the same."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable

# What a service lets a job steer later steps with, and what may hold a secret.
_STEERING = re.compile(
    r"GITHUB_(ENV|PATH|OUTPUT|STATE|STEP_SUMMARY)|BASH_ENV|ENV|ACTIONS_.*|SSH_AUTH_SOCK|BASH_FUNC_.*"
)
_SECRET = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|JWT|(API|ACCESS|PRIVATE)_?KEY")


def steering(names: Iterable[str]) -> list[str]:
    """Those variables of an environment that a target must not inherit."""
    return [name for name in names if _STEERING.fullmatch(name) or _SECRET.search(name.upper())]


def start_again_without() -> None:
    """Begin this process again without them, if it has any.

    What a process was started with stays in its memory, and in ``/proc``, whatever it deletes of it later: a
    child can read both.
    """
    dropped = steering(os.environ)
    if dropped and sys.orig_argv[1:]:
        kept = {name: value for name, value in os.environ.items() if name not in dropped}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], kept)
