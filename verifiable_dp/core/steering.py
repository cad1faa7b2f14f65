"""Variables of an environment that code of a target must not see: `ci/audit.sh` has the same."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping

from verifiable_dp.core import paths

WITHHELD = "VERIFIABLE_DP_WITHHELD"  # names of variables that whoever started this process left out
# What a service lets a job steer later steps with, and what may hold a secret.
_STEERING = re.compile(
    r"GITHUB_(ENV|PATH|OUTPUT|STATE|STEP_SUMMARY)|BASH_ENV|ACTIONS_.*|SSH_AUTH_SOCK|BASH_FUNC_.*"
)
_SOURCED = re.compile(r"[/$`]")  # ENV is the path of a file for sh, and elsewhere the name of a deployment
_SECRET = re.compile(
    r"TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|JWT|COOKIE|WEBHOOK|CONNECTION_STRING|(API|ACCESS|PRIVATE)_?KEY"
    r"|(^|_)(PASS|PAT|AUTH|DSN|KEYS?|ASKPASS|(PG)?PASSFILE)(_|$)|_PWD$"
)
_INSPECT = "PYTHONINSPECT"  # makes a session of Python of a program's end, and 1 of its exit status
_HOLDS = re.compile(r"://[^/\s]+@|PRIVATE KEY-----")  # an address with a name, or a key


def steering(environment: Mapping[str, str]) -> list[str]:
    """Those variables of an environment that a target must not inherit, by what they are called or hold."""
    return [
        name
        for name, value in environment.items()
        if is_of_a_job(name)
        or (name == "ENV" and _SOURCED.search(value))
        or _SECRET.search(name.upper())
        or _HOLDS.search(value)
    ]


def is_of_a_job(name: str) -> bool:
    """Whether a service lets a job steer later steps with a variable: no code depends on what it is."""
    return bool(_STEERING.fullmatch(name))


def withheld() -> list[str]:
    """The variables that targets do not get, nor this process if it was started again without them."""
    given = paths.environment()
    return [*given.get(WITHHELD, "").split(), *steering(given)]


def environment_of_targets() -> dict[str, str]:
    """What a program that is code of a target is started with: as this process was given it, without these.

    A program that we start with the environment of our own process finds other modules than in production.
    """
    given = paths.environment()
    dropped = [*steering(given), WITHHELD]
    return {name: value for name, value in given.items() if name not in dropped}


def environment_of_ours() -> dict[str, str]:
    """The same for a program of ours, which is told the names of the others."""
    return {**environment_of_targets(), WITHHELD: " ".join(withheld())}


def start_again_without() -> None:
    """Begin this process again without them, if it has any, and without `_INSPECT`.

    What a process was started with stays in its memory, and in ``/proc``, whatever it deletes of it later: a
    child can read both.
    """
    given = paths.environment()
    if (steering(given) or given.get(_INSPECT)) and sys.orig_argv[1:]:
        kept = {name: value for name, value in environment_of_ours().items() if name != _INSPECT}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], kept)
