"""Blind sets: archives, index, results, digests and the page that shows them agree.

Tried in a copy: each of these makes a test fail here. A row of the index is removed (one, or those of a
set), added or edited; a row of the results is removed, those of a set are, or an answer is edited; an
archive is removed or added; a member is edited; with the digest made anew, a member is removed, added,
renamed, named `../outside.py`, or loses its target; a digest is removed or edited; a number of the page is
edited, or a missed leak no longer named there; `unpack` takes any archive, or any path; `packed` keeps
caches; a row of the bounds is removed, or one of a leak's is made its claim.
"""

import csv
import io
import math
import re
import shutil
import tarfile
from collections import Counter
from pathlib import Path, PurePosixPath

import pytest

from benchmarks import blind
from benchmarks.blind.__main__ import pack

ROOT = Path(__file__).parents[2]
SETS = list(blind.digests())
# A set is committed before it is measured.
MEASURED = list(dict.fromkeys(row["set"] for row in blind.rows(table=blind.MEASURED)))


def members(name, archive=None):
    """The members of a set's archive, by their names in its folder."""
    with tarfile.open(fileobj=io.BytesIO(archive or blind.read(name))) as opened:
        entries = opened.getmembers()
        assert [entry.name for entry in entries] == sorted({entry.name for entry in entries})
        for entry in entries:
            path = PurePosixPath(entry.name)
            assert entry.isreg(), entry
            assert path.parts[0] == name, entry
            assert ".." not in path.parts, entry
            assert (entry.mtime, entry.uid, entry.gid, entry.mode) == (0, 0, 0, 0o644), entry
        return {entry.name.removeprefix(f"{name}/"): opened.extractfile(entry).read() for entry in entries}


@pytest.fixture(scope="module")
def archived():
    return {name: members(name) for name in SETS}


def own(files, name, table):
    """Rows of a table as the archive has them, under the columns of the table of all sets."""
    rows = list(csv.DictReader(io.StringIO(files[table.name].decode("utf-8"), newline="")))
    columns = blind.rows(table=table)[0]
    return [dict.fromkeys(columns, "") | {"set": name} | row for row in rows]


def test_there_is_an_archive_and_a_digest_for_every_set_and_no_row_twice():
    assert len(SETS) >= 17
    assert {path.name.removesuffix(".tar.gz") for path in blind.HERE.glob("*.tar.gz")} == {*SETS}
    assert len(blind.DIGESTS.read_text("utf-8").splitlines()) == len(SETS)
    assert list(dict.fromkeys(row["set"] for row in blind.rows())) == SETS
    assert SETS[: len(MEASURED)] == MEASURED
    for table in (blind.INDEX, blind.MEASURED):
        rows = blind.rows(table=table)
        assert len({(row["set"], row["file"]) for row in rows}) == len(rows) >= 1113


@pytest.mark.parametrize("name", SETS)
def test_archive_and_tables_name_the_same_programs(archived, name):
    programs = {file for file in archived[name] if file.endswith(".py")}
    rows = blind.rows(name)
    assert {row["file"] for row in rows} == programs
    assert rows == own(archived[name], name, blind.INDEX)
    answers = blind.rows(name, blind.MEASURED)
    if name in MEASURED:
        assert {(row["file"], row["truth"]) for row in answers} == {
            (row["file"], row["truth"]) for row in rows
        }
    if blind.MEASURED.name in archived[name]:
        assert answers == own(archived[name], name, blind.MEASURED)


@pytest.mark.parametrize("name", SETS)
def test_a_program_has_the_target_and_the_claim_of_its_row(archived, name):
    rows = blind.rows(name)
    assert rows
    for row in rows:
        source = archived[name][row["file"]].decode("utf-8")
        assert re.search(rf"^ *(async )?(def|class) {row['target']}\b|^{row['target']}\b.*=", source, re.M), (
            row
        )
        assert float(row["epsilon"]) > 0
        assert row["truth"] in ("right", "leak")


def test_no_leak_has_an_upper_bound_within_its_claim_or_below_its_true_epsilon():
    """Broken variants, tried on a copy: a bound of a leak is made its claim, or a row is removed."""
    found = blind.rows(table=blind.BOUNDS)
    assert any(row["truth"] == "leak" for row in found)
    for name in {row["set"] for row in found}:
        answers = {row["file"]: row for row in found if row["set"] == name}
        index = {row["file"]: row for row in blind.rows(name)}
        assert {file: row["truth"] for file, row in answers.items()} == {
            file: row["truth"] for file, row in index.items()
        }
        for file, row in index.items():
            bound, truth = float(answers[file]["bound"]), row["true_epsilon"]
            assert (bound == math.inf) == bool(answers[file]["reason"])
            if row["truth"] == "leak":
                assert bound > float(row["epsilon"]) * (1 + 1e-6)
                assert bound >= float(truth.lstrip(">=")) * (1 - 1e-3)


