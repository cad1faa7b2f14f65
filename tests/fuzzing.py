"""Hostile files for everything that reads files of strangers: random bytes, and valid files gone wrong.

A reader may return or refuse the file in one line (`InputError`), without a traceback and within `SECONDS` of
processor time and `BYTES` of memory. In valid files values are replaced, moved, repeated and taken out; most
get a new digest afterwards, so that what stands behind the digest is reached.

    python -m tests.fuzzing --seconds 600 --seed 0 [--only record,session] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import hashlib
import hmac
import json
import random
import resource
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 5.0  # of processor time that one file may take
BYTES = 1 << 30  # of memory that the process may have
REPORTS = Path(__file__).parents[1] / "reports"
_WIDE = (2**31, 2**63, 2**64, 10**18, 10**30, 10**300, 10**4000)
NASTY: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 0.0, -0.0, 1e-320, 1e308, -1e308, 1e17, 0.5, 1e-300),
    *_WIDE,
    *(-n for n in _WIDE[:4]),
    *(
        "",
        "x",
        "inf",
        "-inf",
        "nan",
        "\u202e",
        "\n::stop-commands::x",
        "\x1b[2J",
        "a" * 5000,
        "0" * 64,
        "<script>",
    ),
    *([], {}, [[]], [{}], {"": None}, [0] * 1000, [None] * 3, {"kind": "alignment"}, [[[[[[[[0]]]]]]]]),
)
LITERALS = (
    *("nan", "-inf", "1e999", "9" * 400, "''", '""', "[]", "[[]]", "{}", "true", "1979-05-27", "0x7f", "-1"),
    *('"\\u202e"', "'''\n'''", "[" * 200, "{a.b.c=1}", '"' + "x" * 3000 + '"', "0.1", "1_000"),
)


@dataclass(frozen=True)
class Reader:
    """How one kind of file is made and read.

    Attributes
    ----------
    valid
        Contents of files that hold.
    read
        Reads a file, and does what is done with one that holds.
    wrong
        A content gone wrong.
    """

    valid: Callable[[], list[bytes]]
    read: Callable[[Path], object]
    wrong: Callable[[random.Random, bytes], bytes]


# ---------------------------------------------------------------- gone wrong


def places(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to every value within a JSON value but itself."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*here, key)
        yield from places(item, (*here, key))


def _at(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value


def _somewhere(rng: random.Random, value: Any) -> tuple[Any, ...]:
    """A path into a value: every level is as likely as another, however many values it has."""
    place: tuple[Any, ...] = ()
    while isinstance(value, dict | list) and value and (not place or rng.random() < 0.8):
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        place, value = (*place, key), value[key]
    return place


def mutated(rng: random.Random, value: Any) -> Any:
    """A JSON value with one to four things wrong in it."""
    value = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        place = _somewhere(rng, value)
        if not place:
            return rng.choice(NASTY)
        holder, key = _at(value, place[:-1]), place[-1]
        kind = rng.randrange(8)
        if kind < 3:
            holder[key] = copy.deepcopy(rng.choice(NASTY))
        elif kind == 3:
            del holder[key]
        elif kind == 4:
            holder[key] = copy.deepcopy(_at(value, _somewhere(rng, value)))
        elif kind == 5 and isinstance(holder, list):
            holder.extend(copy.deepcopy(holder[key]) for _ in range(rng.choice((1, 3, 300))))
        elif kind == 6 and isinstance(holder[key], int | float):
            holder[key] = _number(rng, holder[key])
        elif isinstance(holder, dict):
            holder[rng.choice(("x", "epsilon", "kind", "statistics", str(key) + "x"))] = holder.pop(key)
    return value


def _number(rng: random.Random, number: float) -> float:
    with contextlib.suppress(OverflowError):
        return rng.choice(
            (-number, number + 1, number * 10**6, number / 3, number * 1e-9, int(number), float(number))
        )
    return 0


def damaged(rng: random.Random, content: bytes) -> bytes:
    """Bytes with some replaced, taken out, repeated or put in."""
    found = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 8))):
        start = rng.randrange(len(found) + 1)
        end = min(len(found), start + rng.choice((1, 2, 8, 100, 5000)))
        kind = rng.randrange(5)
        if kind == 0:
            found[start:end] = rng.randbytes(end - start)
        elif kind == 1:
            del found[start:end]
        elif kind == 2:
            found[end:end] = found[start:end] * rng.choice((1, 2, 50))
        elif kind == 3:
            found[start:start] = rng.choice(
                (b"\x00", b"\xff\xfe", b"[", b"{", b'"', b"\\ud800", b"1e999", b"NaN", b"\n")
            )
        else:
            found = found[:start]
    return bytes(found)


def wrong_text(rng: random.Random, content: bytes) -> bytes:
    """A TOML file with lines and values that do not belong, or damaged."""
    if rng.random() < 0.3:
        return damaged(rng, content)
    lines = content.decode().split("\n")
    for _ in range(rng.choice((1, 2, 4))):
        number = rng.randrange(len(lines))
        key, sign, _ = lines[number].partition("=")
        kind = rng.randrange(5)
        if kind < 2 and sign:
            lines[number] = f"{key}= {rng.choice(LITERALS)}"
        elif kind == 2:
            lines.insert(rng.randrange(len(lines)), lines[number])
        elif kind == 3:
            del lines[number]
        else:
            lines.insert(
                number, rng.choice(("[[targets]]", "[x]", "a.b.c = 1", "[defaults]", "x = 1", "[a.b.c.d]"))
            )
        lines = lines or [""]
    return "\n".join(lines).encode()


def _sealed(wrong: Callable[[random.Random, Any], Any]) -> Callable[[random.Random, bytes], bytes]:
    def made(rng: random.Random, content: bytes) -> bytes:
        from verifiable_dp.record.sealing import digest

        if rng.random() < 0.15:
            return damaged(rng, content)
        value = wrong(rng, json.loads(content))
        if isinstance(value, dict) and rng.random() < 0.9:
            with contextlib.suppress(ValueError):
                value["digest"] = digest(value)
        return json.dumps(value).encode()

    return made


def _session_wrong(rng: random.Random, content: bytes) -> bytes:
    from verifiable_dp.core import statefile as state

    if rng.random() < 0.15:
        return damaged(rng, content)
    value = mutated(rng, json.loads(content))
    if isinstance(value, dict) and rng.random() < 0.9:
        value.pop("digest", None)
        with contextlib.suppress(ValueError):
            return state.seal(value)
    return json.dumps(value).encode()


def _lines_wrong(rng: random.Random, content: bytes) -> bytes:
    """Lines of a checkpoint, most with a sum that fits: what even who has the key may not break."""
    from verifiable_dp.auditing import resume

    if rng.random() < 0.15:
        return damaged(rng, content)
    lines = content.split(b"\n")[:-1]
    number = rng.randrange(1, len(lines))
    row = json.loads(lines[number])
    row.pop("sum", None)
    row = mutated(rng, row)
    text = json.dumps(row).encode()
    key = hmac.digest(KEY, OF_SUM.encode(), "sha256")
    lines[number] = text[:-1] + resume._sealed(text[:-1], key).rstrip() if isinstance(row, dict) else text
    return b"\n".join(lines) + b"\n"


# ---------------------------------------------------------------- readers


def _files(*patterns: str, most: int = 1 << 21) -> Callable[[], list[bytes]]:
    return lambda: [
        path.read_bytes()
        for pattern in patterns
        for path in sorted(REPORTS.glob(pattern))
        if path.stat().st_size <= most
    ]


def _records() -> list[bytes]:
    """Records of several kinds that hold: made here, and small ones of the catalogue in today's form."""
    from tests.small_records import refuted, small
    from verifiable_dp.core.validate import InputError
    from verifiable_dp.record.verify import examine

    found = [json.dumps(refuted()).encode(), json.dumps(small()).encode()]
    for content in _files("*/record.json", most=30_000)():
        with contextlib.suppress(InputError):
            examine(json.loads(content))
            found.append(content)
    return found


