"""Contexts and pairs that differ in one user: forms, what is refused, and what comes back from a record."""

import json

import numpy as np
import pytest
from hypothesis import given, settings

from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.contexts import Contexts, shape_of, words_of
from verifiable_dp.core.neighbours import ContextPair, contexts, pair_of
from verifiable_dp.core.units import Protected
from verifiable_dp.core.validate import InputError

ONE, EACH = Contexts(2, (3,)), Contexts(2, (2, 3), 2.0, (-1.0, 1.0))


@pytest.mark.parametrize(
    ("given", "shape"), [(5, (5,)), ("5", (5,)), ("10x5", (10, 5)), ((10, 5), (10, 5)), ([4], (4,))]
)
def test_a_shape_is_a_dimension_or_arms_and_dimension(given, shape):
    assert shape_of(given) == shape == shape_of(words_of(shape))


@pytest.mark.parametrize("given", ["", "x5", "5x", "2x3x4", "-1", 0, (2, 0), (1, 2, 3), 2.5, "5 x 2", None])
def test_other_shapes_are_refused(given):
    with pytest.raises(InputError, match="contexts must"):
        shape_of(given)


def test_contexts_for_each_arm_are_of_so_many_arms():
    with pytest.raises(InputError, match=r"contexts must be D, or 3xD .* got 2x3"):
        Contexts(3, (2, 3))


@pytest.mark.parametrize("form", [ONE, EACH])
def test_a_table_holds_both_and_gives_them_back(form):
    rng = np.random.default_rng(0)
    given = rng.standard_normal((7, *form.shape)) / 5
    paid = rng.random((7, 2))
    back, rewards = form.split(form.table(given, paid))
    assert np.array_equal(back, given)
    assert np.array_equal(rewards, paid)


def test_what_is_out_of_range_is_refused():
    zeros = np.zeros((4, 2))
    with pytest.raises(InputError, match="norm of at most 1"):
        ONE.table(np.full((4, 3), 0.6), zeros)  # each entry is small, the norm is 1.04
    ONE.table(np.full((4, 3), 0.57), zeros)
    with pytest.raises(InputError, match="norm of at most 1"):
        ONE.table(np.full((4, 3), np.nan), zeros)
    with pytest.raises(InputError, match="shape"):
        ONE.table(np.zeros((3, 3)), zeros)
    with pytest.raises(InputError, match="bounds"):
        ONE.table(np.zeros((4, 3)), zeros + 2)


def test_a_pair_differs_in_one_users_round():
    base = np.tile(EACH.unit(0), (5, 1, 1))
    pair = ContextPair(EACH, base, np.zeros((5, 2)), 3, context=-base[0], reward=[1.0, 0.0])
    left, right = pair.worlds()
    assert np.flatnonzero((left != right).any(axis=1)).tolist() == [3] == [pair.round]
    given, paid = EACH.split(right)
    assert np.array_equal(given[3], -base[0])
    assert paid[3].tolist() == [1.0, 0.0]
    assert pair.size == 1
    assert "user of round 4" in pair.describe()
    with pytest.raises(InputError, match="must not both be"):
        ContextPair(EACH, base, np.zeros((5, 2)), 3, context=base[0])
    with pytest.raises(InputError, match="norm"):
        ContextPair(EACH, base, np.zeros((5, 2)), 3, context=3 * base[0])


@pytest.mark.parametrize("form", [ONE, EACH])
@pytest.mark.parametrize("reward_only", [False, True])
def test_pairs_that_are_searched_come_back_from_a_record(form, reward_only):
    @settings(max_examples=40, deadline=None, derandomize=True, database=None)
    @given(contexts(form, 6, reward_only=reward_only))
    def check(pair):
        back = pair_of(json.loads(json.dumps(pair.as_dict())))
        assert isinstance(back, ContextPair)
        assert all(np.array_equal(*both) for both in zip(pair.worlds(), back.worlds(), strict=True))
        assert back.form == form
        given_here, given_there = (form.split(world)[0] for world in pair.worlds())
        assert not reward_only or np.array_equal(given_here, given_there)

    check()


def test_a_claim_says_what_is_protected_and_from_whom():
    joint = PrivacyClaim.of_users(1.0, 0.0, model="joint", protects="context")
    assert joint.as_dict()["protects"] == "context-joint"
    assert joint.protects.words == (
        "the context and reward of one user, from everybody who sees the actions of all the others"
    )
    every = [(what, model) for what in ("context", "reward") for model in ("joint", "central")]
    said = [PrivacyClaim.of_users(1.0, 0.0, model=model, protects=what).protects for what, model in every]
    assert said == list(Protected)
    assert [(one.what, one.model) for one in said] == every
    assert len({one.words for one in said}) == 4
    assert "protects" not in PrivacyClaim(1.0).as_dict()
    with pytest.raises(InputError, match="model must be one of"):
        PrivacyClaim.of_users(1.0, 0.0, model="local", protects="context")
