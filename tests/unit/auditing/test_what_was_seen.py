"""What is said of the code that was not looked into follows from the checks that were made."""

from types import SimpleNamespace

import pytest

from verifiable_dp.auditing.looks import UserCase


def check(kind, **statistics):
    return SimpleNamespace(kind=kind, statistics=statistics)


SAMPLED = check("black_box")
TRACED = check("tracing", failure="")


@pytest.mark.parametrize(
    ("checks", "said"),
    [
        ([SAMPLED], ["the code itself: it was seen only through its outputs"]),
        (
            [check("tracing", failure="it ended"), SAMPLED],
            ["the code itself: it was seen only through its outputs"],
        ),
        ([TRACED, SAMPLED], ["the code beyond what was traced: there it was seen only through its outputs"]),
        (
            [TRACED, check("upper_bound", scope="n paths")],
            ["the code beyond what was traced: there it was seen only through its outputs"],
        ),
        ([TRACED, check("upper_bound", scope="every path")], []),
    ],
)
def test_code_that_was_traced_was_not_only_seen_through_its_outputs(checks, said):
    assert UserCase._unseen(SimpleNamespace(checks=checks)) == said