def _record(path: Path) -> None:
    """Verified, and shown in every form that draws no plots."""
    from verifiable_dp.record.verify import verify
    from verifiable_dp.render import diff, junit, markdown, page, sarif
    from verifiable_dp.report import Report

    report = Report(verify(path).record)
    report.summary()
    page.render(report.parsed, drawn=False)
    for shown in (markdown.to_markdown, junit.to_junit, sarif.to_sarif):
        shown(report.parsed)
    diff.compare(report.parsed, report.parsed)


def _study(path: Path) -> None:
    from verifiable_dp.render import page, study

    whole = study.verify_study(path)
    page.render_study(whole)


def _errata(path: Path) -> None:
    from verifiable_dp.render import errata, page

    whole = errata.verify_errata(path)
    page.render_errata(whole)
    for row in whole["errata"]:
        errata.line(row)


def _mutants(path: Path) -> None:
    from verifiable_dp.render import mutation

    whole = mutation.verify_mutants(path)
    mutation.summary_lines(whole)


def _portfolio(path: Path) -> None:
    from verifiable_dp.render import portfolio

    found = portfolio.find(path.parent)
    portfolio.page(found, path.parent / "index.html")


_OF = {"target": "fuzzed"}
KEY = b"k" * 32
OF_SUM = hashlib.sha256(json.dumps(_OF, separators=(",", ":")).encode()).hexdigest()


