"""What is heard of the files that code opens."""

import contextlib
import ctypes
import glob
import hashlib
import importlib
import importlib.metadata
import json
import os
import pkgutil
import socket
import sqlite3
import string
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import threadpoolctl

from verifiable_dp import algorithms, auditors
from verifiable_dp.core import files, paths
from verifiable_dp.evidence import origins
from verifiable_dp.targets import asker, cage, line, opened
from verifiable_dp.targets.source import file_digest


@pytest.fixture
def place(tmp_path):
    root = tmp_path / "root"
    (root / ".git").mkdir(parents=True)
    (root / "site-packages").mkdir()
    for name in ("a.txt", "b.txt", ".git/c", "site-packages/d"):
        (root / name).write_text(name)
    (tmp_path / "outside").write_text("x")
    return root.resolve()


def through_os(path):
    os.close(os.open(path, os.O_RDONLY))


def as_library(path):
    with pytest.raises(OSError, match=Path(path).name):
        ctypes.CDLL(str(path))


WAYS = {
    "text": lambda path: Path(path).read_text(),
    "bytes": lambda path: open(os.fsencode(path), "rb").close(),
    "changed": lambda path: open(path, "r+").close(),
    "os": through_os,
    "sqlite": lambda path: sqlite3.connect(path).close(),
    "library": as_library,
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_read_is_heard(way, place, monkeypatch):
    """By an absolute path and one from where we are. Control: what is not opened is not in it."""
    with opened.noted(str(place)) as found:
        WAYS[way](place / "a.txt")
        monkeypatch.chdir(place)
        WAYS[way]("b.txt")
    read = {name: one for name, one in found.items() if one != opened.ABSENT}
    assert read == {name: file_digest(place / name) for name in ("a.txt", "b.txt")}
    known = len(found)
    WAYS[way](place / "a.txt")
    assert len(found) == known == (6 if way == "sqlite" else 2)


def code(text, **names):
    """Run text as code of a target, which is in a file that is neither ours nor installed."""
    exec(compile(text, "/somewhere/target.py", "exec"), {"Path": Path, "os": os, **names})


def test_what_is_not_read_or_not_of_the_code_is_not_heard(place):
    with opened.noted(str(place)) as found, opened.noted("") as none:
        code("(place / 'new.txt').write_text('x')", place=place)
        file_digest(place / "a.txt")  # by us
        os.listdir(place)
    assert found == none == {}


LOOKS = {
    "os.path.exists(place / 'a.txt')": "a.txt",
    "(place / 'a.txt').is_file()": "a.txt",
    "os.path.getsize(place / 'a.txt')": "a.txt",
    "os.access(place / 'a.txt', os.R_OK)": "a.txt",
    "os.path.exists(place / 'absent')": "absent",
    "os.path.isdir(place / 'absent')": "absent",
    "os.path.isdir(place)": "",
    "os.listdir(place)": "b.txt *",
    "list(place.glob('*.txt'))": "b.txt *",
    "os.path.getmtime(place / 'a.txt')": "a.txt ./{place}/a.txt",
    "(place / 'a.txt').stat()": "a.txt ./{place}/a.txt",
    "os.path.realpath(place / 'a.txt')": "",
    "(place / 'a.txt').resolve()": "",
    "os.open('a.txt', os.O_WRONLY, dir_fd=folder)": "",
    "os.stat('a.txt', dir_fd=folder)": "a.txt ./a.txt",
}


@pytest.mark.parametrize("look", LOOKS)
def test_what_code_learns_of_a_file_without_opening_it_is_heard(look, place, monkeypatch):
    """What is listed counts if git does not track it. Broken variant: only what is opened is heard.

    Controls: where links lead, which are none; and what we ask.
    """
    monkeypatch.chdir(place.parent)
    before = os.stat
    folder = os.open(place, os.O_RDONLY)
    with opened.noted(str(place), tracked=["a.txt"]) as found:
        code(look, place=place, folder=folder)
        files.way(str(place / "b.txt"))
    os.close(folder)
    assert os.stat is before
    assert set(found) == set(LOOKS[look].format(place=place).split())
    assert all((one == opened.NOWHERE) == name.startswith("./") for name, one in found.items())


@pytest.mark.parametrize("ask", ["os.path.exists(path)", "Path(path).is_dir()", "os.listdir(path.parent)"])
def test_whether_something_is_elsewhere_is_of_no_commit(ask, place, tmp_path):
    """Control: folders that the repository is in."""
    with opened.noted(str(place)):
        code("os.path.isdir(place.parent)\nPath(place).resolve()", place=place)
        assert opened.outside() == ""
        with contextlib.suppress(OSError):
            code(ask, path=tmp_path / "elsewhere" / "production")
        assert opened.outside().startswith(str(tmp_path / "elsewhere"))


def test_a_file_that_is_read_again_is_not_hashed_again(place, monkeypatch):
    hashed = []
    monkeypatch.setattr(opened, "file_digest", lambda path: hashed.append(path) or sha256("x"))
    with opened.noted(str(place)):
        for _ in range(3):
            code("(place / 'a.txt').read_text()", place=place)
    assert hashed == [place / "a.txt"]


def test_what_code_does_not_find_is_noted_until_it_is_there(place):
    """Broken variants: what is absent goes unnoted, or what is made and read afterwards does."""
    with opened.noted(str(place)) as found:
        for _ in range(2):
            with pytest.raises(FileNotFoundError):
                code("(place / 'absent').read_text()", place=place)
        assert found == {"absent": opened.ABSENT}
        assert opened.digest(place, "absent") == opened.ABSENT
        (place / "absent").write_text("x")
        code("(place / 'absent').read_text()", place=place)
    assert found == {"absent": sha256("x")}
    assert opened.digest(place, "absent") == sha256("x")


def test_what_comes_out_of_a_pipe_is_not_known(place):
    """Broken variant: it counts as not there, as in a commit. Control: a folder does."""
    os.mkfifo(place / "pipe")
    with opened.noted(str(place)) as found:
        code("os.close(os.open(place / 'pipe', os.O_RDONLY | os.O_NONBLOCK))", place=place, os=os)
        with pytest.raises(IsADirectoryError):
            code("(place / '.git').read_text()", place=place)
    assert found == {"pipe": opened.NOWHERE, ".git": opened.ABSENT}
    assert opened.digest(place, "pipe") not in (opened.ABSENT, opened.NOWHERE)
    assert opened.digest(place, ".git") == opened.ABSENT


@pytest.mark.parametrize(
    "read", [lambda path: path.read_text(), Path.read_text, lambda path: importlib.import_module(path.stem)]
)
def test_what_another_thread_reads_is_heard(read, place, monkeypatch):
    """Broken variant: a thread all of whose frames are of Python's library reads for us."""
    (place / "tuning.py").write_text("SCALE = 1.0\n")
    monkeypatch.syspath_prepend(place)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    with opened.noted(str(place)) as found:
        code(
            "import concurrent.futures as f\nf.ThreadPoolExecutor().submit(read, place).result()",
            read=read,
            place=place / "tuning.py",
        )
    sys.modules.pop("tuning", None)
    assert found == {"tuning.py": file_digest(place / "tuning.py")}


def test_what_lies_in_a_folder_that_is_moved_is_heard(place, tmp_path):
    (place / "settings").mkdir()
    (place / "settings" / "scale").write_text("0.001")
    with opened.noted(str(place)) as found:
        code(
            "os.rename(place / 'settings', away)\nos.rename(away, place / 'settings')",
            place=place,
            away=tmp_path / "away",
        )
    assert found == {"settings/scale": file_digest(place / "settings" / "scale")}


def test_what_is_read_beside_a_file_is_not_known(place):
    with opened.noted(str(place)) as found:
        code("try:\n    os.getxattr(path, 'user.scale')\nexcept OSError:\n    pass", path=place / "a.txt")
    assert found[f"./{place / 'a.txt'}"] == "0" * 64


NAMES = {
    "frozen": ("<frozen mine>", "mine"),
    "frozen_of_python": ("<frozen os>", "os"),
    "python": (os.__file__, "os"),
    "ours": (files.__file__, files.__name__),
    "generated": ("<string>", "verifiable_dp.core.files"),
}


@pytest.mark.parametrize("given", NAMES)
def test_what_code_calls_itself_hides_nothing(given, place):
    """Code may be compiled under any name, and run in any module. Broken variant: the name decides.

    Control: what Python's own library opens for us, with frozen code and with code of a file.
    """
    file, name = NAMES[given]
    text = "def read(place):\n    open(place).close()\n"
    scope = {"__name__": name, "__builtins__": __builtins__}
    exec(compile(text, file, "exec"), scope)
    with opened.noted(str(place)) as found:
        importlib._bootstrap_external.SourceFileLoader("b", str(place)).get_data(str(place / "b.txt"))
        (place / "b.txt").read_bytes()
        files.content("b", place / "b.txt", 1 << 10)
        scope["read"](place / "a.txt")
    assert set(found) == {"a.txt"}


REFUSALS = {
    "open(place / 'new', 'w').close()": "new",
    "os.open(place / 'a.txt', os.O_RDWR)": "a.txt",
    "os.mkdir(place / 'lock')": "lock",
    "os.symlink('a.txt', place / 'link')": "link",
    "os.rename(place / 'absent', place / 'here')": "absent here",
    "open(hidden / 'secret')": "../hidden/secret",
    "os.chown(place / 'a.txt', 1, 1)": "a.txt",
    "os.setxattr(place / 'absent', 'user.x', b'1')": "absent",
    "os.removexattr(place / 'a.txt', 'user.x')": "a.txt",
    "sqlite3.connect(place / 'a.txt')": "a.txt?mode=rw",
    "sqlite3.connect(f'file:{place}/a%2Etxt', uri=True)": "a.txt?mode=rw",
    "sqlite3.connect(f'file:{place}/a.txt?mode=ro', uri=True)": "",
    "sqlite3.connect(':memory:')": "",
    "socket.getaddrinfo('localhost', 1)": "network",
    "socket.socket(9999)": "network",
    "os.access(place / 'a.txt', os.W_OK)": "a.txt",
    "os.access(place / 'a.txt', os.R_OK)": "",
    "os.mkfifo(place / 'new')": "new",
    "os.path.exists(hidden / 'secret')": "../hidden/secret",
    "[os.close(one) for one in os.openpty()]": "terminal",
}


@pytest.mark.parametrize("asked", REFUSALS)
def test_what_a_cage_refuses_is_noted(asked, place, tmp_path):
    """The code may go on without it. Broken variant: only what was read is. Control: without walls."""
    walls = cage.Walls((str(tmp_path / "scratch"),), (str(tmp_path / "hidden"),), offline=True)
    given = {"place": place, "hidden": tmp_path / "hidden", "socket": socket, "sqlite3": sqlite3}
    for barred in (walls, cage.Walls()):
        with opened.noted(str(place), barred) as found:
            code(f"import contextlib\nwith contextlib.suppress(OSError):\n    thing = {asked}", **given)
        missed = opened.missed(found, opened.REFUSED)
        assert missed == (REFUSALS[asked].split() if barred is walls else [])
        (doubt,) = origins.refused_by_cage(missed).statistics["doubts"]
        assert ("mode=ro" in doubt) == any("sqlite3" in asked for _ in missed)
        for name in ("new", "lock", "link"):
            with contextlib.suppress(OSError):
                os.remove(place / name)
            with contextlib.suppress(OSError):
                os.rmdir(place / name)


def test_what_a_cage_allows_or_a_library_does_by_itself_is_not_noted(place, tmp_path, monkeypatch):
    """Temporary files, pairs of sockets, bytecode, what we write, and what a library does as it is imported.

    Control: what the code has a library do counts.
    """
    (tmp_path / "scratch").mkdir()
    walls = cage.Walls((str(tmp_path / "scratch"),), (str(tmp_path / "hidden"),), offline=True)
    library = place / "site-packages" / "library.py"
    library.write_text(
        "import os\nfile = os.path.join(os.path.dirname(__file__), 'lock')\n"
        "def lock():\n    open(file, 'w').close()\nlock()\n"
    )
    monkeypatch.setattr(paths, "_INSTALLED", {*paths._INSTALLED, str(library.parent)})
    monkeypatch.syspath_prepend(str(library.parent))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (place / "helper.py").write_text("x = 1\n")
    with opened.noted(str(place), walls) as found:
        code("open(scratch / 'x', 'w').close()", scratch=tmp_path / "scratch")
        code("[one.close() for one in socket.socketpair()]", socket=socket)
        code("import sys; sys.path.insert(0, str(place)); import helper; sys.path.pop(0)", place=place)
        files.write_text(place / "ours", "x")
        code("import library")
        assert opened.missed(found, opened.REFUSED) == []
        code("import library; library.lock()")
    for name in ("library", "helper"):
        sys.modules.pop(name)
    assert opened.missed(found, opened.REFUSED) == ["site-packages/lock"]


@pytest.mark.parametrize("name", [".git/c", "site-packages/d"])
def test_what_a_folder_is_called_hides_nothing(name, place):
    """Broken variants: what is below .git is not noted; nor is what is below a folder `site-packages`."""
    with opened.noted(str(place)) as found:
        code("(place / name).read_text()", place=place, name=name)
    assert set(found) == {name}


def test_what_is_installed_is_not_heard(place, monkeypatch):
    """The interpreter says where: an environment may lie in the repository. Control: as above."""
    monkeypatch.setattr(paths, "_INSTALLED", {str(place / "site-packages")})
    with opened.noted(str(place)) as found:
        code("(place / 'site-packages/d').read_text()", place=place)
    assert found == {}


def test_a_module_from_elsewhere_is_of_no_commit(place, tmp_path, monkeypatch):
    """By whatever it is found, and by whatever call. Control: an installed one."""
    for name in ("elsewhere_a.py", "elsewhere_b.py"):
        (tmp_path / name).write_text("x = 1\n")
    monkeypatch.setattr(paths, "_INSTALLED", {*paths._INSTALLED, str(tmp_path / "elsewhere_b.py")})
    monkeypatch.syspath_prepend(str(tmp_path))
    with opened.noted(str(place)) as found:
        code("import elsewhere_b\n__import__('elsewhere' + '_a')")
    for name in ("elsewhere_a", "elsewhere_b"):
        monkeypatch.delitem(sys.modules, name)
    assert found == {"../elsewhere_a.py": opened.NOWHERE}


@pytest.mark.parametrize(
    ("read", "noted"),
    [
        ("(place / 'outside').read_text()", True),
        ("np.loadtxt(place / 'outside', str)", True),
        ("np.loadtxt(str(place) + '/out' + 'side', str)", True),
        ("sqlite3.connect(f'file:{place}/outside?mode=ro', uri=True).close()", True),
        ("library.read(place / 'outside')", True),
        ("library.Reader(str(place / 'outside')).read()", True),
        ("library.own()", False),
        ("(place / 'new').write_text('x'); (place / 'new').read_text()", False),
        ("(place / 'dir').mkdir(); np.save(place / 'dir/x.npy', 1); np.load(place / 'dir/x.npy')", False),
        ("sqlite3.connect(place / 'x.db').close(); sqlite3.connect(place / 'x.db').close()", False),
        ("open(os.devnull).close()", False),
    ],
)
def test_data_from_elsewhere_are_of_no_commit(read, noted, place, tmp_path, monkeypatch):
    """As modules are, also if a library reads them for the code. Broken variant: only modules count.

    Controls: what a library reads by itself, and what the code has made.
    """
    library = importing_library(
        f"class Reader:\n    def __init__(self, path):\n        self.path = path\n"
        f"    def read(self):\n        open(self.path).close()\n"
        f"def read(path):\n    Reader(path).read()\n"
        f"def own():\n    read({str(tmp_path / 'outside')!r})\n",
        tmp_path,
        monkeypatch,
    )
    with opened.noted(str(place)) as found:
        code(read, place=tmp_path, np=np, sqlite3=sqlite3, library=library)
    unknown = {name for name, one in opened.read(found).items() if one == opened.NOWHERE}
    assert unknown == ({"../outside"} if noted else set())
    assert opened.digest(place, "../outside") != opened.NOWHERE


def importing_library(text, tmp_path, monkeypatch):
    """An installed library of this source."""
    folder = tmp_path / "installed"
    folder.mkdir()
    (folder / "library.py").write_text(text)
    monkeypatch.setattr(paths, "_INSTALLED", {*paths._INSTALLED, str(folder)})
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "library", raising=False)
    library = importlib.import_module("library")
    monkeypatch.delitem(sys.modules, "library")
    return library


