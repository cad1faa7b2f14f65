"""Single rules of paths: which condition of a branch is turned about, and what is rewritten."""

import ast

import numpy as np
import pytest

from verifiable_dp.evidence.symbolic import branch_forcing, kinds, rewriting, samplers, selects
from verifiable_dp.evidence.symbolic.branch_forcing import BranchFlips
from verifiable_dp.evidence.tracing.ledger import Place

SITES = ((Place("a", 1), (1, 0)), (Place("b", 2), (2, 0)), (Place("a", 3), (3, 0)))


def test_where_conditions_stand_in_a_file():
    flips = BranchFlips(SITES)
    assert flips.of("a") == (((1, 0), 0), ((3, 0), 2))
    assert flips.of("b") == (((2, 0), 1),)
    assert flips.of("c") == ()


@pytest.mark.parametrize(
    ("first", "last", "came"),
    [
        (0, 0, [True, True, True]),
        (0, 1, [False, True, True]),
        (1, 2, [True, False, True]),
        (1, 9, [True, False, False]),
        (3, 9, [True, True, True]),
    ],
)
def test_when_a_condition_is_turned_about(first, last, came):
    flips = BranchFlips(SITES, first, last)
    assert [flips.turned(0, True) for _ in range(3)] == came
    assert flips.asked == {0: 3}
    assert not flips.elsewhere


def test_the_condition_of_a_loop_is_turned_only_where_it_comes_out_as_at_first():
    """A loop that was always entered is left; at its end it is not gone on with."""
    flips = BranchFlips(SITES, 1, 9)
    assert [flips.turned(1, value, loop=True) for value in (True, True, False, True)] == [
        True,
        False,
        False,
        False,
    ]
    assert flips.asked == {1: 3}
    assert flips.sides == {1: True}


def test_each_condition_is_counted_by_itself():
    flips = BranchFlips(SITES, 1, 2)
    assert [flips.turned(at, False) for at in (0, 1, 0, 1)] == [False, False, True, True]


def test_a_condition_of_another_thread_is_left_alone():
    flips = BranchFlips(SITES, 0, 9, thread=-1)
    assert flips.turned(0, True) is True
    assert flips.elsewhere


class Path:
    def __init__(self, failure="", crashed=False):
        self.failure, self.crashed = failure, crashed


HERE = [(Place(__file__, 1), (1, 0))]


def forced(path, asks=1, missed=HERE, rest=()):
    """What comes of forcing branches in runs that ask for the last of them so often."""
    calls = []

    def run(number, flips, steps):
        for _ in range(asks):
            flips.turned(len(flips.sites) - 1, True)
        calls.append((flips.first, flips.last))
        return path

    paths, place, closed = branch_forcing.forced(missed, run, lambda coverage: rest)
    return len(paths), place, closed, calls


def test_branches_are_forced_first_in_the_middle_last_and_from_the_middle_on():
    paths, place, closed, calls = forced(Path(), asks=5)
    assert (paths, place, closed) == (6, None, [])
    assert calls[0] == (0, 0)  # how often it is asked
    assert [first for first, _ in calls[1:]] == [0, 2, 4, 2, 2, 2]
    assert [last for _, last in calls[1:4]] == [1, 3, 5]


def test_a_branch_that_only_raises_is_closed():
    paths, place, closed, _ = forced(Path(crashed=True))
    assert (paths, place, closed) == (0, None, HERE)


@pytest.mark.parametrize(
    ("path", "asks", "missed"),
    [(Path(failure="no bound"), 1, HERE), (Path(), 0, HERE), (Path(), 1, [(HERE[0][0], None)])],
)
def test_a_branch_that_cannot_be_looked_at_is_named(path, asks, missed):
    assert forced(path, asks, missed)[1] == HERE[0][0]


def heads(rng):
    count = 0
    while rng.random() < 0.5:
        count += 1
    return count


def listed(rng):
    return [one for one in range(3) if rng.random() < 0.5]


@pytest.mark.parametrize(("function", "reads"), [(heads, True), (listed, False), (Path.__init__, False)])
def test_functions_with_branches_may_draw_noise(function, reads):
    assert samplers.draws_noise(function.__code__) is reads


@pytest.mark.parametrize(("kind", "value", "made"), [("int", 3.7, 3), ("float", 2, 2.0), ("bool", 2, True)])
def test_what_stands_in_for_a_class_of_numbers_is_as_it(kind, value, made):
    known = kinds.NUMBERS[kind]
    assert known(value) == made
    assert type(known(value)) is type(made)
    assert isinstance(made, known)
    assert not isinstance("", known)


# ---------------------------------------------------------------- what is rewritten


@pytest.mark.parametrize(("value", "decides"), [(True, True), (np.False_, True), (1, False), ([], False)])
def test_only_a_truth_value_decides_a_choice_of_arrays(value, decides):
    assert selects.decides(value) is decides


@pytest.mark.parametrize(
    ("source", "drawn", "made"),
    [
        ("if c:\n    x = x + 1", False, "x = x + 1 if c else x"),
        ("if c:\n    x = 1 - x", False, "x = 1 - x if c else x"),
        ("if c:\n    x = x + 1", True, None),
        ("if c:\n    x = 1", False, None),  # it does not change what the name holds
        ("if c:\n    x = x + 1\nelse:\n    x = 2", False, None),
        ("if c:\n    x = x + 1\n    y = 2", False, None),
        ("if c:\n    x = x + 1\nelse:\n    y = 2", False, None),
        ("if c:\n    x[0] = x + 1", False, None),
        ("if c:\n    x = y = x + 1", False, None),
        ("if c:\n    print(x)", False, None),
    ],
)
def test_a_name_that_changes_on_a_condition_is_an_expression(source, drawn, made):
    found = rewriting._chosen(ast.parse(source).body[0], drawn)
    assert (found and ast.unparse(found)) == made
