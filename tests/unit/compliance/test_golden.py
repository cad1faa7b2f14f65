"""Compliance documents say of each kind of target what the golden ones say.

If a change is meant, `python -m tests.golden` makes the golden documents anew: read what git shows of them.
Numbers may differ in the last digits, as they do between processors and versions of libraries.
"""

import copy
import json
import math

import pytest

from tests.golden import AUDITS, FOLDER, RUN, made, without_run
from verifiable_dp.compliance.blocks import BLOCKS


def golden(kind):
    return json.loads((FOLDER / f"{kind}.json").read_text("utf-8"))


def alike(old, new):
    if isinstance(old, str) and isinstance(new, str):
        try:
            return old == new or math.isclose(float(old), float(new), rel_tol=1e-9)
        except ValueError:
            return False
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=1e-9)
    return type(old) is type(new) and old == new


def changes(old, new, place=""):
    """Places where two documents differ, with both values."""
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        old, new = dict(enumerate(old)), dict(enumerate(new))
    if isinstance(old, dict) and isinstance(new, dict):
        gone = object()
        for key in [*old, *(key for key in new if key not in old)]:
            yield from changes(old.get(key, gone), new.get(key, gone), f"{place}/{key}")
    elif not alike(old, new):
        yield place, old, new


@pytest.mark.parametrize("kind", AUDITS)
def test_a_document_says_what_the_golden_one_says(kind, tmp_path):
    found = [
        f"{place}: {old!r} -> {new!r}"
        for place, old, new in changes(golden(kind), json.loads(made(kind, tmp_path)))
    ]
    assert not found, "\n".join([*found, "if this is meant: python -m tests.golden"])


def test_every_golden_document_is_made_and_they_differ():
    assert {path.stem for path in FOLDER.glob("*.json")} == AUDITS.keys()
    documents = {kind: golden(kind) for kind in AUDITS}
    assert {document["summary"]["verdict"] for document in documents.values()} >= {"refuted", "not_refuted"}
    assert len({json.dumps(document["subject"]) for document in documents.values()}) == len(AUDITS)
    assert [kind for kind, document in documents.items() if document["guarantee"] is None] == ["baseline"]
    assert all((FOLDER / f"{kind}.json").stat().st_size < 20_000 for kind in AUDITS)


def test_a_golden_document_lacks_only_what_names_the_run():
    whole = {place for place in RUN if "/" not in place}
    assert len(RUN) <= 15
    for kind in AUDITS:
        assert golden(kind).keys() == {"schema_version", "record", *BLOCKS} - whole


def test_a_changed_word_number_or_field_is_noticed():
    old = golden("play")
    for edit, place in (
        (lambda d: d["summary"].update(verdict="not_refuted"), "/summary/verdict"),
        (lambda d: d["guarantee"]["privacy_parameters"].update(epsilon="1.001"), "/guarantee/privacy_param"),
        (lambda d: d["hazards"].pop(), "/hazards"),
        (lambda d: d["guarantee"].pop("trust_model"), "/guarantee/trust_model"),
        (lambda d: d["hazards"][0].update(status=None), "/hazards/0/status"),
        (lambda d: d.update(more=1), "/more"),
    ):
        new = copy.deepcopy(old)
        edit(new)
        ((found, *_),) = changes(old, new)
        assert found.startswith(place)
    assert not list(changes(old, copy.deepcopy(old)))
    assert not list(changes(["1.50000000000000"], ["1.50000000000001"]))


def test_a_place_of_the_run_that_no_document_has_is_noticed():
    with pytest.raises(KeyError):
        without_run(golden("play"))  # nothing is left to take out