def _steps() -> list[bytes]:
    """The file of steps with values of every kind."""
    import numpy as np

    from verifiable_dp.auditing import resume
    from verifiable_dp.core import engine
    from verifiable_dp.evidence.check import Check

    values = (1, 0.5, "x", [1, [2, 3]], {"a": {"b": 2}}, np.arange(6.0).reshape(2, 3), np.array([True]))
    check = Check("n", "alignment", {"a": 1.5}, {"verdict": "refuted"})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "steps"
        _key_for(path)
        with resume.at(path, lambda: _OF, lambda line: None):
            for value in (*values, check, [check]):
                engine.kept("step", lambda value=value: value)
        return [path.read_bytes()]


def _key_for(path: Path) -> None:
    from verifiable_dp.core import remembered

    remembered.remember(path, KEY)


def _checkpoint(path: Path) -> None:
    from verifiable_dp.auditing import resume

    _key_for(path)
    found = resume.Checkpoint(path, _OF, lambda line: None)
    try:
        for number in range(12):
            found.recalled("step", repr(()))
            found.recalled("", str(number))
    finally:
        found.close()


def _sessions() -> list[bytes]:
    import verifiable_dp as vdp

    found = []
    for name in ("dp-se", "dp-ucb", "tree-sum", "dp-robust-se", "dp-linear"):
        with contextlib.suppress(ValueError), tempfile.TemporaryDirectory() as folder:
            session = vdp.make(name, **_small(name)).session(seed=1)
            for _ in range(7):
                session.select()
                session.update(0.5)
            session.save(Path(folder) / "s.json")
            found.append((Path(folder) / "s.json").read_bytes())
    return found


def _small(name: str) -> dict[str, Any]:
    from verifiable_dp.registry import entries as registry

    auditor = registry.auditor(name)
    return {**dict(auditor.instance)}


def _session(path: Path) -> None:
    import verifiable_dp as vdp

    path.chmod(0o600)
    epsilon = None
    with contextlib.suppress(ValueError, TypeError, KeyError):
        epsilon = json.loads(path.read_bytes())["parameters"]["epsilon"]
    session = vdp.restore(path, epsilon=epsilon, seeded=True)
    while not session.finished and session.rounds < 50:
        session.select()
        session.update(0.5)


CAMPAIGN = """
[defaults]
budget = 0.02
seed = 3
epsilon = 1.0
mutants = false

[[targets]]
target = "tree-sum"
parameters = {horizon = 8}

[[targets]]
name = "again"
target = "dp-se"
regret = true
budget = "quick"

[[targets]]
target = "mine.py:play"
arms = 2
horizon = 10
bounds = [0.0, 1.0]
observe = "actions"
delta = 1e-6

[[targets]]
exec = "python3 mine.py"
exec_timeout = 3.0
"""


