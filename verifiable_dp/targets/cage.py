"""What code of a target is kept from, as far as the machine allows: the namespaces of Linux.

In a user namespace of its own the code has not the rights of root over other processes, so that the parent
stays closed to it (`keeping`) also where root runs the audit. Without a network it reaches no other machine.
Each step is taken by itself; the record names those that were.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from dataclasses import dataclass, field

from verifiable_dp.core.validate import InputError, choice

CAGES = ("required", "best", "none")
_NEW_USER, _NEW_NETWORK, _NEW_IPC = 0x10000000, 0x40000000, 0x08000000
_NO_NEW_PRIVILEGES = 38
USER = "user-namespace"
OFFLINE = "no-network"
_STEPS = ((OFFLINE, _NEW_NETWORK), ("own-ipc", _NEW_IPC))


@dataclass
class Caged:
    """What is asked of the cage of a child, and what of it was taken.

    Parameters
    ----------
    policy
        ``required``: nothing runs unless the code has a user namespace of its own and no network; ``best``:
        what this system allows; ``none``.

    Raises
    ------
    InputError
        If there is no such policy.
    """

    policy: str = "none"
    taken: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        choice("cage", self.policy, CAGES)

    def enter(self) -> list[str]:
        """In the child, before code of the target runs: take the steps.

        Raises
        ------
        InputError
            If more is required than this system allows.
        """
        taken = enter() if self.policy != "none" else []
        if self.policy == "required" and not {USER, OFFLINE} <= set(taken):
            raise InputError(
                f"cage: this system allows {', '.join(taken) or 'nothing of it'}; required are {USER} and "
                f"{OFFLINE}; give best, or none"
            )
        return taken


def enter() -> list[str]:
    """Take every step that this system allows, in the process that calls; their names.

    Called before any code of a target runs, and while this process has one thread.
    """
    if not sys.platform.startswith("linux"):
        return []
    libc, user, group = ctypes.CDLL(None, use_errno=True), os.geteuid(), os.getegid()
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    taken = ["no-new-privileges"]
    if libc.unshare(_NEW_USER) != 0:
        return taken
    try:
        with contextlib.suppress(OSError):  # older systems have none
            _write("setgroups", "deny")
        _write("uid_map", f"{user} {user} 1")
        _write("gid_map", f"{group} {group} 1")
    except OSError:  # then it is nobody, and what it may read it cannot find
        os._exit(1)
    taken.append(USER)
    return taken + [name for name, flag in _STEPS if libc.unshare(flag) == 0]


def _write(name: str, text: str) -> None:
    with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
        file.write(text)
