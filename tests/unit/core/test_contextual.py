"""Bandits that are told contexts: what users answer, and who is seen."""

from dataclasses import dataclass

import numpy as np
import pytest

from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.contextual import Rule, UserTable, arms_of, clipped, matrix, outer
from verifiable_dp.core.mechanisms import NormalTree
from verifiable_dp.core.query import Query
from verifiable_dp.core.validate import InputError

RNG = np.random.default_rng(0)


def test_entries_of_outer_products_have_their_frobenius_norm_and_lead_back():
    z, w = RNG.standard_normal((2, 50, 4))
    made = matrix(outer(z), 4)
    assert np.allclose(made, z[:, :, None] * z[:, None, :])
    apart = made - matrix(outer(w), 4)
    assert np.allclose(np.linalg.norm(outer(z) - outer(w), axis=1), np.linalg.norm(apart, axis=(1, 2)))


def test_equal_noise_of_the_entries_does_not_depend_on_the_axes():
    """The law of trace(A Z) depends on the Frobenius norm of A alone: the least and largest of all, 4 sd."""
    noise = matrix(RNG.standard_normal((20_000, 6)), 3)
    for axis in (
        np.diag([1.0, 0, 0]),
        np.full((3, 3), 1 / 3),
        np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]) / 2**0.5,
    ):
        spread = np.einsum("ij,nij->n", axis, noise).std()
        assert abs(spread - 1) < 6 / (2 * 20_000) ** 0.5


def test_two_items_are_at_most_sqrt_2_times_their_norm_apart_and_some_are_as_far():
    z, w = clipped(RNG.standard_normal((2, 20_000, 3)) * 5, 1.3)
    apart = np.linalg.norm(outer(z) - outer(w), axis=1)
    most = 2**0.5 * 1.3**2
    assert 0.99 * most < apart.max() <= most * (1 + 1e-12)
    here, there = outer(np.array([[1.0, 0, 1], [-1.0, 0, 1]]))
    assert np.linalg.norm(here - there) == pytest.approx(2**0.5 * 2)


def test_clipping_keeps_directions_and_what_is_short():
    x = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]])
    assert np.allclose(clipped(x, 1.0), [[0.6, 0.8], [0.3, 0.4], [0, 0]])


@pytest.mark.parametrize("arms", [2, 5, 70])
def test_arms_are_read_off_the_codes_of_what_was_played(arms):
    chosen = RNG.integers(0, arms, 40)
    ones = np.eye(arms, dtype=bool)[chosen]
    codes = Query(np.zeros(40, int), np.ones(40, int), ones, np.ones(40, bool)).codes()
    assert np.array_equal(arms_of(codes, arms), chosen)


@dataclass(frozen=True)
class Longest(Rule):
    """The arm with the longest context; users answer with context and reward."""

    run: np.ndarray

    @property
    def size(self):
        return 3

    def choose(self, contexts):
        return np.linalg.norm(contexts, axis=2).argmax(axis=1)

    def items(self, context, reward):
        return np.hstack([context, reward[:, None]])


def test_users_choose_and_answer_and_one_may_be_unseen():
    form = Contexts(2, (2, 2))
    contexts = np.array([[[1.0, 0], [0, 0.5]], [[0.1, 0], [0, 0.2]]])
    table = form.table(contexts, [[0.3, 0.4], [0.6, 0.7]])

    def asked(round_):
        return Query(
            np.full(1, round_),
            np.ones(1, int),
            np.zeros((1, 2), bool),
            np.ones(1, bool),
            Longest(np.zeros(1, int)),
        )

    users, unseen = UserTable(form, table), UserTable(form, table, unseen=1)
    for round_, arm, item in ((0, 0, [1, 0, 0.3]), (1, 1, [0, 0.2, 0.7])):
        query = asked(round_)
        assert users.meet(query, np.zeros(1, int)).active.tolist() == [[arm == 0, arm == 1]]
        assert users.answer(query, np.zeros(1, int)).tolist() == [item]
    assert unseen.meet(asked(0), np.zeros(1, int)).active.any()
    assert not unseen.meet(asked(1), np.zeros(1, int)).active.any()
    assert unseen.answer(asked(1), np.zeros(1, int)).tolist() == [[0, 0.2, 0.7]]


def test_a_normal_tree_spends_its_mu_on_as_many_nodes_as_the_first_item_is_in():
    tree = NormalTree(64, 0.5, sensitivity=2.0)
    assert tree.levels == 7
    assert tree.scale == pytest.approx(2 * 7**0.5 / 0.5)
    assert tree.nodes_of(1) * (2 / tree.scale) ** 2 == pytest.approx(0.5**2)
    for bad in ({"mu": 0.0}, {"sensitivity": -1.0}, {"leaves": 0}):
        with pytest.raises(InputError, match=next(iter(bad))):
            NormalTree(**{"leaves": 4, "mu": 1.0, **bad})