def _campaign(path: Path) -> None:
    from verifiable_dp.campaign import entries, file

    (path.parent / "mine.py").touch()
    found = entries.read(path)
    file._State(found, path.parent, "best").recall()


def _declarations(path: Path) -> None:
    from verifiable_dp.record import declarations

    declarations.given(path)


def _declared() -> list[bytes]:
    """The file that `init` writes, with every line a value."""
    from verifiable_dp.record import declarations

    with tempfile.TemporaryDirectory() as folder:
        text = declarations.starter(Path(folder) / "d.toml").read_text("utf-8")
    lines = [line[2:] if line.startswith("# ") and "=" in line else line for line in text.split("\n")]
    return [text.encode(), "\n".join(lines).encode(), b'sensitive = true\n[scope]\nunit = "x"\n']


READERS = {
    "record": Reader(_records, _record, _sealed(mutated)),
    "errata": Reader(_files("errata.json"), _errata, _sealed(mutated)),
    "study": Reader(_files("studies/*/study.json"), _study, _sealed(mutated)),
    "mutants": Reader(_files("mutants.json"), _mutants, _sealed(mutated)),
    "portfolio": Reader(_records, _portfolio, _sealed(mutated)),
    "checkpoint": Reader(_steps, _checkpoint, _lines_wrong),
    "session": Reader(_sessions, _session, _session_wrong),
    "campaign": Reader(lambda: [CAMPAIGN.encode()], _campaign, wrong_text),
    "declarations": Reader(_declared, _declarations, wrong_text),
}


# ---------------------------------------------------------------- the run


@dataclass(frozen=True)
class Finding:
    """A file that was not read as it should be: the reader, its content and what happened."""

    reader: str
    content: bytes
    what: str


def read(name: str, content: bytes, folder: Path) -> Finding | None:
    """Read one content; what is wrong with how it was read."""
    from verifiable_dp.core.validate import InputError

    path = folder / "record.json"
    path.unlink(missing_ok=True)
    path.write_bytes(content)
    began, what = time.process_time(), ""
    try:
        READERS[name].read(path)
    except InputError as error:
        if "\n" in str(error):
            what = f"a message of several lines: {error!r}"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        what = traceback.format_exc()
    spent = time.process_time() - began
    if spent > SECONDS:
        what += f"\n{spent:.1f} s of processor time"
    if (memory := resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024) > BYTES:
        what += f"\n{memory >> 20} MiB of memory"
    return Finding(name, content, what) if what else None


def contents(name: str, rng: random.Random, valid: list[bytes]) -> bytes:
    """Random bytes, or a valid file gone wrong."""
    if rng.random() < 0.03:
        return rng.randbytes(rng.choice((0, 1, 7, 300, 10_000)))
    return READERS[name].wrong(rng, rng.choice(valid))


def run(names: list[str], seconds: float, seed: int, folder: Path) -> Iterator[Finding | int]:
    """Findings, and at the end the number of files read."""
    valid = {name: READERS[name].valid() for name in names}
    began, count = time.process_time(), 0
    while time.process_time() - began < seconds:
        name = names[count % len(names)]
        found = read(name, contents(name, random.Random(f"{seed} {count}"), valid[name]), folder)
        count += 1
        if found is not None:
            yield found
    yield count


def main() -> int:
    """Exit status 1 if anything was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=600.0, help="of processor time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=",".join(READERS))
    parser.add_argument("--keep", type=Path, help="folder for the files that were found")
    given = parser.parse_args()
    found: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for item in run(given.only.split(","), given.seconds, given.seed, Path(folder)):
            if isinstance(item, int):
                print(f"{item} files, {sum(found.values())} findings of {len(found)} kinds")
                break
            last = item.what.strip().splitlines()
            key = f"{item.reader}: {' / '.join(last[-3:])}"[:400]
            found[key] = found.get(key, 0) + 1
            if found[key] == 1:
                print(f"--- {item.reader}\n{item.what.strip()}\n", flush=True)
                if given.keep:
                    given.keep.mkdir(parents=True, exist_ok=True)
                    (given.keep / f"{item.reader}-{len(found)}").write_bytes(item.content)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