LISTS = {
    "os.listdir(place)": "*",
    "os.chdir(place); os.listdir()": "*",
    "list((place / 'deep').iterdir())": "deep/*",
    "list((place / 'deep').glob('*.py'))": "deep/*",
    "glob.glob(f'{place}/deep/*.py')": "deep/*",
    "list(pkgutil.iter_modules([str(place / 'deep')]))": "deep/*",
    "[os.close(one) for one in [os.open(place / 'deep', os.O_RDONLY)] if os.listdir(one)]": "deep/*",
    "library.names(place / 'deep')": "deep/*",
    "os.chdir(place); library.own('a-word')": "",
    "importlib.metadata.entry_points()": "",
    "sys.path.insert(0, str(place)); import nothing_there": "",
    "(place / 'new').mkdir(); os.listdir(place / 'new')": "",
}


@pytest.mark.parametrize("ask", LISTS)
def test_a_folder_that_code_lists_is_a_file_of_its_names(ask, place, tmp_path, monkeypatch):
    """Broken variant: what is listed is not noted, so that a new module there is not seen.

    Controls: what a library lists by itself, an import, and a folder that the code has made.
    """
    (place / "deep").mkdir()
    (place / "deep/x.py").write_text("")
    library = importing_library(
        f"import os\ndef names(path):\n    return os.listdir(path)\n"
        f"def own(option):\n    return os.listdir({str(place)!r})\n",
        tmp_path,
        monkeypatch,
    )
    monkeypatch.setattr(sys, "path", [str(place), *sys.path])
    monkeypatch.chdir(tmp_path)
    given = {"glob": glob, "pkgutil": pkgutil, "importlib": importlib, "sys": sys, "library": library}
    with opened.noted(str(place)) as found, contextlib.suppress(ImportError):
        code(ask, place=place, **given)
    noted = {name: one for name, one in found.items() if name.endswith("*")}
    assert set(noted) == set(LISTS[ask].split())
    for name, digest in noted.items():
        assert opened.digest(place, name) == digest
        (place / "deep" / "__pycache__").mkdir()
        assert opened.digest(place, "deep/*") == (
            digest if name == "deep/*" else opened.digest(place, "deep/*")
        )
        (place / name.removesuffix("*") / "y.py").write_text("")
        assert opened.digest(place, name) != digest
    assert opened.digest(place, "absent/*") == opened.ABSENT


