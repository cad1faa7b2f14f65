"""What code of a target is kept from, as far as the machine allows: namespaces and limits of Linux.

In a user namespace of its own the code has not the rights of root over other processes, so that the parent
stays closed to it (`keeping`) also where root runs the audit. Without a network it reaches no other machine.
In a namespace of processes it sees its own only, and what it starts ends with it. All files are read-only;
its temporary files lie in memory of its own, which ends with it. What these leave open `barred` closes. Each
step is taken by itself; the record names those that were.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from verifiable_dp.core import watch
from verifiable_dp.core.kernels import keep_nothing
from verifiable_dp.core.validate import InputError, choice
from verifiable_dp.targets import barred

CAGES = ("required", "best", "none")
_NEW_USER, _NEW_NETWORK, _NEW_IPC, _NEW_FILES, _NEW_PROCESSES = (
    0x10000000,
    0x40000000,
    0x08000000,
    0x00020000,
    0x20000000,
)
_NO_NEW_PRIVILEGES, _DIES_WITH_PARENT = 38, 1
_BIND, _RECURSIVE, _PRIVATE, _BARE = 0x1000, 0x4000, 0x40000, 0xE  # no setuid, no devices, no programs
_NO_PROGRAMS = 0x8  # libraries map what they compile
_SERVERS = b"/run"  # where programs of the machine listen at files
_CAPABILITIES = 0x20080522  # version of their interface
_SET_MOUNT, _HERE, _ALL_BELOW, _READ_ONLY, _NO_DEVICES = 442, -100, 0x8000, 1, 4
USER = "user-namespace"
OFFLINE = "no-network"
LIMITED, PROCESSES, READ_ONLY, SCRATCH = "limits", "own-processes", "read-only-files", "own-temporary-files"
_MEMORY_FILES, _SCRATCH_SIZE = "/dev/shm", b"mode=1777,size=25%"
_STEPS = ((OFFLINE, _NEW_NETWORK), ("own-ipc", _NEW_IPC))
_FILES, _CHILDREN, _LARGEST_FILE = 4096, 4096, 8 << 30
_MEMORY = 0.9  # part of the machine's that the code may take
_SECONDS = 60  # of processor time, beyond what the whole may take


class _Mount(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user")]


@dataclass
class Caged:
    """What is asked of the cage of a child, and what of it was taken.

    Parameters
    ----------
    policy
        ``required``: nothing runs unless the code has a user namespace of its own and no network; ``best``:
        what this system allows; ``none``.
    seconds
        That the whole may take.
    root, opened
        Folder below which it is noted what the code reads; that, by paths from there, as far as it was told.
    tracked
        What git tracks there.

    Raises
    ------
    InputError
        If there is no such policy.
    """

    policy: str = "none"
    taken: list[str] = field(default_factory=list)
    seconds: float = math.inf
    root: str = ""
    opened: dict[str, str] = field(default_factory=dict)
    tracked: Sequence[str] = ()

    def __post_init__(self) -> None:
        choice("cage", self.policy, CAGES)

    def enter(self) -> list[str]:
        """In the child, before code of the target runs: take the steps; see `enter`.

        Raises
        ------
        InputError
            If more is required than this system allows.
        """
        taken = enter(self.seconds) if self.policy != "none" else []
        if self.policy == "required" and not {USER, OFFLINE} <= set(taken):
            raise InputError(
                f"cage: {USER} and {OFFLINE} are required, but this system allows "
                f"{'only ' * bool(taken)}{', '.join(taken) or 'neither'}; use --cage best or --cage none"
            )
        return taken


@dataclass(frozen=True)
class Walls:
    """What a cage refuses, of what Python tells before it does it.

    Attributes
    ----------
    written
        Where files may be changed; None: anywhere.
    hidden
        Folders of which the code does not see what is there.
    offline
        Whether it reaches no other machine, or no server.
    """

    written: tuple[str, ...] | None = None
    hidden: tuple[str, ...] = ()
    offline: bool = False

    @classmethod
    def of(cls, taken: Sequence[str]) -> Walls:
        """Those of the steps that were taken, in the process that took them."""
        confined = bool({READ_ONLY, barred.WRITES} & {*taken})
        written = (tempfile.gettempdir(), _MEMORY_FILES, *barred.DEVICES)
        hidden = (_SERVERS.decode(),) * (READ_ONLY in taken) + (_MEMORY_FILES,) * (SCRATCH in taken)
        offline = bool({OFFLINE, barred.SOCKETS} & {*taken})
        return cls(tuple(map(os.path.realpath, written)) if confined else None, hidden, offline)

    def bars(self, place: str, writes: bool) -> bool:
        """Whether a file cannot be changed, or may not be seen where it lies."""
        if self.written is None if writes else not self.hidden:
            return False
        there = os.path.realpath(place)
        if writes:
            return not _is_in(there, self.written or ())
        return _is_in(there, self.hidden) and not os.path.lexists(there)


def _is_in(place: str, folders: Sequence[str]) -> bool:
    return any(place == one or place.startswith(os.path.join(one, "")) for one in folders)


def enter(seconds: float = math.inf) -> list[str]:
    """Take every step that this system allows; their names.

    Called before any code of a target runs, and while this process has one thread. It may return in a child
    of the process that called, which waits for it and ends as it does.
    """
    if not sys.platform.startswith("linux"):
        return []
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _limit(seconds)
    apart = _set_apart(libc)
    others = barred.steps(libc, [tempfile.gettempdir(), _MEMORY_FILES])
    if {READ_ONLY, barred.WRITES} & {*apart, *others}:
        keep_nothing()
    return ["no-new-privileges", LIMITED, *apart, *others]


def _set_apart(libc: ctypes.CDLL) -> list[str]:
    """Give this process namespaces of its own; the names of the steps that could be taken."""
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(_NEW_USER) != 0:
        return []
    try:
        with contextlib.suppress(OSError):  # older systems have none
            _write("setgroups", "deny")
        _write("uid_map", f"{user} {user} 1")
        _write("gid_map", f"{group} {group} 1")
    except OSError:  # then it is nobody, and what it may read it cannot find
        os._exit(1)
    taken = [USER, *(name for name, flag in _STEPS if libc.unshare(flag) == 0)]
    if libc.unshare(_NEW_FILES) != 0 or libc.mount(b"none", b"/", None, _PRIVATE | _RECURSIVE, None) != 0:
        return taken
    if _alone(libc):
        taken.append(PROCESSES)
    own = _own_scratch(libc)
    temporary = [_MEMORY_FILES] if own else [tempfile.gettempdir(), _MEMORY_FILES]
    if _read_only(libc, temporary):
        taken += [READ_ONLY, SCRATCH] if own else [READ_ONLY]
    _give_up_rights(libc)
    return taken


def _limit(seconds: float) -> None:
    """Limits of processor time, memory, files and processes; those that are lower already stay."""
    import resource  # not on every system

    memory = _MEMORY * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for what, most in (
        (resource.RLIMIT_CPU, seconds + _SECONDS),
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_NOFILE, _FILES),
        (resource.RLIMIT_NPROC, _CHILDREN),
        (resource.RLIMIT_FSIZE, _LARGEST_FILE),
        (resource.RLIMIT_CORE, 0),
    ):
        now = [value for value in resource.getrlimit(what) if value != resource.RLIM_INFINITY]
        least = min([*now, most])
        if least < math.inf:
            resource.setrlimit(what, (int(least), int(least)))


def _alone(libc: ctypes.CDLL) -> bool:
    """Go on in a child, the first process of a namespace with a /proc of its own; whether that could be."""
    if not _tried(libc) or libc.unshare(_NEW_PROCESSES) != 0:
        return False
    sys.stdout.flush()
    sys.stderr.flush()
    first = os.fork()
    if first:
        _wait(first)
    libc.prctl(_DIES_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    libc.mount(b"proc", b"/proc", b"proc", _BARE, None)
    os.environ[watch.CAGED] = "1"
    return True


def _tried(libc: ctypes.CDLL) -> bool:
    """Whether a namespace of processes can have a /proc of its own, as where the system's is not masked."""
    tries = os.fork()
    if tries == 0:
        if libc.unshare(_NEW_PROCESSES | _NEW_FILES) != 0:
            os._exit(1)
        inner = os.fork()
        if inner == 0:
            os._exit(int(libc.mount(b"proc", b"/proc", b"proc", _BARE, None) != 0))
        os._exit(os.waitpid(inner, 0)[1] != 0)
    return os.waitpid(tries, 0)[1] == 0


