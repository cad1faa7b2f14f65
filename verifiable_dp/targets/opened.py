"""Which files of a folder code reads or imports while it runs, by their digests.

What is imported by a computed name, and data that are read, is not found by reading the code. Python tells
of each file that it opens, and `core.looked` of those that code asks for without opening them. Neither tells
what other programs or worker processes ask for, nor libraries by code that is not Python's.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import os
import sys
import sysconfig
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.machinery import all_suffixes
from pathlib import Path
from types import CodeType, FrameType

from verifiable_dp.core import files, looked, paths
from verifiable_dp.core.engine import Passed
from verifiable_dp.core.pinned_source import within
from verifiable_dp.evidence.origins import WRITABLE
from verifiable_dp.targets import folders
from verifiable_dp.targets.asker import OURS as _OURS
from verifiable_dp.targets.asker import Asker, is_installed
from verifiable_dp.targets.cage import Walls
from verifiable_dp.targets.source import file_digest

# Which argument of an event of Python's names a file; the name of a module's is that of an extension. What is
# moved or gets another name may be read there, and a folder that is entered may be behind a link.
_EVENTS = {
    "open": 0,
    "import": 1,
    "ctypes.dlopen": 0,
    "sqlite3.connect": 0,
    "os.link": 0,
    "os.rename": 0,
    "os.chdir": 0,
    "os.getxattr": 0,
    **dict.fromkeys(("os.stat", "os.lstat", "os.access", "os.readlink"), 0),  # see `core.looked`
}
_LOOKS = ("os.stat", "os.lstat", "os.access", "os.readlink", *folders.LISTS)  # which open nothing
# Which arguments of an event name what is changed; and events of a process that reaches for others.
_CHANGES = {
    **dict.fromkeys(("os.mkdir", "os.rmdir", "os.remove", "os.truncate", "os.chmod", "os.utime"), (0,)),
    **dict.fromkeys(("os.chown", "os.setxattr", "os.removexattr", "os.mkfifo", "os.mknod"), (0,)),
    "os.rename": (0, 1),
    "os.link": (1,),
    "os.symlink": (1,),
}
_REACHES = ("socket.__new__", "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")
_TERMINALS = ("os.openpty", "os.forkpty")
_HEARD = {*_EVENTS, *_CHANGES, *_REACHES, *folders.LISTS, *_TERMINALS}
_CODE = tuple(all_suffixes())  # of files of modules: those from elsewhere are in no commit
_BESIDE = ("os.getxattr",)  # what is read there is not in the file
_FROM_FOLDERS = ("os.link", "os.rename")  # and `os.open`: a path may begin in a folder that is open
_PACKAGE = __name__.partition(".")[0] + "."
_OF_THE_SYSTEM = ("/proc/", "/sys/")
_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR
_HANDLES = "/proc/self/fd"
NOWHERE = "0" * 64  # of what was opened, and is not known
ABSENT = "f" * 64  # of what code wanted to open, and was not there
REFUSED = "e" * 64  # of what a cage refused to the code
WITHHELD = "d" * 64  # of a variable that we withheld from the code
UNLOADED = "c" * 64  # of a module that the code imports and that could not be loaded
BESIDE = "a" * 64  # of what code wants to open beside the program that runs, which is ours, and is not there
MISSED = (REFUSED, WITHHELD, UNLOADED, BESIDE)  # of no file: what code may get elsewhere
RELATIVE = "b" * 64  # of a path, as the code gave it, that leads elsewhere in another current folder
VARIABLE = "./$"  # before the name of one
_NETWORK, _TERMINAL = "network", "terminal"
_IMPORTS = "<frozen importlib"
_ONLY_READ = ("mode=ro", "mode=memory", "immutable=1")  # in the address of a database


class _Listening:
    """What is noted in this process; Python cannot be told to stop telling."""

    begun = False
    busy = threading.local()  # where it is being noted, which opens files, too
    root = folder = ""
    found: dict[str, str]
    base: FrameType | None = None  # below it, nothing is the code's
    generated: frozenset[CodeType] = frozenset()  # of ours, which is in no file
    walls = Walls()
    outside = ""  # a file that the code read, and that is no code of the repository
    made: folders.Made
    asked: set[str]  # modules that the code imports, by whatever call
    tracked: dict[str, list[str]]  # what git tracks there, by the last part of its path


def begin(
    root: str,
    base: FrameType | None = None,
    walls: Walls | None = None,
    tracked: Collection[str] = (),
) -> dict[str, str]:
    """Note from now on what is read below a folder: paths from there, and SHA-256, as they come.

    A link that was on the way is there by its path and a slash, with the SHA-256 of where it leads; what was
    not there is with `ABSENT`, and what the `walls` of a cage refuse with `REFUSED`, after ``./``. `base` is
    the frame that runs the code, the caller's if it is None. Any file of the folder that is `tracked` may be
    the one of which an installed one is a copy, or a module in production.
    """
    _Listening.tracked, _Listening.asked, _Listening.outside, _Listening.made = {}, set(), "", folders.Made()
    for name in tracked:
        _Listening.tracked.setdefault(name.rpartition("/")[2], []).append(name)
    _Listening.walls = walls or Walls()
    _Listening.root, _Listening.folder, _Listening.found = root, os.getcwd(), {}
    _Listening.base = base or sys._getframe(1)
    _Listening.generated = frozenset(_made_here())
    if root and not _Listening.begun:
        _Listening.begun = True
        sys.addaudithook(_hear)
    looked.listen(_hear)
    if root and _NotFound not in sys.meta_path:
        sys.meta_path[:] = [_Asked, *sys.meta_path, _NotFound]
    return _Listening.found


@contextmanager
def noted(root: str, walls: Walls | None = None, tracked: Collection[str] = ()) -> Iterator[dict[str, str]]:
    """As `begin`, within a block; nothing new if there is no folder."""
    if not root:
        yield {}
        return
    try:
        yield begin(root, sys._getframe(2), walls, tracked)
    finally:
        note_failed()
        looked.end()
        _Listening.root, _Listening.base = "", None


def here() -> tuple[str, dict[str, str]]:
    """The folder below which is noted what this process reads, empty if none is; and that, as it comes."""
    return (_Listening.root, _Listening.found) if _Listening.root else ("", {})


def led_by(frame: FrameType, itself: Collection[str] = ()) -> tuple[bool, Asker]:
    """Whether the code has led there, perhaps by a library, and who asks; see `Asker.of`."""
    return _by_code(frame), Asker.of(frame, _Listening.base, itself)


def asked() -> list[str]:
    """Modules that the code has imported or looked for, if it is heard."""
    return sorted(_Listening.asked) if _Listening.root else []


def note(place: str) -> None:
    """Note a file as one that the code reads, which it has read in another place."""
    _Listening.busy.here = True
    try:
        _put(place)
    finally:
        del _Listening.busy.here


def note_unloaded(name: str) -> None:
    """Note a module that is there, and without which the code goes on."""
    if _Listening.root:
        _Listening.found[f"./{name}"] = UNLOADED


class _Asked:
    """The first finder of modules: it hears of each import of one that is not loaded, and finds none."""

    @staticmethod
    def find_spec(name: str, path: Passed = None, target: Passed = None) -> None:
        """Note that the code asks for a module, and whether it is looked for below the current folder."""
        del path, target
        if _Listening.root and not hasattr(_Listening.busy, "here") and _by_code(sys._getframe(1)):
            _Listening.asked.add(name)
            entries = [one for one in sys.path if isinstance(one, str) and one and not os.path.isabs(one)]
            _Listening.found |= {f"././{one}": RELATIVE for one in entries}


class _NotFound:
    """The last finder of modules: it is asked for those that no other one has found, and finds none."""

    @staticmethod
    def find_spec(name: str, path: Passed = None, target: Passed = None) -> None:
        """Note a module that the code asks for and that may be found in production, by another path."""
        del path, target
        if not _Listening.root or hasattr(_Listening.busy, "here"):
            return
        # An installed package that is the repository's, too, may lack what that has since.
        if ("." in name or _by_code(sys._getframe(1))) and _of_module(name):
            note_unloaded(name)


def copies(form: str) -> list[str]:
    """Files of the folder that may be installed, or found, by this path: any that git tracks, or in src."""
    root, known = _Listening.root, {form, f"src/{form}"}
    if not root:
        return []
    named = _Listening.tracked.get(form.rpartition("/")[2], ())
    return [
        place
        for one in sorted({*known, *(one for one in named if one.endswith(f"/{form}"))})
        if os.path.isfile(place := os.path.join(root, one))
        and not is_installed(place)
        and not os.path.isfile(os.path.join(root, one.removesuffix(form), "__init__.py"))
    ]


def _of_module(name: str) -> list[str]:
    form = name.replace(".", "/")
    return [*copies(f"{form}.py"), *copies(f"{form}/__init__.py")]


def note_failed() -> None:
    """Note modules of the folder that the code began to load, and that are not there."""
    for name in asked():
        if name not in sys.modules and any(_name(one) in _Listening.found for one in _of_module(name)):
            note_unloaded(name)


def digest(root: Path, name: str) -> str:
    """The SHA-256 that a path of `begin` has now, or `ABSENT`; empty if it is elsewhere or cannot be read."""
    with suppress(OSError):
        return _digest(root, name)
    return ""


def _digest(root: Path, name: str) -> str:
    if folders.is_listed(name):
        return folders.digest(str(root / name.removesuffix(folders.ALL))) or ABSENT
    if not (os.path.isfile(root / name) or os.path.islink(root / name.rstrip("/"))):
        return ABSENT if _is_not_a_file(str(root / name)) else ""
    links, file = files.way(str(root / name))
    if name.endswith("/"):
        return _of_link(links[0]) if links else ""
    return file_digest(Path(file)) if file == str(root.resolve() / name) else ""


def _is_not_a_file(place: str) -> bool:
    """Whether nothing can be read there: what comes out of a pipe, a device or a socket is not known."""
    return os.path.isdir(place) or not os.path.lexists(place)


def _of_link(link: str) -> str:
    return hashlib.sha256(os.fsencode(os.readlink(link))).hexdigest()


def _hear(event: str, given: tuple[Passed, ...]) -> None:
    """Hear of something that Python does."""
    if event not in _HEARD or not _Listening.root or hasattr(_Listening.busy, "here"):
        return
    _Listening.busy.here = True
    try:
        with suppress(OSError, TypeError, ValueError, KeyError):
            _note_refused(event, given, sys._getframe(1))
            _Listening.made.hear(event, given)
        if event in _LOOKS:
            with suppress(OSError, TypeError, ValueError):
                _note_look(event, given, sys._getframe(1))
            return
        place = given[_EVENTS[event]] if event in _EVENTS else None
        if isinstance(place, int | None) or (event == "open" and given[2] & _ACCESS == os.O_WRONLY):
            return
        with suppress(OSError, TypeError, ValueError):
            if not _for_us():
                if _is_relative(event, os.fsdecode(place)):
                    _Listening.found[f"././{os.fsdecode(place)}"] = RELATIVE
                if event == "open":
                    _note_beside(os.fsdecode(place))
                if event in ("open", "sqlite3.connect") and not (event == "open" and given[2] & os.O_EXCL):
                    _note_outside(os.fsdecode(place))
                for one in _places(event, os.fsdecode(place), event == "open" and given[1] is None):
                    try:
                        _note(one, listed=event != "open")
                    except OSError:  # a folder on the way cannot be entered
                        _put_unknown(os.path.abspath(one))
                if event in _BESIDE:
                    _Listening.found[f"./{os.fsdecode(place)}"] = NOWHERE
    finally:
        del _Listening.busy.here


def _note_look(event: str, given: tuple[Passed, ...], frame: FrameType) -> None:
    """Note what the code learns about a file, or a folder, without opening it.

    Whether there is one and of what size is in what it is; dates and rights are not.
    """
    if event in folders.LISTS:
        _note_listed(given[0], frame)
        return
    if isinstance(given[0], int) or not _looks(frame):
        return
    place, by = os.fsdecode(given[0]), looked.called(frame)
    if by in looked.WAYS:
        for link in files.way(place)[0]:
            _put(link, "/")
        return
    _note_outside(place)
    if _is_relative("open", place) and not given[2]:
        _Listening.found[f"././{place}"] = RELATIVE
    _note_beside(place)
    for one in _places(event, place, bool(given[2])):
        _note(one, listed=True)
    if by in looked.DATES and event in ("os.stat", "os.lstat"):
        _Listening.found[f"./{place}"] = NOWHERE


def _looks(frame: FrameType | None) -> bool:
    """Whether the code asks, itself or through a library: no import, and not what we or a library begin."""
    library = False
    while frame is not None and frame is not _Listening.base:
        file = frame.f_code.co_filename
        ours = file.startswith(_OURS) and not looked.stands(frame)
        if file.startswith(_IMPORTS) or (ours and not library):
            return False
        if not (ours or looked.stands(frame) or file == "<string>" or paths.of_python(file)):
            if not is_installed(file):
                return True
            library = True
        frame = frame.f_back
    return frame is None and not library


def _is_relative(event: str, place: str) -> bool:
    """Whether a path leads elsewhere where the code runs in another folder; not one that it has entered."""
    named = event in ("open", "os.chdir") or (event != "import" and os.path.lexists(place))
    apart = named and not os.path.isabs(place) and os.getcwd() == _Listening.folder
    return apart and not is_installed(os.path.realpath(place))


def _note_outside(place: str) -> None:
    """Note what the code reads that is no file of the repository, or none at all, as a device is not."""
    there, root = os.path.realpath(folders.unquoted(place)), os.path.join(_Listening.root, "")
    inside = there.startswith(root) and (os.path.isfile(there) or _is_not_a_file(there))
    known = inside or root.startswith(os.path.join(there, "")) or is_installed(there) or there == os.devnull
    if known or not _by_code(sys._getframe(2)):
        return
    asker = Asker.of(sys._getframe(2), _Listening.base)
    asked = asker.asks(lambda text: folders.leads(text, there), lambda text: folders.is_at(text, there))
    if asked or not _by_library(there, sys._getframe(2)):
        _Listening.outside = _Listening.outside or place
    if asked and os.path.isfile(there) and there not in _Listening.made:
        _Listening.found[_name(there)] = NOWHERE


def _note_listed(given: Passed, frame: FrameType) -> None:
    """Note a folder of which the code learns the names of its files, as a file made of these.

    A file in it that git does not track is noted, too.
    """
    named = os.path.join(_HANDLES, str(given)) if isinstance(given, int) else os.fsdecode(given or os.curdir)
    links, place = files.way(named)
    if place in _Listening.made or is_installed(place):
        return
    if _looks(frame):
        _note_outside(named)
    if Asker.of(frame, _Listening.base).asks(lambda text: folders.lists(text, place)):
        if not isinstance(given, int) and _is_relative("open", named):
            _Listening.found[f"././{named}"] = RELATIVE
        for link in links:
            _put(link, "/")
        name = _name(os.path.join(place, folders.ALL))
        known = NOWHERE if name.startswith("../") else folders.digest(place) or ABSENT
        _Listening.found.setdefault(name, known)
        inside = (one.path for one in os.scandir(place) if one.is_file()) if _Listening.tracked else ()
        for file in inside:
            if _name(file) not in _Listening.tracked.get(os.path.basename(file), ()):
                _note(file)


def _by_library(place: str, frame: FrameType | None) -> bool:
    """Whether an installed library asks the system by itself, as for the threads that it may start."""
    while frame is not None and (paths.of_python(file := frame.f_code.co_filename) or file.startswith(_OURS)):
        frame = frame.f_back
    asks = frame is not None and paths.installed(frame.f_code.co_filename)
    return asks and place.startswith(_OF_THE_SYSTEM)


def outside() -> str:
    """A file that the code has read and that may differ on another machine; empty if none is known."""
    return _Listening.outside if _Listening.root else ""


def _note_beside(place: str) -> None:
    """Note what the code wants to open, and what is not, where it takes the program that runs to lie."""
    folders = (os.path.dirname(sys.executable), sysconfig.get_path("scripts"))
    if os.path.isabs(place) and not os.path.lexists(place):
        beside = os.path.dirname(place)
        if (beside in folders or f"{beside}{os.sep}" in _OURS) and _by_code(sys._getframe(2)):
            _Listening.found[f"./{os.path.basename(place)}"] = BESIDE


def relative(found: Mapping[str, str]) -> str:
    """A path that the code gave and that depends on the current folder, of what was noted; or empty."""
    return next((name.removeprefix("././") for name, one in sorted(found.items()) if one == RELATIVE), "")


def read(found: Mapping[str, str]) -> dict[str, str]:
    """What was noted of files: what the code read, or did not find."""
    apart, known = (*MISSED, RELATIVE), variables(found)
    return {name: one for name, one in found.items() if one not in apart and name not in known}


def variables(found: Mapping[str, str]) -> dict[str, str]:
    """Of what was noted, the variables that the code asked for: see `targets.variables`."""
    others = (*MISSED, RELATIVE, NOWHERE)
    return {name: one for name, one in found.items() if name.startswith(VARIABLE) and one not in others}


def missed(found: Mapping[str, str], kind: str) -> list[str]:
    """What the code did not get, of what was noted: of one of the kinds `MISSED`."""
    return sorted(name.removeprefix("./").lstrip("$") for name, one in found.items() if one == kind)


def _note_refused(event: str, given: tuple[Passed, ...], frame: FrameType) -> None:
    """Note what the cage is about to refuse: code may go on without it, as it does not elsewhere."""
    walls = _Listening.walls
    if event in _REACHES:
        # A socket that is there already, as one of a pair, has a number.
        wraps = event == "socket.__new__" and frame.f_locals.get("fileno") is not None
        barred = [_NETWORK] if walls.offline and not wraps else []
    elif event in _TERMINALS:
        barred = [_TERMINAL] if walls.written is not None else []
    else:
        writes = event in _CHANGES or (
            (event == "open" and bool(given[2] & (_ACCESS | os.O_CREAT | os.O_TRUNC)))
            or (event == "os.access" and bool(given[1] & os.W_OK))
        )
        named = [given[at] for at in _CHANGES.get(event, (_EVENTS.get(event, 0),))]
        places = [os.fsdecode(one) for one in named if not isinstance(one, int | None)]
        if event == "sqlite3.connect":  # it writes when it is asked to, of which nothing tells
            writes = not any(word in places[0] for word in _ONLY_READ)
            places = [one for one in map(folders.unquoted, places) if one not in ("", ":memory:")]
        kind = WRITABLE if event == "sqlite3.connect" and writes else ""
        barred = [_name(one) + kind for one in places if walls.bars(one, writes) and not _is_bytecode(one)]
    if barred and _by_code(frame):
        _Listening.found |= {f"./{one}": REFUSED for one in barred}


def _is_bytecode(place: str) -> bool:
    """Whether it is a folder where Python keeps bytecode, or is in one: without it, nothing is different."""
    return "__pycache__" in (os.path.basename(place), os.path.basename(os.path.dirname(place)))


def _by_code(frame: FrameType | None) -> bool:
    """Whether the code asks, itself or through a library; not what a library does as it is imported."""
    library = False
    while frame is not None and frame is not _Listening.base:
        file = frame.f_code.co_filename
        if not (file.startswith(_OURS) or file == "<string>" or paths.of_python(file)):
            if not is_installed(file):
                return True
            if frame.f_code.co_name == "<module>":
                return False
            library = True
        frame = frame.f_back
    return library or frame is None


def _places(event: str, place: str, low: bool) -> Iterator[str]:
    """Where a file may be that an event names; `low` is the system's own way to open one."""
    yield place
    if event == "os.rename":  # perhaps of a folder
        yield from (os.path.join(top, name) for top, _, names in os.walk(place) for name in names)
    if event == "sqlite3.connect":  # perhaps as an address
        for file in {place, folders.unquoted(place)}:
            yield file
            beside = (f"{file}-wal", f"{file}-journal")  # what was changed last may be there; or nothing is
            yield from (one for one in beside if not os.path.isfile(one) or os.path.getsize(one))
    if os.path.isabs(place) or not (low or event in _FROM_FOLDERS):
        return
    try:
        handles = os.listdir(_HANDLES)
    except OSError:
        _Listening.found[f"./{place}"] = NOWHERE
        return
    for handle in handles:
        yield os.path.join(_HANDLES, handle, place)


