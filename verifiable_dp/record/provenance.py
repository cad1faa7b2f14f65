"""Where a record comes from: versions, machine, time, repository and command."""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePosixPath

from verifiable_dp.core import engine, files
from verifiable_dp.core.validate import InputError, JsonDict
from verifiable_dp.targets import folders
from verifiable_dp.targets.opened import ABSENT, relative
from verifiable_dp.targets.opened import read as read_of
from verifiable_dp.targets.process import PROGRAM

_CODE = ("verifiable_dp", "algorithms", "auditors")
TREE = "."  # stands for all files of a commit
LEARNT_WITH = "scikit-learn"  # that boosted trees are fitted with; absent of records that needed it
_PACKAGES = ("numpy", "scipy", "numba", "hypothesis", "pandas", "joblib", LEARNT_WITH)


# A repository's own configuration may name programs, and code of a target may have written it: nothing of a
# user or of the system is read, and no program of the repository is started.
_CLEAN = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "safe.directory=*",
    "core.pager=cat",
    f"core.attributesFile={os.devnull}",
    "safe.bareRepository=explicit",
)
# Modes of a tree's entries.
_FOLDER, _FILES, _LINK, _MODULE = b"40000", (b"100644", b"100755", b"100664"), b"120000", b"160000"
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


def _git(top: Path, *arguments: str, given: bytes = b"", folder: Path | None = None) -> bytes:
    """What git says that reads objects and names; what compares files would run filters.

    `folder` is that of git, if it is not the repository's.
    """
    options = [word for one in _CLEAN for word in ("-c", one)]
    where = [f"--git-dir={folder or top / '.git'}", *([f"--work-tree={top}"] if folder else [])]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", *options, *where, *arguments],
            env={**kept, **_ENVIRONMENT},
            cwd=top,
            input=given,
            capture_output=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return b""
    return done.stdout


class _ForgedError(Exception):
    """A repository has other objects than their names say, or none."""


