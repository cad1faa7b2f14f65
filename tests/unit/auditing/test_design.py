"""Neighbours that follow from what is asked: forms of data, and which of the plain pairs come first."""

from types import SimpleNamespace

import numpy as np
import pytest

from verifiable_dp.auditing import design


def listed(form):
    return tuple(np.asarray(side).tolist() for side in form)


@pytest.mark.parametrize(
    ("bounds", "kind", "forms"),
    [
        (
            (0.0, 1.0),
            "replace",
            [(0.0, 1.0), ([0.0], [1.0]), ([0.0] * 5, [1.0, 0.0, 0.0, 0.0, 0.0])],
        ),
        (
            (-1.0, 2.0),
            "replace",
            [(-1.0, 2.0), ([-1.0], [2.0]), ([-1.0] * 5, [2.0, -1.0, -1.0, -1.0, -1.0])],
        ),
        ((-1.0, 2.0), "add-remove", [([-1.0] * 5, [-1.0] * 4)]),
        ((0.0, 1.0), "zero-out", [(1.0, 0.0), ([1.0], [0.0]), ([1.0] * 5, [0.0, 1.0, 1.0, 1.0, 1.0])]),
        ((-3.0, 0.0), "zero-out", [(-3.0, 0.0), ([-3.0], [0.0]), ([-3.0] * 5, [0.0, *[-3.0] * 4])]),
    ],
)
def test_the_forms_of_data(bounds, kind, forms):
    """One value differs: it moves from bound to bound, goes, or becomes 0."""
    found = design.forms_of(bounds, kind)
    assert [listed(form) for form in found] == [listed(form) for form in forms]
    around = [listed(pair.worlds()) for pair in design.around(found, bounds, kind)]
    assert set(map(str, forms)) <= set(map(str, around))
    assert len(around) > len(forms)


@pytest.mark.parametrize(("runs", "many"), [(1499, 4), (1500, 6)])
def test_few_plain_neighbours_where_runs_are_few(runs, many):
    assert design.first([*range(6)], runs) == [*range(many)]


@pytest.mark.parametrize(("given", "found"), [(None, [1, 2]), ([], []), ([3], [3])])
def test_neighbours_that_are_given_are_the_only_ones(given, found):
    assert design.plain(SimpleNamespace(plain=lambda: iter((1, 2))), given) == found