@pytest.mark.parametrize(
    ("read", "noted"),
    [
        ("open('/dev/urandom', 'rb').close()", "/dev/urandom"),
        ("Path('/proc/uptime').read_text()", "/proc/uptime"),
        ("sqlite3.connect(place.parent / 'x.db').close()", "x.db"),
        ("Path(place.parent / 'absent').read_text()", "absent"),
        ("os.close(os.open(place / 'pipe', os.O_RDONLY | os.O_NONBLOCK))", "pipe"),
        ("Path(place / 'a.txt').read_text()", ""),
        ("Path(place / 'absent').read_text()", ""),
        ("Path(os.devnull).read_text()", ""),
        ("Path(os.__file__).read_text()", ""),
        ("(place.parent / 'new').write_text('x')", ""),
    ],
)
def test_what_is_not_of_the_repository_is_noted(read, noted, place):
    """Controls: files that are or are not there, the null device, and what is only written."""
    os.mkfifo(place / "pipe")
    with opened.noted(str(place)), contextlib.suppress(FileNotFoundError):
        code(f"try:\n    {read}\nexcept OSError:\n    pass", place=place, sqlite3=sqlite3)
        assert opened.outside().endswith(noted)
        assert bool(opened.outside()) == bool(noted)
    assert opened.outside() == ""


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="there is no /proc")
def test_what_a_library_asks_the_system_by_itself_is_not_noted(place):
    """Broken variant: it is the code's, so that whatever counts threads has no bound."""
    with opened.noted(str(place)):
        code("threadpoolctl.threadpool_info()", threadpoolctl=threadpoolctl)
        assert opened.outside() == ""
        code("open('/proc/self/maps').close()")
        assert opened.outside() == "/proc/self/maps"


