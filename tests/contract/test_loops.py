"""A test that asserts only in loops over computed collections also says that they are not empty.

Negative controls are the programs below.
"""

import pytest

from tests.loops import every, only_in_loops


def test_no_test_asserts_only_over_what_may_be_empty():
    found = every()
    assert not found, f"these assert nothing over an empty collection: {found}"


@pytest.mark.parametrize(
    "body",
    [
        "for x in found(): assert x",
        "for x in found().items(): assert x",
        "for x in []: assert x",
        "for x in range(n): assert x",
        "for x in (*found(),): assert x",
        "for x in zip((1, 2), found()): assert x",
        "for x in [x for x in (1, 2) if x > 2]: assert x",
        "rows = found()\n    for x in rows: assert x",
        "for x in found():\n        with pytest.raises(ValueError): x()",
        "for x in found():\n        for y in (1, 2): assert y",
        "for x in found():\n        if x: assert x",
        "assert all(x for x in found())",
        "assert all(x for x in (1, 2) if x > 2)",
        "assert not any(x for x in found())",
        "assert not [x for x in found() if x]",
        "assert [x for x in found() if x] == []",
        "assert {x for x in found()} <= {1, 2}",
    ],
)
def test_an_assertion_over_a_computed_collection_is_found(body):
    assert only_in_loops(f"def test_it(n):\n    {body}\n") == ["test_it"]


@pytest.mark.parametrize(
    "body",
    [
        "rows = found()\n    assert rows\n    for x in rows: assert x",
        "for x in (1, 2): assert x",
        "for x in range(3): assert x",
        "for x in enumerate(ROWS): assert x",
        "for x, y in {1: 2}.items(): assert x",
        "for x in [x + 1 for x in ROWS]: assert x",
        "for x in found(): x()",
        "assert all(x for x in (1, 2))",
        "assert any(x for x in found())",
        "assert not [x for x in (1, 2) if x > n]",
        "assert [x for x in found()] == [1]",
        "with pytest.raises(ValueError): it()\n    for x in found(): assert x",
        "assert_allclose(1, 1)\n    for x in found(): assert x",
    ],
)
def test_what_always_asserts_is_not_named(body):
    assert only_in_loops(f"ROWS = (1, 2)\ndef test_it():\n    {body}\n") == []
