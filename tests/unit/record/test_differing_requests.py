"""In which words one request is told from another."""

import pytest

from verifiable_dp.record import requests


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