@pytest.mark.skipif(not Path("/proc/loadavg").exists(), reason="there is no /proc")
@pytest.mark.parametrize(
    "read",
    [
        "np.loadtxt('/proc/loadavg', str)",
        "np.loadtxt(f'/proc/{name}avg', str)",
        "np.loadtxt(Path('/proc') / 'loadavg', str)",
        "pd.read_csv('/proc/loadavg')",
    ],
)
def test_what_a_library_asks_the_system_for_the_code_is_noted(read, place):
    """Broken variant: what a library opens there is its own, whoever has named it."""
    with opened.noted(str(place)) as found:
        code(read, np=np, pd=pd, name="load")
        assert opened.outside() == "/proc/loadavg"
    assert opened.NOWHERE in found.values()


def test_what_code_looks_for_beside_the_program_is_noted(place):
    """It is ours here, and another one in production. Controls: what is there, and other folders."""
    command = Path(sys.executable).parent
    ask = "for one in those:\n    try:\n        Path(one).read_bytes()\n    except OSError:\n        pass"
    with opened.noted(str(place)) as found:
        code(ask, those=[command / "python", place.parent / "absent"])
        assert opened.missed(found, opened.BESIDE) == []
        code(ask, those=[command / "scale.txt", Path(opened.__file__).parents[1] / "other.txt"])
    assert opened.missed(found, opened.BESIDE) == ["other.txt", "scale.txt"]