def _wait(child: int) -> NoReturn:
    """Hold nothing open, wait for a child, and end as it does."""
    os.closerange(0, _FILES)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        signal.signal(-status, signal.SIG_DFL) if -status not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -status)
    os._exit(max(status, 0))


def _own_scratch(libc: ctypes.CDLL) -> bool:
    """Have a folder of its own for temporary files, and nothing in it; whether that could be."""
    place = _MEMORY_FILES.encode()
    if libc.mount(b"none", place, b"tmpfs", _BARE & ~_NO_PROGRAMS, _SCRATCH_SIZE) != 0:
        return False
    folder = os.path.join(_MEMORY_FILES, "tmp")
    os.mkdir(folder, 0o700)
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    return True


def _read_only(libc: ctypes.CDLL, written: Sequence[str]) -> bool:
    """Make files read-only but some, and those in some folders, and bar devices; whether it succeeded."""
    places, devices = (
        [os.path.realpath(one).encode() for one in given if os.path.exists(one)]
        for given in (written, barred.DEVICES)
    )
    failed = [libc.mount(place, place, None, _BIND | _RECURSIVE, None) for place in (*places, *devices)]
    if any(failed):
        return False  # each needs a mount of its own
    with contextlib.suppress(OSError):
        os.chdir(os.getcwd())  # into the new mount

    def mark(place: bytes, mount: _Mount) -> bool:
        size = ctypes.sizeof(mount)
        return int(libc.syscall(_SET_MOUNT, _HERE, place, _ALL_BELOW, ctypes.byref(mount), size)) == 0

    libc.mount(b"none", _SERVERS, b"tmpfs", _BARE, None)  # what listens there is not its network
    if not mark(b"/", _Mount(set=_READ_ONLY | _NO_DEVICES)):
        return False
    found = [mark(place, _Mount(clear=_READ_ONLY)) for place in places]
    return all([*found, *(mark(device, _Mount(clear=_NO_DEVICES)) for device in devices)])


def _give_up_rights(libc: ctypes.CDLL) -> None:
    """Give up the rights that the first user of a namespace has in it, by which it could undo the rest."""
    header, none = (ctypes.c_uint32 * 2)(_CAPABILITIES, 0), (ctypes.c_uint32 * 6)()
    libc.capset(ctypes.byref(header), ctypes.byref(none))


def _write(name: str, text: str) -> None:
    with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
        file.write(text)
