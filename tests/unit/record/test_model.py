"""The record as a type: what is read comes out again, and types and schema refuse the same."""

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from tests import small_records
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.check import kinds
from verifiable_dp.record.forms import record_schema
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import schema, text

REPORTS = Path(__file__).parents[3] / "reports"
COMMITTED = sorted(REPORTS.glob("*/record.json"))
MADE = (small_records.small, small_records.refuted)


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.parent.name)
def test_a_committed_record_comes_out_as_it_was_read(path):
    """To the byte: a digest over what was parsed is that of the file."""
    content = path.read_text("utf-8")
    assert text(Record.of(json.loads(content)).as_dict()) == content


@pytest.mark.parametrize("make", MADE)
def test_a_record_is_frozen_and_reads_itself(make):
    record = Record.of(make())
    assert Record.of(record) is record
    with pytest.raises(AttributeError):
        record.verdict = "not_refuted"
    assert record.as_dict() == make()


def test_the_committed_schema_is_that_of_the_types():
    """`make schema` writes it."""
    assert schema() == record_schema()


def places(value, path=()):
    """Every place of an object in a record, but in what a kind of check or a target says itself."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if key in ("statistics", "result", "parameters", "declarations", "pair", "values", "looks_at"):
            continue
        if isinstance(item, dict | list):
            yield (*path, key)
            yield from places(item, (*path, key))


def at(value, path):
    for key in path:
        value = value[key]
    return value


@pytest.mark.parametrize("make", MADE)
def test_types_and_schema_refuse_the_same(make):
    """A value too many at each place, and each value gone that must be there.

    Negative control: the record itself is refused by neither.
    """
    checked = jsonschema.Draft202012Validator(schema())
    assert checked.is_valid(make())
    tried = 0
    for path in [(), *places(make())]:
        place = at(make(), path)
        if not isinstance(place, dict) or path == ("provenance", "packages"):
            continue
        for key in (None, *place):
            wrong = make()
            held = at(wrong, path)
            if key is None:
                held["added"] = 1
            else:
                del held[key]
            fits = checked.is_valid(wrong)
            try:
                parsed = Record.of(wrong)
            except InputError:
                assert not fits, (path, key)
            else:
                # What only some forms of an entry have, and more in a check, the schema alone tells.
                assert fits or key in at(make(), path) or "checks" in path, (path, key)
                if "checks" in path:
                    continue
                assert parsed.as_dict() == wrong
            tried += 1
    assert tried > 100


def test_every_struct_is_frozen_and_strict():
    """An entry that takes unknown values would lose them on its way to a page."""
    from verifiable_dp.record import model

    structs = [
        one for one in vars(model).values() if isinstance(one, type) and issubclass(one, msgspec.Struct)
    ]
    assert len(structs) > 30
    for one in structs:
        assert one.__struct_config__.frozen, one
        assert one.__struct_config__.forbid_unknown_fields, one


def test_every_kind_of_ours_has_its_form():
    """Kinds of privacy describe their statistics and their result."""
    defined = schema()["$defs"]
    found = kinds("privacy")
    assert found
    for kind in found:
        assert {f"{kind.name}_statistics", f"{kind.name}_result"} <= defined.keys(), kind.name