def test_ours_are_the_folders_of_a_checkout_too():
    """Broken variant: the two that are links are somebody's, so that each audit reads 120 files of ours."""
    for module in (auditors, algorithms):
        assert asker.is_installed(module.__file__)
        assert asker.is_installed(os.path.realpath(module.__file__))
    assert not asker.is_installed(__file__)


def test_what_code_has_us_read_is_heard(place):
    """By a function of ours. Broken variant: the nearest frame decides. Control: what we read ourselves."""
    with opened.noted(str(place)) as found:
        files.content("a", place / "b.txt", 1 << 10)
        code("read('a', place / 'a.txt', 1 << 10)", place=place, read=files.content)
    assert set(found) == {"a.txt"}


@pytest.mark.parametrize("folder", [".", "src", "packages/noise/src", "python"])
def test_a_file_of_which_an_installed_one_is_a_copy_is_noted(folder, place, monkeypatch):
    """Whenever it is imported, and data of a package, too. Control: what the repository has no file of."""
    site = place / "site-packages"
    monkeypatch.setattr(paths, "_INSTALLED", {*paths._INSTALLED, str(site)})
    monkeypatch.setattr(paths, "_PACKAGES", {*paths._PACKAGES, str(site)})
    for name in ("same.txt", "other.txt", "alone.txt"):
        (site / name).write_text(name)
    (place / folder).mkdir(exist_ok=True, parents=True)
    tracked = [f"{folder}/same.txt", f"{folder}/other.txt", f"{folder}/new.txt", f"{folder}/pkg_here/late.py"]
    (place / folder / "new.txt").write_text("not there when it was installed")
    for one in (site, place / folder):
        (one / "pkg_here").mkdir()
        (one / "pkg_here/__init__.py").write_text(
            "try:\n    from . import late\nexcept ImportError:\n    pass"
        )
    (place / folder / "pkg_here/late.py").write_text("")
    monkeypatch.syspath_prepend(str(site))
    (place / folder / "same.txt").write_text("same.txt")
    (place / folder / "other.txt").write_text("changed since")
    with opened.noted(str(place), tracked=tracked) as found:
        code("[open(site / f'{name}.txt').close() for name in ('same', 'other', 'alone')]", site=site)
    inside = "" if folder == "." else f"{folder}/"
    assert found == {f"{inside}same.txt": sha256("same.txt"), f"{inside}other.txt": opened.NOWHERE}
    with opened.noted(str(place), tracked=tracked) as found, contextlib.suppress(FileNotFoundError):
        code("import pkg_here\nopen(site / 'new.txt')", site=site)
    monkeypatch.delitem(sys.modules, "pkg_here")
    assert found[f"{inside}new.txt"] == opened.NOWHERE
    assert opened.missed(found, opened.UNLOADED) == ["pkg_here.late"]