def _note(place: str, *, listed: bool = False) -> None:
    """Note a file, or that there is none, and the links on the way to it; not a folder that is `listed`."""
    links, file = files.way(place)
    if all(map(is_installed, (os.path.abspath(place), file))):
        _note_copy(file)
        return
    for link in links:
        _put(link, "/")
    unread = (
        is_installed(file) if os.path.isfile(file) else (listed and os.path.exists(file)) or _is_cache(file)
    )
    if not unread:
        _put(file)


def _note_copy(file: str) -> None:
    """Note the files of which an installed one is a copy: as read if they are the same, else as unknown.

    The installed one need not be there, as if the repository has had that file only since.
    """
    source = importlib.util.source_from_cache(file) if _is_cache(file) else file
    if file.startswith(_OURS) or not (name := paths.in_packages(source)):
        return
    known = copies(name.replace(os.sep, "/"))
    if not known and os.path.isfile(source) and os.path.realpath(source) in paths.made_of_folders():
        known = _alike(source)
        if not known:
            _Listening.found[_name(source)] = NOWHERE
    for place in known:
        if os.path.isfile(source) and Path(place).read_bytes() == Path(source).read_bytes():
            _put(place)
        else:
            _put_unknown(place)


def _alike(file: str) -> list[str]:
    """A file that git tracks, of whatever name, and that has the content of an installed one; or none."""
    content = Path(file).read_bytes()
    names = (name for several in _Listening.tracked.values() for name in several)
    places = (Path(_Listening.root, name) for name in names)
    alike = (one for one in places if one.is_file() and one.stat().st_size == len(content))
    return [str(one) for one in alike if one.read_bytes() == content][:1]