def test_sets_are_unpacked_within_their_folder_and_packed_again(archived, tmp_path):
    folder = blind.unpack("blind9", tmp_path)
    assert folder == tmp_path / "blind9"
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    assert found == archived["blind9"]
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "left.pyc").touch()
    assert members("blind9", blind.packed(folder)) == found
    first = blind.packed(folder)
    (folder / "README.md").touch()
    assert blind.packed(folder) == first
    assert [path.name for path in tmp_path.iterdir()] == ["blind9"]


def test_a_new_set_gets_an_archive_a_digest_and_rows_once(archived, monkeypatch, tmp_path):
    for name in ("INDEX", "DIGESTS"):
        monkeypatch.setattr(blind, name, Path(shutil.copy(getattr(blind, name), tmp_path)))
    folder = blind.unpack("blind9", tmp_path).rename(tmp_path / "blind99")
    before = blind.rows(table=blind.INDEX)
    monkeypatch.setattr(blind, "HERE", tmp_path)
    pack(folder)
    assert list(blind.digests()) == [*SETS, "blind99"]
    assert members("blind99") == archived["blind9"]
    assert blind.rows(table=blind.INDEX) == before + [
        row | {"set": "blind99"} for row in before if row["set"] == "blind9"
    ]
    with pytest.raises(ValueError, match="blind99 has an archive"):
        pack(folder)


def test_archives_that_were_changed_or_escape_are_refused(monkeypatch, tmp_path):
    folder = blind.unpack("blind9", tmp_path)
    monkeypatch.setattr(blind, "HERE", tmp_path)
    (folder / "README.md").write_text("other")
    changed = blind.packed(folder)
    (tmp_path / "blind9.tar.gz").write_bytes(changed)
    with pytest.raises(ValueError, match=r"blind9\.tar\.gz is not the archive"):
        blind.unpack("blind9", tmp_path)
    escapes = io.BytesIO()
    with tarfile.open(fileobj=escapes, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("../outside.py"))
    monkeypatch.setattr(blind, "read", lambda name: escapes.getvalue())
    with pytest.raises(tarfile.OutsideDestinationError):
        blind.unpack("blind9", tmp_path / "blind9")
    assert not (tmp_path / "outside.py").exists()


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, "--epsilon 1.5"),
        ({"delta": "0"}, "--epsilon 1.5"),
        ({"delta": "1e-05"}, "--epsilon 1.5 --delta 1e-05"),
        ({"arms": "0", "horizon": "7"}, "--epsilon 1.5 --own-neighbours"),
        ({"horizon": "7"}, "--epsilon 1.5"),
        ({"arms": "2", "horizon": "7"}, "--epsilon 1.5 --arms 2 --horizon 7"),
        (
            {"arms": "2", "horizon": "7", "contexts": "3", "model": "joint"},
            "--epsilon 1.5 --model joint --arms 2 --horizon 7 --contexts 2x3",
        ),
        (
            {"reward": "Env.pull", "parameters": "K=3;T=4"},
            "--epsilon 1.5 --reward a.py:Env.pull --set K=3 --set T=4",
        ),
    ],
)
def test_a_row_says_how_its_program_is_audited(changed, told):
    row = dict.fromkeys(blind.rows()[0], "") | {"file": "a.py", "epsilon": "1.5"} | changed
    assert blind.options(row) == told.split()


BOUND = re.compile(r" epsilon in \[\S+, (\S+)\] on (?:\d+ paths|every path)")


def counts(name):
    """The numbers of a row of the page, from index and results."""
    claims = {row["file"]: float(row["epsilon"]) for row in blind.rows(name)}
    answers = blind.rows(name, blind.MEASURED)
    ends = Counter((row["truth"], row["exit_status"]) for row in answers)
    passed = [row for row in answers if (row["truth"], row["exit_status"]) == ("right", "0")]
    bounds = [(BOUND.search(row["answer"]), claims[row["file"]]) for row in passed]
    bounded = sum(float(found[1]) <= claim * 1.001 for found, claim in bounds if found)  # shown rounded
    right, leaks = (sum(row["truth"] == truth for row in answers) for truth in ("right", "leak"))
    caught, missed, undecided = (ends["leak", status] for status in "103")
    return [right, ends["right", "0"], bounded, ends["right", "3"], leaks, caught, missed, undecided]


def test_the_page_shows_the_results():
    text = (ROOT / "docs" / "ten-leaks.md").read_text("utf-8")
    table = text[text.index("| set |") :].partition("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    assert [row[0].strip("`") for row in cells] == [*MEASURED, "all"]
    numbers = [[int(cell) for cell in row[2:10]] for row in cells]
    assert numbers[:-1] == [counts(name) for name in MEASURED]
    assert numbers[-1] == [sum(column) for column in zip(*numbers[:-1], strict=True)]
    total = len(blind.rows(table=blind.MEASURED))
    assert text.startswith(f"# A blind test: ten leaks and {total} programs\n")
    assert all(re.fullmatch(r"`[0-9a-f]{7}`", row[10]) for row in cells[:-1])
    missed = {
        row["file"]
        for row in blind.rows(table=blind.MEASURED)
        if (row["truth"], row["exit_status"]) == ("leak", "0")
    }
    assert len(missed) == numbers[-1][6]
    assert all(f"`{PurePosixPath(file).stem}`" in text for file in missed)