@dataclass(frozen=True)
class _Head:
    """The last commit of a repository, each object of which is known by the digest of its content.

    git gives what is stored under a name and does not always check that it is what the name says.
    """

    top: Path
    commit: str

    @classmethod
    def of(cls, folder: Path) -> _Head | None:
        """That of the repository that a folder is in; None if it is in none, or there is no commit."""
        top = files.checkout(folder)
        name = b"" if top is None else _git(top, "rev-parse", "HEAD").strip()
        if top in _AT_FIRST:
            name = _AT_FIRST[top].encode()
        return cls(top, name.decode()) if top and re.fullmatch(_NAME, name) else None

    def blobs(self, folder: Path, *places: str) -> dict[str, str]:
        """The files at or below some places in a folder, and the names of their contents.

        The name of a link ends with a slash. Of a submodule they are those of its commit; of one that is not
        checked out there is its own path, without the name of a content. They are none where the repository
        is not what its names say.
        """
        try:
            inside = folder.resolve().relative_to(self.top)
            wanted = [(inside / place).parts for place in places]
            found = dict(self._files(self._tree(), wanted))
        except _ForgedError:
            return {}
        names = {name: os.path.relpath(name, inside).replace(os.sep, "/") for name in found}
        return {f"{names[name]}/" if name[-1] == "/" else names[name]: blob for name, blob in found.items()}

    def _tree(self) -> str:
        """Name of the commit's tree."""
        first = self._objects("commit", [self.commit])[0].partition(b"\n")[0]
        return first.removeprefix(b"tree ").decode()

    def _files(self, tree: str, wanted: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, str]]:
        """Paths from the top on, as far as they are wanted or lead there, and names of the contents."""
        level: dict[tuple[str, ...], str] = {(): tree} if wanted else {}
        while level:
            below = dict[tuple[str, ...], str]()
            for path, content in zip(level, self._objects("tree", level.values()), strict=True):
                for mode, name, of in _entries(content, len(self.commit) // 2):
                    where = (*path, name)
                    asked = [one[len(where) :] for one in wanted if one[: len(where)] == where[: len(one)]]
                    if not asked:
                        continue
                    if mode == _FOLDER:
                        below[where] = of
                    elif mode in _FILES:
                        yield "/".join(where), of
                    elif mode == _LINK:
                        yield "/".join((*where, "")), of
                    elif mode == _MODULE:
                        yield from self._module(where, of, asked)
            level = below

    def beyond(self, whole: Iterable[str]) -> list[str]:
        """What git lists beside the files of the commit: added since, or neither added nor ignored."""
        listed = _git(self.top, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        names = os.fsdecode(listed).split("\0")[:-1]
        known = {one.rstrip("/") for name in whole for one in (name, *map(str, PurePosixPath(name).parents))}
        return [one for one in names if one.rstrip("/") not in known] if names else [f"{TREE}/"]

    def filtered(self, names: Sequence[str]) -> set[str]:
        """Those files that git changes as it checks them out, or of which it does not say otherwise.

        It is asked in a repository that is empty: what is in `.git/info/attributes` is in no commit.
        """
        asked = "".join(f"{name}\0" for name in names).encode("utf-8", "surrogateescape")
        with tempfile.TemporaryDirectory() as place:
            for part in ("objects", "refs"):
                Path(place, part).mkdir()
            Path(place, "HEAD").write_text("ref: refs/heads/none\n")
            said = _git(self.top, "check-attr", "-z", "--stdin", *_CHANGING, given=asked, folder=Path(place))
        words = said.decode("utf-8", "surrogateescape").split("\0")[:-1]
        found = dict(zip(zip(words[::3], words[1::3], strict=False), words[2::3], strict=False))
        return {
            name for name in names if any(found.get((name, one)) not in _CHANGING[one] for one in _CHANGING)
        }

    def stored(self, blob: str) -> str:
        """The SHA-256 of what Git LFS puts in the place of a content; empty if that is not a pointer."""
        try:
            found = re.fullmatch(_POINTER, self._objects("blob", [blob])[0])
        except _ForgedError:
            return ""
        return found[1].decode() if found else ""

    def _module(
        self, where: tuple[str, ...], commit: str, wanted: Sequence[tuple[str, ...]]
    ) -> Iterator[tuple[str, str]]:
        """As `_files`, of a submodule: where its commit is not there, its path without name of a content."""
        inner = _Head(self.top.joinpath(*where), commit)
        try:
            if not os.path.lexists(inner.top / ".git"):
                raise _ForgedError
            found = [("/".join((*where, name)), of) for name, of in inner._files(inner._tree(), wanted)]
        except _ForgedError:
            found = [("/".join(where), "")]
        yield from found

    def _objects(self, kind: str, names: Iterable[str]) -> list[bytes]:
        """The contents of some objects, each of which is what its name says."""
        asked = list(names)
        left, found = _git(self.top, "cat-file", "--batch", given="\n".join([*asked, ""]).encode()), []
        for name in asked:
            head, _, left = left.partition(b"\n")
            size = head.removeprefix(f"{name} {kind} ".encode())
            content = left[: int(size)] if size.isdigit() else b""
            if _named(kind, content, name) != name:
                raise _ForgedError
            found.append(content)
            left = left[len(content) + 1 :]
        return found


_NAME = rb"[0-9a-f]{40}|[0-9a-f]{64}"
# Attributes with which git writes another file than the commit has, and what they are if it does not.
_KEEPS = ("unspecified", "unset")
_CHANGING = {"filter": _KEEPS, "ident": _KEEPS, "working-tree-encoding": _KEEPS, "eol": (*_KEEPS, "lf")}
_POINTER = rb"version https://git-lfs\.github\.com/spec/v1\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\n(?:.*\n)*"


def _named(kind: str, content: bytes, like: str) -> str:
    """What git calls an object, by the digest that has given another one its name."""
    digest = hashlib.sha1 if len(like) == 40 else hashlib.sha256
    return digest(b"%b %d\0%b" % (kind.encode(), len(content), content)).hexdigest()


def _entries(tree: bytes, size: int) -> Iterator[tuple[bytes, str, str]]:
    """Mode, name, and name of the object, of each entry of a tree; names of objects have `size` bytes."""
    while tree:
        head, _, rest = tree.partition(b"\0")
        mode, _, name = head.partition(b" ")
        yield mode, os.fsdecode(name), rest[:size].hex()
        tree = rest[size:]


def _changed(folder: Path, name: str, blob: str) -> bool:
    """Whether a file, or a link whose name ends with a slash, is not what git calls `blob`.

    On a system that writes line ends as CR LF, source may have these for LF, and no other CR: to Python a
    CR alone ends a line, too.
    """
    try:
        content = _content(folder, name)
    except OSError:
        return True
    forms, plain = {content}, content.replace(b"\r\n", b"\n")
    if os.linesep != "\n" and name.endswith(".py") and b"\r" not in plain:
        forms.add(plain)
    return blob not in {_named("blob", one, blob) for one in forms}


def _content(folder: Path, name: str) -> bytes:
    """Of a file, or of a link where the name ends with a slash: where it leads."""
    place = folder / name
    return os.fsencode(os.readlink(place)) if name.endswith("/") else place.read_bytes()


def tree(*code: Path) -> dict[str, str]:
    """The SHA-256 over all files of the last commit, as they are now, of the repository that we are in.

    That is what we know of a command: what it reads we do not hear. It is nothing where there is no such
    repository, or where code is not below its top.
    """
    head = _Head.of(Path.cwd())
    if head is None or not code or not all(one.resolve().is_relative_to(head.top) for one in code):
        return {}
    rows = (f"{_now(head.top, name)} {name}\n" for name in sorted(head.blobs(head.top, os.curdir)))
    whole = "".join(rows).encode("utf-8", "surrogateescape")
    return {TREE: hashlib.sha256(whole).hexdigest()} if whole else {}


def _now(top: Path, name: str) -> str:
    """The SHA-256 of a file, or of a link whose name ends with a slash; `ABSENT` if it cannot be read."""
    try:
        return hashlib.sha256(_content(top, name)).hexdigest()
    except OSError:
        return ABSENT


def place(
    path: str,
    ours: bool = False,
    run: Mapping[str, str] | None = None,
    opened: Mapping[str, str] | None = None,
) -> JsonDict:
    """Repository and commit of the audited file, which `ours` says to look for beside this package.

    They are empty where it is unknown or in none. All files that `run` must be as in the commit and have
    the SHA-256 of the request, or it is dirty; their paths are from the folder of the first one. So must be
    those that were `opened`, and the links on the way to them; their paths are from the repository. Nothing
    of the commit may be missing below the repository: code asks for files that it does not find. Where `run`
    has the digest of the whole `TREE`, every file of the commit must be as there, and be all that git lists.
    """
    file = Path(__file__).parents[2] / path if ours else Path(path)
    read = {} if opened is None else {"opened": dict(sorted(opened.items()))}
    unknown = {"repository": "", "commit": "", "dirty": False, **read}
    # Our own folders of algorithms are links; git knows the files behind them.
    given, file = file.absolute(), file.resolve()
    head = _Head.of(file.parent) if path and file.is_file() else None
    if head is None or not head.blobs(file.parent, file.name):
        return unknown
    run, folders = {**(run or {})}, dict.fromkeys((*given.parents, *file.parents))
    whole = {TREE: run.pop(TREE)} if TREE in run else {}
    run = {name: one for name, one in run.items() if not name.startswith(PROGRAM)}
    placed = ([Path(above, name) for name in run] for above in folders)
    found = next((those for those in placed if all(one.is_file() for one in those)), None)
    known = dict.fromkeys(_reached(head.top, given), "")
    for one, digest in zip(found or (), run.values(), strict=False):
        *links, last = _reached(head.top, one)
        known |= {**dict.fromkeys(links, ""), last: digest}
    known |= read_of(opened or {})
    known |= whole
    differs, filtered = _differing(head, known)
    there = (given if given.is_relative_to(head.top) else file).relative_to(head.top).as_posix()
    twin = there.removeprefix(_SOURCES)
    remote = _git(head.top, "config", "--get", "remote.origin.url")
    return {
        "repository": _without_login(remote.decode("utf-8", "replace").strip()),
        "commit": head.commit,
        "dirty": found is None or bool(differs),
        "place": there,
        **({"folder": _folder(head.top)} if relative(opened or {}) else {}),
        **read,
        **({"twin": True} if there.startswith(_SOURCES) and head.blobs(head.top, twin) else {}),
        **({"differs": differs} if differs else {}),
        **({"filtered": filtered} if filtered else {}),
    }


def differing(commit: str, places: Iterable[Path]) -> list[Path]:
    """Files that a commit of their repository does not have, has otherwise, or reaches by another link.

    One that neither it nor the folder has does not differ; one that is in no repository does.
    """
    return [place for place in places if _is_other(files.checkout(place.parent), commit, place)]


def _is_other(top: Path | None, commit: str, place: Path) -> bool:
    known = _Head(top, commit).blobs(top, os.curdir) if top else {}
    return top is None or any(
        _changed(top, name, known.get(name, ""))
        for name in _reached(top, place.absolute())
        if not known or name in known or os.path.lexists(top / name)
    )


def commit_at(folder: Path, name: str) -> str:
    """The commit that a repository has under a name, such as that of a branch.

    Raises
    ------
    InputError
        If there is none.
    """
    top = files.checkout(folder)
    found = _git(top, "rev-parse", "--verify", f"{name}^{{commit}}").strip() if top else b""
    if not re.fullmatch(_NAME, found):
        raise InputError(
            f"commit: {name!r} is not a commit in the repository of {str(folder)!r}; fetch it and check "
            "it out"
        )
    return found.decode()


def tracked(top: Path) -> list[str]:
    """Files that git tracks below the top of a repository, with submodules; none of another folder."""
    listed = (
        _git(top, "ls-files", "-z", "--cached", "--recurse-submodules") if (top / ".git").exists() else b""
    )
    return [os.fsdecode(name) for name in listed.split(b"\0") if name]


def _folder(top: Path) -> str:
    """The current folder, from the top of a repository."""
    return os.path.relpath(Path.cwd(), top).replace(os.sep, "/")


def _reached(top: Path, file: Path) -> list[str]:
    """Links of a repository on the way to a file, each with a slash, and the file, by their paths in it."""
    links, last = files.way(str(file))
    inside = [one for one in links if Path(one).is_relative_to(top)]
    *names, name = (os.path.relpath(one, top).replace(os.sep, "/") for one in (*inside, last))
    return [*(f"{one}/" for one in names), name]


def _differing(head: _Head, those: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Which of these files are not in the last commit, or not as it is there, or have another SHA-256.

    One that was `targets.opened.ABSENT` must not be in it. The `TREE` stands for all, see `place`. Of what
    the commit has and is not there, some.
    Then those that git changes as it checks them out; one that Git LFS has brought is as its pointer says.
    """
    whole = head.blobs(head.top, os.curdir)
    if (digest := those.get(TREE)) is not None:
        those = {**dict.fromkeys([*whole, *head.beyond(whole)], ""), **those}
        if tree(head.top) == {TREE: digest}:
            del those[TREE]
    above = {str(folder / ".gitattributes") for name in those for folder in PurePosixPath(name).parents}
    rules = {name: "" for name in above if os.path.lexists(head.top / name)}
    missing = (name for name, blob in whole.items() if not blob or not _is_there(head.top / name))
    filtered = head.filtered([name for name in those if name in whole and not name.endswith("/")])
    brought = {name for name in filtered if _is_stored(head, name, whole[name])}
    listed = {name: those[name] for name in those if folders.is_listed(name)}
    those = {name: one for name, one in those.items() if name not in listed}
    found = [
        name
        for name, digest in {**rules, **those}.items()
        if (name in whole if digest == ABSENT else _differs(head.top, name, whole.get(name, ""), digest))
        and name not in brought
    ]
    found += [name for name, digest in listed.items() if _lists_others(head, whole, name, digest)]
    return sorted({*found, *itertools.islice(missing, _MISSING)}), sorted(filtered - brought)


def _lists_others(head: _Head, whole: Iterable[str], name: str, digest: str) -> bool:
    """Whether a listed folder has changed, or holds what is not in the commit and git does not ignore."""
    lead = name.removesuffix(folders.ALL)
    known = {one.rstrip("/") for path in whole for one in (path, *map(str, PurePosixPath(path).parents))}
    added = (one for one in head.beyond(whole) if one.startswith(lead))
    there = folders.digest(str(head.top / lead)) or ABSENT
    return there != digest or any(lead + one[len(lead) :].split("/")[0] not in known for one in added)


def _is_stored(head: _Head, name: str, blob: str) -> bool:
    place = head.top / name
    return place.is_file() and hashlib.sha256(place.read_bytes()).hexdigest() == head.stored(blob)


def _is_there(place: Path) -> bool:
    """Whether there is a file, or a link: nothing can be read of a folder that has the name of one."""
    return place.is_file() or place.is_symlink()


def _differs(top: Path, name: str, blob: str, digest: str) -> bool:
    return _changed(top, name, blob) or (
        digest != "" and hashlib.sha256(_content(top, name)).hexdigest() != digest
    )


_SOURCES = "src/"  # the folder from which a module is found that is named without it
_MISSING = 20  # of the files that are missing, how many are named


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


_AT_FIRST = dict[Path, str]()  # the commit of a repository at the start of the audit of code in it


def begun(root: str = "") -> float:
    """Seconds since the epoch at the start of an audit, at which the commit of the code is read.

    So is that of the repository of a target, whose folder is `root`.
    """
    _committed()
    _AT_FIRST.clear()
    if root and (head := _Head.of(Path(root))):
        _AT_FIRST[head.top] = head.commit
    return time.time()


@functools.cache
def _committed() -> tuple[str, bool]:
    """The commit of this package's code, and whether a file differs from it, when it was first asked for.

    An installed package may lie in the folder of somebody else's repository, which does not know its files.
    """
    root = Path(__file__).parents[2]
    head = _Head.of(root)
    blobs = head.blobs(root, *_CODE) if head else {}
    return (head.commit if head and blobs else ""), any(
        _changed(root, name, blob) for name, blob in blobs.items()
    )


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