@pytest.mark.parametrize("noted", ["copied", "editable", "archive", "other"])
def test_what_was_installed_from_a_folder_is_in_the_repository_under_whatever_name(noted, place, monkeypatch):
    """By its content. Broken variant: `package_dir` gives it another name, and what is stale passes.

    Controls: what was installed from elsewhere, what an editable package needs, and what an installer notes.
    """
    site, info = place / "site-packages", place / "site-packages/shop-1.dist-info"
    info.mkdir()
    (site / "shop").mkdir()
    names = [
        "shop/same.txt",
        "shop/stale.txt",
        *(f"{info.name}/{one}" for one in ("METADATA", "direct_url.json")),
    ]
    for name in names:
        (site / name).write_text(f"Name: shop\n{name}")
    stated = {
        "copied": {"dir_info": {}},
        "editable": {"dir_info": {"editable": True}},
        "archive": {"archive_info": {}},
    }
    (info / "direct_url.json").write_text(json.dumps(stated.get(noted, [])))
    (info / "RECORD").write_text("".join(f"{name},,\n" for name in names))
    (place / "python").mkdir()
    (place / "python/renamed.txt").write_text("Name: shop\nshop/same.txt")
    (place / "python/stale.txt").write_text("changed since")
    monkeypatch.setattr(paths, "_INSTALLED", {*paths._INSTALLED, str(site)})
    monkeypatch.setattr(paths, "_PACKAGES", {str(site)})
    paths.made_of_folders.cache_clear()
    with opened.noted(str(place), tracked=["python/renamed.txt", "python/stale.txt"]) as found:
        code("[open(site / name).close() for name in names]", site=site, names=names)
    paths.made_of_folders.cache_clear()
    known = {
        "python/renamed.txt": sha256("Name: shop\nshop/same.txt"),
        "site-packages/shop/stale.txt": opened.NOWHERE,
    }
    assert found == (known if noted == "copied" else {})


