"""What is said of the code that was not looked into follows from the checks that were made."""

from types import SimpleNamespace

import pytest

from verifiable_dp.auditing.rounds_of_testing import UserCase


def check(kind, **statistics):
    return SimpleNamespace(kind=kind, statistics=statistics)


SAMPLED = check("black_box")
TRACED = check("tracing", failure="")


@pytest.mark.parametrize(
    ("checks", "said"),
    [
        ([SAMPLED], ["unseen-code"]),
        (
            [check("tracing", failure="it ended"), SAMPLED],
            ["unseen-code"],
        ),
        ([TRACED, SAMPLED], ["untraced-code"]),
        (
            [TRACED, check("upper_bound", scope="n paths")],
            ["untraced-code"],
        ),
        ([TRACED, check("upper_bound", scope="every path")], []),
    ],
)
def test_code_that_was_traced_was_not_only_seen_through_its_outputs(checks, said):
    assert [left.id for left in UserCase._unseen(SimpleNamespace(checks=checks))] == said
