"""The record as a type: what is read comes out again, and types and schema refuse the same."""

import copy
import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from tests import small_records
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.check import kinds
from verifiable_dp.record.forms import _snake, record_schema
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


def least(form):
    """The least value that a schema describes, with every field that may be there."""
    if "$ref" in form:
        name = form["$ref"].rpartition("/")[2]
        if name == "pair":  # its forms are written by hand
            return small_records.refuted()["counterexamples"][0]["pair"]
        return least(schema()["$defs"][name])
    if "const" in form or "enum" in form:
        return form["const"] if "const" in form else form["enum"][0]
    if "anyOf" in form:
        return least(next(one for one in form["anyOf"] if one != {"type": "null"}))
    if form["type"] == "object":
        left_out = [one["required"][0] for one in form.get("oneOf", ())[1:] if "required" in one]
        known = form.get("properties", {})
        return {name: least(value) for name, value in known.items() if name not in left_out}
    if form["type"] == "array":
        if form.get("uniqueItems"):
            return ["a", "b"]
        items = form["prefixItems"] if "prefixItems" in form else [form.get("items", {"type": "number"})]
        return [least(item) for item in items]
    number = 0.5 + form.get("exclusiveMinimum", 0)
    return {"string": "a", "boolean": True, "integer": 2, "number": number}[form["type"]]


ODD = (
    None,
    True,
    False,
    -1,
    0,
    0.5,
    2,
    1.5,
    "",
    "x",
    "not_refuted",
    "inf",
    "nan",
    [],
    ["x"],
    [[0.5]],
    {},
    {"x": 1},
)


def every_place(value, path=()):
    """Every place of a value, objects and numbers, but within neighbouring inputs."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if key in ("pair", "adversary") and isinstance(item, dict):
            continue
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from every_place(item, (*path, key))


def spoiled(value):
    """What is almost `value`: without a field, with one more, with another value somewhere."""
    for path in [(), *every_place(value)]:
        for odd in ODD:
            other = copy.deepcopy(value)
            held = at(other, path)
            if isinstance(held, dict):
                held["added"] = odd
                yield other
            if path:
                other = copy.deepcopy(value)
                at(other, path[:-1])[path[-1]] = odd
                yield other
        if path:
            other = copy.deepcopy(value)
            del at(other, path[:-1])[path[-1]]
            yield other


FORMS = {form.__name__: form for kind in kinds() for form in (kind.statistics, kind.result) if form}


@pytest.mark.parametrize("name", FORMS)
def test_a_kind_and_the_schema_refuse_the_same_numbers(name):
    """The negative control is in it: some of what is almost right is right."""
    form = {"$ref": f"#/$defs/{_snake(name)}"}
    checked = jsonschema.Draft202012Validator({**form, "$defs": schema()["$defs"]})
    right = least(form)
    assert FORMS[name].of(right) is not None
    said = {True: 0, False: 0}
    for value in [right, *spoiled(right)]:
        fits = checked.is_valid(value)
        said[fits] += 1
        try:
            FORMS[name].of(value)
        except msgspec.ValidationError:
            assert not fits, value
        else:
            assert fits, value
    assert said[True] > 1
    assert said[False] > 15


@pytest.mark.parametrize("make", MADE)
def test_a_record_whose_check_does_not_hold_what_its_kind_says_is_refused(make):
    for place in ("statistics", "result"):
        wrong = make()
        wrong["checks"][0][place]["added"] = 1
        with pytest.raises(InputError, match=f"{place}: .*`added`"):
            Record.of(wrong)


def test_every_kind_of_ours_has_its_form():
    """Kinds that a record can hold describe their statistics and their result."""
    held = [kind for kind in kinds() if kind.about != "number"]
    assert len(held) > 15
    for kind in held:
        assert kind.statistics, kind.name
        assert kind.result, kind.name


@pytest.mark.parametrize(
    ("changes", "ours"),
    [
        ({}, True),
        ({"kind": "mechanism"}, False),  # code of a user's that has the name and the paper
        ({"paper": ""}, False),
        ({"name": "of another package"}, False),
    ],
)
def test_whose_auditor_made_a_record(changes, ours):
    record = json.loads((REPORTS / "dp-se" / "record.json").read_text("utf-8"))
    target = Record.of(record).target
    assert msgspec.structs.replace(target, **changes).ours is ours