FOLDERS = {
    "os.open": "os.close(os.open('a.txt', os.O_RDONLY, dir_fd=folder))",
    "os.link": "os.link('a.txt', target, src_dir_fd=folder)",
    "os.rename": "os.rename('a.txt', target, src_dir_fd=folder)",
}


@pytest.mark.parametrize("way", FOLDERS)
def test_a_path_may_begin_in_a_folder_that_is_open(way, place, tmp_path, monkeypatch):
    """Broken variant: it begins where we are. Where it cannot be known, the record is of no commit."""
    monkeypatch.chdir(tmp_path)
    expected = {"a.txt": file_digest(place / "a.txt")}
    folder = os.open(place, os.O_RDONLY)
    with opened.noted(str(place)) as found:
        code(FOLDERS[way], folder=folder, target=str(tmp_path / "new"))
    assert opened.read(found) == expected
    (place / "a.txt").write_text("a.txt")
    monkeypatch.setattr(opened, "_HANDLES", "/nowhere")
    with opened.noted(str(place)) as found:
        code(FOLDERS[way], folder=folder, target=str(tmp_path / "newer"))
    os.close(folder)
    assert opened.read(found) == {"./a.txt": "0" * 64}


def test_a_database_may_be_named_by_an_address(place):
    with opened.noted(str(place)) as found:
        code(
            "connect(f'file:{place}/%61.txt?mode=ro', uri=True).close()", place=place, connect=sqlite3.connect
        )
    assert set(opened.read(found)) == {"a.txt", "a.txt-wal", "a.txt-journal"}


def test_what_lies_beside_a_database_is_of_it(place):
    """Its last changes may be there only. Broken variant: the database alone. Control: an empty file."""
    (place / "a.txt-wal").write_text("changes")
    (place / "a.txt-journal").write_text("")
    with opened.noted(str(place)) as found:
        code("connect(place / 'a.txt').close()", place=place, connect=sqlite3.connect)
    assert found == {"a.txt": sha256("a.txt"), "a.txt-wal": sha256("changes")}


def sha256(text):
    return hashlib.sha256(str(text).encode()).hexdigest()


def test_links_on_the_way_are_noted(place, tmp_path):
    """Each, with where it leads; a path goes as the system goes it. Control: a link elsewhere is not noted.

    Broken variants: only the last one; by what the path spells, so that `folder/../b.txt` is `b.txt`.
    """
    (place / "deep/er").mkdir(parents=True)
    (place / "deep/b.txt").write_text("deep")
    (place / "first").symlink_to("second")
    (place / "second").symlink_to(place / "a.txt")
    (place / "folder").symlink_to("deep/er")
    (place / "out").symlink_to(tmp_path / "outside")
    (tmp_path / "way").symlink_to(place)
    with opened.noted(str(place)) as found:
        code("(place / 'first').read_text()", place=tmp_path / "way")
        code("open(place / 'folder/../b.txt').close()", place=place)
        code("open(place / 'out').close()", place=place)
    assert found == {
        "first/": sha256("second"),
        "second/": sha256(place / "a.txt"),
        "a.txt": sha256("a.txt"),
        "folder/": sha256("deep/er"),
        "deep/b.txt": sha256("deep"),
        "out/": sha256(tmp_path / "outside"),
        "../outside": opened.NOWHERE,
    }
    del found["../outside"]
    assert all(opened.digest(place, name) == digest for name, digest in found.items())


