"""Forms of checks and pairs are told apart by their names: the schema says what it says of all of them."""

import copy
import random

import jsonschema
import pytest

from tests.small_records import refuted, small
from verifiable_dp.core.validate import InputError
from verifiable_dp.record import verify
from verifiable_dp.record.sealing import schema

PLAIN = jsonschema.Draft202012Validator(schema())


def places(value, path=()):
    """Every place in a value."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from places(item, (*path, key))


def edited(record, rng):
    """The record with a value of a check, pair or mutant gone, or that of another place."""
    found = copy.deepcopy(record)
    known = [path for path in places(found) if path[0] in ("checks", "counterexamples", "mutants")]
    *to, key = rng.choice([path for path in known if len(path) > 2 and isinstance(path[-1], str)])
    place = found
    for step in to:
        place = place[step]
    place[key] = rng.choice(["alignment", "black_box", "table", 7, None, {}])
    if rng.random() < 0.3:
        del place[key]
    return found


def plainly(record):
    """The first error of the plain validator, as `validate` words it."""
    errors = sorted(PLAIN.iter_errors(record), key=lambda error: list(map(str, error.absolute_path)))
    if not errors:
        return ""
    place = ".".join(map(str, errors[0].absolute_path))
    return f"record: it does not fit the schema: {place}: {' '.join(errors[0].message.split())[:200]}"


@pytest.mark.parametrize("edits", [4, pytest.param(25, marks=pytest.mark.slow)])
@pytest.mark.parametrize("made", [small, refuted])
def test_one_form_says_what_all_of_them_say(made, edits):
    """Negative control: with the first form in place of the one that is meant, records that fit do not."""
    record, rng, found = made(), random.Random(0), set()
    for _ in range(edits):
        wrong = edited(record, rng)
        try:
            verify.validate(wrong)
            said = ""
        except InputError as error:
            said = str(error)
        assert said == plainly(wrong)
        found.add(bool(said))
    assert found == {True, False}


def test_only_that_form_is_left():
    forms = [{"properties": {"kind": {"const": kind}}} for kind in ("a", "b")]
    assert verify._meant(forms, {"kind": "b"}) == forms[1:]
    assert verify._meant(forms, {"kind": "c"}) == []
    for nothing_said in ({}, "b", {"type": "b"}):
        assert verify._meant(forms, nothing_said) == forms
    # One form may be for all others; of several it is not known which is meant.
    assert verify._meant([*forms, {}], {"kind": "b"}) == forms[1:]
    assert verify._meant([*forms, {}], {"kind": "c"}) == [{}]
    assert verify._meant([*forms, {}, {}], {"kind": "b"}) == [*forms, {}, {}]
