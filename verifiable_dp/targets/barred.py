"""What a cage bars beyond namespaces: sockets, keys, and writing outside some folders.

A file system that is read-only still lets code write to named pipes and to devices, and connect to the
sockets of servers. What its parent has open a child does not inherit. Nothing here needs any rights (Linux).
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Sequence

SOCKETS, WRITES = "no-sockets", "confined-writes"
_SET_SECCOMP, _FILTER = 22, 2
# Of seccomp's programs: load a word, and with it; compare; return.
_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOWED, _REFUSED = 0x7FFF0000, 0x50000 | errno.EPERM
_NUMBER, _ARCHITECTURE, _SECOND = 0, 4, 24  # places of the call's number, of its kind and of an argument
_OTHER_CALLS = 0x40000000  # numbers of the same calls in another form
_STREAM, _PACKETS, _KIND = 1, 5, 0xF  # sockets of a pair that reach nobody else
# Kind of calls, `socketpair`, then what is refused: `socket`, `io_uring_setup`, which opens some, and keys.
_CALLS = {
    "x86_64": (0xC000003E, 53, (41, 425, 248, 249, 250)),
    "aarch64": (0xC00000B7, 199, (198, 425, 217, 218, 219)),
}
_MAKE_RULES, _ADD_RULE, _RESTRICT, _VERSION, _BENEATH = 444, 445, 446, 1, 1
_WRITE, _CHANGE_FOLDER, _MOVE, _CUT = 1 << 1, 0x1FF0, 1 << 13, 1 << 14
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def steps(libc: ctypes.CDLL, written: Sequence[str]) -> list[str]:
    """Take every step that this system allows, for this process and what it starts; their names.

    Parameters
    ----------
    libc
        Of this process, which has no way to new privileges any more.
    written
        Files and folders that may be written.
    """
    found = {WRITES: _write_only(libc, [*written, *DEVICES]), SOCKETS: _refuse_sockets(libc)}
    return [name for name, taken in found.items() if taken]


def _write_only(libc: ctypes.CDLL, places: Sequence[str]) -> bool:
    """Let files be written and folders changed in some places alone, whatever their mounts say (Landlock)."""
    version = libc.syscall(_MAKE_RULES, None, 0, _VERSION)
    if version < 1:
        return False
    of_files = _WRITE | _CUT * (version > 2)
    every = of_files | _CHANGE_FOLDER | _MOVE * (version > 1)
    rules = libc.syscall(_MAKE_RULES, struct.pack("Q", every), 8, 0)
    if rules < 0:
        return False
    try:
        for place in filter(os.path.exists, places):
            end = os.open(place, os.O_PATH)
            allowed = every if os.path.isdir(place) else of_files
            libc.syscall(_ADD_RULE, rules, _BENEATH, struct.pack("=Qi", allowed, end), 0)
            os.close(end)
        return int(libc.syscall(_RESTRICT, rules, 0)) == 0
    finally:
        os.close(rules)


def _refuse_sockets(libc: ctypes.CDLL) -> bool:
    """Refuse sockets but pairs: a server's may be a file, which no network of its own keeps out (seccomp)."""
    if platform.machine() not in _CALLS:
        return False
    kind, pair, refused = _CALLS[platform.machine()]
    end = len(refused) + 9  # refuses; the one after it allows
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 0, end - 2, kind),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, end - 4, 0, _OTHER_CALLS),
    ]
    program += [(_EQUAL, end - 5 - number, 0, call) for number, call in enumerate(refused)]
    program += [
        (_EQUAL, 0, 5, pair),
        (_LOAD, 0, 0, _SECOND),
        (_AND, 0, 0, _KIND),
        (_EQUAL, 2, 0, _STREAM),
        (_EQUAL, 1, 0, _PACKETS),
        (_RETURN, 0, 0, _REFUSED),
        (_RETURN, 0, 0, _ALLOWED),
    ]
    content = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *row) for row in program))
    whole = struct.pack("HxxxxxxP", len(program), ctypes.addressof(content))
    return int(libc.prctl(_SET_SECCOMP, _FILTER, whole, 0, 0)) == 0