def test_a_folder_that_is_entered_through_a_link_is_noted(place, monkeypatch):
    (place / "link").symlink_to("site-packages")
    monkeypatch.chdir(place)
    with opened.noted(str(place)) as found:
        code("os.chdir('link'); open('d').close()")
    assert set(opened.read(found)) == {"link/", "site-packages/d"}


def test_a_file_and_a_link_are_not_the_same(place):
    """Broken variant: a file whose content is where a link leads is taken for that link."""
    (place / "x").symlink_to("a.txt")
    (place / "y").write_text("a.txt")
    assert opened.digest(place, "x/") == opened.digest(place, "y") == sha256("a.txt")
    assert opened.digest(place, "y/") == opened.digest(place, "x") == ""


def test_a_circle_of_links_ends(place):
    (place / "x").symlink_to("x")
    with opened.noted(str(place)) as found, pytest.raises(OSError, match="symbolic links"):
        code("open(place / 'x')", place=place)
    assert found == {"x": opened.NOWHERE}


def test_a_module_that_is_imported_is_heard(place, monkeypatch):
    (place / "heard_once.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(str(place))
    with opened.noted(str(place)) as found:
        code("__import__('heard' + '_once')")
    monkeypatch.delitem(sys.modules, "heard_once")
    assert found["heard_once.py"] == file_digest(place / "heard_once.py")


def test_what_cannot_be_read_is_noted_as_unknown(tmp_path, monkeypatch):
    """Code that may not read a file goes on otherwise; it was in no record, as if nobody had asked for it."""
    place = tmp_path / "scale.txt"
    place.write_text("0")

    def refused(path):
        raise PermissionError(str(path))

    def code():
        return place.read_text()

    monkeypatch.setattr(opened, "file_digest", refused)
    with opened.noted(str(tmp_path)) as read:
        code()
    assert read == {"scale.txt": opened.NOWHERE}
    assert opened.digest(tmp_path, "scale.txt") == ""  # nor is it the same where it is compared
    monkeypatch.setattr(opened.files, "way", refused)  # a folder on the way that cannot be entered
    with opened.noted(str(tmp_path)) as read:
        code()
    assert read == {"scale.txt": opened.NOWHERE}


def test_a_file_that_was_two_is_unknown():
    """One process of the code read it before it changed, and another one after that."""
    known = {"a": "1" * 64, "b": opened.ABSENT, "c": "2" * 64}
    line._add(known, {"a": "3" * 64, "b": "4" * 64, "c": "2" * 64, "d": "5" * 64})
    assert known == {"a": opened.NOWHERE, "b": "4" * 64, "c": "2" * 64, "d": "5" * 64}


def test_the_folder_may_be_the_root_of_all(place):
    """Broken variant: its path and a slash are two slashes, with which no path begins."""
    with opened.noted(os.sep) as found:
        code("open(place / 'a.txt').close()", place=place)
    assert found == {f"{place}/a.txt"[1:]: file_digest(place / "a.txt")}


@pytest.mark.parametrize(
    ("ask", "noted"),
    [
        (lambda: open("a.txt").close(), "a.txt"),
        (lambda: through_os("./b.txt"), "./b.txt"),
        (lambda: os.chdir("site-packages"), "site-packages"),
        (lambda: sqlite3.connect("a.txt").close(), "a.txt"),
        (lambda: sqlite3.connect(":memory:").close(), ""),
        (lambda: open(os.path.abspath("a.txt")).close(), ""),
        (lambda: (os.chdir(os.path.abspath("site-packages")), open("d").close()), ""),
        (lambda: open("new", "w").close(), ""),
        (lambda: open(os.path.relpath(np.__file__)).close(), ""),  # the same wherever one is
        (lambda: (sys.path.insert(0, "lib"), importlib.reload(string)), "lib"),
    ],
)
def test_a_path_that_depends_on_the_folder_is_noted(ask, noted, place, monkeypatch):
    """Controls: whole paths, a folder that the code has entered by one, and what it only writes."""
    monkeypatch.chdir(place)
    monkeypatch.setattr(sys, "path", [*sys.path])
    with opened.noted(str(place)) as found:
        ask()
    assert opened.relative(found) == noted
    assert opened.RELATIVE not in opened.read(found).values()
