"""In which words one request is told from another, and that every field tells them apart."""

import msgspec
import pytest

from verifiable_dp.record import requests

ASKED = requests.made(
    {
        "question": "audit",
        "target": {"name": "a.py:x", "kind": "code", "parameters": {}, "files": {"a.py": "0" * 64}},
        "claim": {"epsilon": 1.0},
        "inputs": {},
        "plan": {},
        "level": {},
        "seed": 0,
        "code": "0" * 64,
        "packages": f"sha256:{'0' * 64}",
    },
    None,
)
OTHER = {
    "schema_version": "request-2.0.0",
    "question": "regret",
    "claim": {"epsilon": 2.0},
    "inputs": {"a": 1},
    "plan": {"mutants": True},
    "level": {"alpha": 1.0},
    "seed": 1,
    "declarations": {"expires": "2030-01-01"},
}
ALIKE = ("made", "nonce", "digest", "require")  # what has them is answered alike
OF_CODE = {"code": "1" * 64, "packages": f"sha256:{'1' * 64}"}


@pytest.mark.parametrize("field", requests.RequestEntry.__struct_fields__)
def test_every_field_tells_requests_apart(field):
    """Whoever adds one says here what it is. Control: which code runs is compared unless that is left out."""
    if field == "target":
        for name in requests.AskedTarget.__struct_fields__:
            value = {"name": "b.py:x", "kind": "object", "parameters": {"a": 1}, "files": {}}[name]
            other = msgspec.structs.replace(
                ASKED, target=msgspec.structs.replace(ASKED.target, **{name: value})
            )
            assert ASKED.difference(other).startswith(f"target.{name}")
            assert bool(ASKED.difference(other, of_code=False)) == (name != "files")
        return
    value = {**OTHER, **OF_CODE, **dict.fromkeys(ALIKE, "certified")}[field]
    other = msgspec.structs.replace(ASKED, **{field: value})
    assert bool(ASKED.difference(other)) == (field not in ALIKE)
    assert bool(ASKED.difference(other, of_code=False)) == (field in OTHER)


@pytest.mark.parametrize(
    ("mine", "theirs", "words"),
    [
        (1, 2, "plan is 1 there, and 2 here"),
        ("a", None, "plan is 'a' there, and None here"),
        ({"runs": 1, "seed": 3}, {"runs": 2, "seed": 4}, "plan.runs is 1 there, and 2 here"),
        ({"runs": 1, "seed": 3}, {"runs": 1, "seed": 4}, "plan.seed is 3 there, and 4 here"),
        ({"seed": 3}, {}, "plan.seed is 3 there, and None here"),
        ({"of": {"in": 1}}, {"of": {"in": 2}}, "plan.of.in is 1 there, and 2 here"),
        ({"of": {"in": 1}}, {"of": 2}, "plan.of is {'in': 1} there, and 2 here"),
        ("x" * 78, "x" * 79, f"plan is '{'x' * 78}' there, and '{'x' * 79} here"),  # 80 characters of each
    ],
)
def test_the_first_difference_is_named(mine, theirs, words):
    assert requests._first("plan", mine, theirs) == words