def _is_cache(file: str) -> bool:
    """Whether it is where Python keeps a module's bytecode; if there is none, it reads the module."""
    try:
        importlib.util.source_from_cache(file)
    except ValueError:
        return False
    return True


def _put_unknown(place: str) -> None:
    if place.startswith(os.path.join(_Listening.root, "")):
        _Listening.found.setdefault(_name(place), NOWHERE)


def _name(place: str) -> str:
    """The path of a place from the folder below which we listen, as a record has it."""
    name = os.path.relpath(place, _Listening.root).replace(os.sep, "/")
    return name.encode("utf-8", "backslashreplace").decode()


def _put(place: str, ending: str = "") -> None:
    found = _Listening.found
    if not place.startswith(os.path.join(_Listening.root, "")):
        if place.endswith(_CODE) and os.path.isfile(place) and not is_installed(place):
            found[_name(place)] = NOWHERE
    else:
        name = _name(place) + ending
        if found.get(name, ABSENT) == ABSENT:  # it may have been made meanwhile
            found[name] = NOWHERE  # if it cannot be read
            there = os.path.isfile(place)
            if ending or there or _is_not_a_file(place):
                found[name] = _of_link(place) if ending else file_digest(Path(place)) if there else ABSENT


def _for_us() -> bool:
    """Whether this program opens a file by itself: no code that it runs has called for that.

    What another thread opens is the code's, for all that shows. Code can be compiled under any name, so code
    that has a name of ours or of Python's has to be what is written there, too.
    """
    frame, codes = sys._getframe(2), list[CodeType]()
    while frame is not None and frame is not _Listening.base:
        file, name = frame.f_code.co_filename, str(frame.f_globals.get("__name__", ""))
        ours = file.startswith(_OURS) or (file == "<string>" and name.startswith(_PACKAGE))  # generated
        if not ours and not paths.of_python(file):
            return False
        codes.append(frame.f_code)
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None and all(code in _written(code.co_filename) for code in codes)


def _written(file: str) -> Collection[CodeType]:
    """All code that is written in a file of ours or of Python's, or that was generated of ours."""
    return _Listening.generated if file == "<string>" else _compiled(paths.source_of(file))


@functools.cache
def _compiled(file: str) -> frozenset[CodeType]:
    try:
        return frozenset(within(compile(Path(file).read_bytes(), file, "exec", dont_inherit=True)))
    except (OSError, SyntaxError, ValueError):  # what cannot be compared is the code's
        return frozenset()


def _made_here() -> Iterator[CodeType]:
    """Code of methods that were generated for classes of this package, before any other code runs."""
    modules = [module for name, module in [*sys.modules.items()] if name.startswith(_PACKAGE)]
    for kind in {one for module in modules for one in [*vars(module).values()] if isinstance(one, type)}:
        for member in [*vars(kind).values()]:
            code = getattr(member, "__code__", None)
            if isinstance(code, CodeType) and code.co_filename == "<string>":
                yield code
