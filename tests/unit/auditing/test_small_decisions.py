"""Small decisions of audits, each by itself: what a claim about a rate says, and the kind of pairs."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from verifiable_dp.auditing import bandits, groups, plans, rates, rungs
from verifiable_dp.auditing.bandits import PlayCase
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.neighbours import TablePair, UserPair
from verifiable_dp.core.validate import InputError
from verifiable_dp.targets.process import Exec, ProcessTarget

MARGIN = rates.MARGIN


@pytest.mark.parametrize(
    ("over", "claim", "said"),
    [
        ("T", 0.5, (0.5, 0.0, MARGIN)),
        ("T", (0.5, 0.1), (0.5, 0.0, 0.1)),
        ("K", [1, 0.2], (1.0, 0.0, 0.2)),
        ("T", np.float64(2), (2.0, 0.0, MARGIN)),
        ("gap", -1, (-1.0, 0.0, MARGIN)),
        ("T", "log", (0.0, 1.0, MARGIN)),
        ("K", ("log", 0.3), (0.0, 1.0, 0.3)),
        ("T", "sublinear", (1 - 2 * MARGIN, 0.0, MARGIN)),
        ("T", ("sublinear", 0.2), (0.6, 0.0, 0.2)),
        ("T", 10, (10.0, 0.0, MARGIN)),
        ("T", -10, (-10.0, 0.0, MARGIN)),
    ],
)
def test_what_a_claim_about_a_rate_says(over, claim, said):
    assert rates.claim_of(over, claim) == pytest.approx(said)


@pytest.mark.parametrize(
    ("over", "claim", "words"),
    [
        ("gap", "log", '"log" works only with T and K'),
        ("K", "sublinear", "scaling: K must be "),
        ("T", "fast", "scaling: T must be "),
        ("T", True, "scaling: T must be "),
        ("T", None, "scaling: T must be "),
        ("T", (0.5,), "scaling: T must be "),
        ("T", (0.5, 0.1, 0.1), "scaling: T must be "),
        ("T", (0.5, 0.0), "margin of T must be finite and greater than 0"),
        ("T", 10.01, r"an exponent in \[-10, 10\]"),
        ("T", -10.01, r"an exponent in \[-10, 10\]"),
        ("T", math.inf, r"an exponent in \[-10, 10\]"),
        ("T", math.nan, r"an exponent in \[-10, 10\]"),
    ],
)
def test_what_is_no_claim_about_a_rate(over, claim, words):
    with pytest.raises(InputError, match=words):
        rates.claim_of(over, claim)


TABLE = np.array([[0.0, 1.0], [1.0, 0.0]])
OF_ROUND = TablePair(TABLE, 0, 0, 1.0)
OF_USER = UserPair(TABLE, np.array([0, 1]), 0, np.array([[1.0, 1.0]]))


@pytest.mark.parametrize(
    ("pairs", "kind"),
    [
        (None, "group"),
        ([], "group"),
        ([OF_USER], "user"),
        ([OF_USER, OF_USER], "user"),
        ([OF_ROUND], "group"),
        ([OF_USER, OF_ROUND], "group"),
    ],
)
def test_the_kind_of_pairs(pairs, kind):
    assert groups.kind(pairs) == kind


def process(numerics=False, **given):
    inputs = SimpleNamespace(**{"bounds": (0.0, 1.0), "n_arms": None, "horizon": None} | given)
    request = SimpleNamespace(inputs=inputs, settings=SimpleNamespace(numerics=numerics))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rungs, "ProcessTarget", lambda command, kind, *rest: kind)
        return rungs._process(Exec("python -c pass"), request)


@pytest.mark.parametrize(
    ("given", "kind"),
    [({}, "release"), ({"numerics": True}, "release"), ({"n_arms": 2, "horizon": 5}, "play")],
)
def test_what_a_program_is(given, kind):
    assert process(**given) == kind


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n_arms": 2}, r"horizon must be given for a command that plays \(--horizon T\)"),
        ({"horizon": 5}, r"n_arms must be given for a command that plays \(--arms K\)"),
        ({"n_arms": 2, "horizon": 5, "numerics": True}, "numerics works only with a mechanism"),
    ],
)
def test_what_a_program_that_plays_needs(given, words):
    with pytest.raises(InputError, match=words):
        process(**given)


# ---------------------------------------------------------------- bandits


def case(function=print, **promise):
    """A case of a bandit with this promise; only what is asked for."""
    given = {"group": None, "adjacency": None, "model": "central"} | promise
    made = object.__new__(PlayCase)
    vars(made).update(request=SimpleNamespace(promise=SimpleNamespace(**given)), function=function)
    return made


@pytest.mark.parametrize(
    ("promise", "followed"),
    [
        ({}, True),
        ({"adjacency": "replace"}, True),
        ({"adjacency": "zero-out"}, False),
        ({"group": 2}, False),
        ({"function": object.__new__(ProcessTarget)}, False),
    ],
)
def test_which_bandits_are_followed_by_replays_and_bounds(promise, followed):
    """One replaced reward of code of this process."""
    assert case(**promise)._followed is followed


@pytest.mark.parametrize(("first", "moved"), [(0.0, 1.0), (1.0, 0.0), (0.25, 1.0)])
def test_the_pair_on_which_times_are_measured(first, moved):
    """The first reward of the first arm goes to the other end of the range."""
    table = np.array([[first, 1.0], [0.5, 0.5]])
    pair = bandits._trial(table, (0.0, 1.0), None)
    left, right = pair.worlds()
    assert left.tolist() == table.tolist()
    assert right.tolist() == [[moved, 1.0], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("runs", "pairs", "once", "sizes"),
    [
        # A quarter of the runs probes (all pairs at a quarter of it, eight as a whole), a fifth selects,
        # and 55 % test; each a side.
        (10_000, 32, False, (78, 333, 2750, 3)),
        (10_000, 2, True, (625, 500, 2750, 2)),
        (1_000, 32, False, (8, 100, 275, 1)),
        (100, 1, False, (8, 16, 50, 1)),
    ],
)
def test_the_shares_of_a_second_plan(runs, pairs, once, sizes):
    plan = plans.second_plan(runs, pairs, 20_000, once=once)
    assert (plan.probe, plan.select, plan.test, plan.finalists) == sizes


@pytest.mark.parametrize(
    "form", [None, Contexts(2, (3,), 2.0, (-1.0, 3.0)), Contexts(2, (2, 3), 0.5, (-1.0, 3.0))]
)
def test_the_tables_of_the_first_runs(form):
    """Rewards at both ends, all low, all between; contexts of full length, and no longer."""
    mixed, low, middle = bandits._tables((50, 2), (-1.0, 3.0), 7, form)
    if form is not None:
        splits = [form.split(table) for table in (mixed, low, middle)]
        for contexts, _ in splits:
            lengths = np.linalg.norm(contexts, axis=-1)
            assert (lengths < form.norm).all()
            assert lengths == pytest.approx(form.norm, rel=1e-8)
        mixed, low, middle = (rewards for _, rewards in splits)
    assert set(mixed.ravel()) == {-1.0, 3.0}
    assert set(low.ravel()) == {-1.0}
    assert set(middle.ravel()) == {1.0}
