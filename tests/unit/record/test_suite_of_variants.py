"""What a record says of the suite of broken variants, which no rerun of its audit repeats."""

import json
import shutil

import pytest

from tests import commands
from tests.committed import REPORTS
from verifiable_dp.core.validate import InputError
from verifiable_dp.record import kills
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import sealed
from verifiable_dp.record.verify import verify
from verifiable_dp.render import portfolio

NAME = "dp-robust-ucb"  # with undecided variants
WHERE = "results of the suite's 50 broken variants"


def load():
    return json.loads((REPORTS / NAME / "record.json").read_text("utf-8"))


@pytest.fixture
def folder(tmp_path):
    """A folder of reports with a record and the table beside it."""
    (tmp_path / NAME).mkdir()
    for name in (f"{NAME}/record.json", "mutants.json"):
        shutil.copyfile(REPORTS / name, tmp_path / name)
    return tmp_path


def edited(folder):
    """Put undecided variants among those that were caught, under a new digest."""
    record = load()
    del record["digest"]
    table = record["kill_table"]
    undecided = [row for row in table["others"] if row["outcome"] == "undecided"]
    assert undecided
    table["others"] = [row for row in table["others"] if row not in undecided]
    table["caught"]["operators"] += len(undecided)
    (folder / NAME / "record.json").write_text(json.dumps(dict(sealed(record))))


def test_what_the_suite_found_is_compared_with_the_table_beside(folder):
    """An editor moved undecided variants to caught: verify --rerun said that every count was the same."""
    done = commands.run(folder, "verify", f"{NAME}/record.json")
    assert done.stdout.endswith(f"; {WHERE} as in ../mutants.json\n")
    edited(folder)
    line = commands.refused(folder, "verify", f"{NAME}/record.json")
    assert (
        "results on broken variants differ from ../mutants.json: kill_table.caught.operators is 43, " in line
    )
    shutil.copyfile(folder / "mutants.json", folder / NAME / "mutants.json")
    assert "results on broken variants differ from mutants.json" in commands.refused(
        folder, "verify", f"{NAME}/record.json"
    )
    shutil.rmtree(folder / NAME / "mutants.json", ignore_errors=True)


def test_a_folder_compares_its_records_with_its_table(folder):
    """Control: as they are, they hold."""
    found = portfolio.find(folder)
    assert not found.broken
    assert found.records[folder / NAME / "record.json"].suite == f"{WHERE} as in mutants.json"
    edited(folder)
    assert [*portfolio.find(folder).broken] == [folder / NAME / "record.json"]


def test_what_is_not_compared_is_said(folder):
    """Without a table, with one of another digest, with one that does not hold."""
    lacking = f"; {WHERE} not compared: no mutants.json with their digest next to the record"
    assert verify(load()).summary().endswith(lacking)
    edited(folder)
    for content in (None, b"{}", b"[", b'{"digest": "sha256:1"}'):
        (folder / "mutants.json").unlink(missing_ok=True)
        if content is not None:
            (folder / "mutants.json").write_bytes(content)
        assert commands.run(folder, "verify", f"{NAME}/record.json").stdout.endswith(f"{lacking}\n")
    assert "suite" not in verify(load() | {"kill_table": None, **_sealed_without()}).summary()


def _sealed_without():
    record = load() | {"kill_table": None}
    del record["digest"]
    return dict(sealed(record))


@pytest.mark.parametrize("table", [{}, {"mutants": 3}, {"mutants": [{"algorithm": NAME}]}])
def test_a_table_in_another_form_is_refused(table):
    record = Record.of(load())
    given = {"mutants.json": {**table, "digest": record.kill_table.digest}}
    with pytest.raises(InputError, match=r"^record: mutants\.json is not a table of broken variants: "):
        kills.compared(record, given)
