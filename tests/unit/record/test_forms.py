"""Forms of checks and pairs are told apart by their names: each is held against that of its own kind."""

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
def test_what_does_not_fit_is_named_by_its_first_place(made, edits):
    """Records that fit and records that do not are both among those edited."""
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


def of_another(record, part, key, value):
    """The record whose first check, or counterexample's pair, says that it is of another kind."""
    found = copy.deepcopy(record)
    place = found[part][0] if part == "checks" else found[part][0]["pair"]
    place[key] = value
    return found


@pytest.mark.parametrize(
    ("part", "key", "other"), [("checks", "kind", "curve"), ("counterexamples", "type", "user")]
)
def test_what_is_held_is_the_form_of_its_own_kind(part, key, other):
    """Negative control: the same values of their own kind fit."""
    record = refuted()
    verify.validate(record)
    for wrong in (other, "Not a name", None):
        with pytest.raises(InputError, match=rf"does not fit the schema: {part}\.0\."):
            verify.validate(of_another(record, part, key, wrong))


def test_a_kind_of_another_package_needs_a_verdict_only():
    record = of_another(refuted(), "checks", "kind", "kind_of_mine")
    record["checks"][0]["statistics"] = {"anything": [1, 2]}
    verify.validate(record)
    record["checks"][0]["result"] = {"verdict": "perhaps"}
    with pytest.raises(InputError, match=r"checks\.0\.result\.verdict: 'perhaps' is not one of"):
        verify.validate(record)
