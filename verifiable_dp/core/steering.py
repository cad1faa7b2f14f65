"""Variables of an environment that code of a target must not see: `ci/audit.sh` has the same."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping

from verifiable_dp.core import paths

# What a service lets a job steer later steps with, and what may hold a secret.
_STEERING = re.compile(
    r"GITHUB_(ENV|PATH|OUTPUT|STATE|STEP_SUMMARY)|BASH_ENV|ENV|ACTIONS_.*|SSH_AUTH_SOCK|BASH_FUNC_.*"
)
_SECRET = re.compile(
    r"TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|JWT|COOKIE|WEBHOOK|CONNECTION_STRING|(API|ACCESS|PRIVATE)_?KEY"
    r"|(^|_)(PASS|PAT|AUTH|DSN|KEYS?|ASKPASS|(PG)?PASSFILE)(_|$)|_PWD$"
)
_HOLDS = re.compile(r"://[^/\s]+@|PRIVATE KEY-----")  # an address with a name, or a key


def steering(environment: Mapping[str, str]) -> list[str]:
    """Those variables of an environment that a target must not inherit, by what they are called or hold."""
    return [
        name
        for name, value in environment.items()
        if _STEERING.fullmatch(name) or _SECRET.search(name.upper()) or _HOLDS.search(value)
    ]


def environment_of_targets() -> dict[str, str]:
    """What a program that is code of a target is started with: as this process was given it, without these.

    A program that we start with the environment of our own process finds other modules than in production.
    """
    given = paths.environment()
    dropped = steering(given)
    return {name: value for name, value in given.items() if name not in dropped}


def start_again_without() -> None:
    """Begin this process again without them, if it has any.

    What a process was started with stays in its memory, and in ``/proc``, whatever it deletes of it later: a
    child can read both.
    """
    if steering(paths.environment()) and sys.orig_argv[1:]:
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment_of_targets())
