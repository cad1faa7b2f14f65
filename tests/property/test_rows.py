"""What NumPy makes of rows of tracked numbers has the values that it makes of theirs."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.user_code import views
from verifiable_dp.evidence.symbolic import array_protocol
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.boxes import Box
from verifiable_dp.evidence.symbolic.choosers import Chooser
from verifiable_dp.evidence.symbolic.coverage import Coverage
from verifiable_dp.evidence.symbolic.ends import Unbounded
from verifiable_dp.evidence.symbolic.paths import _as_plain, run
from verifiable_dp.evidence.symbolic.terms import number
from verifiable_dp.evidence.symbolic.world import World
from verifiable_dp.evidence.tracing.reach import scopes_of

ROWS = (
    *(np.sum, np.nansum, np.mean, np.nanmean, np.max, np.min, np.prod, np.median, np.var, np.std),
    *(np.cumsum, np.sort, np.average),
)
OF_TRUTHS = (np.count_nonzero, np.any, np.all)
SHAPES = st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple)


def tracked(values):
    program = Program(print, values.shape, (0.0, 1.0))
    return program.data(World(frozenset(), Chooser(0, 1), array_protocol), values)


def valued(made):
    """What tracked numbers are in this run."""
    if type(made) is Box:
        return np.array([valued(one) for one in made.held.ravel().tolist()]).reshape(made.shape)
    made = number(made)
    return made.value() if hasattr(type(made), "public") else made


@st.composite
def calls(draw):
    """An array, and the arguments of a call for all its entries or for those along an axis."""
    shape = draw(SHAPES)
    axis = draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    keeps, by_place = draw(st.booleans()), draw(st.booleans())
    values = np.random.default_rng(draw(st.integers(0, 99))).random(shape)
    return values, axis, keeps, by_place


@settings(max_examples=150, deadline=None)
@given(st.sampled_from((*ROWS, *OF_TRUTHS)), calls())
def test_rows_are_numpys(function, call):
    """Broken variants: keepdims is dropped; an axis by place is taken for another argument."""
    values, axis, keeps, by_place = call
    kwargs = {} if by_place or axis is None else {"axis": axis}
    args = (axis,) if by_place and axis is not None else ()
    if keeps and "keepdims" in inspect.signature(function).parameters:
        kwargs["keepdims"] = function is not np.average
    if function is np.average:
        kwargs.pop("keepdims", None)
    one, other = tracked(values), values
    if function in OF_TRUTHS:
        one, other = one > 0.5, other > 0.5
    found, wanted = valued(function(one, *args, **kwargs)), function(other, *args, **kwargs)
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(wanted, float), rtol=1e-12)


@pytest.mark.parametrize("more", [{"where": np.array([True, False])}, {"initial": 2.0}])
def test_what_a_row_is_not_followed_for_ends_the_bound(more):
    """Broken variant: arguments that no row takes are dropped."""
    with pytest.raises(Unbounded, match="has the argument"):
        np.max(tracked(np.array([0.2, 0.7])), **{"initial": 0.0, **more})


# What shares memory in NumPy shares it where tracked numbers stand in the arrays, and nothing else does.
#
# Each way to make one array of another is followed for arrays of several forms, types and orders in memory.
# We write into one of the two, and look at the other: a followed run must see the same entries change as a
# plain one, or refuse.


# Ways that may be refused where entries are tracked: nobody needs them, and a refusal is sound.
REFUSED = {"view", "view_of_whole", "nan_to_num", "real", "np_real", "conj", "meshgrid"}


def outcomes(way, *, noisy):
    """For each form and direction: why the run was refused, and whether it agrees with a plain one."""
    for made in views.MAKERS.values():
        for shape in views.SHAPES:
            for forth in (True, False):
                play = views.writing(made, way, shape, noisy=noisy, forth=forth)
                program, scopes = Program(play, (2, 2), (0.0, 1.0)), scopes_of(play)
                path = run(program, 0, Chooser(0, 2), scopes, Coverage(frozenset(scopes)))
                yield path.failure, bool(path.failure) or _as_plain(program, path, scopes)


@pytest.mark.parametrize("noisy", [False, True], ids=["public", "noisy"])
@pytest.mark.parametrize("name", views.WAYS)
def test_the_same_memory_is_shared(name, noisy):
    """Broken variants: `given_back` without `may_share_memory`; `Box.shared` that copies."""
    found = list(outcomes(views.WAYS[name], noisy=noisy))
    assert all(same for _, same in found)
    kept = sum(not failure for failure, _ in found)
    assert kept > len(found) / 4 or name in REFUSED
